"""Operations on batches of mixed lengths, with the semantics of Python's int."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from kernels.targets.cuda.device import Device

from ..numbers import Indices
from ..plan import PoolOperation
from . import transfer
from .layouts import SLAB, Rows, Slabs
from .long_rows import run
from .slabs import empty, launch, nbytes, resize, upload

SOURCE = Path(__file__).with_name("rows.cu")
_BLOCK = 256


def add(device: Device, a: Rows, b: Rows) -> Rows:
    """Return a + b."""
    return run(device, PoolOperation.ADD, a, b)[0]


def subtract(device: Device, a: Rows, b: Rows) -> Rows:
    """Return a - b."""
    return run(device, PoolOperation.SUBTRACT, a, b)[0]


def multiply(device: Device, a: Rows, b: Rows) -> Rows:
    """Return a * b."""
    return run(device, PoolOperation.MULTIPLY, a, b)[0]


def divmod(device: Device, a: Rows, b: Rows) -> tuple[Rows, Rows]:
    """Return floor quotients and remainders. Raises ZeroDivisionError with the first index."""
    quotients, remainders = run(device, PoolOperation.DIVMOD, a, b)
    assert remainders is not None
    return quotients, remainders


def floordiv(device: Device, a: Rows, b: Rows) -> Rows:
    """Return floor quotients. Raises ZeroDivisionError with the first index."""
    return run(device, PoolOperation.FLOORDIV, a, b)[0]


def mod(device: Device, a: Rows, b: Rows) -> Rows:
    """Return remainders. Raises ZeroDivisionError with the first index."""
    return run(device, PoolOperation.MOD, a, b)[0]


def gcd(device: Device, a: Rows, b: Rows) -> Rows:
    """Return greatest common divisors."""
    return run(device, PoolOperation.GCD, a, b)[0]


def compare(device: Device, a: Rows, b: Rows) -> npt.NDArray[np.int8]:
    """Return -1, 0 or 1 as a is less than, equal to or greater than b."""
    return sign(device, run(device, PoolOperation.COMPARE, a, b)[0])


def bit_length(device: Device, a: Rows) -> Indices:
    """Return bit lengths, int64 (count)."""
    return np.abs(_signed_bits(device, a))


def sign(device: Device, a: Rows) -> npt.NDArray[np.int8]:
    """Return -1, 0 or 1 for each number, int8 (count)."""
    return np.sign(_signed_bits(device, a)).astype(np.int8)


def _signed_bits(device: Device, a: Rows) -> Indices:
    """Bit lengths, those of negative numbers negated."""
    bits = np.empty(a.count, np.int64)
    if a.count:
        found = device.alloc(bits.nbytes)
        device.module(SOURCE, {}).launch(
            "rows_bits", (-(-a.count // _BLOCK), 1, 1), (_BLOCK, 1, 1), a.words, a.starts,
            a.lengths, a.words if a.negative is None else a.negative,
            np.uint32(a.negative is not None), np.uint64(a.count), found,
        )  # fmt: skip
        device.download(bits, found)
    return bits


def slabs_from_rows(device: Device, a: Rows) -> Slabs:
    """Return rows as slabs as wide as the longest number. Raises MemoryError."""
    bound = 32 * a.longest
    full = empty(device, a.count, bound, signed=False)
    measured = upload(device, np.zeros(1, np.uint64))
    if a.count:
        squares = -(-full.width // SLAB)
        launch(
            device, device.module(transfer.SOURCE, {}), "slabs_pack",
            SLAB * full.slabs * squares, a.words, a.starts, a.lengths, np.uint32(1), np.uint64(0),
            np.uint64(a.count), full.words, np.uint32(full.width), measured,
        )  # fmt: skip
    longest = np.empty(1, np.uint64)
    device.download(longest, measured)
    negative = None
    if a.negative is not None:
        negative = device.alloc(4 * full.slabs)
        device.copy(negative, 0, a.negative, 0, 4 * full.slabs)
    if nbytes(a.count, int(longest[0])) < nbytes(a.count, bound):
        return resize(device, Slabs(full.words, a.count, bound, negative), int(longest[0]))
    return Slabs(full.words, a.count, int(longest[0]), negative)


def rows_from_slabs(device: Device, a: Slabs) -> Rows:
    """Return slabs as rows, all as long as the slabs are wide. Raises MemoryError."""
    step = -(-a.width // 4) * 4
    words = device.alloc(4 * step * max(1, a.count))
    if a.count:
        launch(
            device, device.module(transfer.SOURCE, {}), "slabs_unpack",
            SLAB * a.slabs * -(-step // SLAB), a.words, np.uint32(a.width), np.uint64(a.count),
            words, np.uint32(step),
        )  # fmt: skip
    starts = upload(device, step * np.arange(a.count, dtype=np.uint64))
    lengths = upload(device, np.full(a.count, a.width, np.uint64))
    negative = None
    if a.negative is not None:
        negative = device.alloc(4 * max(1, a.slabs))
        device.copy(negative, 0, a.negative, 0, 4 * a.slabs)
    return Rows(words, starts, lengths, a.count, a.width, a.count * a.width, negative)
