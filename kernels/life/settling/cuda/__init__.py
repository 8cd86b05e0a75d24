"""Rounds of what settles on a CUDA-like device."""
