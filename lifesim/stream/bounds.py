"""Watch the edges of a run on disk: a plane without bounds grows before a live cell can reach the
end of its tiles; of others it is noted when live cells met the edge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from lifesim.grid import Box
from lifesim.growing import check_birth
from lifesim.rule import Rule
from lifesim.store import plane
from lifesim.store.growth import grow
from lifesim.store.making import form_of
from lifesim.store.tilefile import TileFormat
from lifesim.store.tiling import Tiling, tile_universe
from lifesim.store.universe import Universe
from lifesim.stream.plan import BudgetError

Budget = Callable[[Tiling, TileFormat, Rule], None]

_EVER = 1 << 62
_LEAST = 64  # generations, of a phase that ends at the edge of what is held
_LEAST_FAR = 8  # the same by rules that reach far
_ROOM = 1024  # cells around what lives, once there is more
_SHARE = 2  # ... or this part of its longer side
_LEAST_CELLS, _MOST_FILES = 1 << 16, 1 << 12  # of smaller sub-universes than usual


class Bounds:
    """The watch over where what lives is, before and after each phase of a universe open for
    writing."""

    def __init__(self, universe: Universe, budget: Budget, release: Callable[[], None]) -> None:
        """Watch a universe. budget: raises BudgetError for tiles that are too large. release: gives
        back the memory that phases hold, before room is made."""
        self._universe, self._budget, self._release = universe, budget, release
        self._reach = universe.rule.cells.reach
        # Generations that there is room for, at least, once there is more.
        self._least = min(_LEAST, max(_LEAST_FAR, _ROOM // self._reach))
        self._room = 0  # dead cells between what lives and the edges, before the phase
        self._known: tuple[int, Box | None] | None = None  # a generation, what lived in it
        self._settled = False  # whether the phase before changed nothing, in a whole period

    def check(self) -> None:
        """Raise GridError for a rule of B0 on a plane without bounds."""
        if self._universe.manifest.corner is not None:
            check_birth(self._universe.rule)

    def before(self, left: int, progress: Callable[[int, int], None] | None = None) -> int:
        """Return how many generations the next phase may be long at most, of `left` that are
        still to be made; make room for some where there is none.

        progress: told of tiles made, and of tiles in all, while room is made; what it raises
        leaves the universe as it was.
        Raises LifesimError where the disk or the memory has too little of it.
        """
        universe = self._universe
        manifest = universe.manifest
        if universe.phase is not None or (manifest.corner is None and not self._is_open()):
            self._room = 0
            return _EVER
        live = self._live()
        self._room = _EVER if live is None and manifest.rule.stays_empty else self._around(live)
        self._settled = manifest.last > 0 and all(manifest.steady)
        if manifest.corner is None:
            # No cell meets the edge in a phase that is no longer than this.
            near = self._generations() < self._least
            sure = self._settled or near or not self._is_open(universe.generation)
            return _EVER if sure else self._generations()
        if live and self._generations() < min(left, self._least):
            self._grow(live, left, progress)
        return self._generations()

    def after(self, first: int) -> None:
        """Note what a phase that began at generation `first` tells of the edge."""
        universe = self._universe
        manifest = universe.manifest
        if not self._is_open() or universe.phase is not None or universe.generation == first:
            return
        assert manifest.edge
        clear, _ = manifest.edge
        if clear == first:  # else some generation before is in doubt
            clear += min(universe.generation - first, max(0, self._room - 1) // self._reach)
            if self._settled and self._room:
                clear = universe.generation
        met = None
        if clear < universe.generation:
            if not self._around(self._live()):
                met = universe.generation
            elif clear == universe.generation - 1:
                clear = universe.generation
        if (clear, met) != manifest.edge:
            universe.directory.write_manifest(replace(manifest, edge=(clear, met)))

    def _generations(self) -> int:
        """Return how many generations no news reaches beyond an edge in."""
        return self._room // self._reach

    def _live(self) -> Box | None:
        universe = self._universe
        if self._known is None or self._known[0] != universe.generation:
            self._known = universe.generation, plane.live_box(universe)
        return self._known[1]

    def _is_open(self, least: int = -1) -> bool:
        """Tell whether the edge is asked for, and known not to be met up to generation `least`."""
        edge = self._universe.manifest.edge
        return edge is not None and edge[1] is None and edge[0] >= least

    def _around(self, live: Box | None) -> int:
        """Return the dead cells between what lives and the edges; 1 where empty space comes
        alive."""
        universe = self._universe
        if live is None:
            return 1
        right = universe.width - live.x - live.width
        bottom = universe.height - live.y - live.height
        room = min(live.x, live.y, right, bottom)
        return room if universe.rule.stays_empty else min(room, 1)

    def _grow(self, live: Box, left: int, progress: Callable[[int, int], None] | None) -> None:
        self._release()
        universe = self._universe
        least = max(_ROOM, self._least * self._reach)
        room = min(left * self._reach, max(least, max(live.width, live.height) // _SHARE))
        size = live.width + 2 * room, live.height + 2 * room
        form = universe.manifest.form
        compression, pyramid, states = form.compression, bool(form.top), form.states
        tiling = tiling_within(
            tile_universe(*size, False, planes=form.planes),
            lambda t: self._budget(t, form_of(t, compression, pyramid, states), universe.rule),
        )
        grow(universe, live, size, (room, room), tiling, progress)
        self._room, self._known = room, None


def tiling_within(tiling: Tiling, budget: Callable[[Tiling], None]) -> Tiling:
    """Return the tiling, or one of smaller tiles, that the budget raises no BudgetError for."""
    while True:
        try:
            budget(tiling)
            return tiling
        except BudgetError:
            wide, high = tiling.largest(1, 1)
            if wide * high < _LEAST_CELLS or len(tiling) > _MOST_FILES:
                raise
            across, down = tiling.across, tiling.down
            if high > 64:
                down = 1 << down.bit_length()  # so that many levels nest
            else:
                across = 1 << across.bit_length()
            tiling = tile_universe(tiling.width, tiling.height, tiling.torus, (across, down))
