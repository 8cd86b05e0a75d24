"""Weighted CKY parsing on the CPU: the engine and the C++ that it calls."""
