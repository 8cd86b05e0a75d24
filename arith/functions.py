"""The operations of IntArray as functions, with `where` and `out` as numpy has them.

where: bool (count): only there is computed, and only there can anything fail; elsewhere
the result has what `out` had, or 0 without it.
out: an IntArray of the same length, which takes the result, and the place where that lies,
and is returned; it may be an operand. It changes only when all went well. It is the object
that changes, as a list does by `a[:] = ...`, not the memory: all other arrays keep their
numbers, also slices of `out`, `+out`, copies and what it was made from.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np

from kernels.bignum.errors import IndexedError

from .integer import IntArray, Other
from .operations import OPERATIONS
from .operators import Bools, mask_of, meet

Function = TypeVar("Function", bound=Callable[..., Any])


class Unary(Protocol):
    """The type of a function of one array."""

    def __call__(self, a: Other, *, where: Any = True, out: IntArray | None = None) -> IntArray:
        """Return the result for every number."""


class Binary(Protocol):
    """The type of a function of two arrays."""

    def __call__(
        self, a: Other, b: Other, *, where: Any = True, out: IntArray | None = None
    ) -> IntArray:
        """Return the result for every pair of numbers."""


class Modular(Protocol):
    """The type of a function of two arrays whose results may be modulo a power of two."""

    def __call__(
        self,
        a: Other,
        b: Other,
        *,
        bits: int | None = None,
        where: Any = True,
        out: IntArray | None = None,
    ) -> IntArray:
        """Return the result for every pair of numbers, modulo 2**bits where that is given."""


class Ternary(Protocol):
    """The type of a function of three arrays."""

    def __call__(
        self, a: Other, b: Other, c: Other, *, where: Any = True, out: IntArray | None = None
    ) -> IntArray:
        """Return the result for every three numbers."""


def _named(function: Function, name: str) -> Function:
    """Name a function, and document it, as the operation of that name."""
    row = OPERATIONS[name]
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Return, for every number: {row.line}.\n\n    where, out: as numpy's.\n    "
    return function


def _unary(name: str) -> Unary:
    def function(a: Other, *, where: Any = True, out: IntArray | None = None) -> IntArray:
        return _masked(name, (a,), where, out)

    return _named(function, name)


def _binary(name: str) -> Binary:
    def function(a: Other, b: Other, *, where: Any = True, out: IntArray | None = None) -> IntArray:
        return _masked(name, (a, b), where, out)

    return _named(function, name)


def _modular(name: str) -> Modular:
    def function(
        a: Other,
        b: Other,
        *,
        bits: int | None = None,
        where: Any = True,
        out: IntArray | None = None,
    ) -> IntArray:
        if bits is not None and (bits := operator.index(bits)) < 1:
            raise ValueError(f"bits is at least 1, not {bits}")
        return _masked(name, (a, b), where, out, bits)

    named = _named(function, name)
    named.__doc__ = f"""Return, for every number: {OPERATIONS[name].line}.

    bits: of words that have room for the result, which is then taken modulo 2^bits and never
    negative; None for any room.

    where, out: as numpy's.
    """
    return named


def _ternary(name: str) -> Ternary:
    def function(
        a: Other, b: Other, c: Other, *, where: Any = True, out: IntArray | None = None
    ) -> IntArray:
        return _masked(name, (a, b, c), where, out)

    return _named(function, name)


add = _modular("add")
subtract = _modular("subtract")
multiply = _modular("multiply")
multiply_add = _ternary("multiply_add")
floor_divide = _binary("floor_divide")
remainder = _binary("remainder")
power = _binary("power")
powmod = _ternary("powmod")
left_shift = _binary("left_shift")
right_shift = _binary("right_shift")
invert = _binary("invert")
gcd = _binary("gcd")
lcm = _binary("lcm")
minimum = _binary("minimum")
maximum = _binary("maximum")
negative = _unary("negative")
absolute = _unary("absolute")
isqrt = _unary("isqrt")


def divmod(
    a: Other, b: Other, *, where: Any = True, out: tuple[IntArray, IntArray] | None = None
) -> tuple[IntArray, IntArray]:
    """Return floor quotients, and remainders with the divisors' signs; out: a pair of IntArrays."""
    if out is None:
        outs: tuple[IntArray | None, ...] = (None, None)
    elif isinstance(out, tuple) and len(out) == 2:
        outs = out
    else:
        raise TypeError("out is a pair of IntArrays")
    if outs[0] is not None and outs[0] is outs[1]:
        raise ValueError("quotients and remainders cannot be put in the same IntArray")
    quotient, rest = _computed("divmod", (a, b), where, outs)
    return _store(quotient, outs[0]), _store(rest, outs[1])


def _masked(
    name: str,
    values: tuple[Other, ...],
    where: Any,
    out: IntArray | None,
    bits: int | None = None,
) -> IntArray:
    (result,) = _computed(name, values, where, (out,), bits)
    return _store(result, out)


def _computed(
    name: str,
    values: tuple[Other, ...],
    where: Any,
    outs: tuple[IntArray | None, ...],
    bits: int | None = None,
) -> list[IntArray]:
    """Return what the outs are to take; nothing is stored yet. bits: as Operation.low_bits()'s."""
    engine, batches, common = meet(IntArray, *values)
    count = 1 if common is None else common
    for out in outs:
        if out is not None and not isinstance(out, IntArray):
            raise TypeError(f"out is an IntArray, not {type(out).__name__}")
        if out is not None and len(out) != count:
            raise ValueError(f"out has length {len(out)}, the result {count}")
    operation = OPERATIONS[name]
    compute = operation.computed if bits is None else partial(operation.low_bits, bits=bits)
    mask = None if where is True else mask_of(where, count)
    if mask is None:
        return _arrays(engine, compute(engine, *batches))
    places = np.flatnonzero(mask)
    chosen = [
        batch if batch.count == 1 and count != 1 and len(places) else engine.take(batch, places)
        for batch in batches
    ]
    try:
        results = _arrays(engine, compute(engine, *chosen))
    except IndexedError as error:
        raise error.moved(int(places[error.index])) from None
    return [_spread(result, mask, out) for result, out in zip(results, outs, strict=True)]


def _arrays(engine: Any, batches: Any) -> list[IntArray]:
    several = batches if isinstance(batches, tuple) else (batches,)
    return [IntArray._of(engine, batch) for batch in several]


def _spread(result: IntArray, mask: Bools, out: IntArray | None) -> IntArray:
    """Return the results where the mask is true, elsewhere what was there."""
    before = IntArray(np.zeros(len(mask), np.int64)) if out is None else out
    if not len(result):
        return before
    places = np.maximum(np.cumsum(mask) - 1, 0)
    return IntArray.where(mask, result[places], before)


def _store(result: IntArray, out: IntArray | None) -> IntArray:
    if out is None:
        return result
    out._become(result)
    return out
