"""Enumeration of transformation semigroups.

>>> from semigroups import Family, Semigroup
>>> S = Semigroup(Family.parse("bihecke:4"))
>>> S.size
477
>>> S.levels
[1, 6, 20, 52, 94, 134, 126, 34, 10]
>>> S.word(476)
(5, 1, 0, 2, 4, 3, 5, 4)
>>> [S.green(kind).count for kind in "RLJH"]
[71, 171, 28, 477]
>>> len(S.idempotents), len(S.rules)
(251, 268)
>>> S
<Semigroup of 477 maps of 24 points, 6 generators, with the identity; proved by comparing rows>
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # typing's own would be most of the time of importing this
if TYPE_CHECKING:
    from typing import Any

    from kernels.transformations.counts import SemigroupCounts

    from .batch import count_batch
    from .classes import GreenClasses
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
    from .files import StoredError
    from .reading import GeneratorsError, parse_generators, read_generators
    from .running import CancelledError, Progress
    from .semigroup import Semigroup

__all__ = [
    "CancelledError",
    "Family",
    "GeneratorsError",
    "GreenClasses",
    "Progress",
    "Semigroup",
    "SemigroupCounts",
    "StoredError",
    "bihecke",
    "catalan",
    "count_batch",
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
    "CancelledError": "running",
    "GreenClasses": "classes",
    "Progress": "running",
    "Semigroup": "semigroup",
    "SemigroupCounts": "batch",
    "count_batch": "batch",
    "StoredError": "files",
    "GeneratorsError": "reading",
    "parse_generators": "reading",
    "read_generators": "reading",
}


def __getattr__(name: str) -> Any:
    """Import on first use: `semigroups --help` must not wait for numpy."""
    if name not in __all__:
        raise AttributeError(f"module 'semigroups' has no attribute {name!r}")
    from bulkbits.ownership import check

    check("kernels")
    return getattr(importlib.import_module(f"semigroups.{_HOME.get(name, 'families')}"), name)
