"""Which layout, kernel and launch a batch meets: pure functions of sizes.

Sizes are those of a device: words have 32 bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from kernels.targets.cuda.device import DeviceInfo

from .costs import LAYOUT_COSTS, LONG_COSTS, POOL_TUNING, LayoutCosts, LongCosts, PoolTuning
from .numbers import Indices, Mask

Operations: TypeAlias = npt.NDArray[np.uint8]  # codes of PoolOperation

# --- slabs or rows ----------------------------------------------------------------------


def in_slabs(
    count: int,
    longest: int,
    total: int,
    multiprocessors: int,
    costs: LayoutCosts = LAYOUT_COSTS,
) -> bool:
    """Return whether a thread shall have a number, not a warp (Gusenbauer 2015, 6.1).

    longest, total: 32-bit words of the longest number and of all.
    """
    if longest <= costs.tiny:
        return True
    if count * longest > costs.padding * total:
        return False
    return longest <= costs.short or count >= costs.threads * multiprocessors


# --- slabs: what is compiled --------------------------------------------------------------

WIDEST = 32  # words of an operand that a lane has registers for
_EVEN_TO, _STEP = 12, 4
_WINDOW = 5  # bits of an exponent, at most
LONG_WINDOW = 6  # the same, where the table is in memory that many lanes share


def width_class(width: int, widest: int) -> int:
    """Return how many words a kernel has room for whose operand has `width` of them.

    Or a part of them, where there are more than `widest`; rounded, so that few kernels are
    compiled.
    """
    parts = -(-width // widest)
    width = -(-width // parts)
    step = 2 if width <= _EVEN_TO else _STEP
    return min(widest, -(-width // step) * step)


def window_of(bits: int, widest: int = _WINDOW) -> int:
    """Return the bits of an exponent that are taken at once, where there are so many in all."""
    return min(range(1, widest + 1), key=lambda w: (1 << w) - 2 + -(-bits // w))


# --- slabs: numbers that lanes share ------------------------------------------------------

_MOST_LANES, _OWN_STEP = 32, 4
_MOST_ALONE, _MOST_SHARED = 48, 32  # words of a lane that has a number for itself, or not
# Blocks of 64 lanes of a multiprocessor, by the most words of a lane for which its registers
# suffice: multiples of four, but for few words, as a multiprocessor has four parts of two warps.
_BLOCKS_ALONE = {4: 12, 16: 8, _MOST_ALONE: 4}
_BLOCKS_SHARED = {8: 10, 16: 8, _MOST_SHARED: 4}


@dataclass(frozen=True, slots=True)
class LaneTeam:
    """The lanes of a warp that share a number, and the words of it that each of them has.

    blocks: of a multiprocessor, for which the lanes' registers suffice. squares: whether a power's
    squares are made otherwise than its products, with fewer multiplications and more around them;
    a lane that has a number for itself always does so.
    """

    lanes: int
    own: int
    blocks: int
    squares: bool = False

    @property
    def words(self) -> int:
        """Return the words of a number."""
        return self.lanes * self.own


def power_team(width: int, count: int, multiprocessors: int) -> LaneTeam | None:
    """Return the team for odd moduli of so many words, or None where they are too long.

    The fewest lanes are best, but with few numbers more keep more of the device busy.
    """
    if width > _MOST_LANES * _MOST_SHARED:
        return None
    lanes = 1 if width <= _MOST_ALONE else 2
    while lanes > 1 and lanes * _MOST_SHARED < width:
        lanes *= 2
    while 2 * lanes <= min(_MOST_LANES, width // 4) and count * lanes < 256 * multiprocessors:
        lanes *= 2
    own = -(-width // (lanes * _OWN_STEP)) * _OWN_STEP
    table = _BLOCKS_ALONE if lanes == 1 else _BLOCKS_SHARED
    blocks = next(blocks for most, blocks in table.items() if own <= most)
    return LaneTeam(lanes, own, blocks, squares=lanes <= 2 or own > 16)


_RING_WORDS = range(8, WIDEST + 1, 4)  # of a lane
_RING_BLOCKS = {8: 12, 12: 10, 16: 10, 20: 8, 24: 7, 28: 6, 32: 6}  # of a multiprocessor
_ALONE = 28  # words of half a factor, up to which one lane has all of them
_HALVES = 1.2  # times as long as in a lane by itself takes a word product of three by halves


def quotient_team(width: int, count: int, multiprocessors: int) -> LaneTeam | None:
    """Return the team for divisors of so many words, or None where a lane shall have a number."""
    return _ring_team(width, count, multiprocessors) if width > WIDEST else None


def product_team(a: int, b: int, count: int, multiprocessors: int) -> LaneTeam | None:
    """Return the team for halves of factors of a and b words, or None where a lane has both."""
    longer = max(a, b)
    if longer <= WIDEST:
        return None
    half = -(-longer // 2)
    fewest = 1 if half <= _ALONE else 2
    team = _ring_team(half, count, multiprocessors, fewest)
    return None if team is None or 3 * team.words**2 * _HALVES > a * b else team


def _ring_team(width: int, count: int, multiprocessors: int, fewest: int = 1) -> LaneTeam | None:
    """Return the fewest lanes that have registers for so many words, or more for few numbers."""
    lanes = fewest
    while lanes * WIDEST < width:
        lanes *= 2
    if lanes > _MOST_LANES:
        return None
    while 2 * lanes <= min(_MOST_LANES, width // 8) and count * lanes < 256 * multiprocessors:
        lanes *= 2
    own = next(own for own in _RING_WORDS if lanes * own >= width)
    return LaneTeam(lanes, own, _RING_BLOCKS[own])


# --- rows: the pool -----------------------------------------------------------------------

LANES = (1, 2, 8, 32, 32)  # of a team, by level; on the last one the words are in memory
BLOCK_WARPS = 2
BUDGET = 4096  # words of shared memory a warp, where any is used


class PoolOperation(IntEnum):
    """DIVMOD, FLOORDIV and MOD round down, as Python's int; COMPARE gives -1, 0 or 1."""

    ADD = 0
    SUBTRACT = 1
    MULTIPLY = 2
    FLOORDIV = 3
    MOD = 4
    GCD = 5
    DIVMOD = 6
    COMPARE = 7


