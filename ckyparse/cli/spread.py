"""Lines by workers of a cluster.

Blocks of lines go out, what is to be written and said comes back, in order. A worker reads,
tokenises, parses and formats; this process cuts the input and writes.
"""

from __future__ import annotations

import os
import socket
import stat
import sys
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import click

from bulkbits.files import shown
from bulkbits.options import opened_cluster
from ckyparse.cli.blocks import Extent, TextBlock, extents
from ckyparse.cli.lines import BLOCK_BYTES, blocks_of, numbered
from ckyparse.cli.options import Choices
from ckyparse.cli.pipeline import Dispatcher, Outcomes, run
from ckyparse.cli.processor import Ask, LineProcessor, LinesOutcome, joined
from ckyparse.cli.reports import FaultReport

if TYPE_CHECKING:
    from bulkbits.cluster import Cluster, Shared
    from ckyparse.grammar import Grammar

_SHARE = 2  # of what is left a block is this fraction of a worker's even share
_LEAST = 1 << 17  # bytes of a block, as long as there are so many
_MOST = 2 * BLOCK_BYTES  # of a block that a worker reads
_PARTS = 4  # of a block, for a worker of several threads
_SENT = 1 << 22  # bytes of a block of which nobody knows what follows

_Facts = tuple[int, int]  # size of a file, and when it was changed


@dataclass(frozen=True)
class Order:
    """Lines that a worker is to settle, the first of them with that number."""

    lines: TextBlock | Extent
    first: int


@dataclass(frozen=True)
class Job:
    """Holds what all orders have in common. key: of the processor that a worker makes once."""

    choices: Choices
    grammar: Grammar
    ask: Ask
    key: str = field(default_factory=lambda: uuid.uuid4().hex)

    def processor(self) -> tuple[LineProcessor, int]:
        """Make a processor in a worker, with the threads that it may use."""
        from bulkbits.cluster import worker

        backend, threads = worker.backend(), worker.threads()
        choices = replace(self.choices, threads=threads)
        # Devices have memory of their own, the reference a bound of its own.
        has_own = bool(backend.devices) or backend.is_reference
        memory = None if has_own else worker.memory() // 2
        processor = worker.kept(
            self.key,
            lambda: LineProcessor(choices, choices.parser(self.grammar, backend, memory), self.ask),
        )
        return processor, threads


def spread(choices: Choices, grammar: Grammar, ask: Ask) -> int:
    """Do what stream() does, by workers."""
    assert choices.cluster is not None
    quiet = not sys.stderr.isatty()
    with opened_cluster(choices.cluster, choices.backend, choices.threads, quiet=quiet) as cluster:
        dispatcher = ClusterDispatcher(
            cluster, choices.paths, cluster.share(Job(choices, grammar, ask))
        )
        return run(choices.paths, dispatcher)


class ClusterDispatcher(Dispatcher):
    """Files that all workers see are read by them; others, and standard input, are sent.

    Blocks are large at first, since each costs some milliseconds, and small in the end, so that
    workers end at about the same time.
    """

    def __init__(self, cluster: Cluster, paths: tuple[str, ...], job: Shared) -> None:
        self.cluster, self.paths, self.job = cluster, paths, job
        self.files = self._seen_by_all()
        self.left = sum(os.path.getsize(file) for file in self.files.values())
        self.gpus = all(facts.backend == "cuda" for facts in cluster.workers)

    def items(self, hungry: Callable[[], bool]) -> Iterator[Order]:
        """See Dispatcher.items()."""
        for path in self.paths:
            found: Iterator[tuple[TextBlock | Extent, int]]
            if path in self.files:
                found = numbered(self._extents(path), 1)
            else:
                found = blocks_of([path], hungry, BLOCK_BYTES if self.gpus else _SENT)
            for lines, first in found:
                yield Order(lines, first)

    def _extents(self, path: str) -> Iterator[TextBlock | Extent]:
        try:
            for extent in extents(shown(path), self.files[path], self._size):
                self.left -= extent.stop - extent.start
                yield extent
        except OSError as error:
            yield TextBlock.lost(shown(path), error)

    def _size(self) -> int:
        share = self.left // (_SHARE * self.cluster.size)
        return BLOCK_BYTES if self.gpus else max(_LEAST, min(share, _MOST))

    def outcomes(self, items: Iterator[Order], report: FaultReport) -> Outcomes:
        """See Dispatcher.outcomes()."""
        yield from self.cluster.map(settled, items, self.job)

    def _seen_by_all(self) -> dict[str, str]:
        """Return the files that all workers see as this process does, each with the path there."""
        paths = {path: os.path.abspath(path) for path in self.paths if path != "-"}
        mine = facts_of(list(paths.values()))
        theirs = self.cluster.everywhere(facts_of, list(paths.values())).values()
        same = (
            facts is not None and all(found[i] == facts for found in theirs)
            for i, facts in enumerate(mine)
        )
        return {path: paths[path] for path, is_same in zip(paths, same, strict=True) if is_same}


def facts_of(paths: list[str]) -> list[_Facts | None]:
    """Return the facts of those that are regular files."""

    def facts(path: str) -> _Facts | None:
        try:
            found = os.stat(path)
        except (OSError, ValueError):
            return None
        return (found.st_size, found.st_mtime_ns) if stat.S_ISREG(found.st_mode) else None

    return [facts(path) for path in paths]


def settled(order: Order, job: Job) -> LinesOutcome:
    """Settle lines; in a worker."""
    blocks = _read(order.lines) if isinstance(order.lines, Extent) else [order.lines]
    processor, threads = job.processor()
    if threads == 1:
        return joined(processor.settle_all(*each) for each in numbered(blocks, order.first))
    # One part is tokenised or formatted while another is parsed.
    parts = (part for block in blocks for part in block.cut(max(_LEAST, block.text.size // _PARTS)))
    with ThreadPoolExecutor(2) as pool:
        return joined(
            pool.map(lambda part: processor.settle_all(*part), numbered(parts, order.first))
        )


def _read(extent: Extent) -> Iterator[TextBlock]:
    try:
        yield from extent.blocks(BLOCK_BYTES)
    except (OSError, EOFError) as error:
        trouble = getattr(error, "strerror", None) or str(error)
        host = socket.gethostname()
        raise click.ClickException(f"{extent.file}: on {host}: {trouble}") from None
