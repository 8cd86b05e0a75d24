"""Charts on a CUDA device by Fujita's direct circuit (direct.cu): what others are measured by."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from kernels.targets.cuda.device import Buffer, Device, Slice

from ..rules import Rules
from .sparse import put

SOURCE = Path(__file__).with_name("direct.cu")


class DirectColumns:
    """Computes kernels.cky.cuda.columns.Columns by every rule at every split point, a thread a
    word."""

    lanes = 32
    side = 1
    blocks = 1

    def __init__(self, device: Device, rules: Rules) -> None:
        self.symbols = rules.symbols
        self._module = device.module(SOURCE, {})
        heads, unit_firsts = np.unique(rules.units[:, 0], return_index=True)
        unit_firsts = np.append(unit_firsts, len(rules.units)).astype(np.int32)
        firsts = np.searchsorted(rules.binary[:, 0], np.arange(rules.symbols + 1))
        self._arguments: list[Any] = [
            np.uint32(rules.symbols),
            *put(device, firsts.astype(np.int32), rules.binary[:, 1:]),
            np.uint32(heads.size),
            *put(device, heads, unit_firsts, rules.units[:, 1]),
        ]

    def run(self, chart: Buffer | Slice, groups: int, length: int) -> None:
        """See Columns.run()."""
        self._module.launch(
            "direct_columns",
            (groups, 1, 1),
            (self.lanes, 1, 1),
            chart,
            np.uint32(length),
            *self._arguments,
        )