class Operands(Protocol):
    """The sizes of a batch of rows (cuda/layouts.py)."""

    @property
    def count(self) -> int:
        """Return how many numbers there are."""

    @property
    def longest(self) -> int:
        """Return the words of the longest."""

    @property
    def total(self) -> int:
        """Return the words of all."""


_GCDS, _DIVISIONS, _PRODUCTS, _SUMS = 1, 2, 4, 8
_KINDS = np.array([_SUMS, _SUMS, _PRODUCTS, _DIVISIONS, _DIVISIONS, _GCDS, _DIVISIONS, _SUMS])


@dataclass(frozen=True, slots=True)
class PoolLaunch:
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
        """Return the bytes of shared memory of a block."""
        return 4 * BLOCK_WARPS * self.budget


def choose(
    kinds: int, count: int, info: DeviceInfo, tuning: PoolTuning = POOL_TUNING
) -> PoolLaunch:
    """Return the parameters of a launch.

    Teams are larger where there are fewer computations than the device has lanes to keep busy;
    sums need many lanes in flight, and no shared memory.
    """
    only_sums, no_divisions = kinds == _SUMS, not kinds & (_GCDS | _DIVISIONS)
    each = tuning.sums if only_sums else tuning.products if no_divisions else tuning.all
    blocks = each * info.multiprocessors
    warps = blocks * BLOCK_WARPS
    share = 1 << min(5, max(1, count // (4 * warps)).bit_length() - 1)
    if only_sums:
        return PoolLaunch(_SUMS, 0, 0, blocks, share)
    # Few of all sets are compiled.
    compiled = kinds
    if kinds not in (_GCDS, _DIVISIONS):
        compiled = _PRODUCTS | _SUMS if no_divisions else 15
    lowest = next((i for i in range(3) if count * LANES[i] >= 32 * warps), 3)
    return PoolLaunch(compiled, lowest, BUDGET // 2 if no_divisions else BUDGET, blocks, share)


def kinds_of(operations: npt.NDArray[np.integer[Any]] | PoolOperation) -> int:
    """Return bits of the kinds of these operations, for choose()."""
    present = np.unique(np.atleast_1d(operations))
    return int(np.bitwise_or.reduce(_KINDS[present], initial=0))


def result_room(kinds: int, count: int, a: Operands, b: Operands) -> int:
    """Return how many words the results take at most, in whole groups of four each."""
    both = _total(a, count) + _total(b, count)
    if kinds == _SUMS:
        room = min(both, count * max(a.longest, b.longest)) + 4 * count
    else:
        room = both + (4 if kinds == _PRODUCTS else 8) * count
    return -(-room // 4) * 4


def scratch_room(params: PoolLaunch, count: int, a: Operands, b: Operands) -> int:
    """Return how many words computations too long for shared memory take."""
    if params.kinds == _SUMS or 2 * max(a.longest, b.longest) + 16 <= params.budget:
        return 0
    return _total(a, count) + 2 * _total(b, count) + 16 * count


def _total(rows: Operands, count: int) -> int:
    return count * rows.longest if rows.count == 1 else rows.total


# --- rows that are too long for the pool --------------------------------------------------

SUM_OPERATIONS = (PoolOperation.ADD, PoolOperation.SUBTRACT)
_FOR_HOST = (PoolOperation.FLOORDIV, PoolOperation.MOD, PoolOperation.DIVMOD, PoolOperation.GCD)


def which_are_long(
    operations: Operations, a: Indices, b: Indices, costs: LongCosts = LONG_COSTS
) -> Mask:
    """Return which computations of operands of these lengths are not left to the pool."""
    shorter, longer = np.minimum(a, b), np.maximum(a, b)
    long: Mask = np.isin(operations, SUM_OPERATIONS) & (longer >= costs.sum)
    long |= (operations == PoolOperation.MULTIPLY) & (shorter >= costs.product)
    for_host = np.isin(operations, _FOR_HOST) & (shorter >= costs.division)
    return long | for_host if np.count_nonzero(for_host) <= costs.host_count else long


# --- products by transforms ---------------------------------------------------------------

MAX_LOG = 22  # points
MAX_WORDS = 1 << (MAX_LOG - 1)  # of a product
_TILE = 4096  # points in shared memory: 32 KiB


@dataclass(frozen=True, slots=True)
class Transforms:
    """2^n1_log transforms of 2^n2_log points along rows, after as many down columns, of
    which `apart` are done together."""

    n1_log: int
    n2_log: int
    apart: int

    @property
    def n_log(self) -> int:
        """Return the logarithm of the number of points."""
        return self.n1_log + self.n2_log


def transforms_for(words: int) -> Transforms:
    """Return the transforms for products of up to so many words.

    Raises ValueError beyond MAX_WORDS.
    """
    if words > MAX_WORDS:
        raise ValueError(f"a product of {words} words is too long: {MAX_WORDS} at most")
    n_log = max(2, (2 * words - 1).bit_length())
    n1_log = n_log // 2
    n2_log = n_log - n1_log
    return Transforms(n1_log, n2_log, min(1 << n2_log, _TILE >> n1_log, 32))
