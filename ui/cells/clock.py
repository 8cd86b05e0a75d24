"""Runs: what moves on, up to which generation or condition, and how fast, in slices of a few
milliseconds."""

from __future__ import annotations

import time
from concurrent.futures import Future
from dataclasses import dataclass

from lifesim.until import Condition, Found
from lifesim.until.search import search
from ui.cells.commands import Command, CommandThread
from ui.cells.held import Held
from ui.cells.moments import Entry, Moment
from ui.cells.news import SELDOM, News
from ui.cells.past import Past
from ui.cells.searching import SearchedCells
from ui.cells.snapshots import Interrupted
from ui.numbers import shortened
from ui.session import Event

_PICTURES = 1 / 60  # seconds between two pictures at least
_WORKED = 1.0  # seconds that passes are brief for after somebody asked for something


@dataclass(slots=True)
class _CurrentRun:
    """A run that is under way.

    goal: the generation where it ends; None is without end. more: whether steps move the goal.
    before: the moment that undoing it goes back to, once that is stored. first, began: the
    generation and the time.monotonic() at which it began. batch: the generation of the next
    picture, and due: when it may be begun. until: the condition that ends it, and the most
    generations that are made; where these are told, the goal is only what they come to.
    """

    title: str
    goal: int | None
    more: bool
    before: Moment | None
    first: int
    began: float
    batch: int
    due: float = 0.0
    until: tuple[Condition, int | None] | None = None

    @property
    def last(self) -> int | None:
        """Return the generation where it ends, at the latest; None where nobody knows."""
        if self.until is not None and self.until[1] is not None:
            return self.first + self.until[1]
        return self.goal


