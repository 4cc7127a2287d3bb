"""The activities that perform an operation: claim, send, settle, in that order and no other."""
