"""Enumeration of transformation semigroups."""
