"""Front ends: an author's text to a positioned tree, and a tree of each format to a draft."""
