"""A session whose universe is in memory, moved on by a thread of its own.

What the window asks for is posted, as functions, to the thread, which looks at it between two
steps; it is the only one that changes anything. Pictures do not wait for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import ClassVar

from kernels.targets.choose import pick
from kernels.targets.contract import Target
from lifesim.grid import BitGrid, Box, check_size
from lifesim.rule import LIFE, Rule
from lifesim.topology import Topology
from ui.cells.census import Census
from ui.cells.clock import Clock
from ui.cells.commands import Command, CommandThread
from ui.cells.editor import Editor
from ui.cells.edits import Edit
from ui.cells.history import History
from ui.cells.machine import ClosedError, Setting
from ui.cells.news import News, Reach
from ui.cells.plane import Plane, held_around
from ui.cells.saving import Whole, write
from ui.cells.snapshots import SMALL
from ui.cells.vault import Vault
from ui.numbers import many
from ui.picture.request import FrameRequest
from ui.picture.sources import PictureSource
from ui.session import Event, Session, SessionError, Status

MOST_SPEED = 1 << 20


class MemorySession(Session):
    """A session whose universe is in memory, composed of parts that each have their own state.

    _commands: the thread, which alone uses the other parts, but for what they let any thread do.
    _plane: the cells and their pictures. _history: how they came about. _clock: what runs.
    _editor: what a person changes. _census: who lives. _news: what is published.
    """

    can_edit: ClassVar[bool] = True

    def __init__(
        self,
        grid: BitGrid,
        *,
        rule: Rule | str = LIFE,
        topology: Topology | str = Topology.TORUS,
        generation: int = 0,
        backend: Target | str = "auto",
        path: str | None = None,
        notes: tuple[str, tuple[str, ...]] = ("", ()),
        budget: int | None = None,
        small: int = SMALL,
        bounds: tuple[int, int] | None = None,
        at: tuple[int, int] = (0, 0),
        watch: bool = False,
    ) -> None:
        """Copy a grid, which is of that generation.

        There is an argument for each thing that a pattern file, or a command, may say.

        bounds, at, watch: as of lifesim.engine.Life: bounds of 0 are none.
        backend: "auto", "cuda", "cpu", "reference" or a Target. notes: name and comments, for
        files that it is saved to. budget, small: see Vault and Pictures.
        Raises RuleError, ValueError for an unknown topology or backend name,
        BackendUnavailableError, and GridError or MemoryError for too large a universe.
        """
        chosen = rule if isinstance(rule, Rule) else Rule.parse(rule)
        bounds = bounds or (grid.width, grid.height)
        box, cells = held_around(grid, bounds, at)
        grows = not bounds[0], not bounds[1]
        setting = Setting(box.width, box.height, chosen, Topology(topology), box.x, box.y, grows)
        runner = pick(backend) if isinstance(backend, str) else backend
        self._where = runner.describe()
        self.path = path
        self._notes = notes
        self._saved = 0  # the number of the edits that have been saved
        self._commands = CommandThread("lifesim-universe")
        self._news = News(self._newest_status, self._newest_reach)
        self._plane = Plane(runner, setting, cells, generation, small=small, watch=watch)
        self._history = History(self._plane, Vault(budget), self._news.report)
        self._clock = Clock(self._plane, self._history, self._commands, self._news)
        self._census = Census(self._plane, self._commands.is_asked, self._news)
        self._editor = Editor(self._plane, self._history, self._clock, self._news)
        self._news.begin()
        self._commands.start(self._own_work, self._failed, self._ended)

    # --- what it is ------------------------------------------------------------

    @property
    def where(self) -> str:
        """Return what computes, in a few words."""
        return self._where

    @property
    def box(self) -> Box:
        """Return the cells that are held."""
        return self._plane.setting.box

    @property
    def limits(self) -> Box:
        """Return where cells may be put."""
        return self._plane.setting.limits

    @property
    def is_bounded(self) -> bool:
        """Tell whether the universe has a size."""
        return not any(self._plane.setting.grows)

    @property
    def rule(self) -> Rule:
        """Return the rule."""
        return self._plane.setting.rule

    @property
    def topology(self) -> Topology:
        """Return how the edges are joined."""
        return self._plane.setting.topology

    def status(self) -> Status:
        """Return the status that was published last."""
        return self._news.status

    def source(self, request: FrameRequest) -> PictureSource:
        """Return what to draw a request from; any thread may ask."""
        return self._plane.pictures.source(request)

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
        if not 1 <= generations <= MOST_SPEED:
            raise SessionError(f"1 to {MOST_SPEED:,} generations a picture, not {generations:,}")
        if frames_per_second is not None and not frames_per_second > 0:
            raise SessionError(f"no run has {frames_per_second} pictures a second")
        self._commands.post(lambda: self._clock.set_speed(generations, frames_per_second))

    def go_to(self, generation: int) -> None:
        """Go to a generation, in a run that can be undone. Raises SessionError for one before the
        first that is known."""
        first = self._news.reach.first
        if generation < first:
            raise SessionError(
                f"generation {generation:,} is not known: the first that is, is {first:,}"
            )
        stopped = self._commands.is_stopped
        self._commands.post(lambda: self._editor.go_to(generation, stopped))

    def reset(self) -> None:
        """Go back to where a run first began, which can be undone."""
        self._commands.post(self._editor.reset)

    def settle(self) -> None:
        """Wait until what has been asked for is done; a run without an end is begun."""
        done: Future[None] = Future()
        self._commands.ask(lambda: self._clock.wait(done))
        done.result()

    # --- cells -----------------------------------------------------------------

    def cells(self, box: Box) -> BitGrid:
        """Return a copy of a region; waits for the step under way. Raises GridError where it is
        too large for memory or leaves the universe."""
        return self._commands.ask(lambda: self._plane.region(box))

    def bounding_box(self) -> Box | None:
        """Return the box of all live cells; while a large universe runs, in blocks of the newest
        picture. None where none lives."""

        def found() -> Box | None:
            return self._plane.pictures.bounding_box(exactly=not self._clock.is_running)

        return self._commands.ask(found)

    def whole(self) -> Whole:
        """Return a copy of all cells as they are now; any thread may ask, and waits for no run.
        Raises SessionError once closed."""
        while True:
            machine = self._plane.machine
            setting = machine.setting
            try:
                grid, generation = machine.read(setting.box)
            except ClosedError:
                if machine is self._plane.machine:
                    raise SessionError("the universe has been closed") from None
            else:
                return _whole(grid, setting, generation)

    def still(self) -> Whole:
        """Return a copy of all cells as they are now, as whole() does."""
        return self.whole()

    # --- changes ---------------------------------------------------------------

    @property
    def edited(self) -> int:
        """Return another number after every change, and the old one after its undoing."""
        return self._history.edited

    def put(self, whole: Whole) -> None:
        """Be as it was, in another universe even: a run is stopped. It can be undone."""
        self._commands.post(lambda: self._editor.put(whole))

    def edit(self, edit: Edit) -> None:
        """Change cells; a run goes on. Problems are told as those of a run are."""
        self._commands.post(lambda: self._editor.edit(edit))

    def set_rule(self, text: str) -> None:
        """Change the rule; a run goes on. Raises RuleError."""
        rule = Rule.parse(text)
        self._commands.post(lambda: self._editor.set_rule(rule))

    def set_topology(self, topology: Topology | str) -> None:
        """Change the edges; a run goes on. What is held of a plane without bounds becomes a torus
        of that size. Raises ValueError for an unknown topology."""
        chosen = Topology(topology)
        self._commands.post(lambda: self._editor.set_topology(chosen))

    def resize(self, width: int, height: int) -> None:
        """Change the size; a run goes on. The middle stays; cells that are outside then are lost.
        A plane without bounds has them then. Raises GridError for a size that there is no memory
        for."""
        check_size(width, height, 2)
        self._commands.post(lambda: self._editor.resize(width, height))

    @property
    def can_undo(self) -> str | None:
        """Return what would be undone, in a few words; None where there is nothing."""
        return self._news.reach.undo

    @property
    def can_redo(self) -> str | None:
        """Return what would be redone, in a few words; None where there is nothing."""
        return self._news.reach.redo

    def undo(self) -> None:
        """Stop a run, and undo it as a whole, or the last change, if there is one."""
        self._commands.post(self._editor.undo)

    def redo(self) -> None:
        """Stop a run, and redo what was undone last, if anything."""
        self._commands.post(self._editor.redo)

    # --- files -----------------------------------------------------------------

    def save(self, path: str) -> None:
        """Write a pattern file or a universe directory; waits. Raises LifesimError."""

        def now() -> tuple[Whole, int]:
            setting = self._plane.setting
            grid, generation = self._plane.machine.read(setting.box)
            return _whole(grid, setting, generation), self._history.edited

        whole, edited = self._commands.ask(now)
        write(whole, path, *self._notes)

        def saved() -> None:
            self.path, self._saved = path, edited
            self._news.tell(Event.STATUS)

        self._commands.ask(saved)

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
        self._plane.close()
        self._history.vault.close()

    def _newest_reach(self) -> Reach:
        history, undoable = self._history, self._clock.undoable
        undo, first = history.undo_title, history.first
        if undoable:
            undo, first = undoable[0], min(first, undoable[1])
        return Reach(undo, history.redo_title, first)

    def _newest_status(self) -> Status:
        machine = self._plane.machine
        return Status(
            machine.generation,
            *self._census.counted[:2],
            self._clock.is_running,
            machine.updates / machine.seconds if machine.seconds else 0.0,
            self._history.edited != self._saved,
            self._clock.progress,
            self._news.problem,
            self._plane.edge,
        )


def _whole(cells: BitGrid, setting: Setting, generation: int) -> Whole:
    about = setting.rule, setting.topology, generation
    return Whole(cells, *about, setting.at, setting.grows)
