"""The desktop viewer."""

from __future__ import annotations

OWNER = "bulkbits"  # other distributions have packages of this name, too (bulkbits/ownership.py)


def __getattr__(name: str) -> object:
    """Raise AttributeError, or say whose package this is where another was wanted."""
    import importlib

    # By its name: this package imports none of those above it.
    return importlib.import_module("bulkbits.ownership").refuse(__name__, name)
