"""Ways to look at a definition: in words, as a picture, beside another, and as a schema."""
