"""Bulk big integers, rationals and GCD.

>>> from arith import IntArray
>>> a = IntArray([2**100, -7, 0])
>>> (a * a + 1) % 1000
IntArray([377, 50, 1])
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # typing's own would be most of the time of importing this
if TYPE_CHECKING:
    from typing import Any

    from .factors import Finding, Kind, StoredModuli, save_moduli, shared_factors
    from .functions import (
        absolute,
        add,
        divmod,
        floor_divide,
        gcd,
        invert,
        isqrt,
        lcm,
        left_shift,
        maximum,
        minimum,
        multiply,
        multiply_add,
        negative,
        power,
        powmod,
        remainder,
        right_shift,
        subtract,
    )
    from .integer import IntArray
    from .pool import Pool
    from .rational import RationalArray
    from .redundant import RedundantInt

__all__ = [
    "Finding",
    "IntArray",
    "Kind",
    "Pool",
    "RationalArray",
    "RedundantInt",
    "StoredModuli",
    "absolute",
    "add",
    "divmod",
    "floor_divide",
    "gcd",
    "invert",
    "isqrt",
    "lcm",
    "left_shift",
    "maximum",
    "minimum",
    "multiply",
    "multiply_add",
    "negative",
    "power",
    "powmod",
    "remainder",
    "right_shift",
    "save_moduli",
    "shared_factors",
    "subtract",
]

_HOME = {
    "Finding": "factors",
    "IntArray": "integer",
    "Kind": "factors",
    "Pool": "pool",
    "RationalArray": "rational",
    "RedundantInt": "redundant",
    "StoredModuli": "factors",
    "save_moduli": "factors",
    "shared_factors": "factors",
}


def __getattr__(name: str) -> Any:
    """Import on first use: `arith --help` must not wait for numpy."""
    if name not in __all__:
        raise AttributeError(f"module 'arith' has no attribute {name!r}")
    from bulkbits.ownership import check

    check("kernels")
    return getattr(importlib.import_module(f"arith.{_HOME.get(name, 'functions')}"), name)
