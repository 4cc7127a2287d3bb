"""Source text to a syntax tree: tokens, expressions, statements, functions."""
