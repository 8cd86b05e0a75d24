"""Conway's Game of Life and its relatives at one bit per cell."""
