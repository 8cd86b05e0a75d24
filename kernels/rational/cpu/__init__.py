"""Sums and products of rationals on the CPU, and their loops."""
