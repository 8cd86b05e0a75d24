"""Results that memory cannot hold are refused before any of it is taken."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels.targets.memory import available_memory

from . import engines

_SMALL = 1 << 28  # bytes that are not worth asking about


class NotEnoughMemoryError(MemoryError):
    """Something that was asked for needs more memory than there is.

    needed, available: bytes. verb: stands between `what` and the bytes in the text.
    """

    def __init__(self, what: str, needed: int, available: int, verb: str = "needs about") -> None:
        super().__init__(what, needed, available, verb)
        self.what, self.needed, self.available, self.verb = what, needed, available, verb

    def __str__(self) -> str:
        return f"{self.what} {self.verb} {self.needed:,} bytes, {self.available:,} are available"


def refuse(nbytes: float, what: str) -> None:
    """Raise NotEnoughMemoryError where there are not so many bytes."""
    if nbytes > _SMALL and nbytes > (free := available_memory()):
        raise NotEnoughMemoryError(what, round(nbytes), free)


def longest_bits(batch: Any) -> int:
    """Return an upper bound of the bit lengths, without a look at the numbers."""
    if hasattr(batch, "bits"):
        return int(batch.bits)
    return 32 * int(batch.longest) if hasattr(batch, "longest") else 64 * int(batch.width)


def _unbounded(*operands: Any) -> float:
    return math.inf


@dataclass(frozen=True, slots=True)
class Room:
    """The bytes that the results of an operation take.

    what: the result's name. exact: bytes from an engine and the operands of its kernel. bound:
    an upper bound of that from the operands alone, which takes no look at the numbers.
    """

    what: str
    exact: Callable[..., float]
    bound: Callable[..., float] = _unbounded

    def check(self, engine: engines.Engine, *operands: Any) -> None:
        """Raise NotEnoughMemoryError where there is no room for the results."""
        if self.bound(*operands) > _SMALL:
            refuse(self.exact(engine, *operands), self.what)


def _bits(engine: engines.Engine, batch: Any) -> npt.NDArray[np.float64]:
    return engine.bit_length(batch).astype(np.float64)


def _product_bits(engine: engines.Engine, a: Any, b: Any) -> npt.NDArray[np.float64]:
    x, y = _bits(engine, a), _bits(engine, b)
    return np.where((x > 0) & (y > 0), x + y, 0.0)


def _product(engine: engines.Engine, a: Any, b: Any) -> float:
    return float(_product_bits(engine, a, b).sum()) / 8


def _product_bound(a: Any, b: Any) -> float:
    return float(max(a.count, b.count) * (longest_bits(a) + longest_bits(b)) / 8)


def _sum_of_product(engine: engines.Engine, a: Any, b: Any, c: Any) -> float:
    return float(np.maximum(_product_bits(engine, a, b), _bits(engine, c)).sum()) / 8


def _sum_of_product_bound(a: Any, b: Any, c: Any) -> float:
    longest = max(longest_bits(a) + longest_bits(b), longest_bits(c))
    return float(max(a.count, b.count, c.count) * longest / 8)


def _lcm(engine: engines.Engine, a: Any, b: Any) -> float:
    """Return the bytes of the longer operands, as a multiple is no shorter than they are."""
    x, y = _bits(engine, a), _bits(engine, b)
    return float(np.where((x > 0) & (y > 0), np.maximum(x, y), 0.0).sum()) / 8


def _lcm_bound(a: Any, b: Any) -> float:
    return float(max(a.count, b.count) * max(longest_bits(a), longest_bits(b)) / 8)


def _left_shift(engine: engines.Engine, a: Any, counts: npt.NDArray[np.int64]) -> float:
    """Return the bytes of a shift; zero stays as short as it is."""
    bits = _bits(engine, a)
    return float(np.where(bits > 0, bits + counts, 0.0).sum()) / 8


def _power(engine: engines.Engine, a: Any, exponents: npt.NDArray[np.int64]) -> float:
    """Return the bytes of a power; 0, 1 and -1 stay as short as they are."""
    bits = _bits(engine, a)
    return float(np.where(bits > 1, bits * exponents, 1.0).sum()) / 8


def _low_bits(engine: engines.Engine, a: Any, bits: int) -> float:
    """Return the bytes of numbers modulo 2**bits; those that are not negative get no longer."""
    return float(np.count_nonzero(engine.sign(a) < 0) * bits / 8)


def _low_bits_bound(a: Any, bits: int) -> float:
    return float(a.count * bits / 8)


PRODUCT = Room("the product", _product, _product_bound)
SUM_OF_PRODUCT = Room("the sum", _sum_of_product, _sum_of_product_bound)
LCM = Room("the lcm", _lcm, _lcm_bound)
LEFT_SHIFT = Room("the shift", _left_shift)
POWER = Room("the power", _power)
LOW_BITS = Room("the result", _low_bits, _low_bits_bound)
