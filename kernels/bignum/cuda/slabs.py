"""Operations on batches in slabs, but multiplying and dividing: a thread has a number.

The result of each has memory of its own. Operands have the same count, or count 1 and
then stand for all. Sizes follow from the operands' bounds: nothing is read back, but where
the result is for the host.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels.targets.cuda.device import Buffer, Device, Module, Slice

from ..numbers import Indices, Mask
from .layouts import SLAB, Slabs

SOURCE = Path(__file__).with_name("slabs.cu")
SUMS = Path(__file__).with_name("add.cu")
FAR = 2**62  # no shift by as much leaves anything, or has room
COLUMN = 2**30  # terms of a column's sum, which stays below 2^63


Argument = Buffer | Slice | np.integer[Any]


def common_count(*operands: Slabs) -> int:
    """Return the count of the result.

    Raises ValueError where the operands do not fit each other.
    """
    counts = {x.count for x in operands}
    if len(counts - {1}) > 1:
        raise ValueError(f"{' and '.join(str(x.count) for x in operands)} numbers in one operation")
    return next(iter(counts - {1}), 1)


def add(device: Device, a: Slabs, b: Slabs) -> Slabs:
    """Return a + b."""
    return _sum(device, a, b, subtract=False)


def subtract(device: Device, a: Slabs, b: Slabs) -> Slabs:
    """Return a - b."""
    return _sum(device, a, b, subtract=True)


def _sum(device: Device, a: Slabs, b: Slabs, *, subtract: bool) -> Slabs:
    count, bits = common_count(a, b), max(a.bits, b.bits) + 1
    width = max(a.width, b.width)
    chunk = chunk_of(width)
    module = device.module(SUMS, {"CHUNK": chunk})
    if subtract or a.negative or b.negative:
        result = empty(device, count, bits, signed=True)
        args = (*operand(a, count), *operand(b, count), np.uint32(subtract))
        kernel = "slabs_add_signed" if width <= chunk else "slabs_add_wide"
        launch(device, module, kernel, count, *args, *target(result), np.uint64(count))
    else:
        result = empty(device, count, bits, signed=False)
        plain = (*_unsigned(a, count), *_unsigned(b, count), result.words, np.uint32(result.width))
        launch(device, module, "slabs_add", count, *plain, np.uint64(count))
    return result


def add_low(device: Device, a: Slabs, b: Slabs, bits: int) -> Slabs:
    """Return a + b modulo 2**bits."""
    return _low_sum(device, a, b, bits, subtract=False)


def subtract_low(device: Device, a: Slabs, b: Slabs, bits: int) -> Slabs:
    """Return a - b modulo 2**bits."""
    return _low_sum(device, a, b, bits, subtract=True)


def low_bits(device: Device, a: Slabs, bits: int) -> Slabs:
    """Return a modulo 2**bits, never negative."""
    if a.negative is None and bits >= a.bits:
        return a
    return _low_sum(device, a, None, bits, subtract=False)


def _low_sum(device: Device, a: Slabs, b: Slabs | None, bits: int, *, subtract: bool) -> Slabs:
    """Return a + b, or a - b, modulo 2**bits; None is 0."""
    count = a.count if b is None else common_count(a, b)
    longest = max(a.bits, b.bits) + 1 if b is not None else a.bits
    if not subtract and a.negative is None and (b is None or b.negative is None):
        bits = min(bits, longest)
    result = empty(device, count, bits, signed=False)
    module = device.module(SUMS, {"CHUNK": chunk_of(result.width)})
    # The words of 0 are never looked at.
    second = (a.words, a.words, np.uint32(0), np.uint32(0)) if b is None else operand(b, count)
    launch(
        device, module, "slabs_add_low", count, *operand(a, count), *second, np.uint32(subtract),
        result.words, np.uint32(result.width), np.uint32((1 << bits % 32) - 1 or 2**32 - 1),
        np.uint64(count),
    )  # fmt: skip
    return result


def chunk_of(width: int) -> int:
    """Return how many words a thread adds at once: all, or a part that leaves little over."""
    if width <= 8:
        return 8
    return 16 if (width - 1) % 32 < 16 else 32


def negate(device: Device, a: Slabs) -> Slabs:
    """Return -a."""
    result = empty(device, a.count, a.bits, signed=True)
    args = (*operand(a, a.count), result.words, result.negative or result.words)
    _launch(device, "slabs_negate", a.count, *args, np.uint64(a.count))
    return result


def absolute(device: Device, a: Slabs) -> Slabs:
    """Return the absolute values."""
    result = empty(device, a.count, a.bits, signed=False)
    device.copy(result.words, 0, a.words, 0, nbytes(a.count, a.bits))
    return result


def compare(device: Device, a: Slabs, b: Slabs) -> npt.NDArray[np.int8]:
    """Return -1, 0 or 1 as a is less than, equal to or greater than b."""
    count = common_count(a, b)
    order = device.alloc(count)
    args = (*operand(a, count), *operand(b, count), order, np.uint64(count))
    _launch(device, "slabs_compare", count, *args)
    return _fetch(device, order, count, np.int8)


def sign(device: Device, a: Slabs) -> npt.NDArray[np.int8]:
    """Return -1, 0 or 1 for each number, int8 (count)."""
    signs = device.alloc(a.count)
    _launch(device, "slabs_sign", a.count, *operand(a, a.count), signs, np.uint64(a.count))
    return _fetch(device, signs, a.count, np.int8)


def bit_length(device: Device, a: Slabs) -> Indices:
    """Return bit lengths, int64 (count)."""
    lengths = device.alloc(8 * a.count)
    args = (*_unsigned(a, a.count), lengths, np.uint64(a.count))
    _launch(device, "slabs_bit_length", a.count, *args)
    return _fetch(device, lengths, a.count, np.int64)


def longest(device: Device, a: Slabs) -> int:
    """Return the greatest of the bit lengths."""
    return int(_reduced(device, "slabs_longest", a, 0))


def first_zero(device: Device, a: Slabs) -> int:
    """Return the least index of a zero, or -1."""
    return int(_reduced(device, "slabs_first_zero", a, 2**64 - 1).astype(np.int64))


def _reduced(device: Device, kernel: str, a: Slabs, start: int) -> np.uint64:
    result = np.array([start], np.uint64)
    reduced = upload(device, result)
    _launch(device, kernel, a.count, *_unsigned(a, a.count), np.uint64(a.count), reduced)
    device.download(result, reduced)
    found: np.uint64 = result[0]
    return found


def select(device: Device, mask: Mask, a: Slabs, b: Slabs) -> Slabs:
    """Return a[i] where mask[i], else b[i]."""
    count = len(mask)
    if common_count(a, b) not in (1, count):
        raise ValueError(f"a mask of {count} for {common_count(a, b)} numbers")
    signed = a.negative is not None or b.negative is not None
    result = empty(device, count, max(a.bits, b.bits), signed=signed)
    args = (put_mask(device, mask), *operand(a, count), *operand(b, count))
    _launch(device, "slabs_select", count, *args, *target(result), np.uint64(count))
    return result


def take(device: Device, a: Slabs, index: slice | npt.NDArray[np.integer[Any]] | Mask) -> Slabs:
    """Return the numbers at an index. Raises IndexError, as numpy does."""
    if isinstance(index, slice):
        start, stop, step = index.indices(a.count)
        count = len(range(start, stop, step))
        step = step if count > 1 else 1  # no number is too large for the kernel's
        result = empty(device, count, a.bits, signed=a.negative is not None)
        _take(device, a, result, 0, count, start=start, step=step)
        return result
    if index.dtype == np.bool_:
        if len(index) != a.count:
            raise IndexError(f"a mask of {len(index)} for {a.count} numbers")
        index = np.flatnonzero(index)
    indices = np.asarray(index, np.int64)
    lowest, highest = int(indices.min(initial=0)), int(indices.max(initial=-1))
    if lowest < -a.count or highest >= a.count:
        wrong = lowest if lowest < -a.count else highest
        raise IndexError(f"index {wrong} is out of bounds for {a.count} numbers")
    if lowest < 0:
        indices = np.where(indices < 0, indices + a.count, indices)
    result = empty(device, len(indices), a.bits, signed=a.negative is not None)
    if len(indices):
        _take(device, a, result, 0, len(indices), indices=upload(device, indices))
    return result


def concatenate(device: Device, batches: Sequence[Slabs]) -> Slabs:
    """Return the numbers of all batches, one batch after the other."""
    count = sum(x.count for x in batches)
    bits = max((x.bits for x in batches), default=0)
    signed = any(x.negative is not None for x in batches)
    result = empty(device, count, bits, signed=signed)
    at = 0
    for batch in batches:
        _take(device, batch, result, at, batch.count)
        at += batch.count
    return result


def resize(device: Device, a: Slabs, bits: int) -> Slabs:
    """Return a batch with room for `bits` bits, which all magnitudes fit into."""
    result = empty(device, a.count, bits, signed=a.negative is not None)
    _take(device, a, result, 0, a.count)
    return result


def shift(device: Device, a: Slabs, counts: Indices) -> Slabs:
    """Left by counts[i] bits; right where negative, rounding down. Raises MemoryError."""
    count = len(counts) if a.count == 1 else a.count
    if len(counts) not in (1, count):
        raise ValueError(f"{len(counts)} shifts for {count} numbers")
    counts = np.clip(counts, -FAR, FAR)
    farthest = int(counts.max(initial=-FAR))
    # Rounding down may carry into a bit of its own; -1 stays however far it is shifted.
    bits = max(a.bits + farthest + (a.negative is not None), 1)
    if farthest > 0 and nbytes(count, bits) > device.free_memory():
        lengths = bit_length(device, a)  # nought may be shifted as far as you like
        bits = int(np.where(lengths > 0, lengths + np.maximum(counts, 0) + 1, 0).max(initial=0))
    result = empty(device, count, bits, signed=a.negative is not None)
    if count:
        one = len(counts) == 1
        by = (a.words if one else upload(device, counts), np.uint32(one), np.int64(counts[0]))
        args = (*operand(a, count), *by, *target(result), np.uint64(count))
        _launch(device, "slabs_shift", count, *args)
    return result


def total(device: Device, a: Slabs, piece: int = COLUMN) -> Slabs:
    """Return the sum of all, a batch of one. piece: numbers that are summed up at once."""
    piece -= piece % SLAB
    result: Slabs | None = None
    for first in range(0, max(a.count, 1), piece):
        part = _total(device, a, first // SLAB, min(piece, a.count - first))
        result = part if result is None else add(device, result, part)
    assert result is not None
    return result


def _total(device: Device, a: Slabs, first: int, count: int) -> Slabs:
    """Return the sum of `count` numbers from slab `first` on."""
    slabs = -(-count // SLAB)
    columns = upload(device, np.zeros(a.width, np.int64))
    result = empty(device, 1, a.bits + count.bit_length(), signed=True)
    # Some warps for each multiprocessor, but not so many that they only meet at the columns.
    parts = min(-(-64 * device.info.multiprocessors // a.width), -(-slabs // 4))
    if slabs:
        each = -(-slabs // parts)
        args: tuple[Argument, ...] = operand(a, count)
        args = (Slice(a.words, nbytes(first * SLAB, a.bits)), *args[1:])
        if a.negative is not None:
            args = (args[0], Slice(a.negative, 4 * first), *args[2:])
        sizes = (np.uint64(slabs), np.uint64(each))
        _launch(device, "slabs_columns", SLAB * parts * a.width, *args, *sizes, columns)
    args = (columns, np.uint32(a.width), *target(result))
    module = device.module(SOURCE, {})
    module.launch("slabs_carry", (1, 1, 1), (SLAB, 1, 1), *args)
    return result


def _take(
    device: Device,
    a: Slabs,
    result: Slabs,
    at: int,
    count: int,
    *,
    start: int = 0,
    step: int = 1,
    indices: Buffer | None = None,
) -> None:
    """Copy `count` numbers of a into the result from number `at` on.

    start, step, indices: which ones; there are as many parameters as the two kinds of choice need.
    """
    source = (indices or a.words, np.uint32(indices is not None), np.int64(start), np.int64(step))
    # The operand is never taken to stand for all: its numbers are counted by `source`.
    signs = np.uint32(result.negative is not None)
    args = (*operand(a, a.count), *source, *target(result), signs, np.uint64(at), np.uint64(count))
    _launch(device, "slabs_take", count and at % SLAB + count, *args)


# --- memory and launches ---------------------------------------------------------


def nbytes(count: int, bits: int) -> int:
    """Return the bytes of the words of a batch."""
    return 4 * SLAB * -(-count // SLAB) * max(1, -(-bits // 32))


def empty(device: Device, count: int, bits: int, *, signed: bool) -> Slabs:
    """Return a batch whose words are still to be written. Raises MemoryError."""
    negative = device.alloc(4 * -(-count // SLAB)) if signed else None
    return Slabs(device.alloc(nbytes(count, bits)), count, bits, negative)


def clear_signs(device: Device, result: Slabs) -> None:
    """Make no number negative, for a kernel that writes only the signs of those that are."""
    if result.negative is not None:
        device.upload(result.negative, np.zeros(result.slabs, np.uint32))


def operand(a: Slabs, count: int) -> tuple[Argument, ...]:
    """Words, signs, width and form, as slabs.hpp takes them, for a result of `count`."""
    form = (a.count == 1 != count) | (a.negative is not None) << 1
    return a.words, a.negative or a.words, np.uint32(a.width), np.uint32(form)


def _unsigned(a: Slabs, count: int) -> tuple[Argument, ...]:
    return a.words, np.uint32(a.width), np.uint32(a.count == 1 != count)


def target(result: Slabs) -> tuple[Argument, ...]:
    """Return the arguments of a kernel that writes this batch."""
    return result.words, result.negative or result.words, np.uint32(result.width)


def launch(device: Device, module: Module, kernel: str, threads: int, *args: Argument) -> None:
    """One thread for each unit of work; none at all is well too."""
    if not threads:
        return
    block = 128
    while block > SLAB and -(-threads // block) < 2 * device.info.multiprocessors:
        block //= 2
    module.launch(kernel, (-(-threads // block), 1, 1), (block, 1, 1), *args)


def _launch(device: Device, kernel: str, threads: int, *args: Argument) -> None:
    launch(device, device.module(SOURCE, {}), kernel, threads, *args)


def upload(device: Device, array: npt.NDArray[Any]) -> Buffer:
    """Return a buffer of the device with these values."""
    buffer = device.alloc(array.nbytes)
    device.upload(buffer, np.ascontiguousarray(array))
    return buffer


def put_mask(device: Device, mask: Mask) -> Buffer:
    """Return a buffer with a word a slab: bit k % 32 for element k."""
    packed = np.zeros(4 * -(-len(mask) // SLAB), np.uint8)
    packed[: -(-len(mask) // 8)] = np.packbits(mask, bitorder="little")
    return upload(device, packed)


def get_mask(device: Device, mask: Buffer, count: int) -> Mask:
    """Return what put_mask() has put there, bool (count)."""
    packed = np.empty(4 * -(-count // SLAB), np.uint8)
    device.download(packed, mask)
    return np.unpackbits(packed, count=count, bitorder="little").view(np.bool_)


def _fetch(device: Device, buffer: Buffer, count: int, dtype: Any) -> npt.NDArray[Any]:
    array = np.empty(count, dtype)
    device.download(array, buffer)
    return array
