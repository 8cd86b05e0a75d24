"""What large runs take on many GPUs, computed from measured rates: the tables of docs/scale.md.

    python -m benchmarks.scale [--check] [--workers 3]

--check: bags of tasks that only sleep on a local cluster, beside what the simulation says of
them.
"""

from __future__ import annotations

import argparse
import heapq
import math
import os
import random
import signal
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import mean

from bulkbits.cluster import Cluster

# --- what was measured, and where benchmarks/RESULTS.md has it -------------------------

CELLS = 52.9e12  # a second of an H200; "Universes on disk": in memory
READ, WRITE = 3.63e9, 2.53e9  # bytes a second of one disk; the same: plain direct
PYRAMID = 37.3 / 32  # bytes written for one of cells; the same
OVERLAP = 1.12  # of the larger of computing and disk; the same: overhead
FILE_SECONDS = 0.002  # to name a tile's file, which the client does: lifesim/stream/plan.py
TASK_SECONDS = 0.03  # from one task of a worker to the next: the same
CLIENT = 9.4e6  # strings a second that a client sends out and writes results of; "Several workers":
# 1.07 s of CPU for 10 million of 41 bytes
GPU_MEMORY = 139 * 2**30  # bytes
COPIES = 4  # of a block on a device: one is read, one steps, one is written; a spare

# Lines a second of the command on 16 cores and an H200, and bytes of a line; "CKY parsing on one
# NVIDIA H200": from files in memory, start included.
STRINGS = {
    "balanced brackets, 32 characters": (9.4e6, 33),
    "natural language, 11 words": (2.2e6, 60),
    "32 symbols, 8192 rules, 32 tokens": (1.3e6, 96),
}

# --- what was not: assumptions ----------------------------------------------------------

NETWORK = 12.5e9  # bytes a second of the client: 100 Gbit/s
SPREAD = 0.02  # of the speeds of GPUs that are equal by name, one standard deviation
TILE = 4 << 30  # bytes of cells in a file

GPUS = (8, 64, 512)


# --- a bag of tasks -----------------------------------------------------------------------

_ENDS, _DIES, _RETURNS = range(3)


def makespan(
    costs: Sequence[float],
    speeds: Sequence[float],
    *,
    overhead: float = 0.0,
    deaths: Mapping[int, float] | None = None,
    back: float = math.inf,
) -> float:
    """Seconds until the last of the tasks is done, which is when a phase ends.

    A worker takes the next task as soon as it is free, and needs overhead + cost / its speed
    for it. deaths: when workers die, by number; what one was at is done again from the start,
    as the next task that is taken. back: seconds after which another has its place.
    Infinite where nobody is left.
    """
    waiting, idle = deque(costs), set(range(len(speeds)))
    running: dict[int, float] = {}  # cost by worker
    lives = [0] * len(speeds)
    events = [(at, _DIES, worker, 0) for worker, at in (deaths or {}).items()]
    heapq.heapify(events)
    now = 0.0
    while waiting or running:
        while waiting and idle:
            worker = min(idle)
            idle.remove(worker)
            running[worker] = waiting.popleft()
            end = now + overhead + running[worker] / speeds[worker]
            heapq.heappush(events, (end, _ENDS, worker, lives[worker]))
        if not events:
            return math.inf
        now, kind, worker, life = heapq.heappop(events)
        if kind == _DIES:
            lives[worker] += 1
            idle.discard(worker)
            if worker in running:
                waiting.appendleft(running.pop(worker))
            if back < math.inf:
                heapq.heappush(events, (now + back, _RETURNS, worker, lives[worker]))
        elif life == lives[worker]:
            running.pop(worker, None)
            idle.add(worker)
    return now


def speeds_of(workers: int, slow: float, seed: int) -> list[float]:
    """Return speeds of workers that differ by SPREAD, this share of them at half speed."""
    chance = random.Random(seed)
    return [
        max(0.1, chance.gauss(1, SPREAD)) * (0.5 if chance.random() < slow else 1)
        for _ in range(workers)
    ]


@cache
def stretch(workers: int, groups: int, slow: float = 0.0) -> float:
    """Return how much longer a phase takes than if all workers were equal and none waited.

    A factor: the mean over five sets of speeds, with `groups` equal tasks for each worker."""
    costs = [1 / groups] * (groups * workers)
    return mean(makespan(costs, speeds_of(workers, slow, seed)) for seed in range(5))


