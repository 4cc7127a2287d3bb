"""Activities that only write the ledger: waits, cancels and the closing write."""
