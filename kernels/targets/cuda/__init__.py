"""CUDA devices: one driver layer a file, and what launchers need of any."""
