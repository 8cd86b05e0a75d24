"""Prove what becomes of a pattern for ever: parts that fly apart, and sources that emit them.

A pattern is divided into parts whose cells are too far apart to know of each other. Each is run
alone. Those that repeat themselves, moved or not, are movers. What is left, if anything, is the
core: a gun, or what leaves debris behind. Four things are proved, by lines and boxes
(lifesim.until.apart):

1. no two movers ever come near each other;
2. the core K, run alone, is after P generations K again, moved by d, and beside it movers N;
3. no mover ever comes near the core;
4. no mover of N ever comes near the core, the movers that were there before, the others of its own
   N, or those of any later N, which begin P generations later each, and d further on.

Things that never come near each other become what each becomes alone. So from that generation on
all is known, for ever: each P generations the same movers are added.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from lifesim.until.apart import Ints, never_near, rectangles
from lifesim.until.movers import Alone, Lines, Mover, Shape, UnprovableError, clusters, components

_COMMON = 64  # generations: movers of periods up to this are always found
_MOST_CELLS = 1 << 16
_MOST_PARTS = 4096
_MOST_WORK = 1 << 23  # cells of a core, times generations
_TIMES = 4  # times the period of populations: what a core's period is looked for up to
_ROUNDS = 12  # of taking movers into the core


@dataclass(frozen=True, eq=False)
class Core:
    """A set of cells that is itself again after a period, moved by displacement, beside what it has
    emitted. phases: its cells in each generation of the period."""

    period: int
    displacement: tuple[int, int]
    phases: tuple[Ints, ...]
    emitted: Ints

    def boxes(self) -> tuple[Ints, Ints]:
        """Return boxes (n, 4) that hold its parts, and the phase that each is of (n,)."""
        boxes: list[Ints] = []
        phases: list[int] = []
        for phase, cells in enumerate(self.phases):
            parts = clusters(cells)
            boxes += [np.array([*part.min(0), *part.max(0)]) for part in parts]
            phases += [phase] * len(parts)
        return np.array(boxes, np.int64), np.array(phases, np.int64)


@dataclass(frozen=True, eq=False)
class Proof:
    """The parts of a pattern that never meet, from a generation on, and so what becomes of it.

    movers: that are there, by coordinates of that generation as generation 0. core: None where
    these are all. emitted: by the core, each period, as they are at the end of its first one.
    """

    movers: Sequence[Mover]
    core: Core | None = None
    emitted: Sequence[Mover] = field(default=())

    @property
    def period(self) -> int:
        """Return a period after which all parts repeat themselves; with a core, after which it
        does, and as many cells are added each time."""
        if self.core is None:
            return math.lcm(*(mover.shape.period for mover in self.movers))
        pulses = (mover.shape.pulse for mover in [*self.movers, *self.emitted])
        return math.lcm(self.core.period, *pulses)

    @property
    def is_one(self) -> bool:
        """Tell whether there is no core, and all movers move by the same speed."""
        speeds = Lines.of(self.movers).speeds
        return self.core is None and bool((speeds == speeds[0]).all())

    @property
    def displacement(self) -> tuple[int, int]:
        """Return how far the core moves in a period."""
        assert self.core
        times = self.period // self.core.period
        return self.core.displacement[0] * times, self.core.displacement[1] * times

    @property
    def growth(self) -> Fraction:
        """Return how many cells are added in a period, on average."""
        if self.core is None:
            return Fraction(0)
        each = sum(
            Fraction(sum(mover.shape.populations), mover.shape.period) for mover in self.emitted
        )
        return Fraction(each * (self.period // self.core.period))


def prove(cells: Ints, period: int | None, alone: Alone) -> Proof | None:
    """Return what becomes of cells for ever, None where it is not found.

    cells: rows (x, y), ordered by y, then x. period: of the populations, if there seems to be one;
    without it there is no core.
    """
    if not 0 < len(cells) <= _MOST_CELLS:
        return None
    try:
        movers, rest = _divided(cells, alone, max(_COMMON, period or 0))
        if not len(rest):
            return None if Lines.of(movers).meetings(alone.breathe) else Proof(movers)
        if period is None or len(movers) > _MOST_PARTS:
            return None
        return _with_core(movers, rest, period, alone)
    except UnprovableError:
        return None


def _divided(cells: Ints, alone: Alone, limit: int) -> tuple[list[Mover], Ints]:
    """Divide cells into movers, no two of the same speed near each other, and a rest."""
    groups = clusters(cells)
    if len(groups) > _MOST_PARTS:
        raise UnprovableError
    rest: list[Ints] = [np.zeros((0, 2), np.int64)]
    while True:
        movers: list[Mover] = []
        parts: list[Ints] = []
        for group in groups:
            shape = alone.shape(group, limit)
            if shape is None:
                rest.append(group)
            else:
                x, y = group.min(0).tolist()
                movers.append(Mover(shape, (x, y)))
                parts.append(group)
        lines = Lines.of(movers)
        same = [
            (i, j)
            for i, j in lines.meetings(alone.breathe)
            if (lines.speeds[i] == lines.speeds[j]).all()
        ]
        if not same:
            return movers, np.concatenate(rest)
        groups = _united(parts, same)


def _united(parts: list[Ints], pairs: list[tuple[int, int]]) -> list[Ints]:
    """Put parts that belong together into one, in order."""
    groups: dict[int, list[Ints]] = {}
    labels = components(len(parts), np.array(pairs, np.int64).T)
    for part, label in zip(parts, labels.tolist(), strict=True):
        groups.setdefault(label, []).append(part)
    return [_ordered(np.concatenate(group)) for group in groups.values()]


def _ordered(cells: Ints) -> Ints:
    return cells[np.lexsort((cells[:, 0], cells[:, 1]))]


def _with_core(movers: list[Mover], rest: Ints, period: int, alone: Alone) -> Proof | None:
    """Return a proof whose core holds at least the rest, and movers that come near it or are in the
    way of others."""
    for _ in range(_ROUNDS):
        if len(rest) * period * _TIMES > _MOST_WORK:
            return None
        phases = [rest, *alone.generations(rest, period * _TIMES)]
        taken: set[int] = set()
        for core in _cores(phases, period):
            lines = Lines.of(movers)
            taken = {i for pair in lines.meetings(alone.breathe) for i in pair}
            taken |= _near_core(lines, core, alone)
            if not taken and (proof := _completed(movers, core, alone)):
                return proof
            if taken:
                break
        else:
            core = Core(period, (0, 0), tuple(phases[:period]), rest[:0])
            taken = _near_core(Lines.of(movers), core, alone, once=True)
        if not taken:
            return None
        rest = _ordered(np.concatenate([rest, *(movers[i].cells(0) for i in taken)]))
        movers = [mover for i, mover in enumerate(movers) if i not in taken]
    return None


def _cores(phases: list[Ints], period: int) -> Iterator[Core]:
    """Yield cores of a set of cells, by the generations that it makes alone; short periods
    first."""
    first = phases[0]
    for length in range(1, len(phases)):
        if not any(period * times % length == 0 for times in range(1, _TIMES + 1)):
            continue
        after = phases[length]
        if len(after) < len(first):
            continue
        for moved in _displacements(first, after):
            held = _inside(first + np.array(moved), after)
            if held is not None:
                yield Core(length, moved, tuple(phases[:length]), after[~held])


def _displacements(first: Ints, after: Ints) -> list[tuple[int, int]]:
    """Return how far a set may have moved: not at all, or as far as an edge of its box."""
    low, high = after.min(0) - first.min(0), after.max(0) - first.max(0)
    across, down = ([0, int(low[axis]), int(high[axis])] for axis in range(2))
    return list(dict.fromkeys((x, y) for x in across for y in down))


def _inside(cells: Ints, others: Ints) -> Ints | None:
    """Tell of each of the others whether it is among cells, if all of these are among them; else
    None. Both ordered by y, then x."""
    low, high = others.min(0), others.max(0)
    if (cells < low).any() or (cells > high).any():
        return None
    width = int(high[0] - low[0]) + 1
    keys, all_keys = (
        (part[:, 1] - low[1]) * width + part[:, 0] - low[0] for part in (cells, others)
    )
    at = np.searchsorted(all_keys, keys)
    if not np.array_equal(all_keys[np.minimum(at, len(all_keys) - 1)], keys):
        return None
    held = np.zeros(len(others), np.bool_)
    held[at] = True
    return held  # type: ignore[return-value]


def _near_core(
    lines: Lines, core: Core, alone: Alone, *, later: bool = False, once: bool = False
) -> set[int]:
    """Return which movers are, or may come, near the core. later: as they are when its first period
    is over. once: in its first period only."""
    lines.check(core.period)
    boxes, phases = core.boxes()
    moved = np.array(core.displacement, np.int64)
    if later:
        boxes = boxes + np.concatenate([moved, moved])
    found = set()
    for row, (box, speed) in enumerate(zip(lines.boxes, lines.speeds, strict=True)):
        alone.breathe()
        passed = phases[:, None] * speed
        near = rectangles(box + np.concatenate([passed, passed], 1), boxes * lines.unit, lines.unit)
        each = 0 * moved if once else core.period * speed - moved * lines.unit
        if not never_near(near, each, 0 * moved).all():
            found.add(row)
    return found


def _completed(movers: list[Mover], core: Core, alone: Alone) -> Proof | None:
    """Return the proof, if what the core emits never meets anything."""
    if not len(core.emitted):
        return Proof([*movers, _as_mover(core)])
    emitted, rest = _divided(_ordered(core.emitted), alone, _COMMON)
    if len(rest):
        return None
    old, new = Lines.of(movers, Lines.of(emitted).unit), Lines.of(emitted, Lines.of(movers).unit)
    old.check(core.period)
    new.check(core.period)
    if new.meetings(alone.breathe) or _near_core(new, core, alone, later=True):
        return None
    each = np.array(core.displacement, np.int64) * new.unit
    for box, speed in zip(new.boxes, new.speeds, strict=True):
        for others in (new, old):
            # The others, a period after they were where their boxes are.
            passed = core.period * others.speeds
            ahead = others.boxes + np.concatenate([passed, passed], 1)
            if others is new:
                ahead = ahead - np.concatenate([each, each])
            near = rectangles(ahead, box, new.unit)
            if not never_near(near, passed - each, others.speeds - speed).all():
                return None
    return Proof(movers, core, emitted)


def _as_mover(core: Core) -> Mover:
    """Return a core that emits nothing as what it is."""
    low = core.phases[0].min(0)
    phases = tuple(cells - low for cells in core.phases)
    x, y = low.tolist()
    return Mover(Shape(core.period, core.displacement, phases), (x, y))
