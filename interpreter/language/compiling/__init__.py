"""A folded syntax tree to closures over a frame."""
