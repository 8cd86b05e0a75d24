"""Where the words of a batch lie in the memory of a device. Words have 32 bits there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kernels.targets.cuda.device import Buffer

SLAB = 32  # numbers; one lane each


@dataclass(frozen=True, slots=True)
class Slabs:
    """Numbers of about equal lengths: 32 to a slab, word-major, so that a warp whose lanes
    have a number each reads and writes whole lines (column-wise; Fujita 2017, 3.1).

    Word i of number k is words[((k // 32) * width + i) * 32 + k % 32]; words past a
    number's length are zero, and so are the numbers past the last in the last slab.
    bits: no magnitude is longer; width = ceil(bits / 32), at least 1.
    negative: a word a slab, bit k % 32 for number k; None where no number is negative.
    """

    words: Buffer
    count: int
    bits: int
    negative: Buffer | None = None

    @property
    def width(self) -> int:
        """Return the words of a number."""
        return max(1, -(-self.bits // 32))

    @property
    def slabs(self) -> int:
        """Return how many slabs there are."""
        return -(-self.count // SLAB)


@dataclass(frozen=True, slots=True)
class Rows:
    """Numbers of mixed lengths, or few and long ones: each in consecutive words.

    Number k has lengths[k] words from starts[k] on; the topmost word may be zero.
    starts, lengths: uint64 (count). total: words of all of them; longest: of one.
    negative: as in Slabs.
    """

    words: Buffer
    starts: Buffer
    lengths: Buffer
    count: int
    longest: int
    total: int
    negative: Buffer | None = None


DeviceNumbers: TypeAlias = Slabs | Rows
