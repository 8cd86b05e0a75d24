"""Move the blocks of a phase on, on one device or several of this process.

A phase is a bag of blocks over a store that all can reach. Each device has a lane: a thread
that fills windows from files, one that steps them, and one that writes what came out, so
that reading, computing and writing overlap. Whichever lane is free takes the next block.
What lanes finish goes to a sink: they change nothing that others see.
"""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, fields
from functools import partial

from kernels.life.contract import ChainShape, LifeArena, LifeShape, LifeUniverse
from kernels.targets.contract import Target
from lifesim.engines import engine_of
from lifesim.rule import Rule
from lifesim.store import disk
from lifesim.store.tilejob import TileJob
from lifesim.store.tiling import TileBlock, Tiling, blocks, count_cuts
from lifesim.store.universe import Moved, Universe, disk_errors
from lifesim.store.workers import TileWorkers
from lifesim.stream.chains import BlockTask, Role, chains
from lifesim.stream.window import TileView, fill

_PIECE_SECONDS = 0.25  # between two looks at whether to stop
LEAST_CHAINED = 4  # rows of a block
TILES_AT_ONCE = 3  # that a lane writes


@dataclass(frozen=True, slots=True)
class PhaseShape:
    """The way in which a phase is cut up. across, down: tiles of a block; slots: windows a lane
    holds; chained: whether blocks follow each other, and compute no row twice. ends: how many tiles
    high the first and the last block are, so that little is read before anything can be computed,
    and written after all is; 0: as high as the others."""

    across: int
    down: int
    slots: int
    chained: bool = False
    ends: int = 0

    def blocks(self, tiling: Tiling, wanted: set[int]) -> list[TileBlock]:
        """Return the blocks that hold the wanted tiles, and no others."""
        return blocks(tiling, self.across, self.down, wanted, self.ends)

    def largest(self, tiling: Tiling) -> tuple[int, int]:
        """Return the width and height in cells that a block has at most."""
        return tiling.largest(self.across, self.down, self.ends)

    def count(self, tiling: Tiling) -> tuple[int, int]:
        """Return how many blocks there are side by side, and one below the other."""
        across = count_cuts(tiling.across, self.across)
        return across, count_cuts(tiling.down, self.down, self.ends)


@dataclass(slots=True)
class Tally:
    """The account of what a phase has done so far; seconds are of each kind of thread, all lanes
    together.

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

    def add(self, other: Tally) -> None:
        """Add another's figures to these."""
        for one in fields(self):
            setattr(self, one.name, getattr(self, one.name) + getattr(other, one.name))


# Told of tiles whose files last; returns paths of files that nobody needs any more.
Sink = Callable[[list[Moved]], list[str]]
# Told how far things are a few times a second: whether to go on (0), to begin no more blocks
# (1) or to abandon those begun too (2).
Watch = Callable[[Tally], int]


@dataclass(frozen=True, slots=True)
class Windows:
    """The windows that an arena must hold for blocks of a phase (LifeEngine.arena())."""

    shapes: tuple[LifeShape, ...]
    slots: int
    chain: ChainShape | None

    def open(self, backend: Target, rule: Rule) -> LifeArena:
        """Open an arena for them. Raises MemoryError."""
        return engine_of(rule, backend).arena(self.shapes, self.slots, rule.cells, self.chain)


def windows_of(
    universe: Universe, todo: Sequence[TileBlock], generations: int, shape: PhaseShape
) -> Windows:
    """Return the windows that an arena must hold for these blocks."""
    tiling, planes = universe.tiling, universe.manifest.form.planes
    halo = universe.manifest.halo(generations)
    windows = [tiling.window(block, halo) for block in todo]
    chain = None
    tallest = max(tiling.rows[block.bottom] - tiling.rows[block.top] for block in todo)
    if shape.chained and len(todo) > 1 and tallest >= LEAST_CHAINED:
        across = windows[0].across.length
        chain = ChainShape(across, generations, tiling.torus, tallest, planes)
    shapes = sorted({LifeShape(*window.shape, planes) for window in windows})
    return Windows(tuple(shapes), shape.slots, chain)


