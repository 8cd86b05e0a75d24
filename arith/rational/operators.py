"""How the operators of RationalArray bring their operands together.

The class is a parameter: arith/rational/array.py has it, and is made of what is here.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from numbers import Rational
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from arith.integer import IntArray

from . import exact, pairs
from .pairs import Bools, Operand

if TYPE_CHECKING:
    from .array import RationalArray

Method: TypeAlias = "Callable[[RationalArray, Any], Any]"

_FLOATS = (float, np.floating)


def known(other: Any) -> bool:
    """Operators leave what this is false for to the other operand."""
    return isinstance(other, (Rational, IntArray, np.ndarray, list, tuple, *_FLOATS))


def operand(cls: type[RationalArray], value: Any, count: int | None) -> tuple[Operand, bool]:
    """Its columns, and whether they are in lowest terms and to stay so.

    count: the length that it must have if it is no scalar, or None for any.
    Raises TypeError for floats, which stand for other numbers than they seem to.
    """
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, Rational):
        if count == 0:  # what stands for as many as there are stands for none
            return (IntArray(), IntArray()), True
        return (int(value.numerator), int(value.denominator)), True
    if isinstance(value, _FLOATS) or (isinstance(value, np.ndarray) and value.dtype.kind == "f"):
        raise TypeError("a float is no exact operand: make a Fraction or a RationalArray of it")
    columns: Operand
    lowest = True
    if isinstance(value, cls):
        columns, lowest = (value.numerator, value.denominator), value.reduced
    elif isinstance(value, IntArray):
        columns = value, 1
    elif isinstance(value, np.ndarray) and value.dtype.kind != "O":
        columns = IntArray(value), 1
    elif isinstance(value, (np.ndarray, list, tuple)):
        columns = exact.from_values(value, floats=False)
    else:
        raise TypeError(f"rationals are wanted, not {type(value).__name__}")
    length = len(columns[0]) if isinstance(columns[0], IntArray) else None
    if count is not None and length != count:
        raise ValueError(f"arrays of different lengths: {count} and {length}")
    return columns, lowest


def meet(self: RationalArray, other: Any) -> tuple[Operand, Operand, bool] | None:
    """The columns of both, and whether the result is to be in lowest terms."""
    cls = type(self)
    if not isinstance(other, cls) and not known(other):
        return None
    columns, lowest = operand(cls, other, len(self))
    return (self.numerator, self.denominator), columns, lowest and self.reduced


def both_ways(operation: Callable[[Operand, Operand, bool], pairs.Pair]) -> tuple[Method, Method]:
    """The methods of an operator, from the left and from the right."""

    def left(self: RationalArray, other: Any) -> Any:
        if (met := meet(self, other)) is None:
            return NotImplemented
        ours, theirs, lowest = met
        return self._of(*operation(ours, theirs, lowest), lowest)

    def right(self: RationalArray, other: Any) -> Any:
        if (met := meet(self, other)) is None:
            return NotImplemented
        ours, theirs, lowest = met
        return self._of(*operation(theirs, ours, lowest), lowest)

    return left, right


def floor_division() -> tuple[Method, Method]:
    def left(self: RationalArray, other: Any) -> Any:
        met = meet(self, other)
        return NotImplemented if met is None else pairs.floordiv(met[0], met[1])

    def right(self: RationalArray, other: Any) -> Any:
        met = meet(self, other)
        return NotImplemented if met is None else pairs.floordiv(met[1], met[0])

    return left, right


def comparison(holds: Callable[[Any, Any], Any]) -> Callable[[RationalArray, Any], Bools]:
    def compare(self: RationalArray, other: Any) -> Any:
        if isinstance(other, _FLOATS):
            if not math.isfinite(other):  # above or below all numbers, or neither
                return np.full(len(self), bool(holds(0.0, float(other))))
            other = Fraction(float(other))
        if (met := meet(self, other)) is None:
            return NotImplemented
        ours, theirs, lowest = met
        if lowest and holds in (operator.eq, operator.ne):
            same = np.logical_and(ours[0] == theirs[0], ours[1] == theirs[1])
            return same if holds is operator.eq else np.logical_not(same)
        return holds(*pairs.crosswise(ours, theirs))

    return compare
