"""What a run does: counters, calls, places and assignments."""
