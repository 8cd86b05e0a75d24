"""Life on the CPU."""
