"""Changes of a universe on disk, one after the other, by a thread that holds it for each."""

from __future__ import annotations

import threading
import time
from abc import abstractmethod
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import ClassVar

from lifesim.grid import Box
from lifesim.store import editing
from lifesim.store.undo import EditLog
from lifesim.store.universe import Universe
from ui.cells.commands import CommandThread
from ui.cells.edits import Edit
from ui.session import EditableSession, HistoryLine, HistoryLines

_ROOM = 1 << 14  # cells around what is held of a plane without bounds, that it may get room for
_NEWS = 0.1  # seconds between two shares that are told


class DiskEditor:
    """Changes cells of a directory. Any thread may call it.

    share: done, 0 to 1, of a change under way; None where there is none. problem: why the last one
    failed, '' where it did not.
    """

    def __init__(
        self, path: str, told: Callable[[], None], changed: Callable[[bool], None]
    ) -> None:
        """Change nothing yet. told: is called when `share` is another. changed: is called by the
        thread after each change; failed: whether one has failed that nobody waits for."""
        self._path, self._told, self._changed = path, told, changed
        self.share: float | None = None
        self.problem = ""
        self._waiting = 0  # that have been asked for and are not done
        self._lock = threading.Lock()
        self._said = 0.0
        self._commands = CommandThread("disk-edits")
        self._commands.start(lambda: (0.0, None), self._failed, lambda: None)

    @property
    def is_busy(self) -> bool:
        """Tell whether the universe is held, or about to be."""
        return self._waiting > 0

    def post(self, change: Callable[[Universe], object]) -> None:
        """Have a change done; what goes wrong is `problem`."""
        self._post(lambda: self._do(change))

    def do(self, change: Callable[[Universe], object]) -> None:
        """Do a change, after those that have been asked for; waits. Raises what goes wrong, and
        SessionError once closed."""
        self._count(1)
        try:
            self._commands.ask(lambda: self._do(change))
        finally:
            self._count(-1)

    def then(self, do: Callable[[], None]) -> None:
        """Do something when all that has been asked for is done: now, and raise what it raises,
        where nothing is."""
        if self.is_busy:
            self._post(do)
        else:
            do()

    def _post(self, do: Callable[[], None]) -> None:
        """Have something done that counts as asked for until all have been told of it; nothing
        once closed."""

        def command() -> None:
            try:
                do()
            except Exception as error:
                self._failed(error)
            finally:
                self._count(-1)

        if not self._commands.is_closed:
            self._count(1)
            self._commands.post(command)

    def _count(self, more: int) -> None:
        with self._lock:
            self._waiting += more

    def _do(self, change: Callable[[Universe], object]) -> None:
        self.problem, self.share = "", 0.0
        self._told()
        try:
            with Universe.open(self._path, writing=True) as universe:
                change(universe)
        finally:
            self.share = None
            self._changed(False)

    def edit(self, universe: Universe, edit: Edit) -> None:
        """Do what an edit says; what it would do outside of the universe is left out. Raises
        LifesimError."""
        limits = limits_of(editing.box_of(universe), grows=universe.manifest.corner is not None)
        box = edit.box(limits.width, limits.height, limits.x, limits.y)
        if box is None:
            return
        becomes = partial(edit.apply, box=box, rule=universe.rule)
        editing.change(universe, box, becomes, edit.title, progress=self.tell)

    def tell(self, done: int, total: int) -> None:
        """Take note of how many files of a change are written."""
        self.share = done / total
        now = time.monotonic()
        if now >= self._said + _NEWS:
            self._said = now
            self._told()

    def close(self) -> None:
        """Do what has been asked for, and end; waits."""
        self._commands.close()

    def _failed(self, error: Exception) -> None:
        text = "out of memory" if isinstance(error, MemoryError) else ""
        self.problem = text or " ".join(str(error).split()) or type(error).__name__
        self._changed(True)


def limits_of(held: Box, *, grows: bool) -> Box:
    """Return where cells may be put in a universe of which so many are held. grows: it has no
    bounds, and gets room for them."""
    room = _ROOM if grows else 0
    x, y, width, height = held
    return Box(x - room, y - room, width + 2 * room, height + 2 * room)


class EditedDisk(EditableSession):
    """A session whose universe is a directory, as far as its cells are changed.

    _edits: changes them.
    """

    draws_at_once: ClassVar[bool] = False

    _edits: DiskEditor

    @property
    @abstractmethod
    def _log(self) -> EditLog | None:
        """Return what can be undone and redone now; None where nothing can."""

    def edit(self, edit: Edit) -> None:
        """Change cells, soon. Problems are told as those of a run are."""
        self._edits.post(lambda universe: self._edits.edit(universe, edit))

    def edit_now(self, edit: Edit) -> None:
        """Change cells; waits. Raises what goes wrong."""
        self._edits.do(lambda universe: self._edits.edit(universe, edit))

    @property
    def can_undo(self) -> str | None:
        """Return what would be undone, in a few words; None where there is nothing."""
        log = self._log
        return log.undo[-1].title if log and log.undo else None

    @property
    def can_redo(self) -> str | None:
        """Return what would be redone, in a few words; None where there is nothing."""
        log = self._log
        return log.redo[-1].title if log and log.redo else None

    def undo(self) -> None:
        """Undo the last change of this generation, if there is one, soon."""
        self._edits.post(lambda universe: editing.undo(universe, progress=self._edits.tell))

    def redo(self) -> None:
        """Redo what was undone last, if anything, soon."""
        self._edits.post(lambda universe: editing.redo(universe, progress=self._edits.tell))

    def settled(self) -> Future[None]:
        """Return what has a result once all changes that have been asked for are done."""
        done: Future[None] = Future()
        self._edits.then(lambda: done.set_result(None))
        return done

    @property
    def history(self) -> HistoryLines:
        """Return what can be undone and redone: changes of this generation."""
        log, now = self._log or EditLog(0), self.status().generation
        done, undone = (
            tuple(HistoryLine(entry.title, now) for entry in some)
            for some in (log.undo, reversed(log.redo))
        )
        return HistoryLines(now, done, undone)
