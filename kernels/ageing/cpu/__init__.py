"""Ageing cells on the CPU."""
