"""Brings ledger and Temporal together again after a process died between the two."""
