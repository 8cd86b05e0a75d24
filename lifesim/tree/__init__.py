"""Cells that lie too far apart for a rectangle in memory: what pictures and files need of a list of
squares in which equal ones stand once (kernels.plane.hashlife.listing), which is never unfolded as
a whole. Coordinates are Python ints of any size."""
