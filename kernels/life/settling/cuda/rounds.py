"""Launches of the rounds of a universe that settles, in the memory of one device."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from kernels.life.contract import LifeShape, Words
from kernels.life.cuda.engine import DeviceLife
from kernels.life.cuda.sizes import BAND_BYTES
from kernels.life.plan import rule_defines
from kernels.life.rules import NineCellRule
from kernels.life.settling.costs import DEVICE_SETTLING_COSTS, DeviceSettlingCosts
from kernels.life.settling.cuda.sizes import (
    BAND,
    HALO,
    bands_of,
    most_windows,
    sizes_of,
    units_across,
)
from kernels.signals import undisturbed
from kernels.targets.cuda.device import Buffer, Module, Slice
from kernels.targets.cuda.turns import whole_device

SOURCE = Path(__file__).with_name("rounds.cu")
LAUNCH_SECONDS = 0.01  # of a launch, about; then the host can be interrupted
_LAY, _COMPUTE, _BOTH = 1, 2, 3  # phases of a round
_NUMBER, _COUNTS, _MISSED = 1, 2, 4  # words of the state
_CONVERT = 256  # threads of a block that converts
_AT_ONCE, _EMULATED = 1 << 20, 5  # rounds of a launch at most


class CudaRounds:
    """Rounds of a universe of an arena, beside which they have memory of their own.

    threads: of a block; blocks: of a multiprocessor. together: whether blocks wait for each other;
    each phase of a round is launched where they cannot, as emulated. missed: whether they have
    missed each other, and are not to be used any more.
    """

    def __init__(
        self,
        whole: DeviceLife,
        shape: LifeShape,
        rule: NineCellRule,
        costs: DeviceSettlingCosts = DEVICE_SETTLING_COSTS,
        threads: int = 256,
        blocks: int = 3,
    ) -> None:
        self._whole, self._shape, self._rule, self._costs = whole, shape, rule, costs
        self._device = whole.device
        self._threads, self._blocks = threads, blocks
        self._sizes = sizes_of(shape)
        self._offsets = list(accumulate((0, self._sizes.fields, self._sizes.map, self._sizes.list)))
        self._compiling: Future[Module] | None = None
        self._memory: Buffer | None = None
        self._row_words = np.uint32(2 * shape.row_words)
        self.together = whole.device.info.index is not None
        self.missed = False
        self._number = 0  # of the next round
        self._windows = 0  # of the last

    @property
    def nbytes(self) -> int:
        """Return the bytes of device memory that they take."""
        return self._sizes.nbytes

    @property
    def has_memory(self) -> bool:
        """Tell whether they have it already."""
        return self._memory is not None

    def compiling(self) -> Future[Module]:
        """Return what will be the kernels, which are compiled while passes go on."""
        if self._compiling is None:
            defines = rule_defines(self._rule)
            defines.update(PLANE=int(not self._shape.torus))
            defines.update(THREADS=self._threads, BLOCKS=self._blocks)
            self._compiling = compilers().submit(self._device.module, SOURCE, defines)
        return self._compiling

    # --- cells -----------------------------------------------------------------

    def take(self) -> None:
        """Take the cells of the whole. Raises MemoryError."""
        if self._memory is None:
            self._memory = self._device.alloc(self.nbytes)
        across, bands = units_across(self._shape), bands_of(self._shape)
        some, raw = self._staging(BAND)
        for first in range(0, bands, some):
            count = min(some, bands - first)
            y = max(0, first * BAND - HALO)
            end = min(self._shape.height, (first + count) * BAND + HALO)
            self._whole.unpack(y, end - y, raw)
            place = (np.int32(first), np.int32(count))
            self._convert("enter", count * across, place, raw, (np.int32(y), self._row_words))
        self._device.synchronize()
        self._number, self._windows = 0, most_windows(self._shape)

    def give(self) -> None:
        """Set the cells of the whole."""
        height = self._shape.height
        some, raw = self._staging(1)
        for y in range(0, height, some):
            count = min(some, height - y)
            self._leave(y, count, raw)
            self._whole.pack(y, count, raw)
        self._device.synchronize()

    def get(self, y: int, words: Words, /) -> None:
        """Write rows into `words`."""
        some, raw = self._staging(1)
        for first in range(0, len(words), some):
            band = words[first : first + some]
            self._leave(y + first, len(band), raw)
            self._device.download(band, raw)

    def _staging(self, rows: int) -> tuple[int, Buffer]:
        """Return memory for rows, and for how many times so many, with a halo above and below."""
        nbytes = 4 * int(self._row_words)
        some = max(1, (BAND_BYTES // nbytes - 2 * HALO) // rows)
        at_most = min(self._shape.height, some * rows + 2 * HALO)
        return some, self._whole.staging(nbytes * at_most)

    def _leave(self, y: int, count: int, raw: Buffer) -> None:
        """Queue the writing of rows of the last round's cells."""
        words = (-(-(y + count) // 4) - y // 4) * int(self._row_words)
        place = (np.uint64(self._number), np.int32(y), np.int32(count))
        self._convert("leave", words, place, raw, (self._row_words,))

    def _convert(
        self,
        kernel: str,
        threads: int,
        place: tuple[np.integer[Any], ...],
        raw: Buffer,
        rows: tuple[np.integer[Any], ...],
    ) -> None:
        grid, block = (-(-threads // _CONVERT), 1, 1), (_CONVERT, 1, 1)
        module = self.compiling().result()
        module.launch(kernel, grid, block, *self._parameters(), *place, raw, *rows)

    def _parameters(self) -> list[Slice | np.int32]:
        """Return the parameters that all kernels have."""
        assert self._memory
        parts = [Slice(self._memory, offset) for offset in self._offsets]
        return [*parts, np.int32(self._shape.width), np.int32(self._shape.height)]

    # --- rounds ------------------------------------------------------------------

    def rounds(self) -> int:
        """Return how many rounds have been made since take()."""
        return self._number

    def windows(self) -> int:
        """Return how many windows the last round took."""
        return self._windows

    def at_once(self) -> int:
        """Return how many rounds take about as long as a launch may; few on an emulated device."""
        if self._device.info.index is None:
            return _EMULATED
        seconds = self._costs.round(self._windows)
        return max(1, min(int(LAUNCH_SECONDS / seconds), _AT_ONCE))

    def step(self, count: int, stopped: Callable[[], bool] | None, /) -> None:
        """Make rounds, or fewer where stopped() becomes true between some of them.

        Raises MemoryError where blocks have missed each other; then fewer have been made.
        """
        assert self._memory
        end = self._number + count
        while self._number < end:
            if not self._windows:  # nothing changes any more
                self._number = end
                return
            if stopped is not None and stopped():
                return
            some = min(end - self._number, self.at_once())
            with undisturbed(), whole_device(self._device.info):
                self._launch(some)
                state = np.empty(_MISSED + 1, np.uint64)
                self._device.download(state, self._memory, self._offsets[-1])
                made = int(state[_NUMBER])
                self.missed = bool(state[_MISSED])
                self._number = made if self.missed else self._number + some
                self._windows = int(state[_COUNTS + (made - 1) % 2])
            if self.missed:
                raise MemoryError("there is no room on the device for all blocks at once")

    def _launch(self, count: int) -> None:
        """Queue rounds."""
        info = self._device.info
        parts = [(self._number, count, _BOTH)]
        if not self.together:
            numbers = range(self._number, self._number + count)
            parts = [(number, 1, phase) for number in numbers for phase in (_LAY, _COMPUTE)]
        module, parameters = self.compiling().result(), self._parameters()
        for number, some, phases in parts:
            module.launch(
                "rounds",
                (info.multiprocessors * self._blocks, 1, 1),
                (self._threads, 1, 1),
                *parameters,
                np.uint64(number),
                np.uint32(some),
                np.uint32(phases),
            )


@cache
def compilers() -> ThreadPoolExecutor:
    """Return what compiles kernels beside the passes."""
    return ThreadPoolExecutor(1, "rounds")
