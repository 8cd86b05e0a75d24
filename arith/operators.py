"""How the operators of IntArray bring their operands together.

The class is a parameter: arith/integer.py has it, and is made of what is here.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from . import engines
from .convert import lowest_words
from .memory import check_power, check_product, check_shift

if TYPE_CHECKING:
    from .integer import IntArray

Bools: TypeAlias = npt.NDArray[np.bool_]
Operation: TypeAlias = "Callable[[IntArray, Any], IntArray]"

_LONGEST_SHIFT = 1 << 62


def meet(cls: type[IntArray], *operands: Any) -> tuple[engines.Engine, list[Any], int | None]:
    """Their batches on one engine, and the length of the result; None if all are scalars.

    Raises ValueError where lengths differ, TypeError for what is no integer.
    """
    arrays = [_as_array(cls, operand) for operand in operands]
    lengths = [len(array) for array, scalar in arrays if not scalar]
    for length in lengths:
        if length != lengths[0]:
            raise ValueError(f"IntArrays of different lengths: {lengths[0]} and {length}")
    engine = engines.common(*(array._engine for array, _ in arrays))
    batches = [array._on(engine) for array, _ in arrays]
    if not lengths:
        return engine, batches, None
    if lengths[0] == 0:  # what stands for as many as there are stands for none
        batches = [engine.take(batch, slice(0, 0)) for batch in batches]
    return engine, batches, lengths[0]


def _as_array(cls: type[IntArray], operand: Any) -> tuple[IntArray, bool]:
    """And whether it is a scalar."""
    if isinstance(operand, cls):
        return operand, False
    if isinstance(operand, (np.ndarray, list, tuple)):
        if isinstance(operand, np.ndarray) and operand.ndim == 0:
            return cls(operand.reshape(1)), True
        return cls(operand), False
    if isinstance(operand, np.bool_):  # numpy's has no __index__, Python's has
        operand = bool(operand)
    try:
        return cls([operator.index(operand)]), True
    except TypeError:
        raise TypeError(f"integers are wanted, not {type(operand).__name__}") from None


def mask_of(where: Any, count: int) -> Bools:
    """What `where` of a function says of each of `count` numbers."""
    mask = np.asarray(where)
    if mask.dtype != np.bool_:
        raise TypeError(f"where is a mask of bool, not of {mask.dtype}")
    if mask.ndim == 0:
        return np.full(count, bool(mask))
    if mask.shape != (count,):
        raise ValueError(f"a mask {mask.shape} for arrays of length {count}")
    return mask


def known(operand: Any) -> bool:
    """Operators leave what this is false for to the other operand."""
    return hasattr(operand, "__index__") or isinstance(operand, (np.ndarray, np.bool_, list, tuple))


def check_divisor(engine: engines.Engine, batch: Any) -> None:
    index = engine.first_zero(batch)
    if index >= 0:
        raise ZeroDivisionError(f"division by zero at index {index}")


def binary(cls: type[IntArray], name: str, a: Any, b: Any) -> IntArray:
    """The operation of that name of kernels.bignum.arithmetic.Arithmetic."""
    engine, (x, y), _ = meet(cls, a, b)
    if name in ("floordiv", "mod"):
        check_divisor(engine, y)
    elif name == "multiply":
        check_product(engine, x, y)
    return cls._of(engine, getattr(engine, name)(x, y))


def both_ways(name: str) -> tuple[Operation, Operation]:
    """The methods of an operator, from the left and from the right."""

    def left(self: IntArray, other: Any) -> IntArray:
        if not isinstance(other, type(self)) and not known(other):
            return cast("IntArray", NotImplemented)
        return binary(type(self), name, self, other)

    def right(self: IntArray, other: Any) -> IntArray:
        if not known(other):
            return cast("IntArray", NotImplemented)
        return binary(type(self), name, other, self)

    return left, right


def quotient_and_remainder(cls: type[IntArray], a: Any, b: Any) -> tuple[IntArray, IntArray]:
    engine, (x, y), _ = meet(cls, a, b)
    check_divisor(engine, y)
    quotient, remainder = engine.divmod(x, y)
    return cls._of(engine, quotient), cls._of(engine, remainder)


def shift(cls: type[IntArray], a: Any, counts: Any, direction: int) -> IntArray:
    engine, (x, y), _ = meet(cls, a, counts)
    if (negative := engine.sign(y) < 0).any():
        raise ValueError(f"negative shift count at index {int(negative.argmax())}")
    by = _small(engine, y)
    if direction > 0:
        check_shift(engine, x, by)
    return cls._of(engine, engine.shift(x, direction * by))


def shifts(direction: int) -> tuple[Operation, Operation]:
    def left(self: IntArray, counts: Any) -> IntArray:
        if not isinstance(counts, type(self)) and not known(counts):
            return cast("IntArray", NotImplemented)
        return shift(type(self), self, counts, direction)

    def right(self: IntArray, values: Any) -> IntArray:
        if not known(values):
            return cast("IntArray", NotImplemented)
        return shift(type(self), values, self, direction)

    return left, right


def comparison(holds: Callable[[Any, Any], Any]) -> Callable[[IntArray, Any], Bools]:
    def compare(self: IntArray, other: Any) -> Bools:
        if isinstance(other, Real) and not isinstance(other, Integral):
            return between(self, other)
        if not isinstance(other, type(self)) and not known(other):
            return cast("Bools", NotImplemented)
        engine, (x, y), _ = meet(type(self), self, other)
        result: Bools = holds(engine.compare(x, y), 0)
        return result

    def between(self: IntArray, other: Any) -> Bools:
        """With a number that need be no integer: exactly, as Python compares int with float."""
        if not math.isfinite(other):  # above or below all numbers, or neither
            return np.full(len(self), bool(holds(0.0, float(other))))
        below = math.floor(other)
        if below == other:
            return compare(self, below)
        # Numbers up to `below` are less than the other, all others more; none is equal.
        engine, (x, y), _ = meet(type(self), self, below)
        less = engine.compare(x, y) <= 0
        result: Bools = np.where(less, holds(-1, 0), holds(1, 0)).astype(np.bool_)
        return result

    return compare


def _small(engine: engines.Engine, batch: Any) -> npt.NDArray[np.int64]:
    """Numbers that are not negative as int64; what is out of all proportion, cut off."""
    low, more = lowest_words(engine.get(batch))
    small: npt.NDArray[np.int64] = np.minimum(low, np.uint64(_LONGEST_SHIFT)).astype(np.int64)
    small[more] = _LONGEST_SHIFT
    return small


def power(cls: type[IntArray], base: Any, exponents: Any) -> IntArray:
    """Raises ValueError with the first index of a negative exponent."""
    engine, (x, e), _ = meet(cls, base, exponents)
    if (negative := engine.sign(e) < 0).any():
        raise ValueError(
            f"negative exponent at index {int(negative.argmax())}: the power would be no integer"
        )
    counts = _small(engine, e)
    check_power(engine, x, counts)
    return cls._of(engine, engine.power(x, counts))


def powmod(cls: type[IntArray], base: Any, exponents: Any, moduli: Any) -> IntArray:
    """Raises ValueError with the first index of a modulus of zero, or without an inverse."""
    engine, (x, e, m), count = meet(cls, base, exponents, moduli)
    index = engine.first_zero(m)
    if index >= 0:
        raise ValueError(f"modulus zero at index {index}")
    negative = engine.sign(e) < 0
    if negative.any():
        # Few in practice, so one after the other will do.
        values, powers, mods = (cls._of(engine, batch).to_ints() for batch in (x, e, m))
        length = 1 if count is None else count
        results = []
        for i in range(length):
            value, exponent, modulus = (v[i if len(v) > 1 else 0] for v in (values, powers, mods))
            try:
                results.append(pow(value, exponent, modulus))
            except ValueError:
                raise ValueError(f"no inverse for the modulus at index {i}") from None
        return cls._of(engine, engine.put(cls(results).numbers()))
    return cls._of(engine, engine.powmod(x, e, m))
