"""Charts on a CUDA device for grammars with many rules per pair of symbols.

See dense.cu. Here is the launcher; plan.py says what it costs, what the kernel reads is made in
dense_plan.py, and circuit.py for code that is generated from a grammar.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np

from kernels.targets.cuda.device import Buffer, Device, Slice

from ..costs import CHART_COSTS, ChartCosts
from ..rules import Rules, cells
from .circuit import circuit as generated
from .circuit import enough
from .dense_plan import (
    MAX_SYMBOLS,
    DensePlan,
    TooManySymbolsError,
    padded,
    plan,
    shared_bytes,
)
from .plan import DENSE_LANES
from .tiles import TILE

__all__ = [
    "MAX_SYMBOLS",
    "TILE",
    "DenseColumns",
    "TooManySymbolsError",
    "shared_bytes",
]

SOURCE = Path(__file__).with_name("dense.cu")


class DenseColumns:
    """kernels.cky.cuda.columns.Columns by dense.cu.

    circuit: whether to use code that is generated from the rules. By default it is made once
    so much has been parsed that it pays (circuit_spans of `costs`), where there are enough rules.
    Raises TooManySymbolsError, and ValueError where there can be no such code but it is asked for.
    """

    lanes = DENSE_LANES
    side = 4
    blocks = 1

    def __init__(
        self,
        device: Device,
        rules: Rules,
        circuit: bool | None = None,
        costs: ChartCosts = CHART_COSTS,
    ) -> None:
        self._device, self._rules, self._costs = device, rules, costs
        self.symbols = padded(rules.symbols)
        self._lock = threading.Lock()
        self._spans = 0  # of groups, parsed without generated code
        self._waits = circuit is None and enough(rules)
        self._shared = shared_bytes(device.info.capability)
        first = generated(rules, self._shared) if circuit else plan(rules, self._shared)
        if first is None:
            raise ValueError("no code can be generated from such a grammar for such a device")
        # The last is used. Those before it stay, as launches of other threads may be under way.
        self._kernels = [_Kernel(device, first)]

    @property
    def plan(self) -> DensePlan:
        """The plan of the kernel that is used now."""
        return self._kernels[-1].plan

    def run(self, chart: Buffer | Slice, groups: int, length: int) -> None:
        """Do as Columns.run() says. The chart begins at a multiple of 16 bytes.

        One call may take a compiler's time, but not of other threads.
        """
        if not groups or not length:
            return
        if self._waits and self._pays(groups * cells(length)):
            found = generated(self._rules, self._shared)
            if found is not None:
                self._kernels.append(_Kernel(self._device, found))
        self._kernels[-1].run(chart, groups, length)

    def _pays(self, spans: int) -> bool:
        """Return whether generated code pays now; True once."""
        with self._lock:
            self._spans += spans
            if not self._waits or self._spans < self._costs.circuit_spans:
                return False
            self._waits = False
            return True


class _Kernel:
    """Holds dense.cu compiled for a plan. All threads may use it."""

    def __init__(self, device: Device, plan: DensePlan) -> None:
        self.plan = plan
        self._module = device.module(SOURCE, plan.defines)
        self._heads = device.alloc(plan.heads.nbytes)
        self._program = device.alloc(plan.program.nbytes)
        device.upload(self._heads, plan.heads)
        device.upload(self._program, plan.program)
        device.synchronize()

    def run(self, chart: Buffer | Slice, groups: int, length: int) -> None:
        args: list[Any] = [chart, self._heads, self._program]
        args += [np.int32(length), np.int32(self.plan.passes)]
        self._module.launch(
            "dense_charts",
            (groups, 1, 1),
            (self.plan.threads, 1, 1),
            *args,
            shared=self.plan.shared,
        )
