"""Charts on a CUDA device for large grammars with few rules per pair of symbols.

See scatter.cu. Here is the launcher; scatter_plan.py makes what the kernel reads, and says what it
costs.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kernels.targets.cuda.device import Buffer, Device, Slice

from ..rules import Rules
from .dense_plan import padded, shared_bytes
from .plan import DENSE_LANES
from .scatter_plan import plan

SOURCE = Path(__file__).with_name("scatter.cu")
_WARMED = 32  # words after the tables that are read, but not used


class ScatterColumns:
    """kernels.cky.cuda.columns.Columns by scatter.cu. Raises TooManySymbolsError."""

    lanes = DENSE_LANES
    side = 4
    blocks = 1

    def __init__(self, device: Device, rules: Rules) -> None:
        self.symbols = padded(rules.symbols)
        self.plan = plan(rules, shared_bytes(device.info.capability))
        self._module = device.module(SOURCE, self.plan.defines)
        tables = np.append(self.plan.tables, np.zeros(_WARMED, np.uint32))
        self._heads = device.alloc(self.plan.heads.nbytes)
        self._tables = device.alloc(tables.nbytes)
        device.upload(self._heads, self.plan.heads)
        device.upload(self._tables, tables)
        device.synchronize()

    def run(self, chart: Buffer | Slice, groups: int, length: int) -> None:
        """Do as Columns.run() says. The chart begins at a multiple of 16 bytes."""
        if not groups or not length:
            return
        self._module.launch(
            "scatter_charts",
            (groups, 1, 1),
            (self.plan.threads, 1, 1),
            chart,
            self._heads,
            self._tables,
            np.int32(length),
            np.int32(self.plan.passes),
            shared=self.plan.shared,
        )
