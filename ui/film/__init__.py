"""Runs that are recorded, counted and written as pictures and films."""