@dataclass(slots=True)
class _Loaded:
    slot: int
    task: BlockTask
    life: LifeUniverse


@dataclass(frozen=True, slots=True)
class _Writing:
    """A tile that is being written. slot: free once this tile is done, as the last of its block."""

    tile: int
    job: TileJob
    slot: int | None


class _PhaseRun:
    """The state that the lanes of a phase share. lock: of the tally."""

    def __init__(self, universe: Universe, tally: Tally, sink: Sink, attempt: str) -> None:
        assert universe.phase
        self.universe, self.tally, self.sink = universe, tally, sink
        self.attempt = attempt
        self.generations = universe.phase.generations
        self.stop_generation = universe.phase.stop
        self.lock = threading.Lock()
        self._todo: deque[list[BlockTask]] = deque()
        self.ending = threading.Event()  # no new blocks
        self.abandoned = threading.Event()  # nor those begun
        self.error: BaseException | None = None

    def add(self, tasks: list[list[BlockTask]]) -> None:
        self._todo.extend(tasks)
        self.tally.total += float(
            sum(task.updates(self.generations) for chain in tasks for task in chain)
        )

    def next_chain(self) -> list[BlockTask]:
        with self.lock:
            if self.ending.is_set() or not self._todo:
                return []
            return self._todo.popleft()

    def read(self, count: int) -> None:
        with self.lock:
            self.tally.read_bytes += count

    def fail(self, error: BaseException) -> None:
        with self.lock:
            self.error = self.error or error
        self.ending.set()
        self.abandoned.set()


class _Lane:
    """A device and its three threads."""

    def __init__(self, run: _PhaseRun, backend: Target, arena: LifeArena, workers: int) -> None:
        self._run, self._backend, self._arena = run, backend, arena
        self._readers = TileWorkers(workers, backend.staging)
        self._writers = TileWorkers(workers, backend.staging)
        self._removals: deque[Future[None]] = deque()
        self._free: queue.SimpleQueue[int] = queue.SimpleQueue()
        for slot in range(arena.slots):
            self._free.put(slot)
        self._loaded: queue.SimpleQueue[_Loaded | None] = queue.SimpleQueue()
        self._stepped: queue.SimpleQueue[_Loaded | None] = queue.SimpleQueue()
        # One that is interrupted while it joins a thread takes it for ended: so these, too.
        self.ended = [threading.Event() for _ in range(3)]
        self.threads = [
            threading.Thread(target=self._guard, args=(work, ended), daemon=True)
            for work, ended in zip((self._read, self._step, self._write), self.ended, strict=True)
        ]

    def start(self) -> None:
        for thread in self.threads:
            thread.start()

    def close(self) -> None:
        self._readers.shutdown()
        self._writers.shutdown()

    def _guard(self, work: Callable[[], None], ended: threading.Event) -> None:
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
            ended.set()

    def _read(self) -> None:
        run = self._run
        chain: deque[BlockTask] = deque()
        while (slot := self._free.get()) >= 0 and not run.ending.is_set():
            chain.extend(() if chain else run.next_chain())
            if not chain:
                break
            task = chain.popleft()
            began = time.perf_counter()
            shape = LifeShape(*task.window.shape, run.universe.manifest.form.planes)
            if task.role is Role.ALONE:
                life = self._arena.open(slot, shape)
            else:
                life = self._arena.open_chained(slot, shape.height, first=task.role is Role.FIRST)
            fill(
                run.universe,
                task.window,
                life,
                self._readers,
                cancelled=run.abandoned.is_set,
                read=run.read,
            )
            with run.lock:
                run.tally.read_seconds += time.perf_counter() - began
            self._loaded.put(_Loaded(slot, task, life))

    def _step(self) -> None:
        run = self._run
        while (item := self._loaded.get()) and not run.abandoned.is_set():
            each = item.task.updates(run.generations) / run.generations
            pieces = 1
            while (left := run.generations - item.life.generation) > 0:
                if run.abandoned.is_set():
                    return
                generations = item.life.next_steps(min(left, pieces * item.life.stride))
                began = time.perf_counter()
                item.life.step(generations)
                taken = time.perf_counter() - began
                with run.lock:
                    run.tally.step_seconds += taken
                    run.tally.work += each * generations
                fits = _PIECE_SECONDS / max(taken, 1e-9) * generations / item.life.stride
                pieces = max(1, min(int(fits), 8 * pieces))
            self._stepped.put(item)

    def _write(self) -> None:
        """Write what was stepped: tiles of the next block are begun before those of the one before
        are done."""
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
                        partial(universe.directory.writer, tile, run.stop_generation, run.attempt),
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
                with run.lock:
                    tally.write_seconds += time.perf_counter() - began
            while jobs and not run.abandoned.is_set():
                self._finish(jobs)
            for removal in self._removals:
                removal.result()
        finally:
            for writing in jobs:
                writing.job.drop()

    def _finish(self, jobs: deque[_Writing]) -> None:
        """Hand on the next tile, and all after it that are done by then, in one step."""
        run = self._run
        finished: list[Moved] = []
        try:
            while jobs and (not finished or jobs[0].job.is_done):
                finished.append(Moved(jobs[0].tile, jobs[0].job.finish(), run.attempt))
                slot = jobs.popleft().slot
                if slot is not None:
                    self._free.put(slot)
        finally:
            if finished:
                for path in run.sink(finished):
                    self._removals.append(self._writers.submit(disk.remove, path))
        tally = run.tally
        with run.lock:
            for moved in finished:
                tally.written_bytes += moved.record.size if moved.record else 0
                tally.computed += moved.record is not None
                tally.unchanged += moved.record is None


