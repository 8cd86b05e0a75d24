"""Enumerate on the CPU: C++ that spreads the rows of a batch over threads."""
