"""What the window does with a universe that is open, wherever its cells are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import ClassVar

from lifesim.errors import LifesimError
from lifesim.grid import BitGrid, Box
from lifesim.rule import Rule
from lifesim.topology import Topology
from ui.cells.saving import Whole
from ui.film.stills import Still
from ui.picture.request import FrameRequest
from ui.picture.sources import Source


class SessionError(LifesimError):
    """What cannot be done to this universe, in one line; nothing has changed."""


class Event(Enum):
    """What a session tells those who listen."""

    CELLS = auto()  # there is something new to draw
    STATUS = auto()  # status() says something else
    FAILED = auto()  # a run has stopped, and status().problem says why


@dataclass(frozen=True, slots=True)
class Status:
    """population: live cells of the generation `counted`, None if nobody has counted. rate: cell
    updates a second of the run under way or the last one, 0 before. running: whether generations
    are being computed. progress: done share, 0 to 1, of what takes long (a run on disk, going to
    a generation), else None. problem: why the last run stopped, else ''."""

    generation: int
    population: int | None
    counted: int
    running: bool
    rate: float
    modified: bool
    progress: float | None = None
    problem: str = ""


class Session(ABC):
    """A universe, its rule and its run. Calls return at once, but those that say otherwise.

    Methods are for the main thread; listeners are called from any. width, height, rule,
    topology: of now. where: what computes, in a few words. path: the file or directory that it
    was read from or saved to, None of a new one.
    """

    can_edit: ClassVar[bool]
    width: int
    height: int
    rule: Rule
    topology: Topology
    path: str | None
    where: str

    @abstractmethod
    def status(self) -> Status: ...

    @abstractmethod
    def source(self, request: FrameRequest) -> Source:
        """What to draw a request from, as new as is at hand. May be called from any thread,
        and may take as long as a frame may."""

    @abstractmethod
    def listen(self, listener: Callable[[Event], None]) -> None: ...

    @abstractmethod
    def forget(self, listener: Callable[[Event], None]) -> None:
        """It has listened long enough; may still be told what is being told now."""

    # --- running ---------------------------------------------------------------

    @abstractmethod
    def start(self) -> None:
        """Run until stop(), `speed` generations between two pictures."""

    @abstractmethod
    def stop(self) -> None:
        """The run stops within 100 ms (on disk: when what is under way is safe)."""

    @abstractmethod
    def step(self, generations: int) -> None:
        """Stop a run, then move on by so many."""

    @abstractmethod
    def set_speed(self, generations: int, frames_per_second: float | None) -> None:
        """generations: between two pictures, 1 to 2^20. frames_per_second: at most; None is as
        fast as it goes."""

    @abstractmethod
    def go_to(self, generation: int) -> None:
        """From the nearest one that is known, back in time too. Raises SessionError where there
        is none before it."""

    @abstractmethod
    def reset(self) -> None:
        """Back to the generation that was opened, or was there when a run first began."""

    # --- cells -----------------------------------------------------------------

    @abstractmethod
    def cells(self, box: Box) -> BitGrid:
        """A copy of a region within the universe. Waits for it. Raises GridError where it is
        too large for memory or leaves the universe."""

    @abstractmethod
    def whole(self) -> Whole:
        """A copy of all cells at a generation, from any thread, which waits for no run. Raises
        GridError where memory does not hold them, LifesimError where no generation is whole or
        the universe is closed."""

    @abstractmethod
    def still(self) -> Still | None:
        """What is to be recorded of this generation, as whole(); the same object as long as it
        is known to be the same. None where it cannot be had any more, or not yet."""

    @abstractmethod
    def bounding_box(self) -> Box | None:
        """Of all live cells; None where none lives. May take a second."""

    @abstractmethod
    def save(self, path: str) -> None:
        """Writes a pattern file, or a universe directory; its name says which format. Waits.
        Raises LifesimError; `path` and `modified` tell it then."""

    @abstractmethod
    def close(self) -> None:
        """Stop everything; waits. What is on disk is whole."""
