"""The compiled definition: what every front end writes and the machine reads."""
