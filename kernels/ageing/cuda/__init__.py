"""Ageing cells on CUDA devices."""
