"""Names and messages that cross a wall between rooms; no behaviour beyond their own shape."""
