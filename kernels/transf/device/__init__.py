"""The parts of the enumeration on a CUDA device."""