def run_lanes(
    universe: Universe,
    todo: Sequence[TileBlock],
    lanes: Sequence[tuple[Target, LifeArena]],
    tally: Tally,
    *,
    workers: int,
    watch: Watch,
    sink: Sink,
    attempt: str = "",
) -> bool:
    """Move blocks on, in the phase that the universe is in; False where it was stopped.

    There are many parameters, as two executors share what only they know.

    lanes: devices, each with an arena for windows_of() the blocks. workers: threads of a lane
    that read, and that write. attempt: of Directory.writer(). Raises what went wrong in a lane:
    DamagedDataError, LifesimError, MemoryError.
    """
    run = _PhaseRun(universe, tally, sink, attempt)
    made: list[_Lane] = []
    try:
        made.extend(_Lane(run, backend, arena, workers) for backend, arena in lanes)
        # Lanes share the blocks out in runs, each a chain of its own.
        parts = len(made)
        for i in range(parts):
            part = todo[i * len(todo) // parts : (i + 1) * len(todo) // parts]
            halo = universe.manifest.halo(run.generations)
            run.add(chains(universe.tiling, part, halo, lanes[0][1].chain))
        assert tally.total
        for lane in made:
            lane.start()
        for ended in [ended for lane in made for ended in lane.ended]:
            over = False
            while not over:  # watched once more when it has ended, so short phases are too
                try:
                    over = ended.wait(0.1)
                    level = watch(tally)
                except KeyboardInterrupt:
                    level = 2 if run.ending.is_set() else 1
                if level >= 1:
                    run.ending.set()
                if level >= 2:
                    run.abandoned.set()
    except BaseException as error:
        run.fail(error)
    finally:
        for lane in made:
            for thread in lane.threads:
                if thread.ident is not None:
                    thread.join()
            lane.close()
    if run.error is not None:
        raise run.error
    return not run.ending.is_set()
