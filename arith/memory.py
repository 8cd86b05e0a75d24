"""Results that memory cannot hold are refused before any of it is taken."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kernels.memory import available_memory

from . import engines

_SMALL = 1 << 28  # bytes that are not worth asking about


def refuse(nbytes: float, what: str) -> None:
    """Raises MemoryError where there are not so many bytes."""
    if nbytes > _SMALL and nbytes > (free := available_memory()):
        raise MemoryError(f"{what} needs about {nbytes:,.0f} bytes, {free:,} are available")


def _bits(engine: engines.Engine, batch: Any) -> npt.NDArray[np.float64]:
    return engine.bit_length(batch).astype(np.float64)


def check_product(engine: engines.Engine, a: Any, b: Any) -> None:
    count = max(a.count, b.count)
    if count * (longest_bits(a) + longest_bits(b)) / 8 > _SMALL:  # if all were as long
        x, y = _bits(engine, a), _bits(engine, b)
        refuse(float(np.where((x > 0) & (y > 0), x + y, 0.0).sum()) / 8, "the product")


def check_lcm(engine: engines.Engine, a: Any, b: Any) -> None:
    """A multiple is no shorter than what it is a multiple of."""
    count = max(a.count, b.count)
    if count * max(longest_bits(a), longest_bits(b)) / 8 > _SMALL:
        x, y = _bits(engine, a), _bits(engine, b)
        refuse(float(np.where((x > 0) & (y > 0), np.maximum(x, y), 0.0).sum()) / 8, "the lcm")


def longest_bits(batch: Any) -> int:
    """An upper bound that takes no look at the numbers."""
    if hasattr(batch, "bits"):
        return int(batch.bits)
    return 32 * int(batch.longest) if hasattr(batch, "longest") else 64 * int(batch.width)


def check_shift(engine: engines.Engine, a: Any, counts: npt.NDArray[np.int64]) -> None:
    """Of a shift to the left, which leaves zero what it is."""
    bits = _bits(engine, a)
    refuse(float(np.where(bits > 0, bits + counts, 0.0).sum()) / 8, "the shift")


def check_power(engine: engines.Engine, a: Any, exponents: npt.NDArray[np.int64]) -> None:
    """0, 1 and -1 stay as short as they are."""
    bits = _bits(engine, a)
    refuse(float(np.where(bits > 1, bits * exponents, 1.0).sum()) / 8, "the power")
