"""A session whose cells are in memory, moved on and changed by a thread of its own.

What the window asks for is posted, as functions, to the thread, which looks at it between two
steps; it is the only one that changes anything. Pictures do not wait for it where they need not.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable
from concurrent.futures import Future
from typing import ClassVar, Protocol

from bulkbits.plurals import many
from lifesim.grid import BitGrid, Box
from lifesim.rule import Rule
from lifesim.topology import Topology
from lifesim.until import Condition
from ui.cells.clock import Clock
from ui.cells.commands import Command, CommandThread
from ui.cells.editor import Editor
from ui.cells.edits import Edit
from ui.cells.held import Held
from ui.cells.news import News, Reach
from ui.cells.past import Past
from ui.cells.saving import Whole
from ui.numbers import shortened
from ui.picture.request import FrameRequest
from ui.picture.sources import PictureSource
from ui.session import EditableSession, Event, HistoryLines, SessionError, Status


class Counting(Protocol):
    """Counts live cells between the steps of a run.

    counted: population (None if nobody has counted), its generation, and the version of the
    pictures that it was taken of.
    """

    counted: tuple[int | None, int, int]

    def works(self, running: bool) -> list[tuple[float, Command]]:
        """Return what is to be done, each with when, by time.monotonic()."""


class EditedSession(EditableSession):
    """A session of cells in memory, composed of parts that each have their own state.

    Whoever makes one sets the parts, and calls _begin() last.

    _commands: the thread, which alone uses the other parts, but for what they let any thread do.
    _held: the cells and their pictures. _past: how they came about. _clock: what runs.
    _editor: what a person changes. _census: who lives. _news: what is published. _saved: the
    number of the edits that have been saved.
    notes: name and comments, for files that it is saved to.
    """

    can_edit: ClassVar[bool] = True

    _commands: CommandThread
    _held: Held
    _past: Past
    _clock: Clock
    _editor: Editor
    _census: Counting
    _news: News
    _saved: int
    notes: tuple[str, tuple[str, ...]]

    def _begin(self) -> None:
        """Publish for the first time, and start the thread."""
        self._news.begin()
        self._commands.start(self._own_work, self._failed, self._ended)

    # --- what it is ------------------------------------------------------------

    @property
    def box(self) -> Box:
        """Return the cells that are held."""
        return self._held.setting.box

    @property
    def limits(self) -> Box:
        """Return where cells may be put."""
        return self._held.setting.limits

    @property
    def is_bounded(self) -> bool:
        """Tell whether the universe has a size."""
        return not any(self._held.setting.grows)

    @property
    def rule(self) -> Rule:
        """Return the rule."""
        return self._held.setting.rule

    @property
    def topology(self) -> Topology:
        """Return how the edges are joined."""
        return self._held.setting.topology

    def status(self) -> Status:
        """Return the status that was published last."""
        return self._news.status

    def source(self, request: FrameRequest) -> PictureSource:
        """Return what to draw a request from; any thread may ask."""
        return self._held.pictures.source(request)

    def listen(self, listener: Callable[[Event], None]) -> None:
        """Call a function with each event; any thread may ask for it."""
        self._news.listen(listener)

    def forget(self, listener: Callable[[Event], None]) -> None:
        """Stop calling a function; any thread may ask for it."""
        self._news.forget(listener)

    # --- running ---------------------------------------------------------------

    def start(self) -> None:
        """Run until stop()."""
        self._commands.post(lambda: self._clock.begin("running", None))

    def stop(self) -> None:
        """Stop a run; a pass under way is broken off where that can be done."""
        self._commands.post(self._clock.stop, stops=True)

    def step(self, generations: int) -> None:
        """Stop a run, then move on by so many. Raises SessionError for negative ones."""
        if generations < 0:
            raise SessionError(f"a universe cannot go back {many(-generations, 'generation')}")
        self._commands.post(lambda: self._clock.step(generations))

    def set_speed(self, generations: int, frames_per_second: float | None) -> None:
        """Make so many generations between two pictures. Raises SessionError out of range."""
        if not 1 <= generations <= self.most_speed:
            most = shortened(self.most_speed)
            raise SessionError(f"1 to {most} generations a picture, not {shortened(generations)}")
        if frames_per_second is not None and not frames_per_second > 0:
            raise SessionError(f"no run has {frames_per_second} pictures a second")
        self._commands.post(lambda: self._clock.set_speed(generations, frames_per_second))

    def go_to(self, generation: int) -> None:
        """Go to a generation, in a run that can be undone. Raises SessionError for one before the
        first that is known."""
        first = self._news.reach.first
        if generation < first:
            raise SessionError(
                f"generation {shortened(generation)} is not known: the first that is, is "
                f"{shortened(first)}"
            )
        stopped = self._commands.is_stopped
        self._commands.post(lambda: self._editor.go_to(generation, stopped))

    def run_until(self, condition: Condition, most: int | None, looks: int | None = None) -> None:
        """Begin a run that ends where a condition is true, or after so many generations; it can be
        undone. Raises SessionError for fewer than 0, and for `looks`, as each generation counts."""
        if looks is not None:
            raise SessionError("of a universe in memory each generation is looked at")
        if most is not None and most < 0:
            raise SessionError(f"a universe cannot go back {many(-most, 'generation')}")
        self._commands.post(lambda: self._clock.begin_search(condition, most))

    def reset(self) -> None:
        """Go back to where a run first began, which can be undone."""
        self._commands.post(self._editor.reset)

    @abstractmethod
    def whole(self) -> Whole:
        """Return a copy of all cells as they are now, in a rectangle."""

    def settle(self) -> None:
        """Wait until what has been asked for is done; a run without an end is begun."""
        self.settled().result()

    def settled(self) -> Future[None]:
        """Return what has a result once all that has been asked for is done, as settle() waits."""
        done: Future[None] = Future()
        self._commands.ask(lambda: self._clock.wait(done))
        return done

    def population(self) -> int:
        """Count the live cells as they are now; waits. Raises LifesimError where that cannot be
        done."""
        return self.whole().population()

    # --- cells -----------------------------------------------------------------

    def cells(self, box: Box) -> BitGrid:
        """Return a copy of a region; waits for the step under way. Raises GridError where it is
        too large for memory or leaves the universe."""
        return self._commands.ask(lambda: self._held.region(box))

    def bounding_box(self) -> Box | None:
        """Return the box of all live cells; while a large universe runs, in blocks of the newest
        picture. None where none lives."""

        def found() -> Box | None:
            return self._held.pictures.bounding_box(exactly=not self._clock.is_running)

        return self._commands.ask(found)

    def still(self) -> Whole:
        """Return a copy of all cells as they are now, as whole() does."""
        return self.whole()

    # --- changes ---------------------------------------------------------------

    @property
    def edited(self) -> int:
        """Return another number after every change, and the old one after its undoing."""
        return self._past.edited

    @abstractmethod
    def set_rule(self, rule: Rule | str) -> None:
        """Change the rule; a run goes on, but stops, as told, where cells are in states that it
        does not have. Raises RuleError."""

    @abstractmethod
    def set_topology(self, topology: Topology | str) -> None:
        """Change the edges; a run goes on. Raises ValueError for an unknown topology, SessionError
        for one that there cannot be."""

    @abstractmethod
    def resize(self, width: int, height: int) -> None:
        """Change the size; a run goes on. Raises GridError for a size that there is no memory
        for, SessionError where there cannot be one."""

    @abstractmethod
    def put(self, whole: Whole) -> None:
        """Be as it was, in another universe even: a run is stopped. It can be undone."""

    def edit(self, edit: Edit) -> None:
        """Change cells; a run goes on. Problems are told as those of a run are."""
        self._commands.post(lambda: self._editor.edit(edit))

    def edit_now(self, edit: Edit) -> None:
        """Change cells, as edit() does, but wait. Raises what goes wrong: GridError where there is
        no memory for it, or for states that the rule does not have."""
        self._commands.ask(lambda: self._editor.edit(edit))

    @property
    def can_undo(self) -> str | None:
        """Return what would be undone, in a few words; None where there is nothing."""
        return self._news.reach.undo

    @property
    def can_redo(self) -> str | None:
        """Return what would be redone, in a few words; None where there is nothing."""
        return self._news.reach.redo

    @property
    def history(self) -> HistoryLines:
        """Return what can be undone and redone, the run under way included."""
        return self._news.reach.history

    def undo(self) -> None:
        """Stop a run, and undo it as a whole, or the last change, if there is one."""
        self._commands.post(self._editor.undo)

    def redo(self) -> None:
        """Stop a run, and redo what was undone last, if anything."""
        self._commands.post(self._editor.redo)

    # --- files -----------------------------------------------------------------

    def close(self) -> None:
        """End the run and the thread; waits. What is asked of it later is not done."""
        self._commands.close()

    # --- the thread ------------------------------------------------------------

    def _own_work(self) -> tuple[float, Command | None]:
        """Return when there is something to do that nobody has asked for, and what."""
        works = [*self._census.works(self._clock.is_running), *self._clock.works()]
        if not works:
            return 0.0, None
        now = time.monotonic()
        ready = [work for work in works if work[0] <= now]
        return ready[0] if ready else min(works, key=lambda work: work[0])

    def _failed(self, error: Exception) -> None:
        self._clock.drop()
        text = "out of memory" if isinstance(error, MemoryError) else ""
        self._news.report(text or " ".join(str(error).split()) or type(error).__name__)
        self._news.tell_all()
        self._news.tell(Event.FAILED)
        self._clock.release()

    def _ended(self) -> None:
        self._clock.release()
        self._held.close()
        self._past.vault.close()

    def _newest_reach(self) -> Reach:
        history, undoable = self._past, self._clock.undoable
        undo, first = history.undo_title, history.first
        if undoable:
            undo, first = undoable[0], min(first, undoable[1])
        run = [undoable] if undoable else []
        lines = history.stacks.lines(self._held.generation, run)
        return Reach(undo, history.redo_title, first, lines)

    def _newest_status(self) -> Status:
        machine = self._held.machine
        return Status(
            machine.generation,
            *self._census.counted[:2],
            self._clock.is_running,
            machine.updates / machine.seconds if machine.seconds else 0.0,
            self._past.edited != self._saved,
            self._clock.progress,
            self._news.problem,
            self._held.edge,
            self._clock.left,
            self._clock.found,
        )
