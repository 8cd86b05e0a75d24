"""One phase: every tile that is not linked is moved on, on one device or several.

A phase is a bag of blocks over a store that all can reach. Each device has a lane: a thread
that fills windows from files, one that steps them, and one that writes what came out, so
that reading, computing and writing overlap. Whichever lane is free takes the next block.
"""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from kernels.backend import Backend, LifeArena, LifeUniverse
from lifesim.store.tilefile import TileRecord
from lifesim.store.tilejob import TileJob
from lifesim.store.tiling import Block, Window, blocks
from lifesim.store.universe import Universe, disk_errors
from lifesim.store.workers import Workers
from lifesim.stream.window import TileView, fill

_PIECE_SECONDS = 0.25  # between two looks at whether to stop
TILES_AT_ONCE = 3  # that a lane writes


@dataclass(frozen=True, slots=True)
class Shape:
    """How a phase is cut up. across, down: tiles of a block; slots: windows a lane holds."""

    across: int
    down: int
    slots: int


@dataclass(slots=True)
class Tally:
    """What a phase has done so far; seconds are of each kind of thread, all lanes together.

    work: cell updates made, halos included; total: those of the whole phase.
    """

    work: float = 0.0
    total: float = 0.0
    read_bytes: int = 0
    written_bytes: int = 0
    read_seconds: float = 0.0
    step_seconds: float = 0.0
    write_seconds: float = 0.0
    seconds: float = 0.0
    computed: int = 0  # tiles
    unchanged: int = 0
    linked: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def read(self, count: int) -> None:
        with self.lock:
            self.read_bytes += count


class Stopped(Exception):
    """Asked for: the universe is between two generations, and the phase can be resumed."""


@dataclass(slots=True)
class _Loaded:
    slot: int
    block: Block
    window: Window
    life: LifeUniverse


class _Run:
    """What the lanes of a phase share."""

    def __init__(self, universe: Universe, todo: list[Block], tally: Tally) -> None:
        assert universe.phase
        self.universe, self.tally = universe, tally
        self.generations = universe.phase.generations
        self.stop_generation = universe.phase.stop
        self._todo = deque(todo)
        self._lock = threading.Lock()
        self.ending = threading.Event()  # no new blocks
        self.abandoned = threading.Event()  # nor those begun
        self.error: BaseException | None = None

    def next_block(self) -> Block | None:
        with self._lock:
            if self.ending.is_set() or not self._todo:
                return None
            return self._todo.popleft()

    def fail(self, error: BaseException) -> None:
        with self._lock:
            self.error = self.error or error
        self.ending.set()
        self.abandoned.set()


