"""How the operators of RationalArray bring their operands together.

The class is a parameter: arith/rational/array.py has it, and is made of what is here.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from numbers import Rational
from typing import Any, Protocol, TypeAlias

import numpy as np

from arith.integer import IntArray
from arith.memory import longest_bits
from arith.scalars import as_real, comparable

from . import exact, pairs
from .pairs import Bools, Operand

Method: TypeAlias = Callable[[Any, Any], Any]

_FLOATS = (float, np.floating)


class Rationals(Protocol):
    """The part of a RationalArray that operators need."""

    def __len__(self) -> int:
        """Return how many numbers there are."""

    @property
    def numerator(self) -> IntArray:
        """Return the numerators."""

    @property
    def denominator(self) -> IntArray:
        """Return the denominators, which are above zero."""

    @property
    def reduced(self) -> bool:
        """Return whether the numbers are in lowest terms and are to stay so."""


def known(other: Any) -> bool:
    """Return whether operators take `other`, and do not leave it to its own operators."""
    if isinstance(other, np.timedelta64):  # to numpy an integer, but of seconds or days
        return False
    return isinstance(other, (Rational, np.bool_, IntArray, np.ndarray, list, tuple, *_FLOATS))


def operand(cls: type[Rationals], value: Any, count: int | None) -> tuple[Operand, bool]:
    """Return the columns of an operand, and whether they are in lowest terms and to stay so.

    count: the length that it must have if it is no scalar, or None for any.
    Raises TypeError for floats, which stand for other numbers than they seem to.
    """
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, np.bool_):  # numpy's is no Rational, Python's is
        value = int(value)
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


def meet(self: Rationals, other: Any) -> tuple[Operand, Operand, bool] | None:
    """Return the columns of both, and whether the result is to be in lowest terms."""
    cls = type(self)
    if not isinstance(other, cls) and not known(other):
        return None
    columns, lowest = operand(cls, other, len(self))
    return (self.numerator, self.denominator), columns, lowest and self.reduced


def both_ways(operation: Callable[[Operand, Operand, bool], pairs.Pair]) -> tuple[Method, Method]:
    """Return the methods of an operator, for the left operand and for the right one."""

    def left(self: Any, other: Any) -> Any:
        if (met := meet(self, other)) is None:
            return NotImplemented
        ours, theirs, lowest = met
        return self._of(*operation(ours, theirs, lowest), lowest)

    def right(self: Any, other: Any) -> Any:
        if (met := meet(self, other)) is None:
            return NotImplemented
        ours, theirs, lowest = met
        return self._of(*operation(theirs, ours, lowest), lowest)

    return left, right


def floor_division() -> tuple[Method, Method]:
    """Return the methods of //, whose results are integers."""

    def left(self: Any, other: Any) -> Any:
        met = meet(self, other)
        return NotImplemented if met is None else pairs.floordiv(met[0], met[1])

    def right(self: Any, other: Any) -> Any:
        met = meet(self, other)
        return NotImplemented if met is None else pairs.floordiv(met[1], met[0])

    return left, right


def comparison(holds: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Bools]:
    """Return the method of a comparison, exact with numbers of any kind (arith/scalars.py)."""

    def compare(self: Any, other: Any) -> Any:
        if holds in (operator.eq, operator.ne):
            other = as_real(other)
        above, below = (longest_bits(x._batch) for x in (self.numerator, self.denominator))
        number = comparable(other, above, below)
        if isinstance(number, float):  # above or below all numbers, or neither
            return np.full(len(self), bool(holds(0.0, number)))
        other = other if number is None else number
        if (met := meet(self, other)) is None:
            return NotImplemented
        ours, theirs, lowest = met
        if lowest and holds in (operator.eq, operator.ne):
            same = np.logical_and(ours[0] == theirs[0], ours[1] == theirs[1])
            return same if holds is operator.eq else np.logical_not(same)
        return holds(*pairs.crosswise(ours, theirs))

    return compare
