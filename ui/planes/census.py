"""Counts the live cells of a plane between the steps of a run, and finds where they are."""

from __future__ import annotations

import time

from lifesim.grid import Box
from ui.cells.commands import Command
from ui.cells.news import SELDOM, News
from ui.planes.held import HeldPlane
from ui.session import Event

_COUNTING = 10  # counting may take one part of time in so many


class PlaneCensus:
    """Counts live cells. One thread uses it; any may read `counted` and `box`.

    counted: population (None if nobody has counted), its generation, and the version of the
    pictures then. box: of all live cells then; of one cell where none lives.
    """

    def __init__(self, plane: HeldPlane, news: News) -> None:
        """Know nothing yet but where cells live."""
        self._plane, self._news = plane, news
        self.counted: tuple[int | None, int, int] = (None, plane.generation, -1)
        self.box = plane.live_box() or Box(0, 0, 1, 1)
        self._at = 0.0

    def works(self, running: bool) -> list[tuple[float, Command]]:
        """Return what is to be done, and when, by time.monotonic()."""
        if self.counted[2] == self._plane.pictures.version:
            return []
        return [(self._at if running else 0.0, self._count)]

    def _count(self) -> None:
        began = time.monotonic()
        plane = self._plane
        about = plane.generation, plane.pictures.version
        self.counted = None, *about  # where that fails, it is not tried again
        self.box = plane.live_box() or Box(0, 0, 1, 1)
        self.counted = plane.machine.universe.population(), *about
        now = time.monotonic()
        self._at = now + max(SELDOM, _COUNTING * (now - began))
        self._news.tell(Event.STATUS)
