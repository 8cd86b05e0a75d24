"""Batches of integers of any lengths, as packed words: what the kernels take and return.

Sign and magnitude. A magnitude is 64-bit words, the lowest first; words above the
topmost one that is not zero may follow and count for nothing. Zero is never negative.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Words64: TypeAlias = npt.NDArray[np.uint64]
Indices: TypeAlias = npt.NDArray[np.int64]
Mask: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Numbers:
    """A batch of `count` integers in host memory, one after the other in `words`.

    words: uint64 (any), C-contiguous. Number i has lengths[i] words from starts[i] on,
    or, where those are None, `width` words from i * step on; with step 0 one number
    stands for all.
    width: words of the longest, an upper bound of lengths.
    negative: bool (count), contiguous, or None where no number is negative.
    """

    words: Words64
    count: int
    width: int
    step: int = 0
    starts: Indices | None = None
    lengths: Indices | None = None
    negative: Mask | None = None

    def __len__(self) -> int:
        return self.count

    @property
    def dense(self) -> bool:
        """Return whether all numbers have the same room, at equal distances."""
        return self.starts is None

    def start_array(self) -> Indices:
        """Return where each number's words begin, int64 (count)."""
        if self.starts is not None:
            return self.starts
        return np.arange(self.count, dtype=np.int64) * self.step

    def length_array(self) -> Indices:
        """Return how many words each number has, int64 (count)."""
        if self.lengths is not None:
            return self.lengths
        return np.full(self.count, self.width, np.int64)

    def take(self, index: slice | npt.NDArray[np.integer] | Mask) -> Numbers:
        """Return the numbers at a slice, at indices or where a mask is true; no word is copied."""
        negative = None if self.negative is None else np.ascontiguousarray(self.negative[index])
        if negative is not None and not negative.any():  # those that were are not among them
            negative = None
        if self.dense and isinstance(index, slice):
            first, _, stride = index.indices(self.count)
            count = len(range(*index.indices(self.count)))
            if stride > 0:
                words = self.words[first * self.step :] if count else self.words[:0]
                return replace(
                    self, words=words, count=count, step=self.step * stride, negative=negative
                )
        starts = np.ascontiguousarray(self.start_array()[index])
        lengths = np.ascontiguousarray(self.length_array()[index])
        return replace(
            self,
            count=len(starts),
            width=int(lengths.max(initial=0)),
            step=0,
            starts=starts,
            lengths=lengths,
            negative=negative,
        )

    def repeat(self, count: int) -> Numbers:
        """Return the only number of the batch, `count` times."""
        if self.count != 1:
            raise ValueError(f"one number is repeated, not {self.count}")
        start = 0 if self.starts is None else int(self.starts[0])
        width = self.width if self.lengths is None else int(self.lengths[0])
        negative = None
        if self.negative is not None and self.negative[0]:
            negative = np.ones(count, np.bool_)
        return Numbers(self.words[start : start + width], count, width, 0, negative=negative)


def from_ints(values: list[int]) -> Numbers:
    """Return a batch of Python's integers, slowly; the compiled kernels have a quick way."""
    lengths = np.array([-(-value.bit_length() // 64) for value in values], np.int64)
    starts = np.zeros(len(values), np.int64)
    np.cumsum(lengths[:-1], out=starts[1:])
    raw = b"".join(
        abs(value).to_bytes(8 * int(n), "little") for value, n in zip(values, lengths, strict=True)
    )
    negative = np.array([value < 0 for value in values], np.bool_)
    return Numbers(
        np.frombuffer(raw, "<u8").astype(np.uint64),
        len(values),
        int(lengths.max(initial=0)),
        0,
        starts,
        lengths,
        negative if negative.any() else None,
    )


def to_ints(numbers: Numbers) -> list[int]:
    """Return Python's integers, slowly; the compiled kernels have a quick way."""
    values = []
    starts, lengths = numbers.start_array().tolist(), numbers.length_array().tolist()
    for i, (start, length) in enumerate(zip(starts, lengths, strict=True)):
        value = int.from_bytes(
            numbers.words[start : start + length].astype("<u8").tobytes(), "little"
        )
        values.append(-value if numbers.negative is not None and numbers.negative[i] else value)
    return values
