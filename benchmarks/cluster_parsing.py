"""Strings a second of `ckyparse accept` with workers of a cluster, beside one and none.

    python -m benchmarks.cluster_parsing FOLDER --count 10000000 --workers 1,2

Sentences of a grammar, and as many that are none, lie in FOLDER/strings. All ways read that
file and write FOLDER/results; they take turns, and what they write is compared. Clusters are
local ones, and are there before the clock starts. Each row:
the least wall time of the rounds, strings a second, how many times as fast as one worker; and
CPU seconds, of the round in which they were least: of this process, which is client and
scheduler, and of all workers. They tell what the machine would do if nothing else ran on it.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import random
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bulkbits.cluster import Cluster
from ckyparse.cli.accept import work
from ckyparse.cli.blocks import TextBlock
from ckyparse.cli.options import Choices
from ckyparse.cli.pipeline import Dispatcher, run
from ckyparse.cli.processor import LineProcessor
from ckyparse.cli.spread import ClusterDispatcher, Job, Order, settled
from ckyparse.cli.stream import LocalDispatcher
from ckyparse.grammar import Grammar
from ckyparse.sample import sentences

GRAMMARS = Path(__file__).parent.parent / "data" / "grammars"
DISTINCT = 50_000  # sentences, written again and again
TICK = os.sysconf("SC_CLK_TCK")


class Times(NamedTuple):
    """Seconds."""

    wall: float
    mine: float
    workers: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--grammar", default="json", help="of data/grammars, of characters")
    parser.add_argument("--length", default="16-64", help="in tokens")
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--workers", default="1,2")
    parser.add_argument("--threads", type=int, default=1, help="of each worker, and of none")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    strings = options.folder / "strings"
    path = GRAMMARS / f"{options.grammar}.cfg"
    grammar = Grammar.read(path)
    least, _, most = options.length.partition("-")
    write(strings, grammar, options.count, int(least), int(most or least))
    choices = Choices(
        grammar=str(path),
        files=(str(strings),),
        start=None,
        tokens=("chars", None),
        unknown="reject",
        skip_empty=False,
        backend="cpu",
        devices=(0,),
        threads=options.threads,
        memory=None,
        cluster=None,
    )
    job = Job(choices, grammar, partial(work, "tsv", None, False))
    counts = [0, *map(int, options.workers.split(","))]
    found = measured(job, counts, options.folder / "results", options.rounds)
    report(found, options.count, strings.stat().st_size)


def write(path: Path, grammar: Grammar, count: int, least: int, most: int) -> None:
    """Half of the lines sentences, half such with two tokens exchanged."""
    source = random.Random(1)
    lines = []
    for each in sentences(grammar, DISTINCT // 2, 1, minimum=least, maximum=most):
        sentence = list(each)
        lines.append("".join(sentence))
        i, j = source.randrange(len(sentence)), source.randrange(len(sentence))
        sentence[i], sentence[j] = sentence[j], sentence[i]
        lines.append("".join(sentence))
    source.shuffle(lines)
    text = "\n".join(lines).encode() + b"\n"
    with path.open("wb") as file:
        for _ in range(count // DISTINCT):
            file.write(text)
        file.write(b"".join(text.splitlines(keepends=True)[: count % DISTINCT]))


def measured(job: Job, counts: list[int], results: Path, rounds: int) -> dict[int, list[Times]]:
    """Measure with each number of workers."""
    found: dict[int, list[Times]] = {count: [] for count in counts}
    digests = set()
    for _ in range(rounds):
        for count in counts:
            with opened(job, count) as (way, pids), output(results):
                before = Times(time.perf_counter(), time.process_time(), of_workers(pids))
                run(job.choices.paths, way)
                after = Times(time.perf_counter(), time.process_time(), of_workers(pids))
            found[count].append(Times(*(b - a for a, b in zip(before, after, strict=True))))
            print(f"{count} workers: {found[count][-1]}", file=sys.stderr)
            with results.open("rb") as file:
                digests.add(hashlib.file_digest(file, "blake2b").hexdigest())
    assert len(digests) == 1, "results differ"
    return found


@contextlib.contextmanager
def opened(job: Job, count: int) -> Iterator[tuple[Dispatcher, list[int]]]:
    """Open a cluster, and yield it with its workers' processes, which have made what they keep."""
    choices = job.choices
    if not count:
        yield (
            LocalDispatcher(
                choices.paths, LineProcessor(choices, choices.parser(job.grammar), job.ask)
            ),
            [],
        )
        return
    with Cluster.open(f"local:{count}", backend="cpu", threads=choices.threads) as cluster:
        shared = cluster.share(job)
        cluster.everywhere(
            settled, Order(TextBlock("", np.frombuffer(b"1\n", np.uint8)), 1), shared
        )
        yield (
            ClusterDispatcher(cluster, choices.paths, shared),
            [facts.pid for facts in cluster.workers],
        )


@contextlib.contextmanager
def output(path: Path) -> Iterator[None]:
    with path.open("w") as file, contextlib.redirect_stdout(file):
        yield


def of_workers(pids: list[int]) -> float:
    """CPU seconds of all their threads, since they began."""
    total = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        total += int(fields[11]) + int(fields[12])
    return total / TICK


def report(found: dict[int, list[Times]], count: int, size: int) -> None:
    print(f"{count:,} strings, {size:,} bytes")
    print(f"{'workers':>7} {'wall s':>8} {'strings/s':>11} {'times':>6} {'client CPU s':>13} "
          f"{'workers CPU s':>14}")  # fmt: skip
    one = min(times.wall for times in found.get(1, found[0]))
    for workers, times in found.items():
        wall = min(each.wall for each in times)
        least = min(times, key=lambda each: each.mine + each.workers)
        print(f"{workers or 'none':>7} {wall:>8.2f} {count / wall:>11,.0f} {one / wall:>6.2f} "
              f"{least.mine:>13.2f} {least.workers:>14.2f}")  # fmt: skip


if __name__ == "__main__":
    main()
