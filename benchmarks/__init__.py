"""What this interpreter costs, measured against Temporal workflows written by hand."""
