"""A universe in the memory of a device that costs what changes in it."""

from __future__ import annotations

from concurrent.futures import Future
from functools import cached_property
from math import lcm
from pathlib import Path
from typing import Any

import numpy as np

from kernels.life.contract import LifeShape, LifeUniverse
from kernels.life.cuda.engine import DeviceLife
from kernels.life.rules import NineCellRule
from kernels.life.settling.costs import DEVICE_SETTLING_COSTS, DeviceSettlingCosts
from kernels.life.settling.cuda.rounds import CudaRounds, compilers
from kernels.life.settling.cuda.sizes import is_reached
from kernels.life.settling.universe import SettlingLife
from kernels.targets.cuda.array import DeviceArray
from kernels.targets.cuda.device import Buffer, Module, Slice

LOOKING = Path(__file__).with_name("looking.cu")
_PERIOD = 12  # generations: what repeats itself in them is found to be the same
_SHARE = 2  # of the memory that is free it takes half at most
_SAMPLE = 64  # rows of a sample, and cells along a side of its squares
_SAMPLES = 4
_THREADS = 256  # of a block that compares


def on_device(universe: LifeUniverse, shape: LifeShape, rule: NineCellRule) -> LifeUniverse:
    """Return a universe of one device as one that settles, where there is such and a round can be
    quicker than the whole: small ones are moved on faster on chip, however little changes."""
    costs = DEVICE_SETTLING_COSTS
    if type(universe) is not DeviceLife or not is_reached(shape):
        return universe
    if not costs.begins(0.0, shape.width * shape.height):
        return universe
    return CudaSettlingLife(universe, shape, rule, costs)


class CudaSettlingLife(SettlingLife):
    """A universe on a device that is computed as a whole, or where it changes."""

    def __init__(
        self,
        whole: DeviceLife,
        shape: LifeShape,
        rule: NineCellRule,
        costs: DeviceSettlingCosts = DEVICE_SETTLING_COSTS,
    ) -> None:
        """Take over a universe, at generation 0, that nobody else may use any more."""
        super().__init__(whole, None, shape, rule, costs)
        self._life, self._shape = whole, shape
        self.on_device = CudaRounds(whole, shape, rule, costs)
        self._rounds = self.on_device
        # Whole passes, as kernels of other lengths would have to be compiled.
        one = lcm(_PERIOD, whole.stride)
        self._span = -(-costs.span // one) * one

    def device_words(self) -> DeviceArray | None:
        """Return a copy of all rows in the memory of the device."""
        return self._make_whole().device_words()

    # --- what changes ------------------------------------------------------------

    def _samples(self) -> Buffer:
        """Return some rows of cells, always the same ones."""
        life, count = self._life, self._sample_count
        nbytes = 8 * self._shape.row_words * _SAMPLE
        rows = life.device.alloc(count * nbytes)
        for i in range(count):
            y = (2 * i + 1) * (self.height - _SAMPLE) // (2 * count)
            life.unpack(y, _SAMPLE, Slice(rows, i * nbytes))
        return rows

    def _changed(self, before: Any) -> float:
        """Return the part of the squares in them that are others than _samples() has found them."""
        words, count = self._shape.row_words, self._sample_count
        found, after = np.zeros(1, np.uint32), self._samples()
        device = self._life.device
        changed = device.alloc(found.nbytes)
        device.upload(changed, found)
        sizes = (np.int32(words), np.int32(count))
        grid = (-(-words * count // _THREADS), 1, 1)
        module = self._looking.result()
        module.launch("compare", grid, (_THREADS, 1, 1), before, after, *sizes, changed)
        device.download(found, changed)
        return int(found[0]) / (words * count)

    def _is_time_to_look(self, left: int) -> bool:
        """Tell whether it is; not while kernels are compiled, beside which passes go on."""
        if not super()._is_time_to_look(left):
            return False
        device = self._life.device
        compiling = [self.on_device.compiling(), self._looking]
        if device.info.index is None or all(future.done() for future in compiling):
            return True
        self._looked = self.generation
        return False

    @cached_property
    def _looking(self) -> Future[Module]:
        return compilers().submit(self._life.device.module, LOOKING, {})

    @property
    def _sample_count(self) -> int:
        return min(_SAMPLES, self.height // _SAMPLE)

    # --- by rounds ---------------------------------------------------------------

    def _begin(self) -> bool:
        """Give the cells to rounds. Returns False where there is no memory for them."""
        rounds, device = self.on_device, self._life.device
        try:
            if rounds.missed:
                return False
            if not rounds.has_memory and rounds.nbytes * _SHARE > device.free_memory():
                return False
            rounds.take()
        except MemoryError:
            return False
        return True

    def _give(self) -> None:
        self.on_device.give()

    def _some(self) -> int:
        return self.on_device.at_once()

    def _left(self) -> None:
        self._pause *= 2