class Clock:
    """Moves a plane on: at most one run at a time, with an entry in the history when it ends.

    One thread uses it, between whose commands slice() is called.
    """

    def __init__(self, plane: Held, history: Past, commands: CommandThread, news: News) -> None:
        """Stand still. commands: tells whether somebody asks for something during a pass."""
        self._plane, self._history = plane, history
        self._commands, self._news = commands, news
        self._speed: tuple[int, float | None] = (1, None)
        self._run: _CurrentRun | None = None
        self._asked = -_WORKED  # when somebody last asked for something during a pass
        self._broken = False  # whether the last pass was broken off
        self._told = 0.0  # when a picture was announced
        self._searching = False  # whether a slice is under way that looks for a condition
        self.found: Found | None = None  # by the last run that looked for a condition
        self._waiting: list[Future[None]] = []  # for the end of a run

    # --- what is known of it ---------------------------------------------------

    @property
    def is_running(self) -> bool:
        """Tell whether a run is under way."""
        return self._run is not None

    @property
    def progress(self) -> float | None:
        """Return the done share of a run that has a goal and takes long; else None."""
        run = self._run
        if run is None or run.last is None or time.monotonic() - run.began <= SELDOM:
            return None
        return (self._plane.generation - run.first) / max(run.last - run.first, 1)

    @property
    def left(self) -> float | None:
        """Return the seconds that a run to a goal will still take, by how long it took so far; None
        where that is not known, as where generations are leapt over, or it may end sooner."""
        run, done = self._run, self.progress
        if run is None or run.goal is None or not done or self._plane.leaps:
            return None
        return (time.monotonic() - run.began) * (1 - done) / done

    @property
    def undoable(self) -> tuple[str, int] | None:
        """Return the title of the run under way and the generation that undoing it goes to; None
        where there is nothing to undo of it."""
        run = self._run
        return (run.title, run.before.generation) if run and run.before else None

    def works(self) -> list[tuple[float, Command]]:
        """Return the next slice of the run under way, if there is one, and when it is due."""
        run = self._run
        if run is None or self._searching:
            return []
        return [(run.due, self._search if run.until else self._slice)]

    # --- what is asked ---------------------------------------------------------

    def set_speed(self, generations: int, frames_per_second: float | None) -> None:
        """Make so many generations between two pictures, and so many of these a second at most;
        None is as fast as it goes."""
        self._speed = generations, frames_per_second
        if self._run:
            self._run.batch, self._run.due = self._plane.generation, 0.0

    def begin(self, title: str, goal: int | None, *, more: bool = False) -> None:
        """Begin a run up to a generation, or without an end; a run under way ends first, but one
        without an end goes on."""
        now = self._plane.generation
        if self._run:
            if goal is None and self._run.goal is None and self._run.until is None:
                return
            self._finish()
        if goal == now:
            return
        self.begin_after(title, goal, None, more=more)

    def begin_search(self, condition: Condition, most: int | None) -> None:
        """Begin a run that ends in the first generation for which a condition is true, or after so
        many generations; a run under way ends first."""
        self.stop()
        self.begin_after(f"running until {condition}", None, None)
        assert self._run is not None
        self._run.until = condition, most

    def end_search(self) -> None:
        """End a run that looks for a condition, as what it has stored is of other cells."""
        if self._run and self._run.until:
            self._finish()

    def begin_after(
        self, title: str, goal: int | None, before: Moment | None, *, more: bool = False
    ) -> None:
        """Begin a run where none is. before: the moment that undoing it goes back to; None is the
        present one. more: whether steps move the goal."""
        now = self._plane.generation
        self._run = _CurrentRun(title, goal, more, before, now, time.monotonic(), now)
        machine = self._plane.machine
        machine.seconds, machine.updates = 0.0, 0.0
        self._broken, self.found = False, None
        self._news.report("")
        self._news.tell(Event.STATUS)
        if goal == now:
            self._finish()

    def step(self, generations: int) -> None:
        """Move on by so many generations; steps that are under way are so many more."""
        run = self._run
        if run and run.more and run.goal is not None:
            run.goal += generations
            return
        self.stop()
        title = "a step" if generations == 1 else f"{shortened(generations)} steps"
        self.begin(title, self._plane.generation + generations, more=True)

    def stop(self) -> None:
        """End the run under way, if there is one."""
        if self._run:
            self._finish()

    def drop(self) -> None:
        """End the run under way, which has failed, and tell nobody."""
        self.remember()
        self._run = None

    def remember(self) -> None:
        """Make what the run under way has done so far an entry of the history."""
        run, plane = self._run, self._plane
        if run and run.before:
            now = plane.generation, plane.setting  # a plane may have grown, for nothing yet
            if (run.before.generation, run.before.setting) != now:
                self._history.push(Entry(run.title, run.before))
                run.before = None

    def split(self) -> None:
        """Have what the run under way does from now on be an entry of its own."""
        if self._run:
            self._run.before = None

    def wait(self, done: Future[None]) -> None:
        """Set the result of `done` when no run that has a goal, or looks for a condition, is under
        way any more."""
        run = self._run
        if run and (run.goal is not None or run.until):
            self._waiting.append(done)
        else:
            done.set_result(None)

    def release(self) -> None:
        """Let those go on who wait for the end of a run."""
        for done in self._waiting:
            done.set_result(None)
        self._waiting.clear()

    # --- moving on -------------------------------------------------------------

    def _slice(self) -> None:
        """Move on a little."""
        run, plane = self._run, self._plane
        assert run is not None
        if run.before is None and not self._is_kept(run):
            return
        machine = plane.machine
        now = machine.generation
        speed, most = self._speed
        if run.goal is not None:
            run.batch = run.goal
        elif run.batch <= now:
            # Nobody sees more pictures than the time of a step has.
            run.batch = now + speed * (1 if most else max(1, machine.span // speed))
        self._move(run.batch - now)
        if plane.generation == run.goal:
            self._finish()
            return
        at = time.monotonic()
        if plane.generation >= run.batch:
            if most:
                run.due = max(run.due + 1 / most, at)
            self._show(at, always=bool(most))
        self._news.tell_seldom(at)

    def _move(self, at_most: int) -> int:
        """Move on by a pass or some, of at most so many generations; return how many were made."""
        plane, machine = self._plane, self._plane.machine
        made = plane.room_for(at_most)
        if machine is not plane.machine:  # it is larger
            plane.pictures.changed()
            self._news.tell(Event.STATUS)
        brief = time.monotonic() - self._asked < _WORKED
        # Who asks all the time does not keep a run from moving on.
        stopped = self._commands.is_stopped if self._broken else self._is_pressed
        made = plane.advance(made, brief=brief, stopped=stopped)
        self._broken = made == 0
        return made

    def _show(self, at: float, *, always: bool = False) -> None:
        """Tell that there is another picture, if it is not too soon for one."""
        if always or at - self._told >= _PICTURES:
            self._told = at
            self._news.tell(Event.CELLS)

    def _search(self) -> None:
        """Run until a condition is true. Others are let in between any two steps; the search is
        broken off by Interrupted where they end the run."""
        run, past = self._run, self._history
        assert run is not None
        assert run.until is not None
        if run.before is None and not self._is_kept(run):
            return
        seen = self._plane.generation

        def look() -> None:
            nonlocal seen
            self._commands.let_in()
            if self._run is not run or self._commands.is_closed:
                raise Interrupted
            # Going back, to find out since when it is true, is not for the eye.
            if self._plane.generation > seen:
                seen, at = self._plane.generation, time.monotonic()
                self._show(at)
                self._news.tell_seldom(at)

        cells = SearchedCells(self._plane, past, self._move, look)
        again, past.again = past.again, 0.0
        self._searching = True
        try:
            found = search(cells, *run.until, lambda progress: look(), self._commands.is_stopped)
        finally:
            self._searching, past.again = False, again
        self.found = found
        self._finish()
        self._news.tell(Event.FOUND)

    def _is_kept(self, run: _CurrentRun) -> bool:
        """Store what there is before a run; False where somebody asks for something before that
        is done."""
        while (before := self._history.keep_on()) is None:
            if self._commands.is_asked():
                return False
        run.before = before
        self._history.run_begins(before)
        self._news.tell(Event.STATUS)
        return True

    def _is_pressed(self) -> bool:
        """Tell whether somebody asks for something; if it is no stop, passes are brief for a
        while."""
        if self._commands.is_stopped():
            return True
        asked = self._commands.is_asked()
        if asked:
            self._asked = time.monotonic()
        return asked

    def _finish(self) -> None:
        """End the run, with whatever it has reached."""
        self.remember()
        self._run = None
        self._news.tell_all()
        self.release()
