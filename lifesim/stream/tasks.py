"""The work of a cluster's workers for a universe: functions that are sent to them.

A worker changes nothing that others see. It reads files of the generation that is over, and
writes drafts (Directory.writer()); the client, who has the lock, gives them their names, notes
them in the journal and removes what nobody needs any more. So a task may be done twice, or by
a worker that was thought dead, or for a client that is: its drafts are in nobody's way.
"""

from __future__ import annotations

import hashlib
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar
from uuid import uuid4

from bulkbits.cluster import worker
from kernels.life.contract import LifeArena
from kernels.targets.contract import Target
from lifesim.errors import LifesimError
from lifesim.rule import Rule
from lifesim.store import disk
from lifesim.store.names import TILES, draft_name, tile_name
from lifesim.store.state import manifest_bytes
from lifesim.store.tiling import TileBlock
from lifesim.store.universe import Moved, Universe
from lifesim.stream.executor import machine_of
from lifesim.stream.phase import PhaseShape, Tally, Windows, run_lanes, windows_of
from lifesim.stream.plan import Rates
from lifesim.stream.rates import measure

T = TypeVar("T")

_PATIENCE = 5.0  # seconds, for a journal to be seen on another machine
NEWS_SECONDS = 0.5  # at least, from one report of a task to the next


@dataclass(frozen=True, slots=True)
class PhaseOrder:
    """The order that all tasks of a phase get. id: of this try at it, which orders name.

    windows: of all its blocks.
    """

    id: str
    shape: PhaseShape
    workers: int
    windows: Windows


@dataclass(frozen=True, slots=True)
class BlockGroup:
    """A group of blocks that are one task: its number of the phase, and a universe that knows as
    much as they need."""

    number: int
    blocks: tuple[TileBlock, ...]
    universe: Universe


@dataclass(slots=True)
class TaskReport:
    """The report of a task: sent of some tiles now and then, and returned with all of them.

    work, group: its id and the number. tally: of this try.
    """

    work: str
    group: int
    tally: Tally = field(default_factory=Tally)
    moved: list[Moved] = field(default_factory=list)


def move_on(group: BlockGroup, work: PhaseOrder) -> TaskReport:
    """Move blocks on, as far as the journal does not say that this is done.

    It says so where a worker that had the group before died: old files that its tiles needed
    are gone. That they are so while this one reads them, the journal says a moment later.
    """
    attempt = uuid4().hex
    report = TaskReport(work.id, group.number)
    tiling = group.universe.tiling
    tiles = {tile for block in group.blocks for tile in tiling.tiles(block)}
    universe = _now(group)
    while True:
        assert universe.phase
        left = tiles - set(universe.phase.done) - {moved.tile for moved in report.moved}
        todo = work.shape.blocks(tiling, left)
        try:
            if todo and not level_of(worker.said(), work):  # else stopped before it began
                _compute(universe, todo, work, report, attempt)
            return report
        except LifesimError:
            universe = _now(group)
            assert universe.phase
            mine = {moved.tile for moved in report.moved}
            if not (left - mine) & universe.phase.done.keys():
                raise


def _now(group: BlockGroup) -> Universe:
    """Return the universe as the journal has it."""
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            return group.universe.now()
        except LifesimError as error:
            if time.monotonic() > end or worker.stopping():
                raise type(error)(f"{error} ({socket.gethostname()} says)") from None
        time.sleep(0.1)


def _compute(
    universe: Universe, todo: list[TileBlock], work: PhaseOrder, report: TaskReport, attempt: str
) -> None:
    assert universe.phase
    windows = windows_of(universe, todo, universe.phase.generations, work.shape)
    if set(windows.shapes) <= set(work.windows.shapes):
        windows = work.windows  # those of the task before, if it was of this phase
    told, due = len(report.moved), time.monotonic() + NEWS_SECONDS

    def sink(moved: list[Moved]) -> list[str]:
        report.moved.extend(moved)
        return []

    def watch(tally: Tally) -> int:
        nonlocal told, due
        if worker.stopping():
            return 2
        if time.monotonic() > due:
            news = report.moved[told:]
            worker.tell(replace(report, moved=news))
            told, due = told + len(news), time.monotonic() + NEWS_SECONDS
        return level_of(worker.said(), work)

    backend = worker.backend()
    with _shelf().arena(windows, universe.rule, backend) as arena:
        run_lanes(
            universe,
            todo,
            [(backend, arena)],
            report.tally,
            workers=work.workers,
            watch=watch,
            sink=sink,
            attempt=attempt,
        )


def level_of(order: Any, work: PhaseOrder) -> int:
    """Return what watch() is to say where the client has said `order`: of which work, and a
    level."""
    return int(order[1]) if order and order[0] == work.id else 0


class _ArenaCache:
    """The arena that a task leaves to the next one, so that its memory is not new again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._left: tuple[Any, LifeArena] | None = None

    @contextmanager
    def arena(self, windows: Windows, rule: Rule, backend: Target) -> Iterator[LifeArena]:
        """Give an arena for such windows. Raises MemoryError."""
        key = windows, rule, backend
        with self._lock:
            left, self._left = self._left, None
        if left and left[0] != key:
            left[1].close()
            left = None
        arena = left[1] if left else windows.open(backend, rule)
        try:
            yield arena
        except BaseException:
            arena.close()
            raise
        self._leave((key, arena))

    def _leave(self, left: tuple[Any, LifeArena] | None) -> None:
        with self._lock:
            before, self._left = self._left, left
        if before:
            before[1].close()

    def clear(self) -> None:
        """Close the arena that is left."""
        self._leave(None)


def _shelf() -> _ArenaCache:
    return worker.kept("an arena of lifesim", _ArenaCache)


# --- before and after -------------------------------------------------------------------


def look(path: str, manifest: str, generation: int) -> tuple[str, str]:
    """Tell whether this worker has the universe of that manifest (digest_of()) at a path, and can
    write there: what is wrong, if anything, and the name of a file that it has made."""
    try:
        if digest_of(manifest_bytes(path)) != manifest:
            return "another universe is there", ""
        name = draft_name(tile_name(0, 0, generation), uuid4().hex)
        at = os.path.join(path, TILES, name)
        os.close(disk.open_plain(at, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        return "", name
    except OSError as error:
        return error.strerror or str(error), ""


def digest_of(data: bytes) -> str:
    """Return the BLAKE2b-128 of a manifest's bytes, in hexadecimal digits."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def resources() -> tuple[int, int | None]:
    """Return the bytes of host and of device memory that a task may take; None: there is no
    device."""
    _shelf().clear()  # of who was here before
    return worker.memory(), worker.backend().free_device_memory()


def rates(universe: Universe) -> Rates:
    """Return the rates of this worker."""
    return measure(universe, worker.backend())


def make_plan(
    asked: tuple[Callable[..., T], tuple[Any, ...]],
    rule: Rule,
    lanes: int,
    memory: int,
    free: int | None,
    threads: int,
) -> T:
    """Return what make(machine, *args) gives on a machine of such workers that compute a rule."""
    make, args = asked
    return make(machine_of(worker.backend(), rule, lanes, memory, free, threads), *args)


def release() -> None:
    """Give back the memory that is held for a next task."""
    _shelf().clear()
