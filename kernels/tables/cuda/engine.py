"""Tables on a CUDA-like device: universes of a byte a cell, moved on a generation at a time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from kernels.life.contract import LifeShape
from kernels.life.cuda.bytewise import DeviceBytewiseEngine, Stepper, uploaded
from kernels.tables.columns import columns_of
from kernels.tables.rules import TableRule
from kernels.targets.cuda.device import Buffer, Device, Slice

SOURCE = Path(__file__).with_name("tables.cu")
_BLOCK = 128  # threads
_MOST_ROWS = 65535  # of a grid of blocks
_RULE_BYTES = 32 << 20  # that the tables of a rule take at most


class CudaTablesEngine(DeviceBytewiseEngine[TableRule]):
    """Computes rules of tables on one device."""

    def stepper(self, rule: TableRule) -> Stepper:
        """Return what queues generations of a rule."""
        return TablesStepper(self.device, rule)

    def beside_bytes(self, shapes: Sequence[LifeShape]) -> int:
        """Return the bytes of the largest tables."""
        return _RULE_BYTES


class TablesStepper(Stepper):
    """Queues generations of one rule, whose tables are in the device's memory."""

    def __init__(self, device: Device, rule: TableRule) -> None:
        tables = columns_of(rule)
        defines = {"PAIRS": int(bool(tables.pairs.size)), "WALK": int(bool(tables.walk.size))}
        self._module = device.module(SOURCE, defines)
        walk = _linked(tables.walk, tables.counts, rule.states)
        arrays = (tables.maps, tables.columns, tables.pairs, tables.finals, walk)
        self._tables = [uploaded(device, array) for array in arrays]

    def queue(
        self, source: Buffer | Slice, target: Buffer | Slice, width: int, height: int, torus: bool
    ) -> None:
        """Queue one generation, a thread a cell."""
        self._module.launch(
            "tables_step",
            (-(-width // _BLOCK), min(height, _MOST_ROWS), 1),
            (_BLOCK, 1, 1),
            source,
            target,
            np.int64(width),
            np.int64(height),
            np.int32(torus),
            *self._tables,
        )


def _linked(
    walk: npt.NDArray[np.uint32], counts: npt.NDArray[np.uint32], states: int
) -> npt.NDArray[np.uint32]:
    """Return levels whose entries are places in all of them, in place of numbers of nodes."""
    linked, start = walk.copy(), 0
    for count in map(int, counts[:-1]):
        end = start + count * states
        linked[start:end] = end + walk[start:end] * states
        start = end
    return linked
