"""Enumerate on a CUDA device: launchers, and the kernels that they launch."""
