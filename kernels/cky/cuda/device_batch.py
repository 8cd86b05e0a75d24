"""A device's batch memory: what one thread has there of a batch, its charts, its results."""

from __future__ import annotations

import threading
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kernels.targets.cuda.device import Buffer, Device, Slice

from ..batch import Batch, Terminals
from ..plan import Groups, groups
from ..rules import cells
from .plan import ChartLaunch, launches

try:
    from kernels import _cpu
except ImportError:
    _cpu = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from .engine import CudaCky

NONE = 0xFFFFFFFF  # no string
THREADS = 256
PACK_TOKENS = 8  # of a block; see pack.cu
_PINNED = 1 << 26  # bytes: locking more pages takes longer than copying from others

Words = npt.NDArray[np.uint32]
Bytes = npt.NDArray[np.uint8]

_NOTHING: Bytes = np.empty(0, np.uint8)


def token_dtype(terminals: int) -> np.dtype[Any]:
    """Return the dtype of a token on the device: enough to tell those that are no terminal, too."""
    return np.dtype(f"u{1 if terminals < 1 << 8 else 2 if terminals < 1 << 16 else 4}")


def narrow(tokens: Terminals, terminals: int, into: npt.NDArray[Any]) -> None:
    """Copy tokens to a dtype of token_dtype(terminals); what is no terminal becomes one more."""
    if _cpu is not None:
        _cpu.cky_narrow_tokens(tokens, terminals, into)
    else:
        np.copyto(into, np.minimum(tokens, np.uint32(terminals)), casting="unsafe")


class PinnedPool:
    """Keeps page-locked memory that device batches leave to those that come after. For any thread.

    To lock pages takes far longer than to copy what they hold.
    """

    def __init__(self, device: Device) -> None:
        self._device = device
        self._free: list[Bytes] = []

    def take(self, nbytes: int) -> Bytes:
        """Return at least so many bytes, for reading by copies that are only queued; else of plain
        memory.
        """
        if nbytes > _PINNED:
            return np.empty(nbytes, np.uint8)
        while self._free:
            try:
                memory = self._free.pop()
            except IndexError:  # to another thread
                break
            if memory.nbytes >= nbytes:
                return memory
        size = 1 << max(20, (nbytes - 1).bit_length())
        try:
            return self._device.pinned(size)
        except MemoryError:
            return np.empty(nbytes, np.uint8)

    def give(self, memory: Bytes) -> None:
        """Take back memory that no copy reads any more."""
        if 0 < memory.nbytes <= _PINNED:
            self._free.append(memory)


class DeviceBatch:
    """Holds a part of a batch on a device, its charts and its results, for one thread.

    room: bytes for charts. stop: set where no result is wanted any more.
    """

    groups: Groups
    launches: list[ChartLaunch]

    def __init__(self, engine: CudaCky, room: int, stop: threading.Event | None = None) -> None:
        self._engine, self._device, self._room = engine, engine.device, room
        self._stop = threading.Event() if stop is None else stop
        self._buffers: dict[str, Buffer] = {}
        self._host = _NOTHING
        self._start = 0  # of the part's terminals in the batch
        self._words = 0  # of results
        self._orders = self._tokens = 0  # where they begin in the part, in bytes

    def load(self, batch: Batch, start: int, stop: int) -> None:
        """Upload strings start .. stop - 1. Nothing that was queued before may still run."""
        engine = self._engine
        strings = 32 * engine.columns.lanes
        offsets = batch.offsets[start : stop + 1]
        self._start, end = int(offsets[0]), int(offsets[-1])
        self.groups = groups(batch.lengths[start:stop], strings)
        places = len(self.groups) * strings
        self._orders = offsets.nbytes
        self._tokens = self._orders + 4 * places
        size = engine.token.itemsize
        nbytes = self._tokens + size * (end - self._start)
        if self._host.nbytes < nbytes:
            self._host = engine.pinned.take(nbytes)
        part = self._host[:nbytes]
        part[: self._orders].view(np.int64)[:] = offsets
        order = part[self._orders : self._tokens].view(np.uint32)
        if places:
            # Only the first group may have empty places, at its end.
            first = int(self.groups.bounds[1])
            order[:first] = self.groups.order[:first]
            order[first:strings] = NONE
            order[strings:] = self.groups.order[first:]
        tokens = part[self._tokens :].view(engine.token)
        narrow(batch.terminals[self._start : end], engine.rules.terminals, tokens)
        self._device.upload(self._buffer("part", nbytes), part)
        longest = self.groups.longest
        self.launches = launches(longest, engine.cell_bytes, self._room, engine.wave)

    def compute(self, launch: ChartLaunch) -> Buffer:
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
            Slice(self._buffers["part"], self._tokens),
            self._buffers["part"],
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
                self._buffers["part"],
                self._order(launch),
                np.uint64(places),
                result,
            )

    def answer(self) -> Words:
        """Wait for what ask() has queued, and return it. The page-locked memory is for others
        then."""
        words = np.empty(self._words, np.uint32)
        self._device.download(words, self._buffers["result"])
        self._engine.pinned.give(self._host)
        self._host = _NOTHING
        return words

    def _order(self, launch: ChartLaunch) -> Slice:
        strings = 32 * self._engine.columns.lanes
        return Slice(self._buffers["part"], self._orders + 4 * launch.first * strings)

    def _buffer(self, name: str, nbytes: int, most: int | None = None) -> Buffer:
        """Return a buffer that is kept from part to part; of a size that the next call will ask for
        again.
        """
        buffer = self._buffers.get(name)
        if buffer is None or buffer.nbytes < nbytes:
            self._buffers.pop(name, None)  # gives the memory back first
            buffer = None
            size = 1 << max(8, (nbytes - 1).bit_length())
            self._buffers[name] = self._device.alloc(size if most is None else min(size, most))
        return self._buffers[name]
