"""Larger than Life on CUDA devices."""
