"""Many computations in one launch, each with its own operation and operand lengths.

The mixed workload of Langer 2015 and Gusenbauer 2015: the device sorts the computations
by what they take, warps draw them by a ticket and reserve room for the results as they
go. A team of 1, 2, 8 or 32 lanes has a computation, as its size and their number demand.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kernels.targets.cuda.device import Buffer, Device

from ..errors import IndexedZeroDivisionError
from ..plan import (
    BLOCK_WARPS,
    LANES,
    Operations,
    PoolLaunch,
    PoolOperation,
    choose,
    kinds_of,
    result_room,
    scratch_room,
)
from .layouts import Rows

SOURCE = Path(__file__).with_name("pool.cu")
MAX_COUNT = 2**31 - 1


# As in pool.cu.
_QUEUES = 4 * len(LANES)
_BINS = 256 * _QUEUES
_SORT_THREADS, _SORT_EACH, _SCAN_THREADS = 256, 8, 640
_TOTAL, _LONGEST, _TOTAL2, _LONGEST2, _ZERO_DIVISOR, _COUNTERS = range(48, 54)


def run(
    device: Device,
    operations: Operations | PoolOperation,
    a: Rows,
    b: Rows,
    *,
    params: PoolLaunch | None = None,
    spare: int = 0,
) -> tuple[Rows, Rows | None]:
    """Return operations[i] of a[i] and b[i], or the one operation of all.

    Beside the results, where any is DIVMOD, its remainders, with zeros at the other operations.

    An operand of count 1 stands for all. Both batches of results share their words, whose
    starts are multiples of four; `spare` words stay free at the end. params: instead of
    choose()'s. Raises ZeroDivisionError with the first index, MemoryError, ValueError for
    counts that do not match or an unknown operation.
    """
    count, kinds, remainders, signs = _survey(operations, a, b)
    if params is None:
        params = choose(kinds, count, device.info)
    work = Work(device, operations, a, b, params, count, kinds, remainders, spare)
    found = [0] * _COUNTERS
    if count:
        work.launch()
        counters = np.empty(_COUNTERS, np.uint64)
        device.download(counters, work.counters)
        found = [int(x) for x in counters]
        if found[_ZERO_DIVISOR] < count:
            raise IndexedZeroDivisionError("division by zero", found[_ZERO_DIVISOR])
    signs = signs or a.negative is not None or b.negative is not None
    results = work.first.rows(work.words, found[_LONGEST], found[_TOTAL], signs)
    if not remainders:
        return results, None
    return results, work.second.rows(work.words, found[_LONGEST2], found[_TOTAL2], signs)


class Work:
    """The memory and the launches of a run.

    Its parameters are many, as they are what a run was asked for and what it has found out of that.
    """

    def __init__(
        self,
        device: Device,
        operations: Operations | PoolOperation,
        a: Rows,
        b: Rows,
        params: PoolLaunch,
        count: int,
        kinds: int,
        remainders: bool,
        spare: int = 0,
    ) -> None:
        self.params, self.count = params, count
        self.a, self.b = a, b
        self.form = (
            (a.count == 1)
            + 2 * (a.negative is not None)
            + 4 * (b.count == 1)
            + 8 * (b.negative is not None)
            + 16 * remainders
        )
        self.module = device.module(SOURCE, {"KINDS": params.kinds})
        room, scratch = result_room(kinds, count, a, b), scratch_room(params, count, a, b)
        self.words = device.alloc(4 * max(4, room + spare))
        self.scratch = device.alloc(4 * max(4, scratch))
        self.first = _Columns(device, count)
        self.second = _Columns(device, count) if remainders else self.first
        self.sizes, self.orders = (device.alloc(n * max(1, count)) for n in (16, 32))
        self.bins, self.tables = device.alloc(4 * _BINS), device.alloc(8 * (_QUEUES + 1))
        self.counters = device.alloc(8 * _COUNTERS)
        self.operation = np.int32(-1)
        self.codes: Buffer = self.counters
        if isinstance(operations, PoolOperation):
            self.operation = np.int32(operations)
        else:
            self.codes = device.alloc(max(1, count))
            device.upload(self.codes, np.ascontiguousarray(operations))

    def launch(self) -> None:
        """Queue the work, and wait for nothing."""
        a, b, params, module = self.a, self.b, self.params, self.module
        count, flags = np.uint64(self.count), np.uint64(-(-self.count // 32))
        form, budget, share = (np.uint32(x) for x in (self.form, params.budget, params.share))
        operands = [(x.words, x.starts, x.lengths) for x in (a, b)]
        signs = [x.words if x.negative is None else x.negative for x in (a, b)]
        first, second = self.first, self.second
        block = (_SORT_THREADS, 1, 1)

        def grid(threads: int) -> tuple[int, int, int]:
            return -(-threads // _SORT_THREADS), 1, 1

        module.launch(
            "pool_clear", grid(max(_BINS, int(flags))), block, self.bins, self.counters,
            first.negative, second.negative, flags,
        )  # fmt: skip
        module.launch(
            "pool_sizes", grid(-(-self.count // _SORT_EACH)), block, self.codes, self.operation,
            count, *operands[0], *operands[1], form, budget, np.uint32(params.lowest), self.bins,
            self.sizes,
        )  # fmt: skip
        module.launch(
            "pool_tables", (1, 1, 1), (_SCAN_THREADS, 1, 1), self.bins, self.tables, share
        )
        module.launch(
            "pool_orders", grid(self.count), block, self.codes, self.operation, count, a.starts,
            signs[0], b.starts, signs[1], form, self.sizes, self.bins, self.orders,
        )  # fmt: skip
        module.launch(
            "pool_run", (params.blocks, 1, 1), (32 * BLOCK_WARPS, 1, 1), self.orders, self.tables,
            share, a.words, b.words, form, self.words, first.starts, first.lengths,
            first.negative, second.starts, second.lengths, second.negative, self.counters,
            self.scratch, budget, shared=params.shared,
        )  # fmt: skip


class _Columns:
    """The places of the results, and their signs."""

    def __init__(self, device: Device, count: int) -> None:
        self.count = count
        self.starts, self.lengths = (device.alloc(8 * max(1, count)) for _ in range(2))
        self.negative = device.alloc(4 * max(1, -(-count // 32)))

    def rows(self, words: Buffer, longest: int, total: int, signs: bool) -> Rows:
        negative = self.negative if signs else None
        return Rows(words, self.starts, self.lengths, self.count, longest, total, negative)


def _survey(
    operations: Operations | PoolOperation, a: Rows, b: Rows
) -> tuple[int, int, bool, bool]:
    """Count of the computations, bits of their kinds, whether any is DIVMOD, and whether
    any has a sign that its operands have not."""
    codes = np.array([operations]) if isinstance(operations, PoolOperation) else operations
    counts = {x.count for x in (a, b) if x.count != 1}
    if not isinstance(operations, PoolOperation):
        if operations.dtype != np.uint8 or operations.ndim != 1:
            raise ValueError(f"operations are uint8 in one dimension, not {operations.dtype}")
        counts.add(len(operations))
    if len(counts) > 1:
        raise ValueError(f"counts that do not match: {a.count}, {b.count} and {len(codes)}")
    count = counts.pop() if counts else 1
    if count > MAX_COUNT:
        raise ValueError(f"{count} computations are too many for one launch")
    present = np.bincount(codes, minlength=len(PoolOperation))
    if len(present) > len(PoolOperation):
        raise ValueError(f"no operation has the code {len(present) - 1}")
    kinds = kinds_of(np.flatnonzero(present))
    signs = present[[PoolOperation.SUBTRACT, PoolOperation.COMPARE]].any()
    return count, kinds, bool(present[PoolOperation.DIVMOD]), bool(signs)
