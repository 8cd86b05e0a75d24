"""CKY parsing on a CUDA device: batches go through it in parts, only results come back.

A part is uploaded in one copy, its tokens in as few bytes as they need. On the device its
strings are dealt to groups by length, groups of about equal lengths are computed in one launch,
and a word of results is gathered in the order of the batch. Threads, each with its stream, have a
part each, so that copies and computing overlap.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from math import isqrt
from operator import itemgetter
from pathlib import Path

import numpy as np

from kernels.targets.contract import Target
from kernels.targets.cuda.device import Device
from kernels.targets.cuda.target import CudaTarget

from ..batch import Batch, ChartGroup, Mask
from ..contract import Ask, Cky, Lengths
from ..costs import CHART_COSTS
from ..dispatch import PartWork, Progress, each_part
from ..plan import Piece
from ..rules import Rules, cells
from .columns import Columns
from .dense import MAX_SYMBOLS, TILE, DenseColumns, shared_bytes
from .device_batch import DeviceBatch, PinnedPool, token_dtype
from .plan import dense_cost, sparse_cost
from .scatter import ScatterColumns
from .scatter_plan import scatter_cost
from .sparse import SparseColumns, put

SOURCE = Path(__file__).with_name("pack.cu")
WORKERS = 3  # threads: one uploads while another computes and a third waits for results
TOKENS = 1 << 27  # of a part, at most
TYPICAL = 32  # tokens of a string
CHARTS = 1 << 28  # bytes of charts that are computed ahead for downloading


def kind(
    rules: Rules, capability: tuple[int, int]
) -> type[DenseColumns | ScatterColumns | SparseColumns]:
    """Return what computes charts quickest, by the cost models."""
    if not TILE <= rules.symbols <= MAX_SYMBOLS:
        return SparseColumns
    shared = shared_bytes(capability)
    costs: list[tuple[float, type[DenseColumns | ScatterColumns | SparseColumns]]] = [
        (sparse_cost(rules, TYPICAL), SparseColumns),
        (dense_cost(rules, TYPICAL, shared), DenseColumns),
        (scatter_cost(rules, TYPICAL, shared), ScatterColumns),
    ]
    return min(costs, key=itemgetter(0))[1]


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
        self.token, self.pinned = token_dtype(rules.terminals), PinnedPool(device)
        macros = {"LANES": self.columns.lanes, "SIDE": self.columns.side}
        self.module = device.module(SOURCE, macros | {"TOKEN_BYTES": self.token.itemsize})
        # Lists of symbols, by terminal.
        order = np.lexsort((rules.lexical[:, 0], rules.lexical[:, 1]))
        lexical = rules.lexical[order]
        firsts = np.searchsorted(lexical[:, 1], np.arange(rules.terminals + 1))
        self.lexicon = put(device, firsts.astype(np.uint32), lexical[:, 0])
        self.at_once = self.wave * 32 * self.columns.lanes

    @classmethod
    def of(cls, backend: Target, rules: Rules, memory: int | None = None) -> CudaCky:
        """Return the engine of a target's device. Raises TypeError for another target."""
        if not isinstance(backend, CudaTarget):
            raise TypeError(f"the backend {backend.name} is not CUDA's")
        return cls(backend.device, rules, memory)

    @property
    def cell_bytes(self) -> int:
        """Bytes of a cell of a group."""
        return 4 * self.columns.symbols * self.columns.lanes

    @property
    def wave(self) -> int:
        """Groups that keep the device busy."""
        return self.device.info.multiprocessors * self.columns.blocks

    @property
    def max_length(self) -> int:
        """Tokens of the longest string whose chart fits in memory."""
        return (isqrt(8 * (self.memory // self.cell_bytes) + 1) - 1) // 2

    def accept(self, batch: Batch, symbol: int, progress: Progress | None = None) -> Mask:
        """See Cky.accept()."""
        result = np.zeros(len(batch), np.bool_)
        self._all("accept", batch, symbol, result, progress)
        return result

    def longest(self, batch: Batch, symbol: int, progress: Progress | None = None) -> Lengths:
        """See Cky.longest()."""
        result = np.zeros(len(batch), np.int32)
        self._all("longest", batch, symbol, result, progress)
        return result

    def _all(
        self,
        ask: Ask,
        batch: Batch,
        symbol: int,
        result: Mask | Lengths,
        progress: Progress | None,
    ) -> None:
        self.check(batch, symbol)
        pieces, stop = list(self.cut(batch, 0, len(batch))), threading.Event()
        works = self.works(ask, batch, symbol, result, stop, len(pieces))
        each_part(works, pieces, stop, progress)

    def works(
        self,
        ask: Ask,
        batch: Batch,
        symbol: int,
        result: Mask | Lengths,
        stop: threading.Event,
        most: int,
    ) -> Sequence[PartWork]:
        """See Cky.works()."""
        biggest = max(1, cells(int(batch.lengths.max(initial=0))) * self.cell_bytes)
        many = max(1, min(WORKERS, most, self.memory // biggest))

        def by(part: DeviceBatch) -> PartWork:
            def accept(start: int, end: int) -> None:
                part.load(batch, start, end)
                part.ask("cky_accept", symbol, -(-(end - start) // 32))
                bits = np.unpackbits(part.answer().view(np.uint8), bitorder="little")
                result[start:end] = bits[: end - start]

            def longest(start: int, end: int) -> None:
                part.load(batch, start, end)
                part.ask("cky_longest", symbol, end - start)
                result[start:end] = part.answer()

            return accept if ask == "accept" else longest

        return [by(DeviceBatch(self, self.memory // many, stop)) for _ in range(many)]

    def charts(self, batch: Batch) -> Iterator[ChartGroup]:
        """See Cky.charts()."""
        self.check_lengths(batch)
        part = DeviceBatch(self, min(self.memory, CHARTS))
        for start, stop in self.cut(batch, 0, len(batch)):
            part.load(batch, start, stop)
            for launch in part.launches:
                chart = part.compute(launch)
                # Another thread may ask for the next.
                self.device.synchronize()
                for g in range(launch.groups):
                    bounds = part.groups.bounds[launch.first + g :]
                    indices = part.groups.order[bounds[0] : bounds[1]] + start
                    lengths = batch.lengths[indices]
                    columns, many = self.columns, cells(int(lengths[-1]))
                    shape = many, columns.symbols // columns.side, columns.lanes, columns.side
                    words = np.empty(shape, np.uint32)
                    at = g * cells(launch.length) * self.cell_bytes
                    self.device.download(words, chart, at)
                    rows = words.swapaxes(2, 3).reshape(many, columns.symbols, columns.lanes)
                    yield ChartGroup(indices, lengths, rows[:, : self.rules.symbols])

    def resident(self, batch: Batch) -> Resident:
        """Keep a batch on the device, to measure what that alone takes. Raises TooLongError."""
        self.check_lengths(batch)
        return Resident(self, batch)

    def cut(self, batch: Batch, start: int, stop: int) -> Iterator[Piece]:
        """Yield pieces, larger ones where lengths differ, so that there are enough of each."""
        if start == stop:
            return
        lengths = batch.lengths[start:stop]
        few = CHART_COSTS.few_tokens
        equal = int(lengths.min()) == int(lengths.max())
        groups = self.device.info.multiprocessors * (2 if equal else 8)
        mean = int(batch.offsets[stop] - batch.offsets[start]) // (stop - start) + 1
        strings = max(groups * 32 * self.columns.lanes, few // mean)
        tokens = min(TOKENS, max(few, self.memory // 16))
        while start < stop:
            end = np.searchsorted(batch.offsets, batch.offsets[start] + tokens, "right") - 1
            end = min(start + strings, max(start + 1, int(end)), stop)
            yield start, end
            start = end


class Resident:
    """Keeps a batch on the device, to be parsed again and again (see benchmarks)."""

    def __init__(self, engine: CudaCky, batch: Batch) -> None:
        self._on_device, self._strings = DeviceBatch(engine, engine.memory), len(batch)
        self._on_device.load(batch, 0, len(batch))

    def run(self, symbol: int) -> None:
        """Queue all from the strings to the bits of acceptance; engine.device.synchronize() waits
        for it.
        """
        self._on_device.ask("cky_accept", symbol, -(-self._strings // 32))

    def accepted(self) -> Mask:
        """Return which strings the last run accepted: bool (count,)."""
        bits = np.unpackbits(self._on_device.answer().view(np.uint8), bitorder="little")
        return bits[: self._strings].astype(np.bool_)
