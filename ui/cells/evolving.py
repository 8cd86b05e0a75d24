"""What the thread of a session in memory does: a universe that runs, is edited and looked at."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace

from kernels.backend import Backend
from lifesim.grid import BitGrid, check_size
from ui.cells.edits import Edit, Stroke, resized
from ui.cells.history import Entry, Moment
from ui.cells.machine import Setting
from ui.cells.timeline import Timeline
from ui.session import Event, SessionError, Status

_PICTURES = 1 / 60  # seconds between two pictures at least
_NEWS = 0.1  # seconds between two changes of the status
_COPIES = 4  # of a region, that changing it takes
_WORKED = 1.0  # seconds that passes are brief for after somebody asked for something
_COUNTING = 10  # counting live cells may take one part of time in so many
_BROKEN = 4  # times as long as was wasted on a picture that was broken off, none is begun


@dataclass(slots=True)
class _Run:
    """goal: where it ends. more: whether steps move the goal. before: what undoing it goes back
    to, once that is kept. first, began: where and when it began. batch: the generation of the
    next picture, and due: when it may be begun."""

    title: str
    goal: int | None
    more: bool
    before: Moment | None
    first: int
    began: float
    batch: int
    due: float = 0.0


class Evolving(Timeline, ABC):
    """For one thread, but for what it publishes: _status, _stack, and what listeners are told."""

    def __init__(
        self,
        backend: Backend,
        setting: Setting,
        cells: BitGrid,
        generation: int,
        budget: int | None,
        small: int,
    ) -> None:
        super().__init__(backend, setting, cells, generation, budget, small)
        self._last_edited = self._saved = 0
        self._speed: tuple[int, float | None] = (1, None)
        self._run: _Run | None = None
        self._asked = -_WORKED  # when somebody last asked for something during a pass
        self._broken = False  # whether the last pass was broken off
        # Population, of which generation, and version of pictures.
        self._counted: tuple[int | None, int, int] = (None, generation, -1)
        self._count_at = self._refresh_at = 0.0
        self._told = 0.0  # when a picture was announced
        self._news = 0.0
        self._listeners: list[Callable[[Event], None]] = []
        self._waiting: list[Future[None]] = []  # for the end of a run
        self._stack: tuple[str | None, str | None, int] = (None, None, generation)
        self._status = self._newest_status()

    @abstractmethod
    def _is_stopped(self) -> bool:
        """Whether somebody waits for a run to end."""

    @abstractmethod
    def _is_asked(self) -> bool:
        """Whether somebody waits for anything."""

    # --- what nobody has asked for ---------------------------------------------

    def _own_work(self) -> tuple[float, Callable[[], None] | None]:
        """When there is something to do that nobody has asked for, and what."""
        works: list[tuple[float, Callable[[], None]]] = []
        if self._run:
            works.append((self._run.due, self._slice))
        due = self._pictures.due(self._run is not None)
        if due is not None:
            # Before a slice that is as late.
            works.insert(0, (max(due, self._refresh_at), self._refresh))
        if self._pictures.are_copies and not self._is_counted():
            works.insert(0, (self._count_at if self._run else 0.0, self._count))
        if not works:
            return 0.0, None
        now = time.monotonic()
        ready = [work for work in works if work[0] <= now]
        return ready[0] if ready else min(works, key=lambda work: work[0])

    def _refresh(self) -> None:
        began = time.monotonic()
        if self._pictures.refresh(self._is_asked):
            self._counted = *self._pictures.population, self._pictures.version
            self._tell(Event.CELLS)
            self._tell(Event.STATUS)
        else:
            # Who asks all the time does not keep a run from moving on.
            now = time.monotonic()
            self._refresh_at = now + _BROKEN * (now - began)

    def _is_counted(self) -> bool:
        return self._counted[2] == self._pictures.version

    def _count(self) -> None:
        began = time.monotonic()
        version, generation = self._pictures.version, self._machine.generation
        self._counted = None, generation, version  # where that fails, it is not tried again
        copied = self._pictures.copied()
        self._counted = copied.grid.population(), copied.generation, version
        now = time.monotonic()
        self._count_at = now + max(_NEWS, _COUNTING * (now - began))
        self._tell(Event.STATUS)

    # --- runs ------------------------------------------------------------------

    def _begin(self, title: str, goal: int | None, *, more: bool = False) -> None:
        now = self._machine.generation
        if self._run:
            if goal is None and self._run.goal is None:
                return
            self._finish()
        if goal == now:
            return
        self._go(title, goal, None, more=more)

    def _begin_at(self, before: Moment) -> None:
        """A run begins there; if that is not after where reset() goes, it goes there now."""
        if self._start is None or self._start.generation >= before.generation:
            self._start = replace(before, start=None)

    def _step(self, generations: int) -> None:
        run = self._run
        if run and run.more and run.goal is not None:
            run.goal += generations
            return
        self._stop()
        title = "a step" if generations == 1 else f"{generations:,} steps"
        self._begin(title, self._machine.generation + generations, more=True)

    def _go(
        self, title: str, goal: int | None, before: Moment | None, *, more: bool = False
    ) -> None:
        """before: what undoing it goes back to, unless that is what is there now."""
        now = self._machine.generation
        self._run = _Run(title, goal, more, before, now, time.monotonic(), now)
        self._machine.seconds, self._machine.updates = 0.0, 0.0
        self._broken = False
        self._problem = ""
        self._tell(Event.STATUS)

    def _slice(self) -> None:
        """Move on a little."""
        run, machine = self._run, self._machine
        assert run is not None
        if run.before is None and not self._kept_for(run):
            return
        now = machine.generation
        speed, most = self._speed
        if run.goal is not None:
            run.batch = run.goal
        elif run.batch <= now:
            # Nobody sees more pictures than the time of a step has.
            run.batch = now + speed * (1 if most else max(1, machine.span // speed))
        brief = time.monotonic() - self._asked < _WORKED
        # Who asks all the time does not keep a run from moving on.
        stopped = self._is_stopped if self._broken else self._is_pressed
        try:
            machine.advance(run.batch - now, brief=brief, stopped=stopped)
        finally:
            self._broken = machine.generation == now
            if not self._broken:
                self._pictures.changed()
        if machine.generation == run.goal:
            self._finish()
            return
        at = time.monotonic()
        if machine.generation >= run.batch:
            if most:
                run.due = max(run.due + 1 / most, at)
            if at - self._told >= _PICTURES or most:
                self._told = at
                self._tell(Event.CELLS)
        if at - self._news >= _NEWS:
            self._tell(Event.STATUS)
        else:
            self._status = self._newest_status()

    def _kept_for(self, run: _Run) -> bool:
        """Keep what there is before a run; False where somebody asks for something before."""
        while (before := self._keep_on()) is None:
            if self._is_asked():
                return False
        run.before = before
        self._begin_at(before)
        self._tell(Event.STATUS)
        return True

    def _is_pressed(self) -> bool:
        """Whether somebody asks for something; if it is no stop, passes are brief for a while."""
        if self._is_stopped():
            return True
        asked = self._is_asked()
        if asked:
            self._asked = time.monotonic()
        return asked

    def _stop(self) -> None:
        if self._run:
            self._finish()

    def _finish(self) -> None:
        """Of the run, with whatever it has reached."""
        self._remember_run()
        self._run = None
        self._tell_all()
        self._release()

    def _release(self) -> None:
        """Those who wait for the end of a run."""
        for done in self._waiting:
            done.set_result(None)
        self._waiting.clear()

    def _remember_run(self) -> None:
        """What the run under way has done so far becomes an entry."""
        run = self._run
        if run and run.before and run.before.generation != self._machine.generation:
            self._history.push(Entry(run.title, run.before))
            run.before = None

    def _go_to(self, generation: int) -> None:
        self._stop()
        now = self._machine.generation
        if generation >= now:
            self._begin(f"going to generation {generation:,}", generation)
            return
        target = self._history.nearest(generation, now, self._start)
        if target is None:
            raise SessionError(f"generation {generation:,} is not known")
        before, start = self._whole_moment(self._is_stopped), self._start
        self._restore(target)
        self._start = start
        self._go(f"going to generation {generation:,}", generation, before)
        if self._machine.generation == generation:
            self._finish()

    def _reset(self) -> None:
        self._stop()
        start = self._start
        if start is None or start.generation == self._machine.generation:
            return
        before = self._whole_moment()
        self._restore(start)
        self._start = start
        self._history.push(Entry("the reset", before))
        self._tell_all()

    # --- changes ---------------------------------------------------------------

    def _edit(self, edit: Edit) -> None:
        machine = self._machine
        box = edit.box(machine.setting.width, machine.setting.height)
        if box is None:
            return
        check_size(box.width, box.height, _COPIES)
        old, _ = machine.read(box)
        new = edit.apply(old, box)
        if new == old:
            return
        kept = self._kept(old)
        number = edit.number if isinstance(edit, Stroke) else 0
        self._change(
            Entry(edit.title, self._moment(patches=((box, kept),)), number),
            lambda: self._write(new, box),
        )

    def _set(self, title: str, changed: Callable[[Setting], Setting]) -> None:
        old = self._machine.setting
        new = changed(old)
        if new == old:
            return
        if (new.width, new.height) == (old.width, old.height):
            before = self._moment()
            cells = self._machine.whole()
        else:
            before = self._whole_moment()
            cells = None
        if cells is None:
            cells = self._machine.read(old.box)[0]
        cells = resized(cells, new.width, new.height)
        self._change(Entry(title, before), lambda: self._replace(new, cells))

    def _change(self, entry: Entry, do: Callable[[], None]) -> None:
        """Do something that can be undone; a run goes on after it, with an entry of its own."""
        run = self._run
        if run:
            self._remember_run()
        do()
        self._last_edited += 1
        self._edited = self._last_edited
        self._history.push(entry)
        if run:
            run.before = None
        self._tell_all()

    def _swap(self, *, undo: bool) -> None:
        self._stop()
        history = self._history
        source, target = (history.undo, history.redo) if undo else (history.redo, history.undo)
        if not source:
            return
        entry = source[-1]
        other = self._restore(entry.moment, swap=True)
        # Where the disk is full, all has been forgotten.
        if source and source[-1] is entry:
            source.pop()
            target.append(Entry(entry.title, other))
        self._tell_all()

    # --- what is told ----------------------------------------------------------

    def _fail(self, error: Exception) -> None:
        self._remember_run()
        self._run = None
        text = "out of memory" if isinstance(error, MemoryError) else ""
        self._problem = text or " ".join(str(error).split()) or type(error).__name__
        self._tell_all()
        self._tell(Event.FAILED)
        self._release()

    def _tell_all(self) -> None:
        self._tell(Event.CELLS)
        self._tell(Event.STATUS)

    def _tell(self, event: Event) -> None:
        if event is Event.STATUS:
            self._news = time.monotonic()
            self._stack = self._newest_stack()
        self._status = self._newest_status()
        for listener in tuple(self._listeners):
            try:
                listener(event)
            except Exception as error:
                # A window that has gone is no reason for the universe to go.
                with suppress(ValueError):  # it has been forgotten meanwhile
                    self._listeners.remove(listener)
                where = threading.current_thread()
                args = type(error), error, error.__traceback__, where
                threading.excepthook(threading.ExceptHookArgs(args))

    def _newest_stack(self) -> tuple[str | None, str | None, int]:
        """What can be undone, what redone, and the first generation that is known."""
        history, run = self._history, self._run
        undo = history.undo[-1].title if history.undo else None
        redo = history.redo[-1].title if history.redo else None
        first = history.first(self._machine.generation, self._start)
        if run and run.before:
            undo, first = run.title, min(first, run.before.generation)
        return undo, redo, first

    def _newest_status(self) -> Status:
        machine, run = self._machine, self._run
        progress = None
        if run and run.goal is not None and time.monotonic() - run.began > _NEWS:
            progress = (machine.generation - run.first) / (run.goal - run.first)
        return Status(
            machine.generation,
            *self._counted[:2],
            run is not None,
            machine.updates / machine.seconds if machine.seconds else 0.0,
            self._edited != self._saved,
            progress,
            self._problem,
        )
