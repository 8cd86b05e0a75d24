"""Targets, the places where code runs: CUDA devices, the CPU, or numpy as the reference; no
algorithm."""
