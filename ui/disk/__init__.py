"""Universes on disk: seen while they are read, run by a process."""