class _Lane:
    """A device and its three threads."""

    def __init__(self, run: _Run, backend: Backend, arena: LifeArena, workers: int) -> None:
        self._run, self._backend, self._arena = run, backend, arena
        self._readers = Workers(workers, backend.staging)
        self._writers = Workers(workers, backend.staging)
        self._free: queue.SimpleQueue[int] = queue.SimpleQueue()
        for slot in range(arena.slots):
            self._free.put(slot)
        self._loaded: queue.SimpleQueue[_Loaded | None] = queue.SimpleQueue()
        self._stepped: queue.SimpleQueue[_Loaded | None] = queue.SimpleQueue()
        self.threads = [
            threading.Thread(target=self._guard, args=(work,), daemon=True)
            for work in (self._read, self._step, self._write)
        ]

    def start(self) -> None:
        for thread in self.threads:
            thread.start()

    def close(self) -> None:
        self._readers.shutdown()
        self._writers.shutdown()

    def _guard(self, work: Callable[[], None]) -> None:
        try:
            with disk_errors(self._run.universe.path):
                work()
        except BaseException as error:
            self._run.fail(error)
        finally:  # whoever waits for this thread goes on
            if work == self._read:
                self._loaded.put(None)
            elif work == self._step:
                self._stepped.put(None)
            else:
                self._free.put(-1)

    def _read(self) -> None:
        run = self._run
        while (slot := self._free.get()) >= 0 and (block := run.next_block()):
            began = time.perf_counter()
            window = run.universe.tiling.window(block, run.generations)
            width, height, torus = window.shape
            life = self._arena.open(slot, width, height, torus=torus)
            fill(
                run.universe,
                window,
                life,
                self._readers,
                cancelled=run.abandoned.is_set,
                read=run.tally.read,
            )
            with run.tally.lock:
                run.tally.read_seconds += time.perf_counter() - began
            self._loaded.put(_Loaded(slot, block, window, life))

    def _step(self) -> None:
        run = self._run
        while (item := self._loaded.get()) and not run.abandoned.is_set():
            cells = item.life.width * item.life.height
            piece = item.life.stride
            while (left := run.generations - item.life.generation) > 0:
                if run.abandoned.is_set():
                    return
                before, began = item.life.generation, time.perf_counter()
                item.life.step(min(piece, left))
                taken = time.perf_counter() - began
                made = item.life.generation - before
                with run.tally.lock:
                    run.tally.step_seconds += taken
                    run.tally.work += cells * made
                fits = int(_PIECE_SECONDS / max(taken, 1e-9) * made) // item.life.stride
                piece = max(1, min(fits, 8 * (piece // item.life.stride))) * item.life.stride
            self._stepped.put(item)

    def _write(self) -> None:
        run = self._run
        while (item := self._stepped.get()) and not run.abandoned.is_set():
            began = time.perf_counter()
            self._write_block(item)
            with run.tally.lock:
                run.tally.write_seconds += time.perf_counter() - began
            self._free.put(item.slot)

    def _write_block(self, item: _Loaded) -> None:
        run, universe = self._run, self._run.universe
        form = universe.manifest.form
        jobs: deque[tuple[int, TileJob]] = deque()
        try:
            for tile in universe.tiling.tiles(item.block):
                if run.abandoned.is_set():
                    return
                view = TileView(universe, tile, item.block, item.window, item.life, self._writers)
                job = TileJob(
                    partial(universe.writer, tile, run.stop_generation),
                    view.box,
                    form,
                    view.fetch,
                    self._writers,
                    view.is_unchanged,
                )
                jobs.append((tile, job))
                if len(jobs) == TILES_AT_ONCE:
                    self._finish(jobs)
            while jobs:
                self._finish(jobs)
        finally:
            for _, job in jobs:
                job.drop()

    def _finish(self, jobs: deque[tuple[int, TileJob]]) -> None:
        """Note the next tile, and all after it that are done by then, in one step."""
        finished: list[tuple[int, TileRecord | None]] = []
        try:
            while jobs and (not finished or jobs[0][1].is_done):
                finished.append((jobs[0][0], jobs[0][1].finish()))
                jobs.popleft()
        finally:
            if finished:
                self._run.universe.finish_tiles(finished)
        tally = self._run.tally
        with tally.lock:
            for _, record in finished:
                tally.written_bytes += record.size if record else 0
                tally.computed += record is not None
                tally.unchanged += record is None


def run_phase(
    universe: Universe,
    backends: Sequence[Backend],
    shape: Shape,
    *,
    workers: int,
    watch: Callable[[Tally], int],
) -> Tally:
    """Take the phase that has begun to its end, or raise Stopped.

    watch is called a few times a second, and says whether to go on (0), to begin no more
    blocks (1) or to abandon those begun too (2). Raises what went wrong in a lane:
    DamagedDataError, LifesimError, MemoryError. All is on disk that finish_tiles() was
    told of, and can be resumed from.
    """
    phase = universe.phase
    assert phase
    linked = universe.linked()
    wanted = set(range(len(universe.tiling))) - linked - set(phase.done)
    todo = blocks(universe.tiling, shape.across, shape.down, wanted)
    tally = Tally(linked=len(linked))
    windows = [universe.tiling.window(block, phase.generations) for block in todo]
    for window in windows:
        tally.total += phase.generations * float(window.across.length * window.down.length)
    run = _Run(universe, todo, tally)
    began = time.perf_counter()
    if todo:
        _run_lanes(run, backends, {w.shape for w in windows}, shape.slots, workers, watch)
    tally.seconds = time.perf_counter() - began
    if run.error is not None:
        raise run.error
    if run.ending.is_set():
        raise Stopped
    universe.end_phase()
    return tally


def _run_lanes(
    run: _Run,
    backends: Sequence[Backend],
    shapes: set[tuple[int, int, bool]],
    slots: int,
    workers: int,
    watch: Callable[[Tally], int],
) -> None:
    rule = run.universe.rule
    arenas: list[LifeArena] = []
    lanes: list[_Lane] = []
    try:
        for backend in backends:
            arena = backend.life_arena(
                sorted(shapes), slots, birth=rule.birth, survival=rule.survival
            )
            arenas.append(arena)
            lanes.append(_Lane(run, backend, arena, workers))
        for lane in lanes:
            lane.start()
        for thread in [thread for lane in lanes for thread in lane.threads]:
            while thread.is_alive():
                try:
                    thread.join(0.1)
                    level = watch(run.tally)
                except KeyboardInterrupt:
                    level = 2 if run.ending.is_set() else 1
                if level >= 1:
                    run.ending.set()
                if level >= 2:
                    run.abandoned.set()
    except BaseException as error:
        run.fail(error)
    finally:
        for lane in lanes:
            for thread in lane.threads:
                if thread.ident is not None:
                    thread.join()
            lane.close()
        for arena in arenas:
            arena.close()
