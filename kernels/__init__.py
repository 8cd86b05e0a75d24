"""Device code: bit-parallel kernels for CPU and CUDA, behind one contract."""
