"""Computations of which some are too long for one warp each.

Long sums are added by many warps (stretches.py), long products made by transforms (ntt.py),
and few long quotients and divisors are left to the host, where GMP is quicker than a device
that is idle but for them. All others are the pool's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import numpy.typing as npt

from kernels.targets.contract import BackendUnavailableError
from kernels.targets.cuda.device import Buffer, Device

from .. import plan
from ..contract import Arithmetic
from ..costs import LONG_COSTS, LongCosts
from ..cpu.engine import CpuArithmetic
from ..numbers import Indices, Mask, Numbers
from ..plan import Operations, PoolOperation
from ..ref import ReferenceArithmetic
from . import ntt, pool, stretches
from .layouts import Rows
from .slabs import get_mask, put_mask, upload


def run(
    device: Device,
    operations: Operations | PoolOperation,
    a: Rows,
    b: Rows,
    costs: LongCosts | None = None,
) -> tuple[Rows, Rows | None]:
    """Compute as pool.run() does, but what is long in a way of its own.

    costs: say what is long; LONG_COSTS by default.
    """
    costs = costs or LONG_COSTS
    count = b.count if a.count == 1 else a.count
    if not isinstance(operations, PoolOperation):
        count = len(operations)
    shortest = min(costs.sum, costs.product, costs.division)
    fit = {a.count, b.count} <= {1, count}
    if not fit or not count or max(a.longest, b.longest) < shortest:
        return pool.run(device, operations, a, b)
    codes = operations
    if isinstance(codes, PoolOperation):
        codes = np.full(count, codes, np.uint8)
    x, y = _Places(device, a, count), _Places(device, b, count)
    long = np.flatnonzero(plan.which_are_long(codes, x.lengths, y.lengths, costs))
    if not len(long):
        return pool.run(device, operations, a, b)
    rooms = -(-(x.lengths[long] + y.lengths[long] + 8) // 4) * 4
    spare = int(rooms.sum())
    results, remainders = pool.run(device, operations, x.without(long), b, spare=spare)
    starts = results.words.nbytes // 4 - spare + (np.cumsum(rooms) - rooms)
    batches = [results] if remainders is None else [results, remainders]
    for code in np.unique(codes[long]).tolist():
        mine = codes[long] == code
        pairs = _Pairs(device, x, y, long[mine], starts[mine], rooms[mine], results.words)
        for i, made in enumerate(pairs.made(PoolOperation(code))):
            batches[i] = _with(device, batches[i], long[mine], *made)
    return batches[0], None if remainders is None else batches[1]


class _Places:
    """The places of a batch's numbers, known to the host; one number is as good as `count`."""

    def __init__(self, device: Device, rows: Rows, count: int) -> None:
        self._device, self.rows, self.count = device, rows, count
        self.starts, self.lengths = (
            np.broadcast_to(_download(device, x, rows.count).astype(np.int64), count)
            for x in (rows.starts, rows.lengths)
        )
        self.negative: Mask = np.zeros(count, np.bool_)
        if rows.negative is not None:
            self.negative = np.broadcast_to(get_mask(device, rows.negative, rows.count), count)

    def without(self, long: Indices) -> Rows:
        """Return the batch with zeros in the place of some."""
        lengths = self.lengths.astype(np.uint64)
        lengths[long] = 0
        negative = self.negative.copy()
        negative[long] = False
        return replace(
            self.rows,
            starts=upload(self._device, self.starts.astype(np.uint64)),
            lengths=upload(self._device, lengths),
            count=self.count,
            longest=int(lengths.max()),
            total=int(lengths.sum()),
            negative=put_mask(self._device, negative) if negative.any() else None,
        )

    def numbers(self, index: Indices) -> Numbers:
        """Return some of the numbers on the host."""
        lengths = (self.lengths[index] + 1) // 2
        starts = np.cumsum(lengths) - lengths
        words = np.zeros(int(lengths.sum()), np.uint64)
        for i, start in zip(index.tolist(), starts.tolist(), strict=True):
            part = words[start:].view(np.uint32)[: self.lengths[i]]
            if len(part):
                self._device.download(part, self.rows.words, 4 * int(self.starts[i]))
        negative = np.ascontiguousarray(self.negative[index])
        return Numbers(words, len(index), int(lengths.max(initial=0)), 0, starts, lengths, negative)


_Made = tuple[Indices, Indices, Mask]  # starts, lengths and signs


