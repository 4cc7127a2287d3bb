"""The commands `coordinator` (the service's processes) and `coordinatorctl` (people)."""
