"""Rationals of bounded length in bulk: sums and products in lowest terms."""
