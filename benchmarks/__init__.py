"""Measurements of record; each module or package of this one says how it is run."""
