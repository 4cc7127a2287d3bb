"""The native functions of the six packages of the profile, one file a family."""
