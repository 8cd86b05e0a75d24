"""Pictures of egg boxes, as SVG."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bulkbits.plurals import many
from bulkbits.svg import DIM, document, label, number, width_of

if TYPE_CHECKING:
    from .eggboxes import EggBox, EggBoxes

_CELL = 14.0
_ROWS, _COLUMNS = 16, 24  # of a box that are drawn
_LABEL = 20.0  # below a box
_GAP, _LEVEL = 22.0, 30.0  # beside a box, and below it
_WIDE = 960.0  # of a level; what is wider is broken
_GROUP, _OTHER, _EDGE = "#30588c", "#eef3f9", "#10203c"


@dataclass(frozen=True, slots=True)
class _Place:
    """A box in a picture. x, y: the left and top of its cells."""

    box: EggBox
    x: float
    y: float

    @property
    def rows(self) -> int:
        return min(self.box.rows, _ROWS)

    @property
    def columns(self) -> int:
        return min(self.box.columns, _COLUMNS)

    @property
    def middle(self) -> float:
        return self.x + self.columns * _CELL / 2

    @property
    def bottom(self) -> float:
        return self.y + self.rows * _CELL

    @property
    def text(self) -> str:
        """Return what stands below the box."""
        box = self.box
        size = f"{box.rows:,} × {box.columns:,}"
        if (self.rows, self.columns) != (box.rows, box.columns):
            size = f"{self.rows} × {self.columns} of {size}"
        return size if box.h_size == 1 else f"{size}, H of {box.h_size:,}"


def picture(boxes: EggBoxes, most: int) -> str:
    """Return a picture of so many boxes at most, with what it shows as its caption."""
    order = sorted(range(len(boxes)), key=lambda k: (boxes.depths[k], k))[: max(1, most)]
    levels: list[list[EggBox]] = []
    for k in order:
        if not levels or boxes.depths[k] != boxes.depths[levels[-1][0].number]:
            levels.append([])
        levels[-1].append(boxes[k])
    places, width, height = _placed(levels)
    shown = "" if len(order) == len(boxes) else f" ({len(order)} of them shown, from the top)"
    classes = many(len(boxes), "D-class", "D-classes")
    said = "R-classes × L-classes, filled where they cross in a group"
    caption = f"{many(boxes.elements, 'element')} in {classes}{shown}; {said}"
    return document(width, height, _drawn(places, _covers(boxes, order)), caption)


def _placed(levels: list[list[EggBox]]) -> tuple[dict[int, _Place], float, float]:
    """Return the places of boxes by their numbers, and the size of it all."""
    lines = [line for level in levels for line in _broken(level)]
    whole = max(sum(map(_width, line)) for line in lines)
    places, y = {}, 0.0
    for line in lines:
        x = (whole - sum(map(_width, line))) / 2
        highest = 0.0
        for box in line:
            place = _Place(box, 0, y)
            left = x + (_width(box) - place.columns * _CELL) / 2
            places[box.number] = _Place(box, left, y)
            x += _width(box)
            highest = max(highest, place.rows * _CELL)
        y += highest + _LABEL + _LEVEL
    return places, whole, y - _LEVEL


def _broken(level: list[EggBox]) -> Iterator[list[EggBox]]:
    line: list[EggBox] = []
    for box in level:
        if line and sum(map(_width, line)) + _width(box) > _WIDE:
            yield line
            line = []
        line.append(box)
    yield line


def _width(box: EggBox) -> float:
    place = _Place(box, 0, 0)
    return max(place.columns * _CELL, width_of(place.text)) + _GAP


def _covers(boxes: EggBoxes, order: list[int]) -> list[tuple[int, int]]:
    """Return the pairs of classes one right below the other, among those that are drawn: with any
    two of them all that is between these is drawn too."""
    drawn = set(order)
    reached: dict[int, set[int]] = {}
    pairs = []
    for k in reversed(order):  # lower ones first
        below = sorted(boxes.below[k] & drawn, key=lambda j: boxes.depths[j])
        mine: set[int] = set()
        for j in below:  # the upper ones first: what they lead to is no neighbour
            if j not in mine:
                pairs.append((k, j))
            mine |= {j} | reached[j]
        reached[k] = mine
    return pairs


def _drawn(places: dict[int, _Place], covers: list[tuple[int, int]]) -> Iterator[str]:
    lines = "".join(
        f"M{number(places[a].middle)} {number(places[a].bottom)}"
        f"L{number(places[b].middle)} {number(places[b].y)}"
        for a, b in sorted(covers)
    )
    if lines:
        yield f'<path fill="none" stroke="#9aa5b1" d="{lines}"/>'
    cells: dict[bool, list[str]] = {True: [], False: []}
    for place in places.values():
        for row in range(place.rows):
            for column in range(place.columns):
                corner = f"{number(place.x + column * _CELL)} {number(place.y + row * _CELL)}"
                box = f"M{corner}h{number(_CELL)}v{number(_CELL)}h{number(-_CELL)}z"
                cells[bool(place.box.groups[row, column])].append(box)
    for is_group, found in cells.items():
        if found:
            fill = _GROUP if is_group else _OTHER
            yield f'<path fill="{fill}" stroke="{_EDGE}" stroke-width=".6" d="{"".join(found)}"/>'
    for place in places.values():
        # On white, as lines go on below.
        half = width_of(place.text) / 2 + 2
        left, top = place.middle - half, place.bottom + 3
        size = f'width="{number(2 * half)}" height="{number(_LABEL - 4)}"'
        yield f'<rect x="{number(left)}" y="{number(top)}" {size} fill="#fff"/>'
        yield label(place.middle, place.bottom + _LABEL / 2 + 1, place.text, f' fill="{DIM}"')
