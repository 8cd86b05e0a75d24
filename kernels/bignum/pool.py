"""Many computations in one launch, each with its own operation and operand lengths.

The mixed workload of Langer 2015 and Gusenbauer 2015: the device sorts the computations
by what they take, warps draw them by a ticket and reserve room for the results as they
go. A team of 1, 2, 8 or 32 lanes has a computation, as its size and their number demand.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels.device import Buffer, Device, DeviceInfo

from .layouts import Rows

SOURCE = Path(__file__).with_name("pool.cu")
MAX_COUNT = 2**31 - 1

Operations = npt.NDArray[np.uint8]

# As in pool.cu.
LANES = (1, 2, 8, 32, 32)  # of a team, by level; on the last one the words are in memory
_QUEUES = 4 * len(LANES)
_BINS = 256 * _QUEUES
_SORT_THREADS, _SORT_EACH, _SCAN_THREADS = 256, 8, 640
_BLOCK_WARPS = 2
_TOTAL, _LONGEST, _TOTAL2, _LONGEST2, _ZERO_DIVISOR, _COUNTERS = range(48, 54)

BUDGET = 4096  # words of shared memory a warp, where any is used


class Operation(IntEnum):
    """DIVMOD, FLOORDIV and MOD round down, as Python's int; COMPARE gives -1, 0 or 1."""

    ADD = 0
    SUBTRACT = 1
    MULTIPLY = 2
    FLOORDIV = 3
    MOD = 4
    GCD = 5
    DIVMOD = 6
    COMPARE = 7


_GCDS, _DIVISIONS, _PRODUCTS, _SUMS = 1, 2, 4, 8
_KINDS = np.array([_SUMS, _SUMS, _PRODUCTS, _DIVISIONS, _DIVISIONS, _GCDS, _DIVISIONS, _SUMS])


@dataclass(frozen=True, slots=True)
class Params:
    """kinds: bits of the kinds of operations compiled in. lowest: level of the smallest
    teams. budget: words of shared memory a warp. share: computations of a ticket, or more
    where a warp has more teams."""

    kinds: int
    lowest: int
    budget: int
    blocks: int
    share: int

    @property
    def shared(self) -> int:
        return 4 * _BLOCK_WARPS * self.budget


def choose(kinds: int, count: int, info: DeviceInfo) -> Params:
    """Of a launch. Larger teams where there are fewer computations than the device has
    lanes to keep busy; sums need many lanes in flight, and no shared memory."""
    only_sums, no_divisions = kinds == _SUMS, not kinds & (_GCDS | _DIVISIONS)
    blocks = (24 if only_sums else 11 if no_divisions else 6) * info.multiprocessors
    warps = blocks * _BLOCK_WARPS
    share = 1 << min(5, max(1, count // (4 * warps)).bit_length() - 1)
    if only_sums:
        return Params(_SUMS, 0, 0, blocks, share)
    # Few of all sets are compiled.
    compiled = kinds
    if kinds not in (_GCDS, _DIVISIONS):
        compiled = _PRODUCTS | _SUMS if no_divisions else 15
    lowest = next((i for i in range(3) if count * LANES[i] >= 32 * warps), 3)
    return Params(compiled, lowest, BUDGET // 2 if no_divisions else BUDGET, blocks, share)


def kinds_of(operations: npt.NDArray[np.integer[Any]] | Operation) -> int:
    """Bits of the kinds of these operations, for choose()."""
    present = np.unique(np.atleast_1d(operations))
    return int(np.bitwise_or.reduce(_KINDS[present], initial=0))


def result_room(kinds: int, count: int, a: Rows, b: Rows) -> int:
    """Words that the results take at most, in whole groups of four each."""
    both = _total(a, count) + _total(b, count)
    if kinds == _SUMS:
        room = min(both, count * max(a.longest, b.longest)) + 4 * count
    else:
        room = both + (4 if kinds == _PRODUCTS else 8) * count
    return -(-room // 4) * 4


def scratch_room(params: Params, count: int, a: Rows, b: Rows) -> int:
    """Words for computations too long for shared memory."""
    if params.kinds == _SUMS or 2 * max(a.longest, b.longest) + 16 <= params.budget:
        return 0
    return _total(a, count) + 2 * _total(b, count) + 16 * count


def _total(rows: Rows, count: int) -> int:
    return count * rows.longest if rows.count == 1 else rows.total


def run(
    device: Device,
    operations: Operations | Operation,
    a: Rows,
    b: Rows,
    *,
    params: Params | None = None,
    spare: int = 0,
) -> tuple[Rows, Rows | None]:
    """results[i] = operations[i] of a[i] and b[i], or the one operation of all; beside
    them, where any is DIVMOD, its remainders, with zeros at the other operations.

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
            raise ZeroDivisionError(f"division by zero at index {found[_ZERO_DIVISOR]}")
    signs = signs or a.negative is not None or b.negative is not None
    results = work.first.rows(work.words, found[_LONGEST], found[_TOTAL], signs)
    if not remainders:
        return results, None
    return results, work.second.rows(work.words, found[_LONGEST2], found[_TOTAL2], signs)


class Work:
    """The memory and the launches of a run."""

    def __init__(
        self,
        device: Device,
        operations: Operations | Operation,
        a: Rows,
        b: Rows,
        params: Params,
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
        if isinstance(operations, Operation):
            self.operation = np.int32(operations)
        else:
            self.codes = device.alloc(max(1, count))
            device.upload(self.codes, np.ascontiguousarray(operations))

    def launch(self) -> None:
        """Only queues the work."""
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
            "pool_run", (params.blocks, 1, 1), (32 * _BLOCK_WARPS, 1, 1), self.orders, self.tables,
            share, a.words, b.words, form, self.words, first.starts, first.lengths,
            first.negative, second.starts, second.lengths, second.negative, self.counters,
            self.scratch, budget, shared=params.shared,
        )  # fmt: skip


class _Columns:
    """Where the results are, and their signs."""

    def __init__(self, device: Device, count: int) -> None:
        self.count = count
        self.starts, self.lengths = (device.alloc(8 * max(1, count)) for _ in range(2))
        self.negative = device.alloc(4 * max(1, -(-count // 32)))

    def rows(self, words: Buffer, longest: int, total: int, signs: bool) -> Rows:
        negative = self.negative if signs else None
        return Rows(words, self.starts, self.lengths, self.count, longest, total, negative)


def _survey(operations: Operations | Operation, a: Rows, b: Rows) -> tuple[int, int, bool, bool]:
    """Count of the computations, bits of their kinds, whether any is DIVMOD, and whether
    any has a sign that its operands have not."""
    codes = np.array([operations]) if isinstance(operations, Operation) else operations
    counts = {x.count for x in (a, b) if x.count != 1}
    if not isinstance(operations, Operation):
        if operations.dtype != np.uint8 or operations.ndim != 1:
            raise ValueError(f"operations are uint8 in one dimension, not {operations.dtype}")
        counts.add(len(operations))
    if len(counts) > 1:
        raise ValueError(f"counts that do not match: {a.count}, {b.count} and {len(codes)}")
    count = counts.pop() if counts else 1
    if count > MAX_COUNT:
        raise ValueError(f"{count} computations are too many for one launch")
    present = np.bincount(codes, minlength=len(Operation))
    if len(present) > len(Operation):
        raise ValueError(f"no operation has the code {len(present) - 1}")
    kinds = kinds_of(np.flatnonzero(present))
    signs = present[[Operation.SUBTRACT, Operation.COMPARE]].any()
    return count, kinds, bool(present[Operation.DIVMOD]), bool(signs)
