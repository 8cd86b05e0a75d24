"""What the window does with a universe that is open, wherever its cells are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from lifesim.errors import LifesimError
from lifesim.grid import BitGrid, Box
from lifesim.rule import Rule
from lifesim.topology import Topology
from lifesim.until import Condition, Found
from ui.cells.saving import Whole
from ui.film.stills import Still
from ui.picture.request import FrameRequest
from ui.picture.sources import PictureSource

if TYPE_CHECKING:
    from ui.cells.edits import Edit


class SessionError(LifesimError):
    """Raised for what cannot be done to this universe, in one line; nothing has changed."""


class Event(Enum):
    """Names what a session tells those who listen."""

    CELLS = auto()  # there is something new to draw
    STATUS = auto()  # status() says something else
    FAILED = auto()  # a run has stopped, and status().problem says why
    FOUND = auto()  # a run until a condition has ended, and status().found says what was found


@dataclass(frozen=True, slots=True)
class Status:
    """The state of a session at one moment.

    population: live cells of the generation `counted`, None if nobody has counted. rate: cell
    updates a second of the run under way or the last one, 0 before. running: whether generations
    are being computed. progress: done share, 0 to 1, of what takes long (a run on disk, going to a
    generation), else None. problem: why the last run stopped, else ''. edge: the generation in
    which live cells first met an edge that a pattern was given, as far as is known. left: seconds
    that what `progress` tells of will still take, about; None where that is not known. found: what
    the last run until a condition has found, until the next run begins.
    """

    generation: int
    population: int | None
    counted: int
    running: bool
    rate: float
    modified: bool
    progress: float | None = None
    problem: str = ""
    edge: int | None = None
    left: float | None = None
    found: Found | None = None


class Session(ABC):
    """A universe, its rule and its run. Calls return at once, but those that say otherwise.

    Methods are for the main thread, but where they say that any may call them; listeners are
    called from any.

    most_speed: generations between two pictures, most_generation: that one can go to, at most.
    looks: generations between two that a run until a condition looks at, unless somebody says
    otherwise; None where each counts. is_endless: cells may live anywhere, and the box is where
    they lived when last looked at; else nothing lives outside of the box. path: the file or
    directory that it was read from or saved to, None of a new one. oddities: what was odd in the
    file that it was read from, though it could be read; a line each.
    """

    can_edit: ClassVar[bool]
    most_speed: int = 1 << 20
    most_generation: int = 10**18
    looks: ClassVar[int | None] = None
    is_endless: ClassVar[bool] = False
    path: str | None
    oddities: tuple[str, ...] = ()

    @property
    def engine(self) -> str | None:
        """Return what keeps the cells, of lifesim.unbounded.ENGINES; None where there is no
        choice."""
        return None

    @property
    @abstractmethod
    def where(self) -> str:
        """Return what computes, in a few words."""

    @property
    @abstractmethod
    def box(self) -> Box:
        """Return all cells there are, or that are held of a plane without bounds."""

    @property
    def width(self) -> int:
        """Return how many columns the box has."""
        return self.box.width

    @property
    def height(self) -> int:
        """Return how many rows the box has."""
        return self.box.height

    @property
    @abstractmethod
    def rule(self) -> Rule:
        """Return the rule of now."""

    @property
    @abstractmethod
    def topology(self) -> Topology:
        """Return how the edges are joined now."""

    @property
    def limits(self) -> Box:
        """Return where cells may be put: in the box, or on a plane without bounds anywhere."""
        return self.box

    @property
    def space(self) -> Box:
        """Return all cells that there may be, as far as one can look."""
        return self.limits

    @property
    def is_bounded(self) -> bool:
        """Tell whether the universe has a size; else cells have coordinates of their own, negative
        ones too, and the box grows before any lives at its border."""
        return True

    @abstractmethod
    def status(self) -> Status:
        """Return the status of now; any thread may ask."""

    @abstractmethod
    def source(self, request: FrameRequest) -> PictureSource:
        """Return what to draw a request from, as new as is at hand. Any thread may ask, and it may
        take as long as a frame may."""

    @abstractmethod
    def listen(self, listener: Callable[[Event], None]) -> None:
        """Call a function with each event, from any thread, until forget()."""

    @abstractmethod
    def forget(self, listener: Callable[[Event], None]) -> None:
        """Stop calling a function, which may still be told what is being told now."""

    # --- running ---------------------------------------------------------------

    @abstractmethod
    def start(self) -> None:
        """Run until stop(), `speed` generations between two pictures."""

    @abstractmethod
    def stop(self) -> None:
        """Stop the run within 100 ms (on disk: when what is under way is safe)."""

    @abstractmethod
    def step(self, generations: int) -> None:
        """Stop a run, then move on by so many."""

    @abstractmethod
    def set_speed(self, generations: int, frames_per_second: float | None) -> None:
        """Set how fast a run goes.

        generations: between two pictures, 1 to most_speed. frames_per_second: at most; None is as
        fast as it goes.
        """

    @abstractmethod
    def go_to(self, generation: int) -> None:
        """Go to a generation from the nearest one that is known, back in time too. Raises
        SessionError where there is none before it."""

    @abstractmethod
    def run_until(self, condition: Condition, most: int | None, looks: int | None = None) -> None:
        """Stop a run, and begin one that ends in the first generation for which a condition is
        true (lifesim.until), or after so many generations; None is no limit. looks: generations
        between two that are looked at, where not each counts. Raises SessionError for numbers out
        of range."""

    @abstractmethod
    def reset(self) -> None:
        """Go back to the generation that was opened, or was there when a run first began."""

    # --- cells -----------------------------------------------------------------

    @abstractmethod
    def cells(self, box: Box) -> BitGrid:
        """Return a copy of a region within the universe; waits for it. Raises GridError where it is
        too large for memory or leaves the universe."""

    @abstractmethod
    def whole(self) -> Whole:
        """Return a copy of all cells at a generation; any thread may ask, and waits for no run.

        Raises GridError where memory does not hold them, LifesimError where no generation is whole
        or the universe is closed.
        """

    @abstractmethod
    def still(self) -> Still | None:
        """Return what is to be recorded of this generation, as whole(); the same object as long as
        it is known to be the same. None where it cannot be had any more, or not yet."""

    @abstractmethod
    def bounding_box(self) -> Box | None:
        """Return the box of all live cells; None where none lives. May take a second."""

    @abstractmethod
    def save(self, path: str) -> None:
        """Write a pattern file, or a universe directory; its name says which format. Waits.

        Raises LifesimError; `path` and `modified` tell it then.
        """

    @abstractmethod
    def close(self) -> None:
        """Stop everything; waits. What is on disk is whole."""


class HistoryLine(NamedTuple):
    """A change, or a run, in a few words, and the generation that it led to."""

    title: str
    generation: int


class HistoryLines(NamedTuple):
    """The changes since a generation, the first of them first, and what can be redone, the next
    first. Of very many only the last ones are told of."""

    first: int
    done: tuple[HistoryLine, ...]
    undone: tuple[HistoryLine, ...]


class EditableSession(Session):
    """A universe whose cells can be changed, and changes undone.

    draws_at_once: a stroke is changed bit by bit, while it is drawn; else all of it at its end.
    """

    draws_at_once: ClassVar[bool] = True

    @property
    def refusal(self) -> str:
        """Return why cells cannot be changed now, in a sentence; '' where they can."""
        return ""

    @abstractmethod
    def edit(self, edit: Edit) -> None:
        """Change cells, soon. Problems are told as those of a run are."""

    @abstractmethod
    def edit_now(self, edit: Edit) -> None:
        """Change cells; waits. Raises what goes wrong: GridError where there is no memory for it,
        or for states that the rule does not have."""

    @property
    @abstractmethod
    def can_undo(self) -> str | None:
        """Return what would be undone, in a few words; None where there is nothing."""

    @property
    @abstractmethod
    def can_redo(self) -> str | None:
        """Return what would be redone, in a few words; None where there is nothing."""

    @abstractmethod
    def undo(self) -> None:
        """Undo the last change, if there is one, soon."""

    @abstractmethod
    def redo(self) -> None:
        """Redo what was undone last, if anything, soon."""

    @property
    @abstractmethod
    def history(self) -> HistoryLines:
        """Return what can be undone and redone."""

    def travel(self, steps: int) -> None:
        """Undo, or where positive redo, so many changes, soon."""
        for _ in range(abs(steps)):
            if steps < 0:
                self.undo()
            else:
                self.redo()

    @abstractmethod
    def settled(self) -> Future[None]:
        """Return what has a result once all that has been asked for is done, but a run without an
        end."""
