"""A session whose universe is in memory, moved on by a thread of its own.

What the window asks for is put in a queue, as functions, which the thread looks at between
two steps; it is the only one that changes anything. Pictures do not wait in the queue.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from typing import ClassVar, TypeVar

from kernels.backend import Backend
from kernels.choose import pick
from lifesim.grid import BitGrid, Box, check_size
from lifesim.rule import LIFE, Rule
from lifesim.topology import Topology
from ui.cells.edits import Edit
from ui.cells.evolving import Evolving
from ui.cells.history import Entry
from ui.cells.machine import ClosedError, Setting
from ui.cells.saving import Whole, write
from ui.cells.snapshots import SMALL, Interrupted
from ui.picture.request import FrameRequest
from ui.picture.sources import Source
from ui.session import Event, Session, SessionError, Status

T = TypeVar("T")

MOST_SPEED = 1 << 20


class MemorySession(Evolving, Session):
    can_edit: ClassVar[bool] = True

    def __init__(
        self,
        grid: BitGrid,
        *,
        rule: Rule | str = LIFE,
        topology: Topology | str = Topology.TORUS,
        generation: int = 0,
        backend: Backend | str = "auto",
        path: str | None = None,
        notes: tuple[str, tuple[str, ...]] = ("", ()),
        budget: int | None = None,
        small: int = SMALL,
    ) -> None:
        """Takes a copy of grid, which is of that generation.

        backend: "auto", "cuda", "cpu", "reference" or an object of kernels.backend. notes: name
        and comments, for files that it is saved to. budget, small: see Vault and Pictures.
        Raises RuleError, ValueError for an unknown topology or backend name,
        BackendUnavailableError, and GridError or MemoryError for too large a universe.
        """
        chosen = rule if isinstance(rule, Rule) else Rule.parse(rule)
        setting = Setting(grid.width, grid.height, chosen, Topology(topology))
        runner = pick(backend) if isinstance(backend, str) else backend
        super().__init__(runner, setting, grid, generation, budget, small)
        self.where = runner.describe()
        self.path = path
        self._notes = notes
        self._changed = threading.Condition()
        self._commands: deque[Callable[[], None]] = deque()
        self._stops = 0  # stop() that have not been heard
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="lifesim-universe", daemon=True)
        self._thread.start()

    # --- what the window asks --------------------------------------------------

    def status(self) -> Status:
        return self._status

    def source(self, request: FrameRequest) -> Source:
        return self._pictures.source(request)

    def listen(self, listener: Callable[[Event], None]) -> None:
        self._listeners.append(listener)

    def forget(self, listener: Callable[[Event], None]) -> None:
        with suppress(ValueError):  # one that has failed is gone already
            self._listeners.remove(listener)

    def start(self) -> None:
        self._post(lambda: self._begin("running", None))

    def stop(self) -> None:
        def command() -> None:
            with self._changed:
                self._stops -= 1
            self._stop()

        with self._changed:
            self._stops += 1
        self._post(command)

    def step(self, generations: int) -> None:
        if generations < 0:
            raise SessionError(f"a universe cannot go back {-generations} generations")
        self._post(lambda: self._step(generations))

    def set_speed(self, generations: int, frames_per_second: float | None) -> None:
        if not 1 <= generations <= MOST_SPEED:
            raise SessionError(f"1 to {MOST_SPEED:,} generations a picture, not {generations:,}")
        if frames_per_second is not None and not frames_per_second > 0:
            raise SessionError(f"no run has {frames_per_second} pictures a second")

        def command() -> None:
            self._speed = generations, frames_per_second
            if self._run:
                self._run.batch, self._run.due = self._machine.generation, 0.0

        self._post(command)

    def go_to(self, generation: int) -> None:
        first = self._stack[2]
        if generation < first:
            raise SessionError(
                f"generation {generation:,} is not known: the first that is, is {first:,}"
            )
        self._post(lambda: self._go_to(generation))

    def reset(self) -> None:
        self._post(self._reset)

    # --- cells -----------------------------------------------------------------

    def cells(self, box: Box) -> BitGrid:
        return self._ask(lambda: self._machine.read(box)[0])

    def bounding_box(self) -> Box | None:
        """While a large universe runs: in blocks of the newest picture."""
        return self._ask(lambda: self._pictures.bounding_box(exactly=self._run is None))

    def whole(self) -> Whole:
        """As they are now. Raises SessionError once closed."""
        while True:
            machine = self._machine
            setting = machine.setting
            try:
                grid, generation = machine.read(setting.box)
            except ClosedError:
                if machine is self._machine:
                    raise SessionError("the universe has been closed") from None
            else:
                return Whole(grid, setting.rule, setting.topology, generation)

    def still(self) -> Whole:
        return self.whole()

    def put(self, whole: Whole) -> None:
        """Be as it was, in another universe even: a run is stopped. It can be undone."""

        def command() -> None:
            self._stop()
            setting = Setting(whole.width, whole.height, whole.rule, whole.topology)
            entry = Entry("the jump in time", self._whole_moment())
            if setting == self._machine.setting:
                self._change(entry, lambda: self._rewrite(whole.cells, whole.generation))
            else:
                cells, generation = whole.cells, whole.generation
                self._change(entry, lambda: self._replace(setting, cells, generation))

        self._post(command)

    @property
    def edited(self) -> int:
        """Another number after every change, and the old one after its undoing."""
        return self._edited

    def edit(self, edit: Edit) -> None:
        """Change cells; a run goes on. Problems are told as those of a run are."""
        self._post(lambda: self._edit(edit))

    def set_rule(self, text: str) -> None:
        """A run goes on. Raises RuleError."""
        rule = Rule.parse(text)
        self._post(lambda: self._set("the rule", lambda old: replace(old, rule=rule)))

    def set_topology(self, topology: Topology | str) -> None:
        """A run goes on. Raises ValueError for an unknown one."""
        chosen = Topology(topology)
        self._post(lambda: self._set("the edges", lambda old: replace(old, topology=chosen)))

    def resize(self, width: int, height: int) -> None:
        """The middle stays; cells that are outside then are lost. A run goes on. Raises
        GridError for a size that there is no memory for."""
        check_size(width, height, 2)
        self._post(
            lambda: self._set("the size", lambda old: replace(old, width=width, height=height))
        )

    @property
    def can_undo(self) -> str | None:
        """What would be undone, in a few words; None where there is nothing."""
        return self._stack[0]

    @property
    def can_redo(self) -> str | None:
        return self._stack[1]

    def undo(self) -> None:
        """A run is stopped, and undone as a whole. Nothing where there is nothing."""
        self._post(lambda: self._swap(undo=True))

    def redo(self) -> None:
        self._post(lambda: self._swap(undo=False))

    def save(self, path: str) -> None:
        def command() -> tuple[Whole, int]:
            setting = self._machine.setting
            grid, generation = self._machine.read(setting.box)
            return Whole(grid, setting.rule, setting.topology, generation), self._edited

        whole, edited = self._ask(command)
        write(whole, path, *self._notes)

        def saved() -> None:
            self.path, self._saved = path, edited
            self._tell(Event.STATUS)

        self._ask(saved)

    def settle(self) -> None:
        """Wait until what has been asked for is done; a run without an end is begun."""
        done: Future[None] = Future()

        def command() -> None:
            if self._run and self._run.goal is not None:
                self._waiting.append(done)
            else:
                done.set_result(None)

        self._ask(command)
        done.result()

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join()

    def _post(self, command: Callable[[], None]) -> None:
        with self._changed:
            if not self._closed:
                self._commands.append(command)
                self._changed.notify_all()

    def _ask(self, question: Callable[[], T]) -> T:
        """What the thread answers; raises what it raises."""
        answer: Future[T] = Future()

        def command() -> None:
            try:
                answer.set_result(question())
            except Exception as error:
                answer.set_exception(error)

        with self._changed:
            if self._closed:
                raise SessionError("the universe has been closed")
            self._commands.append(command)
            self._changed.notify_all()
        return answer.result()

    # --- the thread ------------------------------------------------------------

    def _work(self) -> None:
        try:
            while True:
                command = self._next()
                if command is None:
                    return
                try:
                    command()
                except Interrupted:
                    pass  # whoever did it has something else to ask
                except Exception as error:
                    self._fail(error)
        finally:
            with self._changed:
                self._closed = True
            for command in self._commands:  # there are none but after a fault of this thread
                with suppress(Exception):
                    command()
            self._release()
            self._machine.close()
            self._vault.close()

    def _next(self) -> Callable[[], None] | None:
        """What to do now; None at the end."""
        with self._changed:
            while True:
                if self._commands:
                    return self._commands.popleft()
                if self._closed:
                    return None
                at, work = self._own_work()
                wait = at - time.monotonic()
                if work and wait <= 0:
                    return work
                self._changed.wait(wait if work else None)

    def _is_asked(self) -> bool:
        return bool(self._commands) or self._closed

    def _is_stopped(self) -> bool:
        return self._stops > 0 or self._closed
