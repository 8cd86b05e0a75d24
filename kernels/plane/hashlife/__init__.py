"""HashLife: the unbounded plane as a tree in which equal squares, and what becomes of them, are
kept once."""
