"""The launchers on CUDA devices, and their kernels."""
