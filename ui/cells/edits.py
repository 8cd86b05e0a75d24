"""What can be done to the cells of a region: pure functions, and values that say which.

An edit is a value: box() says which cells of a universe it may change, apply() what those
become. What would lie outside of the universe is left out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from lifesim.grid import BitGrid, Box, GridError
from lifesim.pasting import Mode, clear, overwrite, pasted
from lifesim.rule import LIFE, Rule
from lifesim.soup import Soup
from lifesim.states import pack, pieces
from lifesim.turned import flipped_across, flipped_down, rotated
from ui.session import SessionError

__all__ = [
    "Clear",
    "Cut",
    "Edit",
    "FlipAcross",
    "FlipDown",
    "Invert",
    "Mode",
    "Paste",
    "RandomFill",
    "Rotate",
    "Stroke",
    "clear",
    "inverted",
    "line",
    "overwrite",
    "resized",
    "rotation",
]


class Edit(ABC):
    """A change of the cells of a region.

    title: what it does, for a menu: "undo drawing".
    """

    title: ClassVar[str]

    @abstractmethod
    def box(self, width: int, height: int, x: int = 0, y: int = 0) -> Box | None:
        """Return the cells that may change of a universe of this size, whose top-left one is
        x, y; None if there are none."""

    @abstractmethod
    def apply(self, cells: BitGrid, box: Box, rule: Rule = LIFE) -> BitGrid:
        """Return what becomes of the cells in box(), in a grid of their own. rule: in whose states
        the cells are. Raises GridError for states that it does not have."""


@dataclass(frozen=True, slots=True)
class Stroke(Edit):
    """Sets cells: those on lines through points are put into a state; 0 is dead.

    number: those of one number that follow one another are undone at once; 0 is none.
    """

    title: ClassVar[str] = "drawing"
    points: tuple[tuple[int, int], ...]
    state: int = 1
    number: int = 0

    def box(self, width: int, height: int, x: int = 0, y: int = 0) -> Box | None:
        """Return the box around all points, as far as it lies in the universe."""
        if not self.points:
            return None
        left, top = (min(point[axis] for point in self.points) for axis in (0, 1))
        right, bottom = (max(point[axis] for point in self.points) for axis in (0, 1))
        all_ = Box(left, top, right - left + 1, bottom - top + 1)
        return all_.common(Box(x, y, width, height))

    def apply(self, cells: BitGrid, box: Box, rule: Rule = LIFE) -> BitGrid:
        """Return the cells with those on the lines set."""
        if self.state >= rule.states:
            raise GridError(f"rule {rule} has no state {self.state}")
        cells = cells.copy()
        for x, y in self._cells(box):
            cells[x - box.x, y - box.y] = self.state
        return cells

    def _cells(self, box: Box) -> Iterator[tuple[int, int]]:
        first = self.points[0]
        for last in self.points[1:] or self.points:
            yield from line(first, last, box)
            first = last


@dataclass(frozen=True, slots=True)
class _OfBox(Edit):
    """Changes the cells of a selection."""

    selection: Box

    def box(self, width: int, height: int, x: int = 0, y: int = 0) -> Box | None:
        return self.selection.common(Box(x, y, width, height))


class Clear(_OfBox):
    """Kills all cells of a selection."""

    title = "clearing"

    def apply(self, cells: BitGrid, box: Box, rule: Rule = LIFE) -> BitGrid:
        """Return dead cells."""
        return BitGrid(box.width, box.height, planes=cells.planes)


class Cut(Clear):
    """Kills all cells of a selection, which have been copied."""

    title = "cutting"


class Invert(_OfBox):
    """Kills what lives in a selection, and lets live what is dead; of more states the first becomes
    the last, the second the last but one."""

    title = "inverting"

    def apply(self, cells: BitGrid, box: Box, rule: Rule = LIFE) -> BitGrid:
        """Return the cells, each the other way round."""
        return inverted(cells, rule.states)


class FlipAcross(_OfBox):
    """Mirrors a selection: left becomes right."""

    title = "flipping"

    def apply(self, cells: BitGrid, box: Box, rule: Rule = LIFE) -> BitGrid:
        """Return the cells, mirrored."""
        return flipped_across(cells)


class FlipDown(_OfBox):
    """Mirrors a selection: the top becomes the bottom."""

    title = "flipping"

    def apply(self, cells: BitGrid, box: Box, rule: Rule = LIFE) -> BitGrid:
        """Return the cells, mirrored."""
        return flipped_down(cells)


@dataclass(frozen=True, slots=True)
class RandomFill(_OfBox):
    """Fills a selection with a soup: each cell lives with probability density, in each of the
    states alike that are not dead.

    Raises SoupError for a density outside 0 to 1 or a seed outside 0 to 2^64 - 1.
    """

    title: ClassVar[str] = "random fill"
    density: Fraction | float
    seed: int

    def __post_init__(self) -> None:
        Soup(self.density, self.seed)

    def apply(self, cells: BitGrid, box: Box, rule: Rule = LIFE) -> BitGrid:
        """Return a soup; the cells that are there do not matter."""
        filled = BitGrid(box.width, box.height, planes=rule.planes)
        Soup(self.density, self.seed).fill_grid(filled, rule.states)
        return filled


@dataclass(frozen=True, slots=True)
class Rotate(Edit):
    """Makes a quarter turn of the cells in old, which then are in new; where they were, cells die.
    Made by rotation()."""

    title: ClassVar[str] = "rotating"
    old: Box
    new: Box
    clockwise: bool

    def box(self, width: int, height: int, x: int = 0, y: int = 0) -> Box | None:
        """Return the box around the cells before and after the turn."""
        return self.old.joined(self.new)

    def apply(self, cells: BitGrid, box: Box, rule: Rule = LIFE) -> BitGrid:
        """Return the cells after the turn."""
        old, new = (b._replace(x=b.x - box.x, y=b.y - box.y) for b in (self.old, self.new))
        turned = rotated(cells.crop(old), clockwise=self.clockwise)
        cells = cells.copy()
        clear(cells, old)
        overwrite(cells, turned, new.x, new.y)
        return cells


@dataclass(frozen=True, slots=True)
class Paste(Edit):
    """Pastes cells with their top-left one at x, y. What leaves the universe is left out."""

    title: ClassVar[str] = "pasting"
    cells: BitGrid
    x: int
    y: int
    mode: Mode = Mode.OR

    def box(self, width: int, height: int, x: int = 0, y: int = 0) -> Box | None:
        """Return where the cells come to lie in the universe."""
        all_ = Box(self.x, self.y, self.cells.width, self.cells.height)
        return all_.common(Box(x, y, width, height))

    def apply(self, cells: BitGrid, box: Box, rule: Rule = LIFE) -> BitGrid:
        """Return the cells with those that are pasted."""
        part = self.cells.crop(box._replace(x=box.x - self.x, y=box.y - self.y))
        return pasted(cells, part, self.mode, rule)


def rotation(
    selection: Box, clockwise: bool, width: int, height: int, left: int = 0, top: int = 0
) -> Rotate:
    """Make a quarter turn about the middle of a selection in a universe, moved to lie within it.
    left, top: coordinates of the universe's top-left cell.

    Raises SessionError where the turned selection is larger than the universe, and where
    nothing is selected of it.
    """
    old = selection.common(Box(left, top, width, height))
    if old is None:
        raise SessionError("the selection is outside of the universe")
    if old.height > width or old.width > height:
        raise SessionError(
            f"{old.width}x{old.height} cells, turned, do not fit the {width}x{height} universe"
        )
    x = old.x + (old.width - old.height) // 2
    y = old.y + (old.height - old.width) // 2
    x = min(max(x, left), left + width - old.height)
    y = min(max(y, top), top + height - old.width)
    return Rotate(old, Box(x, y, old.height, old.width), clockwise)


# --- cells ---------------------------------------------------------------------


def line(
    first: tuple[int, int], last: tuple[int, int], within: Box | None = None
) -> Iterator[tuple[int, int]]:
    """Yield the cells of a line, each with a side or a corner in common with the next; both ends
    are in it. within: others are left out, however many there are."""
    lengths = last[0] - first[0], last[1] - first[1]
    steps = max(abs(length) for length in lengths)
    begin, end = 0, steps
    if within:
        for start, length, low, size in zip(first, lengths, within[:2], within[2:], strict=True):
            if length:
                # More on either side, for what is rounded.
                ends = sorted((edge - start) * steps // length for edge in (low, low + size))
                spare = steps // abs(length) + 1
                begin, end = max(begin, ends[0] - spare), min(end, ends[1] + spare)
    for step in range(begin, end + 1):
        x, y = (
            start + _share(length, step, steps)
            for start, length in zip(first, lengths, strict=True)
        )
        if within is None or (
            0 <= x - within.x < within.width and 0 <= y - within.y < within.height
        ):
            yield x, y


def _share(length: int, step: int, steps: int) -> int:
    """Return length * step / steps, a half rounded away from the start, the same way both ways."""
    size = (2 * abs(length) * step + steps) // (2 * steps) if steps else 0
    return size if length >= 0 else -size


def inverted(cells: BitGrid, states: int = 2) -> BitGrid:
    """Return the cells, each the other way round: the first of the states becomes the last."""
    if states > 2:
        result, top = BitGrid(cells.width, cells.height, planes=cells.planes), 0
        for part in pieces(cells.words, cells.width):
            pack(np.uint8(states - 1) - part, result.words[top : top + len(part)])
            top += len(part)
        return result
    words = ~cells.words
    if cells.width % 64:
        words[:, -1] &= np.uint64((1 << cells.width % 64) - 1)
    return BitGrid(cells.width, cells.height, words)


def resized(cells: BitGrid, width: int, height: int) -> BitGrid:
    """Return the cells in a universe of another size, with the same middle; what leaves it is
    lost."""
    left, top = (width - cells.width) // 2, (height - cells.height) // 2
    kept = Box(-left, -top, width, height).common(Box(0, 0, cells.width, cells.height))
    result = BitGrid(width, height, planes=cells.planes)
    if kept:
        result.paste(cells.crop(kept), kept.x + left, kept.y + top)
    return result
