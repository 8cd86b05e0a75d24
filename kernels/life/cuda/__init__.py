"""Life on CUDA devices."""
