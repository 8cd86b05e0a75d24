"""How long the cells in view have lived, as far as pictures tell.

A cell that lives in this picture and lived in the one before is older by the generations
between the two, any other live cell is of age 0. Cells are looked at in pictures only: one that
died between two of them and was born again passes for one that lived on. What comes into view
has not been seen before, and so is young.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lifesim.grid import Box
from ui.picture.request import FrameRequest
from ui.picture.sources import Levels, Source, lacks

FARTHEST_AGES = 0  # the scale up to which single cells are seen
OLDEST = (1 << 12) - 1  # generations; what is older is taken to be this old
_NEWBORN = 0.25  # how far along its palette a live cell starts
_GAMMA = 2.2  # palettes lift sparse levels by its inverse
_ROWS = 32  # at a time: they stay in the cache

_Counts = npt.NDArray[np.uint16]


def _levels() -> Levels:
    along = np.log2(np.arange(1, OLDEST + 2)) / np.log2(OLDEST + 1)
    living = np.ceil(255 * (_NEWBORN + (1 - _NEWBORN) * along) ** _GAMMA)
    return np.concatenate([[0], living]).astype(np.uint8)


_LEVELS = _levels()  # of 0, dead, and of 1 + age


class Ages:
    """Remembers the last picture. For one thread, and one universe."""

    def __init__(self) -> None:
        self._last: _Seen | None = None

    def seen(self, request: FrameRequest, source: Source) -> Source:
        """What to draw the request from: where it asks for ages, levels are ages on a
        logarithmic scale, 0 where no cell lives.

        Ages begin anew where time went back or the universe has another size, and after
        pictures without them (of cells too far, or because nobody asked) that are of another
        generation. While cells are still being read, they are shown without ages.
        """
        last, self._last = self._last, None
        if last is not None and not last.goes_on(source):
            last = None
        if request.ages and request.viewport.scale <= FARTHEST_AGES:
            return _Aged(self, source, last)
        if last is not None and last.generation == source.generation:
            self._last = last
        return source

    def remember(self, seen: _Seen | None) -> None:
        self._last = seen


@dataclass(frozen=True, slots=True, eq=False)
class _Seen:
    """counts: of the cells of box: 0, dead, or 1 + age."""

    box: Box
    counts: _Counts
    width: int
    height: int
    generation: int

    def goes_on(self, source: Source) -> bool:
        same = (self.width, self.height) == (source.width, source.height)
        return same and self.generation <= source.generation

    def of(self, box: Box) -> _Counts:
        """What is known of another box, 0 elsewhere."""
        old = self.box
        if box == old:
            return self.counts
        counts = np.zeros((box.height, box.width), np.uint16)
        left, top = max(box.x, old.x), max(box.y, old.y)
        right = min(box.x + box.width, old.x + old.width)
        bottom = min(box.y + box.height, old.y + old.height)
        if left < right and top < bottom:
            counts[top - box.y : bottom - box.y, left - box.x : right - box.x] = self.counts[
                top - old.y : bottom - old.y, left - old.x : right - old.x
            ]
        return counts


class _Aged:
    """A source whose live cells are as bright as they are old."""

    def __init__(self, ages: Ages, source: Source, last: _Seen | None) -> None:
        self._ages, self._source, self._last = ages, source, last
        self.width, self.height = source.width, source.height
        self.generation = source.generation

    def levels(self, box: Box, scale: int) -> Levels:
        """scale: 0."""
        source, last = self._source, self._last
        cells = source.levels(box, scale)
        if lacks(source):
            self._ages.remember(last)
            return cells
        if last is None:
            last = _Seen(box, np.zeros(cells.shape, np.uint16), 0, 0, source.generation)
        passed = min(source.generation - last.generation, OLDEST)
        step = np.minimum(np.arange(OLDEST + 2) + passed, OLDEST + 1).astype(np.uint16)
        step[0] = 1
        before = last.of(box)
        counts, levels = np.empty(cells.shape, np.uint16), np.empty(cells.shape, np.uint8)
        for row in range(0, box.height, _ROWS):
            band = slice(row, row + _ROWS)
            # All are within the tables; to clip is faster than to see to it.
            step.take(before[band], out=counts[band], mode="clip")
            counts[band] *= cells[band] & 1
            _LEVELS.take(counts[band], out=levels[band], mode="clip")
        size = source.width, source.height
        self._ages.remember(_Seen(box, counts, *size, source.generation))
        return levels

    def facts(self) -> dict[str, Any]:
        return self._source.facts()
