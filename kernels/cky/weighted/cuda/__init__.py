"""Weighted CKY parsing on CUDA devices: the launcher and its kernel."""
