"""The operations of IntArray as functions, with `where` and `out` as numpy has them.

where: bool (count): only there is computed, and only there can anything fail; elsewhere
the result has what `out` had, or 0 without it.
out: an IntArray of the same length, which takes the result and is returned. It changes
only when all went well.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from .integer import IntArray, Other
from .operators import Bools, meet, quotient_and_remainder


def add(a: Other, b: Other, *, where: Any = True, out: IntArray | None = None) -> IntArray:
    return _masked(operator.add, (a, b), where, out)


def subtract(a: Other, b: Other, *, where: Any = True, out: IntArray | None = None) -> IntArray:
    return _masked(operator.sub, (a, b), where, out)


def multiply(a: Other, b: Other, *, where: Any = True, out: IntArray | None = None) -> IntArray:
    return _masked(operator.mul, (a, b), where, out)


def multiply_add(
    a: Other, b: Other, c: Other, *, where: Any = True, out: IntArray | None = None
) -> IntArray:
    """a * b + c in one pass over memory."""
    return _masked(IntArray.multiply_add, (a, b, c), where, out)


def floor_divide(a: Other, b: Other, *, where: Any = True, out: IntArray | None = None) -> IntArray:
    return _masked(operator.floordiv, (a, b), where, out)


def remainder(a: Other, b: Other, *, where: Any = True, out: IntArray | None = None) -> IntArray:
    return _masked(operator.mod, (a, b), where, out)


def power(a: Other, b: Other, *, where: Any = True, out: IntArray | None = None) -> IntArray:
    return _masked(operator.pow, (a, b), where, out)


def powmod(
    a: Other, b: Other, c: Other, *, where: Any = True, out: IntArray | None = None
) -> IntArray:
    """As pow(a, b, c)."""
    return _masked(IntArray.powmod, (a, b, c), where, out)


def left_shift(a: Other, b: Other, *, where: Any = True, out: IntArray | None = None) -> IntArray:
    return _masked(operator.lshift, (a, b), where, out)


def right_shift(a: Other, b: Other, *, where: Any = True, out: IntArray | None = None) -> IntArray:
    return _masked(operator.rshift, (a, b), where, out)


def gcd(a: Other, b: Other, *, where: Any = True, out: IntArray | None = None) -> IntArray:
    return _masked(IntArray.gcd, (a, b), where, out)


def lcm(a: Other, b: Other, *, where: Any = True, out: IntArray | None = None) -> IntArray:
    return _masked(IntArray.lcm, (a, b), where, out)


def minimum(a: Other, b: Other, *, where: Any = True, out: IntArray | None = None) -> IntArray:
    return _masked(IntArray.minimum, (a, b), where, out)


def maximum(a: Other, b: Other, *, where: Any = True, out: IntArray | None = None) -> IntArray:
    return _masked(IntArray.maximum, (a, b), where, out)


def negative(a: Other, *, where: Any = True, out: IntArray | None = None) -> IntArray:
    return _masked(operator.neg, (a,), where, out)


def absolute(a: Other, *, where: Any = True, out: IntArray | None = None) -> IntArray:
    return _masked(operator.abs, (a,), where, out)


def isqrt(a: Other, *, where: Any = True, out: IntArray | None = None) -> IntArray:
    return _masked(IntArray.isqrt, (a,), where, out)


def divmod(
    a: Other, b: Other, *, where: Any = True, out: tuple[IntArray, IntArray] | None = None
) -> tuple[IntArray, IntArray]:
    """Quotients and remainders; out: a pair of IntArrays."""
    operands, mask = _operands((a, b), where)
    quotient, rest = quotient_and_remainder(IntArray, *operands)
    if out is None:
        return _spread(quotient, mask, None), _spread(rest, mask, None)
    # Both before either is stored.
    results = _spread(quotient, mask, out[0]), _spread(rest, mask, out[1])
    return _store(results[0], out[0]), _store(results[1], out[1])


def _operands(values: tuple[Other, ...], where: Any) -> tuple[list[Any], Bools | None]:
    """What is asked for of them, the first as an IntArray; and the mask, if there is one."""
    engine, batches, count = meet(IntArray, *values)
    operands: list[Any] = [IntArray._of(engine, batch) for batch in batches]
    if count is not None:  # else all are scalars, and alone with each other
        for i, value in enumerate(values):
            if not hasattr(value, "__len__"):
                repeated = operands[i][np.zeros(count, np.int64)] if count else operands[i]
                operands[i] = value if i else repeated
    if where is True:
        return operands, None
    mask = np.asarray(where)
    if mask.dtype != np.bool_:
        raise TypeError(f"where is a mask of bool, not of {mask.dtype}")
    if mask.ndim == 0:
        mask = np.full(1 if count is None else count, bool(mask))
    length = len(mask) if count is None else count
    if mask.shape != (length,):
        raise ValueError(f"a mask {mask.shape} for IntArrays of length {length}")
    return [x[mask] if isinstance(x, IntArray) else x for x in operands], mask


def _masked(
    operation: Callable[..., IntArray],
    values: tuple[Other, ...],
    where: Any,
    out: IntArray | None,
) -> IntArray:
    operands, mask = _operands(values, where)
    return _store(_spread(operation(*operands), mask, out), out)


def _spread(result: IntArray, mask: Bools | None, out: IntArray | None) -> IntArray:
    """The results where the mask is true, elsewhere what was there."""
    if mask is not None:
        before = IntArray(np.zeros(len(mask), np.int64)) if out is None else out
        if len(before) != len(mask):
            raise ValueError(f"out has length {len(before)}, the result {len(mask)}")
        if not len(result):
            return before
        places = np.maximum(np.cumsum(mask) - 1, 0)
        result = IntArray.where(mask, result[places], before)
    if out is not None and len(out) != len(result):
        raise ValueError(f"out has length {len(out)}, the result {len(result)}")
    return result


def _store(result: IntArray, out: IntArray | None) -> IntArray:
    if out is None:
        return result
    out._engine, out._batch = result._engine, result._batch
    return out
