"""The cells of a session as lifesim.until walks over them, in steps between which others are
answered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lifesim.grid import BitGrid, Box, check_size
from lifesim.pauses import Progress
from lifesim.rule import Rule
from ui.cells.held import Held
from ui.cells.moments import Moment
from ui.cells.past import Past


@dataclass(frozen=True, slots=True)
class KeptMoment:
    """A moment that the search may go back to. nbytes: of memory that it takes."""

    moment: Moment
    nbytes: int


class SearchedCells:
    """The universe of a session, as a search for a condition asks for it (lifesim.until.walk).

    One thread uses it: that which changes the cells.
    """

    def __init__(
        self, held: Held, past: Past, move: Callable[[int], int], look: Callable[[], None]
    ) -> None:
        """Begin with the cells as they are.

        move: moves on by at most so many generations, and returns how many were made. look: lets
        others in, and raises Interrupted where the search is to end.
        """
        self._held, self._past, self._move, self._look = held, past, move, look
        self._framed: tuple[int, Box] | None = None  # with its generation

    @property
    def rule(self) -> Rule:
        """Return the rule."""
        return self._held.setting.rule

    @rule.setter
    def rule(self, rule: Rule) -> None:
        raise AttributeError("a search changes no rule")

    @property
    def bounds(self) -> tuple[int, int]:
        """Return width and height, 0 along an axis without bounds."""
        return self._held.setting.bounds

    @property
    def generation(self) -> int:
        """Return the generation of the cells."""
        return self._held.generation

    @property
    def leaps(self) -> bool:
        """Tell whether any number of generations may be made."""
        return self._held.leaps

    @property
    def seconds(self) -> float:
        """Return the seconds spent in steps lately."""
        return self._held.machine.seconds

    @property
    def rate(self) -> float:
        """Return the cell updates per second lately; 0 where nobody counts them."""
        machine = self._held.machine
        return machine.updates / machine.seconds if machine.seconds else 0.0

    def run(
        self,
        generations: int,
        *,
        progress: Callable[[Progress], None] | None = None,
        stopped: Callable[[], bool] | None = None,
        ahead: int = 0,
    ) -> None:
        """Move on by so many generations. Raises Interrupted. The rest of what Life.run() takes is
        of no use here: others are let in between any two steps."""
        goal = self.generation + generations
        while (left := goal - self.generation) > 0:
            self._look()
            self._move(left)

    def keep(self) -> KeptMoment:
        """Store all cells. Raises Interrupted."""
        while (moment := self._past.keep_on()) is None:
            self._look()
        assert moment.whole is not None
        return KeptMoment(moment, moment.whole.nbytes)

    def go_back(self, kept: KeptMoment) -> None:
        """Go to a moment that was stored. Raises HistoryError, and GridError for cells that were
        too many for a copy."""
        self._past.go_to(kept.moment)
        self._framed = None

    def population(self) -> int:
        """Return the number of live cells."""
        return self._held.population()

    def frame(self) -> Box:
        """Return the universe, or along an axis without bounds what lives."""
        if self._framed is None or self._framed[0] != self.generation:
            setting = self._held.setting
            if all(setting.bounds):
                frame = setting.box
            else:
                live = self._held.live_box() or Box(0, 0, 1, 1)
                x, width = (live.x, live.width) if setting.grows[0] else (setting.x, setting.width)
                y, height = (
                    (live.y, live.height) if setting.grows[1] else (setting.y, setting.height)
                )
                frame = Box(x, y, width, height)
            self._framed = self.generation, frame
        return self._framed[1]

    def grid(self) -> BitGrid:
        """Return a copy of the cells of frame(). Raises GridError where it is too large."""
        frame = self.frame()
        check_size(frame.width, frame.height, 2 * self.rule.planes)
        return self._held.region(frame)

    def live_cells(self) -> npt.NDArray[np.int64]:
        """Return the live cells as rows (x, y), ordered by y, then x. Raises GridError for too
        many."""
        return self._held.live_cells()