class _Pairs:
    """The long computations, and where their results go."""

    def __init__(
        self,
        device: Device,
        a: _Places,
        b: _Places,
        index: Indices,
        starts: Indices,
        rooms: Indices,
        words: Buffer,
    ) -> None:
        self._device, self._a, self._b, self._index = device, a, b, index
        self._starts, self._rooms, self._words = starts, rooms, words

    def _table(self, a: _Places, b: _Places, chosen: Mask | slice) -> stretches.Table:
        i = self._index[chosen]
        columns = (a.starts[i], a.lengths[i], b.starts[i], b.lengths[i])
        places = (self._starts[chosen], self._rooms[chosen])
        return np.ascontiguousarray(np.stack([*columns, *places], 1), np.uint64)

    def made(self, operation: PoolOperation) -> list[_Made]:
        """Return the results; of DIVMOD, those and the remainders."""
        if operation == PoolOperation.MULTIPLY:
            return [self.products()]
        if operation in plan.SUM_OPERATIONS:
            return [self.sums(operation == PoolOperation.SUBTRACT)]
        return self.on_the_host(operation)

    def products(self) -> _Made:
        a, b, i = self._a, self._b, self._index
        lengths = np.zeros(len(i), np.int64)
        fits = a.lengths[i] + b.lengths[i] <= plan.MAX_WORDS
        if fits.any():
            lengths[fits] = ntt.multiply(
                self._device, a.rows.words, b.rows.words, self._table(a, b, fits), self._words
            )
        if not fits.all():
            product = host().multiply(a.numbers(i[~fits]), b.numbers(i[~fits]))
            lengths[~fits] = self._put(product, self._starts[~fits])
        return self._starts, lengths, a.negative[i] != b.negative[i]

    def sums(self, subtract: bool) -> _Made:
        a, b, i = self._a, self._b, self._index
        negative = a.negative[i].copy()
        apart = negative != (b.negative[i] != subtract)
        every = slice(None)
        lengths = stretches.add(
            self._device, a.rows.words, b.rows.words, self._table(a, b, every), apart, self._words
        ).astype(np.int64)
        below = apart & (lengths == self._rooms)  # 2^(32 room) too much: the other way round
        if below.any():
            lengths[below] = stretches.add(
                self._device, b.rows.words, a.rows.words, self._table(b, a, below), apart[below],
                self._words,
            )  # fmt: skip
            negative[below] = ~negative[below]
        return self._starts, lengths, negative

    def on_the_host(self, operation: PoolOperation) -> list[_Made]:
        engine, x, y = host(), self._a.numbers(self._index), self._b.numbers(self._index)
        found: Sequence[Numbers]
        if operation == PoolOperation.DIVMOD:
            found = engine.divmod(x, y)
        elif operation == PoolOperation.GCD:
            found = [engine.gcd(x, y)]
        else:
            found = [(engine.mod if operation == PoolOperation.MOD else engine.floordiv)(x, y)]
        made, starts = [], self._starts
        for numbers in found:
            lengths = self._put(numbers, starts)
            signs = numbers.negative
            made.append(
                (starts, lengths, np.zeros(len(lengths), np.bool_) if signs is None else signs)
            )
            starts = starts + -(-lengths // 4) * 4
        return made

    def _put(self, numbers: Numbers, starts: Indices) -> Indices:
        """Copies them to the device. Returns their lengths in words of 32 bits."""
        lengths = np.zeros(len(numbers), np.int64)
        places = zip(numbers.start_array().tolist(), numbers.length_array().tolist(), strict=True)
        for i, (first, length) in enumerate(places):
            words = numbers.words[first : first + length].view(np.uint32)
            filled = np.flatnonzero(words)
            lengths[i] = filled[-1] + 1 if len(filled) else 0
            if lengths[i]:
                self._device.upload(self._words, words[: lengths[i]], 4 * int(starts[i]))
        return lengths


def _with(
    device: Device, rows: Rows, index: Indices, starts: Indices, lengths: Indices, negative: Mask
) -> Rows:
    """Return the batch with these numbers in the place of those that it has there."""
    columns = []
    for buffer, values in ((rows.starts, starts), (rows.lengths, lengths)):
        column = _download(device, buffer, rows.count)
        column[index] = values.astype(np.uint64)
        columns.append(upload(device, column))
    signs = np.zeros(rows.count, np.bool_)
    if rows.negative is not None:
        signs = get_mask(device, rows.negative, rows.count).copy()
    signs[index] = negative & (lengths > 0)
    return replace(
        rows,
        starts=columns[0],
        lengths=columns[1],
        longest=max(rows.longest, int(lengths.max())),
        total=rows.total + int(lengths.sum()),
        negative=put_mask(device, signs) if signs.any() else None,
    )


def _download(device: Device, buffer: Buffer, count: int) -> npt.NDArray[np.uint64]:
    values = np.empty(count, np.uint64)
    device.download(values, buffer)
    return values


@cache
def host() -> Arithmetic[Numbers]:
    """Return the engine of the host, for what a device had better not compute."""
    try:
        return CpuArithmetic()
    except BackendUnavailableError:
        return ReferenceArithmetic()
