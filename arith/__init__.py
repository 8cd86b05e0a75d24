"""Bulk big integers, rationals and GCD."""
