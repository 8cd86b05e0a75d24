"""CKY parsing on CUDA devices: launchers, their plans, and the kernels that they launch."""
