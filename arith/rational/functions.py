"""The operations of RationalArray as functions, with `where` and `out` as numpy has them.

where: bool (count): only there is computed, and only there can anything fail; elsewhere
the result has what `out` had, or 0 without it.
out: an array of the same length and of the result's type, which takes the result and is
returned. It changes only when all went well; no other array does (see arith/functions.py).
At least one operand is a RationalArray.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from arith.integer import IntArray
from arith.operators import mask_of

from .array import Other, RationalArray

Result = TypeVar("Result", IntArray, RationalArray)


def add(
    a: Other, b: Other, *, where: Any = True, out: RationalArray | None = None
) -> RationalArray:
    """Return a + b."""
    return _masked(operator.add, (a, b), where, out)


def subtract(
    a: Other, b: Other, *, where: Any = True, out: RationalArray | None = None
) -> RationalArray:
    """Return a - b."""
    return _masked(operator.sub, (a, b), where, out)


def multiply(
    a: Other, b: Other, *, where: Any = True, out: RationalArray | None = None
) -> RationalArray:
    """Return a * b."""
    return _masked(operator.mul, (a, b), where, out)


def divide(
    a: Other, b: Other, *, where: Any = True, out: RationalArray | None = None
) -> RationalArray:
    """Return a / b. Raises ZeroDivisionError with the first index."""
    return _masked(operator.truediv, (a, b), where, out, RationalArray)


def remainder(
    a: Other, b: Other, *, where: Any = True, out: RationalArray | None = None
) -> RationalArray:
    """Return a - a // b * b. Raises ZeroDivisionError with the first index."""
    return _masked(operator.mod, (a, b), where, out, RationalArray)


def floor_divide(a: Other, b: Other, *, where: Any = True, out: IntArray | None = None) -> IntArray:
    """Return a // b, integers. Raises ZeroDivisionError with the first index."""
    return _masked(operator.floordiv, (a, b), where, out, RationalArray)


def divmod(
    a: Other,
    b: Other,
    *,
    where: Any = True,
    out: tuple[IntArray, RationalArray] | None = None,
) -> tuple[IntArray, RationalArray]:
    """Return quotients and remainders; out: an IntArray and a RationalArray."""
    if out is not None and (not isinstance(out, tuple) or len(out) != 2):
        raise TypeError("out is a pair of an IntArray and a RationalArray")
    quotient_out, rest_out = (None, None) if out is None else out
    # Both before either is stored.
    quotient = _computed(operator.floordiv, (a, b), where, quotient_out, RationalArray)
    rest = _computed(operator.mod, (a, b), where, rest_out, RationalArray)
    return _store(quotient, quotient_out), _store(rest, rest_out)


def power(
    a: RationalArray,
    b: IntArray | int | npt.NDArray[Any] | list[int],
    *,
    where: Any = True,
    out: RationalArray | None = None,
) -> RationalArray:
    """Return a ** b.

    Raises ZeroDivisionError with the first index of a zero to a negative power.
    """
    return _masked(operator.pow, (a, b), where, out, IntArray)


def minimum(
    a: Other, b: Other, *, where: Any = True, out: RationalArray | None = None
) -> RationalArray:
    """Return the smaller of each pair of numbers."""
    return _masked(RationalArray.minimum, (a, b), where, out)


def maximum(
    a: Other, b: Other, *, where: Any = True, out: RationalArray | None = None
) -> RationalArray:
    """Return the larger of each pair of numbers."""
    return _masked(RationalArray.maximum, (a, b), where, out)


def negative(
    a: RationalArray, *, where: Any = True, out: RationalArray | None = None
) -> RationalArray:
    """Return -a."""
    return _masked(operator.neg, (a,), where, out)


def absolute(
    a: RationalArray, *, where: Any = True, out: RationalArray | None = None
) -> RationalArray:
    """Return the absolute values."""
    return _masked(operator.abs, (a,), where, out)


def _masked(
    operation: Callable[..., Result],
    values: tuple[Any, ...],
    where: Any,
    out: Result | None,
    guard: type[RationalArray | IntArray] | None = None,
) -> Result:
    return _store(_computed(operation, values, where, out, guard), out)


def _computed(
    operation: Callable[..., Result],
    values: tuple[Any, ...],
    where: Any,
    out: Result | None,
    guard: type[RationalArray | IntArray] | None,
) -> Result:
    """Return what out is to take; it can take it.

    guard: what to make of the second operand, to put ones where the mask is false, as
    the operation could fail there.
    """
    count = next((len(value) for value in values if isinstance(value, RationalArray)), None)
    if count is None:
        raise TypeError("one of the operands must be a RationalArray")
    mask = None if where is True else mask_of(where, count)
    if mask is not None and guard is not None:
        values = values[0], guard.where(mask, values[1], 1)
    result = operation(*values)
    kind: type[Result] = type(result)
    if out is not None and type(out) is not kind:
        raise TypeError(f"out is to be a {kind.__name__}, not a {type(out).__name__}")
    if out is not None and len(out) != count:
        raise ValueError(f"out has length {len(out)}, the result {count}")
    if mask is None:
        return result
    before = kind(np.zeros(count, np.int64)) if out is None else out
    return kind.where(mask, result, before)


def _store(result: Result, out: Result | None) -> Result:
    if out is None:
        return result
    out._become(result)
    return out
