"""The engine's simplifications of a syntax tree before anything runs."""
