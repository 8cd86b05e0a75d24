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
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial

from kernels.backend import Backend, LifeArena, LifeUniverse
from lifesim.store import disk
from lifesim.store.tilefile import TileRecord
from lifesim.store.tilejob import TileJob
from lifesim.store.tiling import Block, blocks
from lifesim.store.universe import Universe, disk_errors
from lifesim.store.workers import Workers
from lifesim.stream.chains import Role, Task, chains
from lifesim.stream.window import TileView, fill

_PIECE_SECONDS = 0.25  # between two looks at whether to stop
LEAST_CHAINED = 4  # rows of a block
TILES_AT_ONCE = 3  # that a lane writes


@dataclass(frozen=True, slots=True)
class Shape:
    """How a phase is cut up. across, down: tiles of a block; slots: windows a lane holds;
    chained: whether blocks follow each other, and compute no row twice."""

    across: int
    down: int
    slots: int
    chained: bool = False


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
    task: Task
    life: LifeUniverse


@dataclass(frozen=True, slots=True)
class _Writing:
    """slot: free once this tile is done, as the last of its block."""

    tile: int
    job: TileJob
    slot: int | None


class _Run:
    """What the lanes of a phase share."""

    def __init__(self, universe: Universe, tally: Tally) -> None:
        assert universe.phase
        self.universe, self.tally = universe, tally
        self.generations = universe.phase.generations
        self.stop_generation = universe.phase.stop
        self._todo: deque[list[Task]] = deque()
        self._lock = threading.Lock()
        self.ending = threading.Event()  # no new blocks
        self.abandoned = threading.Event()  # nor those begun
        self.error: BaseException | None = None

    def add(self, tasks: list[list[Task]]) -> None:
        self._todo.extend(tasks)
        cells = sum(task.cells for chain in tasks for task in chain)
        self.tally.total += float(cells) * self.generations

    def next_chain(self) -> list[Task]:
        with self._lock:
            if self.ending.is_set() or not self._todo:
                return []
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
        self._removals: deque[Future[None]] = deque()
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
        chain: deque[Task] = deque()
        while (slot := self._free.get()) >= 0 and not run.ending.is_set():
            chain.extend(() if chain else run.next_chain())
            if not chain:
                break
            task = chain.popleft()
            began = time.perf_counter()
            width, height, torus = task.window.shape
            if task.role is Role.ALONE:
                life = self._arena.open(slot, width, height, torus=torus)
            else:
                life = self._arena.open_chained(slot, height, first=task.role is Role.FIRST)
            fill(
                run.universe,
                task.window,
                life,
                self._readers,
                cancelled=run.abandoned.is_set,
                read=run.tally.read,
            )
            with run.tally.lock:
                run.tally.read_seconds += time.perf_counter() - began
            self._loaded.put(_Loaded(slot, task, life))

    def _step(self) -> None:
        run = self._run
        while (item := self._loaded.get()) and not run.abandoned.is_set():
            pieces = 1
            while (left := run.generations - item.life.generation) > 0:
                if run.abandoned.is_set():
                    return
                generations = item.life.next_steps(min(left, pieces * item.life.stride))
                began = time.perf_counter()
                item.life.step(generations)
                taken = time.perf_counter() - began
                with run.tally.lock:
                    run.tally.step_seconds += taken
                    run.tally.work += item.task.cells * generations
                fits = _PIECE_SECONDS / max(taken, 1e-9) * generations / item.life.stride
                pieces = max(1, min(int(fits), 8 * pieces))
            self._stepped.put(item)

    def _write(self) -> None:
        """Tiles of the next block are begun before those of the one before are done."""
        run = self._run
        universe, tally = run.universe, run.tally
        form = universe.manifest.form
        jobs: deque[_Writing] = deque()
        try:
            while (item := self._stepped.get()) and not run.abandoned.is_set():
                began = time.perf_counter()
                tiles = universe.tiling.tiles(item.task.block)
                for tile in tiles:
                    if run.abandoned.is_set():
                        return
                    view = TileView(
                        universe, tile, item.task.block, item.task.window, item.life, self._writers
                    )
                    job = TileJob(
                        partial(universe.writer, tile, run.stop_generation),
                        view.box,
                        form,
                        view.fetch,
                        self._writers,
                        view.is_unchanged,
                    )
                    jobs.append(_Writing(tile, job, item.slot if tile == tiles[-1] else None))
                    if len(jobs) >= TILES_AT_ONCE:
                        self._finish(jobs)
                if self._stepped.empty():  # nothing to go on with
                    while jobs:
                        self._finish(jobs)
                with tally.lock:
                    tally.write_seconds += time.perf_counter() - began
            while jobs and not run.abandoned.is_set():
                self._finish(jobs)
            for removal in self._removals:
                removal.result()
        finally:
            for writing in jobs:
                writing.job.drop()

    def _finish(self, jobs: deque[_Writing]) -> None:
        """Note the next tile, and all after it that are done by then, in one step."""
        finished: list[tuple[int, TileRecord | None]] = []
        try:
            while jobs and (not finished or jobs[0].job.is_done):
                finished.append((jobs[0].tile, jobs[0].job.finish()))
                slot = jobs.popleft().slot
                if slot is not None:
                    self._free.put(slot)
        finally:
            if finished:
                for path in self._run.universe.finish_tiles(finished):
                    self._removals.append(self._writers.submit(disk.remove, path))
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
    began = time.perf_counter()
    run = _Run(universe, tally)
    if todo:
        _run_lanes(run, todo, backends, shape, workers, watch)
    tally.seconds = time.perf_counter() - began
    if run.error is not None:
        raise run.error
    if run.ending.is_set():
        if wanted <= phase.done.keys():  # what was under way was all
            universe.end_phase()
        raise Stopped
    universe.end_phase()
    return tally


def _run_lanes(
    run: _Run,
    todo: list[Block],
    backends: Sequence[Backend],
    shape: Shape,
    workers: int,
    watch: Callable[[Tally], int],
) -> None:
    rule, tiling = run.universe.rule, run.universe.tiling
    windows = [tiling.window(block, run.generations) for block in todo]
    chain = None
    tallest = max(tiling.rows[block.bottom] - tiling.rows[block.top] for block in todo)
    if shape.chained and len(todo) > 1 and tallest >= LEAST_CHAINED:
        chain = windows[0].across.length, run.generations, tiling.torus, tallest
    arenas: list[LifeArena] = []
    lanes: list[_Lane] = []
    try:
        for backend in backends:
            arena = backend.life_arena(
                sorted({window.shape for window in windows}),
                shape.slots,
                birth=rule.birth,
                survival=rule.survival,
                chain=chain,
            )
            arenas.append(arena)
            lanes.append(_Lane(run, backend, arena, workers))
        # Lanes share the blocks out in runs, each a chain of its own.
        parts = len(lanes)
        for i in range(parts):
            part = todo[i * len(todo) // parts : (i + 1) * len(todo) // parts]
            run.add(chains(tiling, part, run.generations, arenas[0].chain))
        assert run.tally.total
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
