"""The past of a universe whose cells are stored row by row."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from lifesim.engines import cells_for
from lifesim.grid import BitGrid, Box
from ui.cells.machine import Machine, Setting
from ui.cells.moments import Moment, Origin, Route
from ui.cells.past import Past
from ui.cells.plane import Plane
from ui.cells.vault import Vault, chunk_rows

_WRITTEN, _CELLS = 1000, 4  # parts of a route, and one of so many cells, are written at most


class History(Past):
    """The past of a rectangle of cells.

    All cells of a large universe are not stored at every change of a run (`again`).

    _route: to what is there now, but for passes since, on the machine _route_on, where _since of
    Machine.spent had been spent; its cells may be still being stored.
    """

    def __init__(self, plane: Plane, vault: Vault, report: Callable[[str], None]) -> None:
        """Begin with the plane as it is. report: is told, in one line, what was lost."""
        super().__init__(plane, vault, report)
        self._plane = plane
        self._route: Route | None = None
        self._route_on: Machine | None = None
        self._since = 0.0

    @property
    def route(self) -> Route | None:
        """Return the route to what is there now, but for passes since; None where there is none."""
        return self._route if self._route_on is self._plane.machine else None

    def _set_route(self, route: Route | None, since: float | None = None) -> None:
        self._route, self._route_on = route, self._plane.machine
        if since is not None:
            self._since = since

    def keep_on(self) -> Moment | None:
        """Store some of the cells, in a few milliseconds; return the moment once all are stored.

        Cells may be changed between the calls, but no pass made.
        """
        plane, route = self._plane, self.route
        setting = plane.setting
        if route is None or not self._is_near(route):
            stored = self.vault.start(setting.width, setting.height, setting.rule.planes)
            route = Route(stored, plane.generation)
            self._set_route(route, plane.machine.spent)
        first = route.stored.height_kept
        end = min(first + chunk_rows(setting.width, setting.rule.planes), setting.height)
        if first < end:
            route.stored.add(plane.rows(first, end))
            self._relieve()
        return self.moment(whole=route) if end == setting.height else None

    def _is_near(self, route: Route, more: int = 0) -> bool:
        """Tell whether to go on storing its cells, or to be here again from them if all are stored.

        more: cells that are to be written.
        """
        plane, written = self._plane, route.written
        width, height = plane.setting.width, plane.setting.height
        area = sum((box.width * box.height for _, box, _ in written), more)
        if _CELLS * area > width * height:
            return False
        if route.stored.height_kept < height:
            return route.generation == plane.generation
        soon = plane.machine.spent - self._since < self.again
        return not plane.pictures.are_copies and soon and len(written) < _WRITTEN

    def _replay(self, moment: Moment, origin: Origin) -> None:
        assert isinstance(origin, Route)
        plane, route = self._plane, origin
        self._set_route(None)
        # All that is stored is read before anything is written.
        cells = route.stored.grid()
        written = [(at, box, stored.grid()) for at, box, stored in route.written]
        if moment.setting != plane.setting:
            plane.replace(moment.setting, cells, route.generation)
        began = time.monotonic()
        plane.replay(cells, route.generation, written, moment.generation)
        took = time.monotonic() - began
        self._set_route(route, plane.machine.spent - took)

    def _resettle(self, setting: Setting) -> None:
        self._plane.replace(setting, cells_for(setting.rule, self._plane.cells()))

    def write(self, cells: BitGrid, box: Box) -> None:
        """Replace the cells of a box that is held."""
        plane, route = self._plane, self.route
        if route and self._is_near(route, box.width * box.height):
            part = plane.generation, box, self.store(cells)
            route = replace(route, written=(*route.written, part))
        else:
            route = None
        self._set_route(None)  # until all is written
        plane.write(cells, box)
        self._set_route(route)

    def rewrite(self, cells: BitGrid, generation: int) -> None:
        """Replace all cells, and the generation."""
        self._set_route(None)
        self._plane.replay(cells, generation, (), generation)

    def replace(self, setting: Setting, cells: BitGrid, generation: int | None = None) -> None:
        """Put another universe in the place of this one, as Plane.replace() does."""
        self._plane.replace(setting, cells, generation)
