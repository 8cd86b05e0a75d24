"""Enumeration of transformation semigroups.

>>> from semigroups import zero_rook
>>> zero_rook(2)
array([[0, 1, 2, 0, 2, 0, 1],
       [0, 3, 5, 3, 6, 5, 6]], dtype=uint8)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .families import (
        Family,
        bihecke,
        catalan,
        full,
        order_preserving,
        regressive,
        symmetric,
        zero_hecke,
        zero_rook,
    )
    from .reading import GeneratorsError, parse_generators, read_generators

__all__ = [
    "Family",
    "GeneratorsError",
    "bihecke",
    "catalan",
    "full",
    "order_preserving",
    "parse_generators",
    "read_generators",
    "regressive",
    "symmetric",
    "zero_hecke",
    "zero_rook",
]

_HOME = {
    "GeneratorsError": "reading",
    "parse_generators": "reading",
    "read_generators": "reading",
}


def __getattr__(name: str) -> Any:
    """Import on first use: `semigroups --help` must not wait for numpy."""
    if name not in __all__:
        raise AttributeError(f"module 'semigroups' has no attribute {name!r}")
    return getattr(importlib.import_module(f"semigroups.{_HOME.get(name, 'families')}"), name)
