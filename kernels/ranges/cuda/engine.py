"""Larger than Life on a CUDA-like device: sums of columns and along rows, and their differences."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from kernels.life.contract import LifeShape
from kernels.life.cuda.bytewise import DeviceBytewiseEngine, Stepper, uploaded
from kernels.ranges.plan import device_bytes, device_rows
from kernels.ranges.rules import FARTHEST, RangeRule
from kernels.targets.cuda.device import Buffer, Device, Slice

SOURCE = Path(__file__).with_name("ranges.cu")
_BLOCK = 256


class CudaRangeEngine(DeviceBytewiseEngine[RangeRule]):
    """Computes generations on one device."""

    def stepper(self, rule: RangeRule) -> Stepper:
        """Return what queues generations of a rule."""
        return RangeStepper(self.device, rule)

    def beside_bytes(self, shapes: Sequence[LifeShape]) -> int:
        """Return the bytes of the sums of the rule that reaches farthest."""
        return max(
            device_bytes(shape.width, shape.height, FARTHEST, square=square)
            for shape in shapes
            for square in (False, True)
        )


class RangeStepper(Stepper):
    """Queues generations of one rule, band by band."""

    def __init__(self, device: Device, rule: RangeRule) -> None:
        self._device, self._reach = device, rule.reach
        square = rule.square
        self._square = square is not None
        runs = rule.runs if square is None else ((0, -square[0], square[0]),)
        self._counts = len(runs), len(rule.birth), len(rule.survival)
        self._without = square is not None and not square[1]
        defines = {"STATES": rule.states, "SQUARE": int(self._square)}
        self._module = device.module(SOURCE, defines)
        numbers = [*runs, *rule.birth, *rule.survival]
        self._rule = uploaded(device, np.array([n for some in numbers for n in some], np.int32))
        self._sums: Buffer | None = None

    def queue(
        self, source: Buffer | Slice, target: Buffer | Slice, width: int, height: int, torus: bool
    ) -> None:
        """Queue one generation: of each band the sums, then its cells."""
        reach, square = self._reach, self._square
        nbytes = device_bytes(width, height, reach, square=square)
        if self._sums is None or self._sums.nbytes < nbytes:
            self._device.synchronize()  # nothing that is queued uses the old ones
            self._sums = None
            self._sums = self._device.alloc(nbytes)
        band = device_rows(width, height, reach, square=square)
        beside = 0 if square else 2 * reach
        along = self._sums
        columns = Slice(along, 4 * (width + 2 * reach + 1) * (band + beside))
        sizes = tuple(np.int32(n) for n in (width, height, reach, int(torus)))
        for first in range(0, height, band):
            rows = min(band, height - first)
            where = np.int32(first), np.int32(rows)
            across = -(-width // _BLOCK)
            block = _BLOCK, 1, 1
            if square:
                stretch = 4 * reach + 32
                grid = across, -(-rows // stretch), 1
                self._module.launch(
                    "sum_columns", grid, block, source, columns, *sizes, *where, np.int32(stretch)
                )
            grid = rows + beside, 1, 1
            summed = columns if square else source
            self._module.launch("sum_along", grid, block, summed, along, *sizes, *where)
            counts = tuple(np.int32(n) for n in (*self._counts, int(self._without)))
            self._module.launch(
                "apply", (across, rows, 1), block,
                source, target, along, self._rule, *sizes, *where, *counts,
            )  # fmt: skip
