"""CKY parsing on a CUDA device: batches go through it in parts, only results come back.

A part is uploaded as it lies in the batch. On the device its strings are dealt to groups by
length, groups of about equal lengths are computed in one launch, and a word of results is
gathered in the order of the batch. Threads, each with its stream, have a part each, so that
copies and computing overlap.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import dataclass
from math import isqrt
from pathlib import Path

import numpy as np
import numpy.typing as npt

from kernels.backend import Backend
from kernels.cuda import CudaBackend
from kernels.device import Buffer, Device, Slice

from .batch import Batch, ChartGroup, Indices, Mask
from .columns import Columns
from .dense import MAX_SYMBOLS, TILE, DenseColumns, dense_cost, shared_bytes
from .engine import Cky, Lengths, Progress
from .groups import Groups, groups
from .rules import Rules, cells
from .sparse import SparseColumns, put, sparse_cost

SOURCE = Path(__file__).with_name("pack.cu")
WORKERS = 3  # threads: one uploads while another computes and a third waits for results
SIMILAR = 0.94  # groups that are shorter than that wait for a launch of their own
FEW_TOKENS = 1 << 22  # are not worth a part of their own
TOKENS = 1 << 27  # of a part, at most
NONE = 0xFFFFFFFF  # no string
TYPICAL = 32  # tokens of a string
CHARTS = 1 << 28  # bytes of charts that are computed ahead for downloading
THREADS = 256
PACK_TOKENS = 8  # of a block; see pack.cu

Words = npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Launch:
    """Groups first .. first + groups - 1, computed as if all were so long."""

    first: int
    groups: int
    length: int


def launches(longest: Indices, cell_bytes: int, room: int, wave: int) -> list[Launch]:
    """The longest groups first, those of similar lengths together.

    longest: of each group, ascending. cell_bytes: of a cell of one group. room: bytes for
    the charts of a launch, exceeded only by a single group. wave: groups that keep the
    device busy; what is less takes as long, so that shorter groups may as well join.
    """
    found = []
    end = longest.size
    while end:
        length = int(longest[end - 1])
        most = max(1, room // (cells(length) * cell_bytes))
        similar = int(np.searchsorted(longest, SIMILAR * length))
        first = max(0, end - most, min(similar, end - wave))
        if first and end - first > wave:
            first += (end - first) % wave  # whole waves, as long as there are others
        found.append(Launch(first, end - first, length))
        end = first
    return found


def kind(rules: Rules, capability: tuple[int, int]) -> type[DenseColumns | SparseColumns]:
    """What computes charts quickest, by the cost models."""
    if TILE <= rules.symbols <= MAX_SYMBOLS:
        dense = dense_cost(rules, TYPICAL, shared_bytes(capability))
        if dense < sparse_cost(rules, TYPICAL):
            return DenseColumns
    return SparseColumns


class CudaCky(Cky):
    """Parses on a device.

    memory: half of what is free by default; strings and notes about the charts take some
    more. columns: what computes the charts; by default what a cost model takes for the
    quickest.
    """

    name = "cuda"

    def __init__(
        self,
        device: Device,
        rules: Rules,
        memory: int | None = None,
        columns: Columns | None = None,
    ) -> None:
        self.device, self.rules = device, rules
        self.memory = device.free_memory() // 2 if memory is None else memory
        self.columns = columns or kind(rules, device.info.capability)(device, rules)
        self.module = device.module(
            SOURCE, {"LANES": self.columns.lanes, "SIDE": self.columns.side}
        )
        # Lists of symbols, by terminal.
        order = np.lexsort((rules.lexical[:, 0], rules.lexical[:, 1]))
        lexical = rules.lexical[order]
        firsts = np.searchsorted(lexical[:, 1], np.arange(rules.terminals + 1))
        self.lexicon = put(device, firsts.astype(np.uint32), lexical[:, 0])
        self.at_once = self.wave * 32 * self.columns.lanes

    @classmethod
    def of(cls, backend: Backend, rules: Rules, memory: int | None = None) -> CudaCky:
        if not isinstance(backend, CudaBackend):
            raise TypeError(f"the backend {backend.name} is not CUDA's")
        return cls(backend.device, rules, memory)

    @property
    def cell_bytes(self) -> int:
        """Of a group."""
        return 4 * self.columns.symbols * self.columns.lanes

    @property
    def wave(self) -> int:
        """Groups that keep the device busy."""
        return self.device.info.multiprocessors * self.columns.blocks

    @property
    def max_length(self) -> int:
        return (isqrt(8 * (self.memory // self.cell_bytes) + 1) - 1) // 2

    def accept(self, batch: Batch, symbol: int, progress: Progress | None = None) -> Mask:
        self.check(batch, symbol)
        result = np.zeros(len(batch), np.bool_)

        def work(desk: _Desk, start: int, stop: int) -> None:
            desk.load(batch, start, stop)
            desk.ask("cky_accept", symbol, -(-(stop - start) // 32))
            bits = np.unpackbits(desk.answer().view(np.uint8), bitorder="little")
            result[start:stop] = bits[: stop - start]

        self._stream(batch, work, progress)
        return result

    def longest(self, batch: Batch, symbol: int, progress: Progress | None = None) -> Lengths:
        self.check(batch, symbol)
        result = np.zeros(len(batch), np.int32)

        def work(desk: _Desk, start: int, stop: int) -> None:
            desk.load(batch, start, stop)
            desk.ask("cky_longest", symbol, stop - start)
            result[start:stop] = desk.answer()

        self._stream(batch, work, progress)
        return result

    def charts(self, batch: Batch) -> Iterator[ChartGroup]:
        self.check_lengths(batch)
        desk = _Desk(self, min(self.memory, CHARTS))
        for start, stop in self._parts(batch):
            desk.load(batch, start, stop)
            for launch in desk.launches:
                chart = desk.compute(launch)
                # Another thread may ask for the next.
                self.device.synchronize()
                for g in range(launch.groups):
                    bounds = desk.groups.bounds[launch.first + g :]
                    indices = desk.groups.order[bounds[0] : bounds[1]] + start
                    lengths = batch.lengths[indices]
                    columns, many = self.columns, cells(int(lengths[-1]))
                    shape = many, columns.symbols // columns.side, columns.lanes, columns.side
                    words = np.empty(shape, np.uint32)
                    at = g * cells(launch.length) * self.cell_bytes
                    self.device.download(words, chart, at)
                    rows = words.swapaxes(2, 3).reshape(many, columns.symbols, columns.lanes)
                    yield ChartGroup(indices, lengths, rows[:, : self.rules.symbols])

    def resident(self, batch: Batch) -> Resident:
        """For measuring what the device alone takes. Raises TooLongError."""
        self.check_lengths(batch)
        return Resident(self, batch)

    def _parts(self, batch: Batch) -> Iterator[tuple[int, int]]:
        """Strings start .. stop - 1. More at a time where lengths differ, so that there
        are enough of each."""
        if not len(batch):
            return
        equal = int(batch.lengths.min()) == int(batch.lengths.max())
        groups = self.device.info.multiprocessors * (2 if equal else 8)
        mean = batch.terminals.size // len(batch) + 1
        strings = max(groups * 32 * self.columns.lanes, FEW_TOKENS // mean)
        tokens = min(TOKENS, max(FEW_TOKENS, self.memory // 16))
        start = 0
        while start < len(batch):
            end = np.searchsorted(batch.offsets, batch.offsets[start] + tokens, "right") - 1
            stop = min(start + strings, max(start + 1, int(end)), len(batch))
            yield start, stop
            start = stop

    def _stream(
        self, batch: Batch, work: Callable[[_Desk, int, int], None], progress: Progress | None
    ) -> None:
        parts = list(self._parts(batch))
        if not parts:
            return
        biggest = max(1, cells(int(batch.lengths.max())) * self.cell_bytes)
        workers = max(1, min(WORKERS, len(parts), self.memory // biggest))
        stop = threading.Event()
        mine = threading.local()

        def run(part: tuple[int, int]) -> int:
            if not hasattr(mine, "desk"):
                mine.desk = _Desk(self, self.memory // workers, stop)
            work(mine.desk, *part)
            return part[1]

        if workers == 1:
            for part in parts:
                done = run(part)
                if progress is not None:
                    progress(done)
            return
        pool = ThreadPoolExecutor(workers)
        try:
            for done in pool.map(run, parts):
                if progress is not None:
                    progress(done)
        finally:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)


class _Desk:
    """What one thread has on the device: a part of a batch, charts, results.

    room: bytes for charts. stop: set where no result is wanted any more.
    """

    groups: Groups
    launches: list[Launch]

    def __init__(self, engine: CudaCky, room: int, stop: threading.Event | None = None) -> None:
        self._engine, self._device, self._room = engine, engine.device, room
        self._stop = threading.Event() if stop is None else stop
        self._buffers: dict[str, Buffer] = {}
        self._start = 0  # of the part's terminals in the batch
        self._words = 0  # of results

    def load(self, batch: Batch, start: int, stop: int) -> None:
        """Upload strings start .. stop - 1."""
        engine = self._engine
        strings = 32 * engine.columns.lanes
        offsets = batch.offsets[start : stop + 1]
        self._start = int(offsets[0])
        self.groups = groups(batch.lengths[start:stop], strings)
        order = np.full(len(self.groups) * strings, NONE, np.uint32)
        if order.size:
            # Only the first group may have empty places, at its end.
            first = int(self.groups.bounds[1])
            order[:first] = self.groups.order[:first]
            order[strings:] = self.groups.order[first:]
        self._put("tokens", batch.terminals[self._start : offsets[-1]])
        self._put("offsets", offsets)
        self._put("order", order)
        longest = self.groups.longest
        self.launches = launches(longest, engine.cell_bytes, self._room, engine.wave)

    def compute(self, launch: Launch) -> Buffer:
        """Queue the charts of a launch's groups."""
        if self._stop.is_set():
            raise CancelledError
        engine, length = self._engine, launch.length
        size = launch.groups * cells(length) * engine.cell_bytes
        chart = self._buffer("charts", size, max(size, self._room))
        rules = engine.rules
        engine.module.launch(
            "cky_pack",
            (launch.groups, -(-length // PACK_TOKENS), 1),
            (min(THREADS, 32 * max(4, engine.columns.lanes)), 1, 1),
            chart,
            np.uint32(length),
            np.uint32(engine.columns.symbols),
            self._buffers["tokens"],
            self._buffers["offsets"],
            np.uint64(self._start),
            self._order(launch),
            np.uint32(rules.terminals),
            *engine.lexicon,
        )
        engine.columns.run(chart, launch.groups, length)
        return chart

    def ask(self, kernel: str, symbol: int, words: int) -> None:
        """Queue a kernel of pack.cu that makes so many words of results."""
        engine, self._words = self._engine, words
        result = self._buffer("result", 4 * words)
        grid = -(-words // THREADS), 1, 1
        engine.module.launch("cky_clear", grid, (THREADS, 1, 1), result, np.uint64(words))
        for launch in self.launches:
            chart = self.compute(launch)
            places = launch.groups * 32 * engine.columns.lanes
            engine.module.launch(
                kernel,
                (-(-places // THREADS), 1, 1),
                (THREADS, 1, 1),
                chart,
                np.uint32(launch.length),
                np.uint32(engine.columns.symbols),
                np.uint32(symbol),
                self._buffers["offsets"],
                self._order(launch),
                np.uint64(places),
                result,
            )

    def answer(self) -> Words:
        """Wait for what ask() has queued."""
        words = np.empty(self._words, np.uint32)
        self._device.download(words, self._buffers["result"])
        return words

    def _order(self, launch: Launch) -> Slice:
        return Slice(self._buffers["order"], 4 * launch.first * 32 * self._engine.columns.lanes)

    def _put(self, name: str, array: npt.NDArray[np.generic]) -> None:
        self._device.upload(self._buffer(name, array.nbytes), array)

    def _buffer(self, name: str, nbytes: int, most: int | None = None) -> Buffer:
        """Kept from part to part; of a size that the next call will ask for again."""
        buffer = self._buffers.get(name)
        if buffer is None or buffer.nbytes < nbytes:
            self._buffers.pop(name, None)  # gives the memory back first
            buffer = None
            size = 1 << max(8, (nbytes - 1).bit_length())
            self._buffers[name] = self._device.alloc(size if most is None else min(size, most))
        return self._buffers[name]


class Resident:
    """A batch that stays on the device, to be parsed again and again (see benchmarks)."""

    def __init__(self, engine: CudaCky, batch: Batch) -> None:
        self._desk, self._strings = _Desk(engine, engine.memory), len(batch)
        self._desk.load(batch, 0, len(batch))

    def run(self, symbol: int) -> None:
        """Queue all from the strings to the bits of acceptance; engine.device.synchronize()
        waits for it."""
        self._desk.ask("cky_accept", symbol, -(-self._strings // 32))

    def accepted(self) -> Mask:
        """Of the last run: bool (count,)."""
        bits = np.unpackbits(self._desk.answer().view(np.uint8), bitorder="little")
        return bits[: self._strings].astype(np.bool_)
