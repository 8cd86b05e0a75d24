"""Rationals in bulk: RationalArray, and its operations as functions with where= and out=."""

from .array import RationalArray
from .functions import (
    absolute,
    add,
    divide,
    divmod,
    floor_divide,
    maximum,
    minimum,
    multiply,
    negative,
    power,
    remainder,
    subtract,
)

__all__ = [
    "RationalArray",
    "absolute",
    "add",
    "divide",
    "divmod",
    "floor_divide",
    "maximum",
    "minimum",
    "multiply",
    "negative",
    "power",
    "remainder",
    "subtract",
]
