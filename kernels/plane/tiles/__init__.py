"""The unbounded plane in tiles, of which only those are visited in which something changes."""
