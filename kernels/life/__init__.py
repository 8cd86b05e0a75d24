"""Game of Life kernels: reference, shared circuit, CPU and CUDA shells, plans."""
