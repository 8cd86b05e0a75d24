"""Find when live cells first meet the edge of a universe: exactly, without looking at every
generation.

Cells meet the edge in the first generation in which one of them lives in an outermost row or
column. Up to that generation the cells are those of a plane without bounds, on a torus too.

Where no cell lives closer to an edge than n cells, none meets it in fewer generations, by rules
that reach one cell; by others in fewer than n by their reach. Where some do, what comes of the
cells along that edge is found from them alone, in a universe of their own: cells further off than
the generations looked at do not matter. So something that stands still next to an edge costs a few
cells, and not a look at the whole after each generation. That is done for Life-like rules.
"""

from __future__ import annotations

from kernels.life.contract import LifeShape, LifeUniverse
from kernels.life.rules import LifeRule
from kernels.targets.choose import pick
from kernels.targets.contract import BackendUnavailableError, Target
from lifesim.engines import engine_of
from lifesim.grid import BitGrid, Box
from lifesim.live_box import live_box, part_of
from lifesim.rule import Rule

_LEAST = 64  # generations to look ahead along an edge
_SHARE = 32  # ... or this part of the shorter side
_EVER = 1 << 62

_LEFT, _TOP, _RIGHT, _BOTTOM = range(4)


class EdgeWatch:
    """The knowledge of when cells meet the edges of a universe.

    clear: none does up to this generation. met: the generation in which one does first, or
    will; None where that is not known yet. Both count as the universe does.
    """

    def __init__(self, rule: Rule, axes: tuple[bool, bool] = (True, True)) -> None:
        """Watch the edges of a universe that runs by a rule. axes: whether there are edges across
        columns, and across rows."""
        self._rule, self._axes = rule, axes
        self._sides = [s for s in (_LEFT, _TOP, _RIGHT, _BOTTOM) if axes[s % 2]]
        self._backend: Target | None = None
        self.clear = -1
        self.met: int | None = None

    def horizon(self, cells: LifeUniverse, generation: int) -> int:
        """Return how many generations can be made before this must be asked again; at least 1.

        cells: of that generation, which is at most one after `clear`.
        """
        if self.met is not None:
            return _EVER
        if generation >= self.clear:
            self._look(cells, generation)
        return _EVER if self.met is not None else max(1, self.clear - generation)

    def reached(self, cells: LifeUniverse, generation: int) -> int | None:
        """Return the generation in which cells met an edge, None where they did not so far."""
        self.horizon(cells, generation)
        return self.met if self.met is not None and self.met <= generation else None

    def _look(self, cells: LifeUniverse, generation: int) -> None:
        live = live_box(cells)
        empty_comes_alive = not self._rule.stays_empty
        if live is None:
            self.clear = generation if empty_comes_alive else _EVER
            return
        room = min(_room(live, cells.width, cells.height, side) for side in self._sides)
        if room == 0:
            self.met = generation
            return
        reach = self._rule.cells.reach
        self.clear = generation if empty_comes_alive else generation + -(-room // reach) - 1
        if not isinstance(self._rule.cells, LifeRule):
            return
        ahead = max(_LEAST, min(cells.width, cells.height) // _SHARE)
        if room > ahead or empty_comes_alive:
            return
        times = [self._along(cells, live, side, ahead) for side in self._sides]
        met = [time for time in times if time is not None]
        if met:
            self.met = generation + min(met)
        self.clear = max(self.clear, generation + min(met, default=ahead + 1) - 1)

    def _along(self, cells: LifeUniverse, live: Box, side: int, ahead: int) -> int | None:
        """Return after how many of `ahead` generations a cell lives at the very edge of one side,
        if none does so at another before; None where none does."""
        if _room(live, cells.width, cells.height, side) > ahead:
            return None
        strip = part_of(cells, _strip(cells.width, cells.height, side, ahead + 1))
        box = strip.bounding_box()
        if box is None:
            return None
        # Nothing gets further along the edge than this; there may be more than what is held.
        x, y, right, bottom = 0, 0, strip.width, strip.height
        if side in (_TOP, _BOTTOM):
            x, right = box.x - ahead, box.x + box.width + ahead
            if self._axes[0]:
                x, right = max(0, x), min(strip.width, right)
        else:
            y, bottom = box.y - ahead, box.y + box.height + ahead
            if self._axes[1]:
                y, bottom = max(0, y), min(strip.height, bottom)
        part = BitGrid(right - x, bottom - y)
        part.paste(strip.crop(box), box.x - x, box.y - y)
        return self._first_touch(part, side, ahead)

    def _first_touch(self, strip: BitGrid, side: int, ahead: int) -> int | None:
        universe = engine_of(self._rule, self._small()).universe(
            strip.words, LifeShape(strip.width, strip.height, False), self._rule.cells
        )
        kept, kept_at = strip, 0
        while True:
            now = BitGrid(strip.width, strip.height, universe.words())
            passed = universe.generation
            live = now.bounding_box()
            if live is None:
                return None
            room = _room(live, strip.width, strip.height, side)
            if room == 0:
                return passed
            if passed >= ahead or (passed and now == kept):
                return None  # it repeats itself, and has not come to the edge
            if passed >= 2 * kept_at:
                kept, kept_at = now, passed
            universe.step(min(room, ahead - passed))

    def _small(self) -> Target:
        """Return what computes a few cells soonest, whatever computes the universe."""
        if self._backend is None:
            try:
                self._backend = pick("cpu", threads=1)
            except BackendUnavailableError:
                self._backend = pick("reference")
        return self._backend


def _room(live: Box, width: int, height: int, side: int) -> int:
    """Return the number of dead rows or columns between what lives and an edge."""
    return (live.x, live.y, width - live.x - live.width, height - live.y - live.height)[side]


def _strip(width: int, height: int, side: int, depth: int) -> Box:
    """Return the rectangle of the cells along one side."""
    wide, high = min(depth, width), min(depth, height)
    return (
        Box(0, 0, wide, height),
        Box(0, 0, width, high),
        Box(width - wide, 0, wide, height),
        Box(0, height - high, width, high),
    )[side]
