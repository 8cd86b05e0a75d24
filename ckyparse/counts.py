"""Numbers of parses of a batch."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import overload

from arith import IntArray
from kernels.cky.batch import Mask


class Counts(Sequence[int | float]):
    """An int for each sentence, or math.inf.

    finite: IntArray (count,), 0 where infinitely many. infinite: bool (count,).
    """

    def __init__(self, finite: IntArray, infinite: Mask) -> None:
        self.finite, self.infinite = finite, infinite

    def __len__(self) -> int:
        return len(self.finite)

    @overload
    def __getitem__(self, index: int) -> int | float: ...
    @overload
    def __getitem__(self, index: slice) -> Counts: ...
    def __getitem__(self, index: int | slice) -> int | float | Counts:
        if isinstance(index, slice):
            return Counts(self.finite[index], self.infinite[index])
        return math.inf if self.infinite[index] else self.finite[index]

    def __iter__(self) -> Iterator[int | float]:
        for number, infinite in zip(self.finite, self.infinite.tolist(), strict=True):
            yield math.inf if infinite else number

    def __eq__(self, other: object) -> bool:
        """Compare with any sequence of numbers."""
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = [str(number) for number in self[:6]]
        if len(self) > 6:
            shown.append(f"... {len(self)} in all")
        return f"Counts([{', '.join(shown)}])"
