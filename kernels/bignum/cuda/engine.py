"""Arithmetic on a CUDA device: which layout a batch gets, and which kernels it meets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from kernels.gcd.cuda import gcd as gcd_kernels
from kernels.targets.cuda.array import DeviceArray
from kernels.targets.cuda.device import Device

from ..contract import Arithmetic
from ..costs import LAYOUT_COSTS
from ..numbers import Indices, Mask, Numbers, from_ints
from ..plan import in_slabs
from . import divide, isqrt, long_rows, multiply, powmod, ragged, rows, slabs
from .layouts import SLAB, DeviceNumbers, Rows, Slabs
from .transfer import Transfer


class DeviceArithmetic(Arithmetic[DeviceNumbers]):
    """The engine on any Device of kernels.targets.cuda.

    Raises MemoryError where a result has no room.
    """

    name: ClassVar[str] = "cuda"

    def __init__(
        self, device: Device, choose: Callable[[int, int, int, int], bool] = in_slabs
    ) -> None:
        """Compute on a device; choose says, as in_slabs() does, which layout a batch gets there."""
        self.device, self._choose = device, choose
        self._transfer = Transfer(device)

    def put(self, numbers: Numbers) -> DeviceNumbers:
        """Return a batch of the host's numbers as this engine has it."""
        longest, total = 2 * numbers.width, 2 * numbers.width * len(numbers)
        if not numbers.dense:
            total = 2 * int(np.maximum(numbers.length_array(), 1).sum())
        if self._choose(len(numbers), longest, total, self.device.info.multiprocessors):
            return self._transfer.put_slabs(numbers)
        return self._transfer.put_rows(numbers)

    def get(self, batch: DeviceNumbers) -> Numbers:
        """Return a batch as the host has it."""
        if isinstance(batch, Rows):
            return self._transfer.get_rows(batch)
        return self._transfer.get_slabs(batch)

    def add(self, a: DeviceNumbers, b: DeviceNumbers) -> DeviceNumbers:
        """Return a + b."""
        return self._either(slabs.add, rows.add, a, b)

    def subtract(self, a: DeviceNumbers, b: DeviceNumbers) -> DeviceNumbers:
        """Return a - b."""
        return self._either(slabs.subtract, rows.subtract, a, b)

    def multiply(self, a: DeviceNumbers, b: DeviceNumbers) -> DeviceNumbers:
        """Return a * b."""
        return self._either(multiply.multiply, rows.multiply, a, b)

    def multiply_add(self, a: DeviceNumbers, b: DeviceNumbers, c: DeviceNumbers) -> DeviceNumbers:
        """Return a * b + c."""
        if _rows_are_best(a, b, c):
            return self.add(self.multiply(a, b), c)
        return multiply.multiply_add(self.device, *map(self._slabs, (a, b, c)))

    def low_bits(self, a: DeviceNumbers, bits: int) -> DeviceNumbers:
        """Return a modulo 2**bits, never negative."""

        def low(x: Slabs) -> Slabs:
            return slabs.low_bits(self.device, x, bits)

        return self._in_groups(low, [a])

    def add_low(self, a: DeviceNumbers, b: DeviceNumbers, bits: int) -> DeviceNumbers:
        """Return a + b modulo 2**bits."""
        if _rows_are_best(a, b):
            return super().add_low(a, b, bits)
        return slabs.add_low(self.device, self._slabs(a), self._slabs(b), bits)

    def subtract_low(self, a: DeviceNumbers, b: DeviceNumbers, bits: int) -> DeviceNumbers:
        """Return a - b modulo 2**bits."""
        if _rows_are_best(a, b):
            return super().subtract_low(a, b, bits)
        return slabs.subtract_low(self.device, self._slabs(a), self._slabs(b), bits)

    def divmod(self, a: DeviceNumbers, b: DeviceNumbers) -> tuple[DeviceNumbers, DeviceNumbers]:
        """Return floor quotients, and remainders with the divisors' signs."""
        if _rows_are_best(a, b):
            return rows.divmod(self.device, self._rows(a), self._rows(b))
        quotient, remainder = divide.divmod(self.device, self._slabs(a), self._slabs(b))
        assert quotient is not None
        assert remainder is not None
        return quotient, remainder

    def floordiv(self, a: DeviceNumbers, b: DeviceNumbers) -> DeviceNumbers:
        """Return floor quotients."""
        if _rows_are_best(a, b):
            return rows.floordiv(self.device, self._rows(a), self._rows(b))
        quotient, _ = divide.divmod(self.device, self._slabs(a), self._slabs(b), remainder=False)
        assert quotient is not None
        return quotient

    def mod(self, a: DeviceNumbers, b: DeviceNumbers) -> DeviceNumbers:
        """Return remainders with the divisors' signs."""
        if _rows_are_best(a, b):
            return rows.mod(self.device, self._rows(a), self._rows(b))
        _, remainder = divide.divmod(self.device, self._slabs(a), self._slabs(b), quotient=False)
        assert remainder is not None
        return remainder

    def shift(self, a: DeviceNumbers, counts: Indices) -> DeviceNumbers:
        """Shift left by counts[i] bits, int64 (count or 1); right where negative, rounding down."""

        def shift(x: Slabs, by: Indices) -> Slabs:
            return slabs.shift(self.device, x, by)

        def sizes(bits: Indices) -> npt.NDArray[Any]:
            return np.where(bits > 0, bits + np.maximum(counts, 0.0), 0.0)

        return self._in_groups(shift, [a], counts, sizes)

    def negate(self, a: DeviceNumbers) -> DeviceNumbers:
        """Return -a."""
        if isinstance(a, Rows):
            return ragged.negate(self.device, a)
        return slabs.negate(self.device, a)

    def absolute(self, a: DeviceNumbers) -> DeviceNumbers:
        """Return the absolute values."""
        if isinstance(a, Rows):
            return ragged.absolute(self.device, a)
        return slabs.absolute(self.device, a)

    def compare(self, a: DeviceNumbers, b: DeviceNumbers) -> npt.NDArray[np.int8]:
        """Return -1, 0 or 1 as a is less than, equal to or greater than b."""
        if _rows_are_best(a, b):
            return rows.compare(self.device, self._rows(a), self._rows(b))
        return slabs.compare(self.device, self._slabs(a), self._slabs(b))

    def gcd(self, a: DeviceNumbers, b: DeviceNumbers) -> DeviceNumbers:
        """Return greatest common divisors, never negative; gcd(0, 0) = 0."""
        return self._either(gcd_kernels.gcd, rows.gcd, a, b)

    def isqrt(self, a: DeviceNumbers) -> DeviceNumbers:
        """Return floors of square roots."""
        if isinstance(a, Slabs):
            return isqrt.isqrt(self.device, a)
        halves = np.maximum(self.bit_length(a) - 1, 0) // 2
        parts = []
        for index in _classes(halves):
            x = self.take(a, index)
            if int(halves[index[0]]) < 16 * LAYOUT_COSTS.short:  # half the bits of so many words
                root: DeviceNumbers = isqrt.isqrt(self.device, self._slabs(x))
            else:
                root = self._root(x, halves[index])
            parts.append((index, ragged.numbered(self.device, self._rows(root))))
        return ragged.assemble(self.device, a.count, parts)

    def _root(self, a: DeviceNumbers, halves: Indices) -> DeviceNumbers:
        """Return square roots, by a division for each doubling of the precision.

        The algorithm is Dickinson's, in CPython's math.isqrt.
        halves: (bit length - 1) // 2, all of one bit length.
        """
        one = self._transfer.put_slabs(from_ints([1]))
        root: DeviceNumbers = self._transfer.put_slabs(from_ints([1]).repeat(a.count))
        have = np.zeros_like(halves)  # bits of the root, but one
        for place in reversed(range(int(halves[0]).bit_length())):
            had, have = have, halves >> place
            rest = self.shift(a, had + have - 1 - 2 * halves)
            root = self.add(self.shift(root, have - had - 1), self.floordiv(rest, root))
        above = self.compare(self.multiply(root, root), a) > 0
        return self.select(above, self.subtract(root, one), root)

    def powmod(
        self, a: DeviceNumbers, exponents: DeviceNumbers, moduli: DeviceNumbers
    ) -> DeviceNumbers:
        """Return pow(a, e, m)."""

        def power(x: Slabs, e: Slabs, m: Slabs) -> Slabs:
            return powmod.powmod(self.device, x, e, m)

        return self._in_groups(power, [a, exponents, moduli])

    def invert(self, a: DeviceNumbers, moduli: DeviceNumbers) -> DeviceNumbers:
        """Compute on the host, as no kernel does."""
        return self.put(long_rows.host().invert(self.get(a), self.get(moduli)))

    def power(self, a: DeviceNumbers, exponents: Indices) -> DeviceNumbers:
        """Return a ** exponents; exponents: int64 (count or 1), none negative."""

        def sizes(bits: Indices) -> npt.NDArray[Any]:
            return bits * np.where(bits > 1, exponents, 1.0)

        return self._in_groups(self._power, [a], exponents, sizes)

    def _power(self, a: Slabs, exponents: Indices) -> Slabs:
        """Return powers by squaring from the topmost bit on."""
        count = len(exponents) if a.count == 1 else a.count
        if len(exponents) not in (1, count):
            raise ValueError(f"{len(exponents)} exponents for {count} numbers")
        lengths = slabs.bit_length(self.device, a)
        # Powers of 0, 1 and -1 go no further than their squares.
        exponents = np.where(lengths > 1, exponents, np.minimum(exponents, 2 - exponents % 2))
        longest = float((lengths.astype(np.float64) * exponents).max(initial=0))
        needed, free = 4 * -(-count // SLAB) * longest, self.device.free_memory()
        if needed > free:
            raise MemoryError(
                f"{self.device.info.name}: powers of {int(longest):,} bits need "
                f"{int(needed):,} bytes, {free:,} are free"
            )
        result = self._transfer.put_slabs(from_ints([1]).repeat(count))
        for place in reversed(range(int(exponents.max(initial=0)).bit_length())):
            result = multiply.multiply(self.device, result, result)
            chosen = exponents >> place & 1 != 0
            if chosen.any():
                more = multiply.multiply(self.device, result, a)
                chosen = np.broadcast_to(chosen, count)
                result = more if chosen.all() else slabs.select(self.device, chosen, more, result)
            bits = int((lengths * (exponents >> place)).max(initial=0))
            if bits <= result.bits - 32:
                result = slabs.resize(self.device, result, bits)
        return result

    def bit_length(self, a: DeviceNumbers) -> Indices:
        """Return bit lengths of magnitudes, int64 (count)."""
        if isinstance(a, Rows):
            return rows.bit_length(self.device, a)
        return slabs.bit_length(self.device, a)

    def sign(self, a: DeviceNumbers) -> npt.NDArray[np.int8]:
        """Return -1, 0 or 1 for each number, int8 (count)."""
        if isinstance(a, Rows):
            return rows.sign(self.device, a)
        return slabs.sign(self.device, a)

    def first_zero(self, a: DeviceNumbers) -> int:
        """Return the first index at which a is zero, or -1."""
        if isinstance(a, Rows):
            return super().first_zero(a)
        return slabs.first_zero(self.device, a)

    def sum(self, a: DeviceNumbers) -> DeviceNumbers:
        """Return the sum of all numbers, a batch of count 1."""
        if isinstance(a, Slabs):
            return slabs.total(self.device, a)
        parts = [slabs.total(self.device, x) for _, (x,) in self._groups([a], a.count)]
        if not parts:
            return self._transfer.put_slabs(from_ints([0]))
        return reduce(lambda x, y: slabs.add(self.device, x, y), parts)

    def take(
        self, a: DeviceNumbers, index: slice | npt.NDArray[np.integer[Any]] | Mask
    ) -> DeviceNumbers:
        """Return the numbers at a slice, at indices or where a mask is true."""
        if isinstance(a, Rows):
            return ragged.take(self.device, a, index)
        return slabs.take(self.device, a, index)

    def concatenate(self, batches: Iterable[DeviceNumbers]) -> DeviceNumbers:
        """Return the numbers of all batches, one batch after the other."""
        parts = list(batches)
        if any(isinstance(x, Rows) for x in parts):
            return ragged.concatenate(self.device, [self._rows(x) for x in parts])
        return slabs.concatenate(self.device, [self._slabs(x) for x in parts])

    def select(self, mask: Mask, a: DeviceNumbers, b: DeviceNumbers) -> DeviceNumbers:
        """Return a[i] where mask[i], else b[i]."""
        if _rows_are_best(a, b):
            return ragged.select(self.device, mask, self._rows(a), self._rows(b))
        return slabs.select(self.device, mask, self._slabs(a), self._slabs(b))

    def pool(
        self, operations: npt.NDArray[np.uint8], a: DeviceNumbers, b: DeviceNumbers
    ) -> DeviceNumbers:
        """Return results of mixed operations, coded as pool.PoolOperation, made in one launch."""
        return long_rows.run(self.device, operations, self._rows(a), self._rows(b))[0]

    def slab_words(self, batch: DeviceNumbers) -> DeviceArray:
        """Return the words of magnitudes, read-only: uint32 (slabs, width, 32).

        They are the batch's own, which nothing writes to; a copy of one in rows.
        """
        found = self._slabs(batch)
        self.device.synchronize()
        shape = (found.slabs, found.width, SLAB)
        return DeviceArray(self.device, found.words, shape, np.uint32, read_only=True)

    # --- layouts -----------------------------------------------------------------

    def _either(
        self,
        on_slabs: Callable[[Device, Slabs, Slabs], Slabs],
        on_rows: Callable[[Device, Rows, Rows], Rows],
        a: DeviceNumbers,
        b: DeviceNumbers,
    ) -> DeviceNumbers:
        if _rows_are_best(a, b):
            return on_rows(self.device, self._rows(a), self._rows(b))
        return on_slabs(self.device, self._slabs(a), self._slabs(b))

    def _in_groups(
        self,
        operation: Callable[..., Slabs],
        operands: Sequence[DeviceNumbers],
        array: Indices | None = None,
        sizes: Callable[[Indices], npt.NDArray[Any]] = np.asarray,
    ) -> DeviceNumbers:
        """Compute operation(*operands, array), which only slabs have.

        Rows go group by group, so that none is padded to more than twice what it, or its
        result, needs. sizes: bits of these, from the bit lengths of the longest operands.
        """
        more = [] if array is None else [array]
        if not _rows_are_best(*operands):
            return operation(*(self._slabs(x) for x in operands), *more)
        counts = {x.count for x in operands} | {len(x) for x in more}
        count = next(iter(counts - {1}), 1)
        parts = []
        for index, group in self._groups(operands, count, sizes):
            chosen = [x if len(x) == 1 else x[index] for x in more]
            result = rows.rows_from_slabs(self.device, operation(*group, *chosen))
            parts.append((index, ragged.numbered(self.device, result)))
        return ragged.assemble(self.device, count, parts)

    def _groups(
        self,
        operands: Sequence[DeviceNumbers],
        count: int,
        sizes: Callable[[Indices], npt.NDArray[Any]] = np.asarray,
    ) -> Iterator[tuple[Indices, list[Slabs]]]:
        """Yield indices and operands in slabs, where their sizes are within a factor of two."""
        bits = np.zeros(count, np.int64)
        for x in operands:
            bits = np.maximum(bits, self.bit_length(x))
        for index in _classes(sizes(bits)):
            yield index, [self._slabs(x if x.count == 1 else self.take(x, index)) for x in operands]

    def _slabs(self, a: DeviceNumbers) -> Slabs:
        return rows.slabs_from_rows(self.device, a) if isinstance(a, Rows) else a

    def _rows(self, a: DeviceNumbers) -> Rows:
        return rows.rows_from_slabs(self.device, a) if isinstance(a, Slabs) else a


def _classes(sizes: npt.NDArray[Any]) -> Iterator[Indices]:
    """Yield indices of the sizes between the same powers of two."""
    classes = np.frexp(sizes)[1]
    for one in np.unique(classes):
        yield np.flatnonzero(classes == one)


def _rows_are_best(*operands: DeviceNumbers) -> bool:
    """Return whether rows suit the operands; a single number follows the layout of the others."""
    several = [x for x in operands if x.count != 1] or operands
    return any(isinstance(x, Rows) for x in several)


def arithmetic_for(device_index: int = 0) -> DeviceArithmetic:
    """Return the engine of a device. Raises BackendUnavailableError."""
    from kernels.targets.cuda.target import CudaDevice

    return DeviceArithmetic(CudaDevice(device_index))
