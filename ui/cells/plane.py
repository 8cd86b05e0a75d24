"""The cells of a universe as they are now, in a part that grows where it has no bounds.

The part that is held grows before a live cell is at its border. As in lifesim.growing: where
nothing lives within n cells of a border, n generations are those of the plane, to the last cell.
Cells keep their coordinates in a larger part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from kernels.targets.contract import Target
from kernels.targets.memory import available_memory
from lifesim.edge import EdgeWatch
from lifesim.grid import BitGrid, Box, Words, bytes_of, check_size, human_bytes
from lifesim.growing import COPIES, REFERENCE_COPIES, OutgrownError, check_birth
from lifesim.squares import check_listed
from ui.cells.machine import Machine, Setting
from ui.cells.snapshots import SMALL, Pictures

# Cells: parts begin and end at multiples, so that pixels of as many cells a side, and words, stay
# where they were.
_UNIT = 1024
_ROOM, _SHARE = 1024, 4  # dead cells around what lives, at least; ... of its longer side
_LEAST = 64  # generations to make before it is looked again where cells live,
_FEWEST = 4  # ... and by rules that look far, whose generations take longer and more room
_EVER = 1 << 62


def part_around(
    box: Box, bounds: tuple[int, int], room: int | None = None, *, least: int = 0
) -> Box:
    """Return the part of a plane to hold where all that lives is in a box: with room around it,
    along an axis with bounds (not 0) all of it. least: cells of room, where none are told."""
    if room is None:
        room = max(_ROOM, least, max(box.width, box.height) // _SHARE)
    spans = []
    for start, length, bound in zip(box[:2], box[2:], bounds, strict=True):
        first = (start - room) // _UNIT * _UNIT
        end = -(-(start + length + room) // _UNIT) * _UNIT
        spans.append((0, bound) if bound else (first, end - first))
    (x, width), (y, height) = spans
    return Box(x, y, width, height)


def held_around(grid: BitGrid, bounds: tuple[int, int], at: tuple[int, int]) -> tuple[Box, BitGrid]:
    """Return the part to hold of a universe that begins with a pattern, and the cells of it.

    grid: the pattern, with its top-left cell at `at`. bounds: width and height of the universe; 0
    is none. Raises GridError where there is no memory for that part.
    """
    if all(bounds):
        return Box(0, 0, *bounds), grid
    box = part_around(Box(*at, grid.width, grid.height), bounds)
    check_size(box.width, box.height, COPIES * grid.planes)
    part = BitGrid(box.width, box.height, planes=grid.planes)
    part.paste(grid, at[0] - box.x, at[1] - box.y)
    return box, part


class Plane:
    """The cells of a universe as they are now, and the pictures of them.

    Where it has no bounds (Setting.grows), a part of it is held, outside of which nothing lives:
    it grows in time. Where that part or the rule changes, another machine takes the place of this
    one.

    One thread changes it and calls its methods. Any thread may read `machine`, `setting` and
    `pictures`, and use what these allow any thread to.

    _clear: the generation up to which no cell comes to the border, as far as that is known; None
    says that cells have been written since. _met: the generation in which live cells first meet
    the edges, where there are bounds, once that has been found out.
    """

    def __init__(
        self,
        backend: Target,
        setting: Setting,
        cells: BitGrid,
        generation: int,
        *,
        small: int = SMALL,
        watch: bool = False,
    ) -> None:
        """Copy the cells of a generation to a backend.

        small: see Pictures. watch: whether to find out when live cells meet an edge.
        Raises what Machine does.
        """
        self._backend = backend
        self.machine = Machine(backend, setting, cells.words, generation)
        self.pictures = Pictures(self.machine, small)
        self.setting = setting
        self._clear: int | None = None
        self._watches = watch
        self._watch: tuple[Machine, EdgeWatch] | None = None
        self._met: int | None = None

    @property
    def generation(self) -> int:
        """Return the generation of the cells."""
        return self.machine.generation

    def close(self) -> None:
        """Give the memory back."""
        self.machine.close()

    # --- reading ---------------------------------------------------------------

    def cells(self) -> BitGrid:
        """Return all cells: as they lie in memory where they do, or a copy."""
        return self.machine.whole() or self.machine.read(self.setting.box)[0]

    def rows(self, first: int, end: int) -> Words:
        """Return some rows, counted from the first that is held: as they lie in memory, or a
        copy; uint64 (rows, words of a row)."""
        whole = self.machine.whole()
        if whole:
            return whole.words[first:end]
        setting = self.setting
        rows = Box(setting.x, setting.y + first, setting.width, end - first)
        return self.machine.read(rows)[0].words

    def region(self, box: Box) -> BitGrid:
        """Return the cells of a box; dead where nothing is held of a plane without bounds. Raises
        GridError where it is too large for memory or leaves the universe."""
        setting = self.setting
        if box.common(setting.limits) != box or setting.holds(box):
            return self.machine.read(box)[0]
        planes = setting.rule.planes
        check_size(box.width, box.height, 2 * planes)
        cells = BitGrid(box.width, box.height, planes=planes)
        part = box.common(setting.box)
        if part:
            cells.paste(self.machine.read(part)[0], part.x - box.x, part.y - box.y)
        return cells

    @property
    def leaps(self) -> bool:
        """Return False: generations are made one after the other."""
        return False

    def live_box(self) -> Box | None:
        """Return the smallest rectangle that holds every live cell, None where none lives."""
        live = self.cells().bounding_box()
        return live and live._replace(x=live.x + self.setting.x, y=live.y + self.setting.y)

    def live_cells(self) -> npt.NDArray[np.int64]:
        """Return the live cells as rows (x, y), ordered by y, then x. Raises GridError for too
        many."""
        cells = self.cells()
        check_listed(cells.population())
        listed = cells.cells()
        listed += np.array(self.setting.at)
        return listed

    def population(self) -> int:
        """Return the number of live cells."""
        return self.cells().population()

    # --- changing --------------------------------------------------------------

    def advance(self, at_most: int, *, brief: bool, stopped: Callable[[], bool]) -> int:
        """Move on as Machine.advance() does, by at most what room_for() has found room for.

        Returns how many generations were made.
        """
        before = self.machine.generation
        try:
            self.machine.advance(at_most, brief=brief, stopped=stopped)
        finally:
            made = self.machine.generation - before
            if made:
                self.pictures.changed()
        return made

    def write(self, cells: BitGrid, box: Box) -> None:
        """Replace the cells of a box that is held."""
        self._clear = None
        self.machine.write(cells, box.x, box.y)
        self.pictures.changed()

    def replay(
        self,
        cells: BitGrid,
        generation: int,
        written: Iterable[tuple[int, Box, BitGrid]],
        end: int,
    ) -> None:
        """Replace all cells by what becomes of others in a later generation, as Machine.replay()
        does."""
        self._clear = None
        self.machine.replay(cells, generation, written, end)
        self.pictures.changed()

    def replace(self, setting: Setting, cells: BitGrid, generation: int | None = None) -> None:
        """Put another universe in the place of this one, which stays if there is no room.

        generation: None is the one that it is in. Raises what Machine does.
        """
        old = self.machine
        if generation is None:
            generation = old.generation
        new = Machine(self._backend, setting, cells.words, generation)
        self.machine, self._clear = new, None
        self.pictures.show(new)
        self.setting = setting
        old.close()

    # --- edges -----------------------------------------------------------------

    @property
    def edge(self) -> int | None:
        """Return the generation in which cells first met an edge, as far as is known."""
        met = self._met
        return met if met is not None and met <= self.machine.generation else None

    def went_back(self, generation: int) -> None:
        """Take note that the cells are of this generation again, after perhaps a later one."""
        if self._met is not None and generation <= self._met:
            self._met = None  # perhaps by what has been taken back

    def _edge_horizon(self) -> int:
        """Return how many generations can be made before it is looked at the edges again."""
        machine, setting = self.machine, self.setting
        if not self._watches or all(setting.grows) or self.edge is not None:
            return _EVER
        if self._watch is None or self._watch[0] is not machine or self._clear is None:
            axes = not setting.grows[0], not setting.grows[1]
            self._watch = machine, EdgeWatch(setting.rule, axes)
            self._clear = machine.generation  # which tells that nothing has been written since
        watch = self._watch[1]
        most = watch.horizon(machine.universe, machine.generation)
        self._met = watch.met
        return most if watch.met is None else max(1, watch.met - machine.generation)

    # --- growing ---------------------------------------------------------------

    def room_for(self, generations: int) -> int:
        """Return how many of 1 or more generations can be made, in a larger part where need be.

        Raises OutgrownError where there is no memory for that, GridError for a rule of B0.
        """
        generations = min(generations, self._edge_horizon())
        if not any(self.setting.grows):
            return generations
        check_birth(self.setting.rule)
        reach = self.setting.rule.cells.reach
        now, least = self.machine.generation, min(generations, _ahead(reach))
        if self._clear is None or self._clear - now < least:
            live = self.live_box()
            if live and _room(live, self.setting) < least * reach:
                self._grow(live, live)
            self._clear = now + (_room(live, self.setting) // reach if live else _EVER)
        return min(generations, self._clear - now)

    def hold(self, box: Box) -> None:
        """Grow to hold a box, too. Raises OutgrownError."""
        if not self.setting.holds(box):
            live = self.live_box()
            self._grow(live.joined(box) if live else box, live)

    def _grow(self, box: Box, live: Box | None) -> None:
        """Move what lives to a part around a box, with all that has been held if memory lets."""
        machine, setting = self.machine, self.setting
        reach = setting.rule.cells.reach
        least = _ahead(reach) * reach
        part = part_around(box, setting.bounds, least=least).joined(setting.box)
        try:
            self._check(part)
        except OutgrownError:
            part = part_around(box, setting.bounds, least)
            self._check(part)
        cells = BitGrid(part.width, part.height, planes=setting.rule.planes)
        if live:
            cells.paste(machine.read(live)[0], live.x - part.x, live.y - part.y)
        x, y, width, height = part
        self.replace(replace(setting, x=x, y=y, width=width, height=height), cells)

    def _check(self, part: Box) -> None:
        most, machine = available_memory(), self.machine
        copies = REFERENCE_COPIES if machine.backend.is_reference else COPIES
        need = copies * bytes_of(part.width, part.height, self.setting.rule.planes)
        if need > most:
            raise OutgrownError(
                f"the plane has outgrown memory at generation {machine.generation:,}: "
                f"{part.width}x{part.height} cells need {human_bytes(need)}, "
                f"{human_bytes(most)} may be taken"
            )


def _ahead(reach: int) -> int:
    """Return how many generations there is to be room for, by a rule that looks so far."""
    return max(_FEWEST, _LEAST // reach)


def _room(live: Box, setting: Setting) -> int:
    """Count the dead cells between what lives and the nearest border that is no bound."""
    room = []
    for grows, at, length, start, side in zip(
        setting.grows, live[:2], live[2:], setting.box[:2], setting.box[2:], strict=True
    ):
        if grows:
            room += [at - start, start + side - at - length]
    return min(room)
