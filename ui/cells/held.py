"""What the parts of a session ask of the cells that they move, change and show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
import numpy.typing as npt

from lifesim.grid import BitGrid, Box
from ui.cells.machine import Setting
from ui.picture.request import FrameRequest
from ui.picture.sources import PictureSource


class Mover(Protocol):
    """Moves cells on.

    seconds: spent on steps lately, and updates: of cells made in them.
    """

    seconds: float
    updates: float

    @property
    def generation(self) -> int:
        """Return the generation of the cells."""

    @property
    def span(self) -> int:
        """Return how many generations take about the time of a slice."""


class Shown(Protocol):
    """The pictures of cells."""

    def source(self, request: FrameRequest) -> PictureSource:
        """Return what to draw a request from; any thread may ask."""

    def changed(self) -> None:
        """Take note that something else is to be seen."""

    def bounding_box(self, exactly: bool) -> Box | None:
        """Return the box of the live cells, None where none lives. exactly: else about."""


class Held(Protocol):
    """The cells of a universe as they are now, however they are kept.

    One thread changes it. Any may read `setting` and `pictures`.
    """

    @property
    def generation(self) -> int:
        """Return the generation of the cells."""

    @property
    def setting(self) -> Setting:
        """Return the facts of the universe beside its cells."""

    @property
    def machine(self) -> Mover:
        """Return what moves the cells on; another one where these move to another place."""

    @property
    def pictures(self) -> Shown:
        """Return the pictures of the cells."""

    @property
    def edge(self) -> int | None:
        """Return the generation in which cells first met an edge, as far as is known."""

    @property
    def leaps(self) -> bool:
        """Tell whether any number of generations may be made, as by HashLife."""

    def live_box(self) -> Box | None:
        """Return the smallest rectangle that holds every live cell, None where none lives."""

    def live_cells(self) -> npt.NDArray[np.int64]:
        """Return the live cells as rows (x, y), ordered by y, then x. Raises GridError for too
        many."""

    def population(self) -> int:
        """Return the number of live cells."""

    def room_for(self, generations: int) -> int:
        """Return how many of 1 or more generations can be made, after making room."""

    def advance(self, at_most: int, *, brief: bool, stopped: Callable[[], bool]) -> int:
        """Move on by at most so many generations; return how many were made."""

    def region(self, box: Box) -> BitGrid:
        """Return the cells of a box. Raises GridError where it is too large for memory."""

    def hold(self, box: Box) -> None:
        """Make room for the cells of a box."""

    def write(self, cells: BitGrid, box: Box) -> None:
        """Replace the cells of a box that is held."""

    def went_back(self, generation: int) -> None:
        """Take note that the cells are of this generation again, after perhaps a later one."""

    def close(self) -> None:
        """Give the memory back."""
