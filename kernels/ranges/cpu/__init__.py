"""Larger than Life on the CPU."""
