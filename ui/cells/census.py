"""Work between the steps of a run: pictures of a large universe as a whole, and its population."""

from __future__ import annotations

import time
from collections.abc import Callable

from ui.cells.commands import Command
from ui.cells.news import SELDOM, News
from ui.cells.plane import Plane
from ui.session import Event

_COUNTING = 10  # counting live cells may take one part of time in so many
_BROKEN = 4  # times as long as was wasted on a picture that was broken off, none is begun


class Census:
    """Counts live cells, and has the pictures of all cells made anew, when there is time for it.

    One thread uses it.

    counted: population (None if nobody has counted), its generation, and the version of the
    pictures that it was taken of.
    """

    def __init__(self, plane: Plane, is_asked: Callable[[], bool], news: News) -> None:
        """Know nothing yet. is_asked: tells whether something else has to be done first."""
        self._plane, self._is_asked, self._news = plane, is_asked, news
        self.counted: tuple[int | None, int, int] = (None, plane.generation, -1)
        self._count_at = self._refresh_at = 0.0

    def works(self, running: bool) -> list[tuple[float, Command]]:
        """Return what is to be done, each with when, by time.monotonic(); the first of those that
        are due comes first. running: whether a run is under way, which has to have its time."""
        pictures = self._plane.pictures
        works: list[tuple[float, Command]] = []
        # Asked first: what another thread has made since is counted below.
        due = pictures.due(running)
        if self.counted[2] != pictures.version:
            if pictures.are_copies:
                works.append((self._count_at if running else 0.0, self._count))
            elif pictures.is_made:
                works.append((0.0, self._take_count))
        if due is not None:
            works.append((max(due, self._refresh_at), self._refresh))
        return works

    def _refresh(self) -> None:
        began = time.monotonic()
        if self._plane.pictures.refresh(self._is_asked):
            self._news.tell(Event.CELLS)
            self._take_count()
        else:
            # Who asks all the time does not keep a run from moving on.
            now = time.monotonic()
            self._refresh_at = now + _BROKEN * (now - began)

    def _take_count(self) -> None:
        """Tell the population of the newest pyramid, whoever made it: the first one may have been
        made for a picture."""
        pictures = self._plane.pictures
        self.counted = *pictures.population, pictures.version
        self._news.tell(Event.STATUS)

    def _count(self) -> None:
        began = time.monotonic()
        pictures = self._plane.pictures
        version, generation = pictures.version, self._plane.generation
        self.counted = None, generation, version  # where that fails, it is not tried again
        copied = pictures.copied()
        self.counted = copied.population, copied.generation, version
        now = time.monotonic()
        self._count_at = now + max(SELDOM, _COUNTING * (now - began))
        self._news.tell(Event.STATUS)
