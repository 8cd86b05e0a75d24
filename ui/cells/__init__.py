"""Universes in memory: run by a thread, edited, undone, saved."""