# --- a universe on disk -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LifeRun:
    """Seconds in all, and of each resource if it were alone. groups: tasks a GPU and phase."""

    phases: int
    groups: int
    seconds: float
    gpus: float
    disks: float
    client: float

    @property
    def binds(self) -> str:
        parts = {"GPUs": self.gpus, "disks": self.disks, "client": self.client}
        return max(parts, key=lambda name: parts[name])


def life(
    side: int,
    generations: int,
    gpus: int,
    disks: float,
    *,
    phases: int,
    groups: int,
    tile: int = TILE,
) -> LifeRun | None:
    """A torus of side² cells in full rows; disks: how many as the one measured there are, or a
    file system as fast as these. None where a block has no room.

    Each task is a chain of blocks, of which the first has halos as deep as the phase is long,
    above and below, that are computed and read twice; no other row is.
    """
    depth = -(-generations // phases)
    if COPIES * 2 * depth * side // 8 > GPU_MEMORY:
        return None
    rows = side / gpus + 2 * depth * groups  # of a GPU
    computing = depth * rows * side / CELLS * stretch(gpus, groups) + TASK_SECONDS * groups
    cells = side * side / 8
    moving = gpus * rows * side / 8 / (disks * READ) + PYRAMID * cells / (disks * WRITE)
    naming = -(-cells // tile) * FILE_SECONDS
    each = max(computing, moving, naming) * OVERLAP
    return LifeRun(
        phases, groups, phases * each, phases * computing, phases * moving, phases * naming
    )


def best_life(side: int, generations: int, gpus: int, disks: float, *, tile: int = TILE) -> LifeRun:
    """Return the plan of as few phases and groups as take hardly more than the least time."""
    runs = [
        run
        for phases in range(1, 65)
        for groups in (1, 2, 4, 8)
        if (run := life(side, generations, gpus, disks, phases=phases, groups=groups, tile=tile))
    ]
    least = min(run.seconds for run in runs)
    return next(run for run in runs if run.seconds <= 1.01 * least)


# --- strings ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ParseRun:
    seconds: float
    binds: str


def parse(count: float, rate: float, line: int, gpus: int, client: float) -> ParseRun:
    """rate: lines a second of one worker. line: bytes of one. client: lines a second that it
    cuts, sends, and writes the results of."""
    parts = {
        "workers": count / (gpus * rate),
        "network": count * line / NETWORK,
        "client": count / client,
    }
    binds = max(parts, key=lambda name: parts[name])
    return ParseRun(parts[binds], binds)


# --- the tables ---------------------------------------------------------------------------


def duration(seconds: float) -> str:
    for unit, name in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 1.5 * unit:
            return f"{seconds / unit:.1f} {name}"
    return f"{seconds:.1f} s"


def table(head: Sequence[str], rows: Sequence[Sequence[object]], left: int = 1) -> Iterator[str]:
    """Return a table in Markdown, whose first so many columns are text."""
    yield f"| {' | '.join(head)} |"
    yield f"| {' | '.join(['---'] * left + ['---:'] * (len(head) - left))} |"
    yield from (f"| {' | '.join(map(str, row))} |" for row in rows)


def life_table(side: int, generations: int) -> Iterator[str]:
    head = ["disks", "GPUs", "takes", "phases", "tasks a GPU", "GPUs alone", "disks alone",
            "client alone", "binds"]  # fmt: skip
    rows = []
    for what, count in (("one a GPU", 0), ("as fast as 8", 8), ("as fast as 400", 400)):
        for gpus in GPUS:
            run = best_life(side, generations, gpus, count or gpus)
            alone = map(duration, (run.gpus, run.disks, run.client))
            rows.append(
                [what, gpus, duration(run.seconds), run.phases, run.groups, *alone, run.binds]
            )
    return table(head, rows)


def tile_table(side: int, generations: int) -> Iterator[str]:
    rows = []
    for tile in (1 << 28, 1 << 30, 1 << 32):
        runs = [best_life(side, generations, gpus, gpus, tile=tile) for gpus in GPUS]
        named = [f"{duration(run.seconds)} ({run.binds})" for run in runs]
        rows.append([f"{tile >> 20} MiB", side * side // 8 // tile, *named])
    return table(["tile", "files", *(f"{gpus} GPUs" for gpus in GPUS)], rows)


def parse_table(count: float) -> Iterator[str]:
    rows = []
    for what, (rate, line) in STRINGS.items():
        runs = [parse(count, rate, line, gpus, CLIENT) for gpus in (1, *GPUS)]
        rows.append([what, *(f"{duration(run.seconds)} ({run.binds})" for run in runs)])
    return table(["strings", "1 GPU", *(f"{gpus} GPUs" for gpus in GPUS)], rows)


def straggler_table() -> Iterator[str]:
    rows = []
    for what, slow in ((f"{SPREAD:.0%} spread", 0.0), ("and 1 in 64 at half speed", 1 / 64)):
        for groups in (1, 4, 16):
            times = [f"{stretch(gpus, groups, slow):.2f}" for gpus in GPUS]
            rows.append([what, groups, *times])
    return table(["speeds", "tasks a GPU", *(f"{gpus} GPUs" for gpus in GPUS)], rows)


# --- the simulation beside a cluster --------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Bag:
    """deaths: seconds after which a worker is killed, by its number."""

    what: str
    costs: tuple[float, ...]
    speeds: tuple[float, ...]
    deaths: Mapping[int, float]


def bags(workers: int) -> list[Bag]:
    chance = random.Random(1)
    equal, even = (0.3,) * (6 * workers), (1.0,) * workers
    mixed = tuple(round(chance.expovariate(5), 3) for _ in equal)
    half = (*even[1:], 0.5)
    return [
        Bag("equal tasks", equal, even, {}),
        Bag("one task a worker", (1.0,) * workers, even, {}),
        Bag("one more task than workers", (1.0,) * (workers + 1), even, {}),
        Bag("one worker at half speed", equal, half, {}),
        Bag("the same, a task each", (1.0,) * workers, half, {}),
        Bag("tasks of all sizes", mixed, even, {}),
        Bag("one long task at the end", (*equal, 2.0), even, {}),
        Bag("a worker is killed after 0.7 s", equal, even, {workers - 1: 0.7}),
    ]


def nap(cost: float, speeds: Mapping[int, float]) -> int:
    """speeds: by process; a new one's is 1. Returns which process it was."""
    time.sleep(cost / speeds.get(os.getpid(), 1.0))
    return os.getpid()


def run_bag(cluster: Cluster, bag: Bag) -> float:
    """Seconds on workers, each of which has the next task when it has done one."""
    pids = [facts.pid for facts in cluster.workers]
    speeds = dict(zip(pids, bag.speeds, strict=True))
    timers = [
        threading.Timer(at, os.kill, (pids[worker], signal.SIGKILL))
        for worker, at in bag.deaths.items()
    ]
    start = time.perf_counter()
    for timer in timers:
        timer.start()
    for _ in cluster.map(nap, bag.costs, speeds, ahead=1, ordered=False):
        pass
    return time.perf_counter() - start


def seconds_to_return(workers: int) -> float:
    """Return the seconds until a new worker does what a killed one would have done."""
    with opened(workers) as cluster:
        pids = {facts.pid for facts in cluster.workers}
        start = time.perf_counter()
        os.kill(min(pids), signal.SIGKILL)
        while pids.issuperset(cluster.map(nap, [0.05] * workers, {}, ahead=1)):
            pass
        return time.perf_counter() - start


def opened(workers: int) -> Cluster:
    return Cluster.open(f"local:{workers}", backend="cpu", threads=1)


def check_table(workers: int) -> Iterator[str]:
    """Check the table: each bag on a cluster of its own, whose overhead is measured first."""
    rows, back = [], seconds_to_return(workers)
    for bag in bags(workers):
        with opened(workers) as cluster:
            list(cluster.map(nap, [0.0] * workers, {}))
            empty = 8 * workers
            idle = run_bag(cluster, Bag("", (0.0,) * empty, (1.0,) * workers, {}))
            measured = run_bag(cluster, bag)
        overhead = idle * workers / empty
        said = makespan(bag.costs, bag.speeds, overhead=overhead, deaths=bag.deaths, back=back)
        rows.append([bag.what, f"{said:.2f}", f"{measured:.2f}", f"{measured / said:.2f}"])
    return table(["tasks", "simulated, s", "measured, s", "ratio"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.scale")
    parser.add_argument("--check", action="store_true", help="the simulation beside a cluster")
    parser.add_argument("--workers", type=int, default=3)
    options = parser.parse_args()
    side, generations = 1 << 24, 1 << 14
    parts = [
        ("2^24 x 2^24 cells, 16384 generations", life_table(side, generations)),
        ("The same with a disk a GPU, by tiles", tile_table(side, generations)),
        ("A billion strings", parse_table(1e9)),
        ("A phase, over what it takes if all are equal", straggler_table()),
    ]
    if options.check:
        parts = [
            (f"Simulated and measured, {options.workers} workers", check_table(options.workers))
        ]
    for title, lines in parts:
        print(f"\n{title}:\n")
        for line in lines:
            print(line, flush=True)


if __name__ == "__main__":
    main()
