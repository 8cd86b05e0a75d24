"""The operations of IntArray as functions, with `where` and `out` as numpy has them.

where: bool (count): only there is computed, and only there can anything fail; elsewhere
the result has what `out` had, or 0 without it.
out: an IntArray of the same length, which takes the result and is returned. It changes
only when all went well.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .integer import IntArray, Other
from .operators import Bools, mask_of, meet, quotient_and_remainder

_INDEX = re.compile(r" at index (\d+)")


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
    if out is None:
        outs: tuple[IntArray | None, ...] = (None, None)
    elif isinstance(out, tuple) and len(out) == 2:
        outs = out
    else:
        raise TypeError("out is a pair of IntArrays")
    if outs[0] is not None and outs[0] is outs[1]:
        raise ValueError("quotients and remainders cannot be put in the same IntArray")
    quotient, rest = _computed(
        lambda *values: quotient_and_remainder(IntArray, *values), (a, b), where, outs
    )
    return _store(quotient, outs[0]), _store(rest, outs[1])


def _masked(
    operation: Callable[..., IntArray],
    values: tuple[Other, ...],
    where: Any,
    out: IntArray | None,
) -> IntArray:
    (result,) = _computed(lambda *operands: (operation(*operands),), values, where, (out,))
    return _store(result, out)


def _computed(
    operation: Callable[..., tuple[IntArray, ...]],
    values: tuple[Other, ...],
    where: Any,
    outs: tuple[IntArray | None, ...],
) -> list[IntArray]:
    """What the outs are to take; nothing is stored yet."""
    engine, batches, common = meet(IntArray, *values)
    count = 1 if common is None else common
    for out in outs:
        if out is not None and not isinstance(out, IntArray):
            raise TypeError(f"out is an IntArray, not {type(out).__name__}")
        if out is not None and len(out) != count:
            raise ValueError(f"out has length {len(out)}, the result {count}")
    mask = None if where is True else mask_of(where, count)
    operands: list[Any] = [IntArray._of(engine, batch) for batch in batches]
    for i, value in enumerate(values):
        if count != 1 and len(operands[i]) == 1:  # a scalar among arrays
            scalar: Any = value
            operands[i] = int(scalar) if i else operands[i][np.zeros(count, np.int64)]
    if mask is None:
        return list(operation(*operands))
    places = np.flatnonzero(mask)
    chosen = [x[places] if isinstance(x, IntArray) else x for x in operands]
    try:
        results = operation(*chosen)
    except (ValueError, ZeroDivisionError) as error:
        raise _at_places(error, places) from None
    return [_spread(result, mask, out) for result, out in zip(results, outs, strict=True)]


def _at_places(error: Exception, places: npt.NDArray[np.intp]) -> Exception:
    """The error with the index in the whole array, for that among the chosen."""
    return type(error)(_INDEX.sub(lambda found: f" at index {places[int(found[1])]}", str(error)))


def _spread(result: IntArray, mask: Bools, out: IntArray | None) -> IntArray:
    """The results where the mask is true, elsewhere what was there."""
    before = IntArray(np.zeros(len(mask), np.int64)) if out is None else out
    if not len(result):
        return before
    places = np.maximum(np.cumsum(mask) - 1, 0)
    return IntArray.where(mask, result[places], before)


def _store(result: IntArray, out: IntArray | None) -> IntArray:
    if out is None:
        return result
    out._engine, out._batch = result._engine, result._batch
    return out
