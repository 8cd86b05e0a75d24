"""How the operators of IntArray bring their operands together.

The class of the results is a parameter: arith/integer.py has it, and is made of what is here.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from . import engines
from .batches import Array, IntegerBatch
from .memory import longest_bits
from .operations import OPERATIONS
from .scalars import as_real, comparable

Bools: TypeAlias = npt.NDArray[np.bool_]
Method: TypeAlias = Callable[[Any, Any], Any]


def meet(cls: type[IntegerBatch], *operands: Any) -> tuple[engines.Engine, list[Any], int | None]:
    """Return the operands' batches on one engine, and the result's length, None for scalars only.

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


def _as_array(cls: type[IntegerBatch], operand: Any) -> tuple[IntegerBatch, bool]:
    """Return an operand as an array, and whether it is a scalar."""
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
    """Return what `where` of a function says of each of `count` numbers."""
    mask = np.asarray(where)
    if mask.dtype != np.bool_:
        raise TypeError(f"where is a mask of bool, not of {mask.dtype}")
    if mask.ndim == 0:
        return np.full(count, bool(mask))
    if mask.shape != (count,):
        raise ValueError(f"a mask {mask.shape} for arrays of length {count}")
    return mask


def known(operand: Any) -> bool:
    """Return whether operators take `operand`, and do not leave it to its own operators."""
    return hasattr(operand, "__index__") or isinstance(operand, (np.ndarray, np.bool_, list, tuple))


def compute(cls: type[Array], name: str, *operands: Any) -> Array:
    """Return the result of the operation of that name of arith/operations.py.

    Raises what its row says, and as meet().
    """
    engine, batches, _ = meet(cls, *operands)
    return cls._of(engine, OPERATIONS[name].computed(engine, *batches))


def quotient_and_remainder(cls: type[Array], a: Any, b: Any) -> tuple[Array, Array]:
    """Return what divmod() does. Raises IndexedZeroDivisionError."""
    engine, batches, _ = meet(cls, a, b)
    quotient, remainder = OPERATIONS["divmod"].computed(engine, *batches)
    return cls._of(engine, quotient), cls._of(engine, remainder)


def both_ways(name: str) -> tuple[Method, Method]:
    """Return the methods of an operator, for the left operand and for the right one."""

    def left(self: Any, other: Any) -> Any:
        if not isinstance(other, type(self)) and not known(other):
            return NotImplemented
        return compute(type(self), name, self, other)

    def right(self: Any, other: Any) -> Any:
        if not known(other):
            return NotImplemented
        return compute(type(self), name, other, self)

    return left, right


def comparison(holds: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Bools]:
    """Return the method of a comparison, exact with numbers of any kind (arith/scalars.py)."""

    def compare(self: Any, other: Any) -> Bools:
        if holds in (operator.eq, operator.ne):
            other = as_real(other)
        number = comparable(other, longest_bits(self._batch), 0)
        if isinstance(number, float):  # above or below all numbers, or neither
            return np.full(len(self), bool(holds(0.0, number)))
        if isinstance(number, Fraction):
            return between(self, number)
        if number is None and not isinstance(other, type(self)) and not known(other):
            return cast("Bools", NotImplemented)
        engine, (x, y), _ = meet(type(self), self, other if number is None else number)
        result: Bools = holds(engine.compare(x, y), 0)
        return result

    def between(self: Any, other: Fraction) -> Bools:
        below = math.floor(other)
        if below == other:
            return compare(self, below)
        # Numbers up to `below` are less than the other, all others more; none is equal.
        engine, (x, y), _ = meet(type(self), self, below)
        less = engine.compare(x, y) <= 0
        result: Bools = np.where(less, holds(-1, 0), holds(1, 0)).astype(np.bool_)
        return result

    return compare
