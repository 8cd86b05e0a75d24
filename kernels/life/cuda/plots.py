"""Universes that stay on the chip of a CUDA-like device for thousands of generations: plots."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from itertools import accumulate
from pathlib import Path

import numpy as np

from kernels.life.contract import LifeShape
from kernels.life.costs import PLOT_COSTS
from kernels.life.plan import CudaLayout
from kernels.life.plots import PlotPlan, plots_of, shared_bytes_of
from kernels.life.rules import LifeRule, MapRule
from kernels.targets.cuda.device import Buffer, Device, DeviceInfo, Module, Slice
from kernels.targets.cuda.turns import whole_device

SOURCE = Path(__file__).with_name("plots.cu")
LAUNCH_SECONDS = 0.01  # of a launch, about; then the host can be interrupted
_THREADS = 256  # of a block that converts


class Plots:
    """The memory of an arena's plots, for one universe at a time, and when they are used.

    least: generations below which none are made on chip; None for those that do not pay, by
    PLOT_COSTS. launch: generations of a launch; 0 for as many as take LAUNCH_SECONDS. missed:
    whether blocks have missed each other, or there was no memory; then none are made any more.
    """

    def __init__(self, device: Device, rule: LifeRule | MapRule) -> None:
        self.device, self.rule = device, rule
        self.least: int | None = None
        self.launch, self.missed = 0, False
        self._memory: Buffer | None = None

    def of(self, shape: LifeShape, layout: CudaLayout) -> PlottedLife | None:
        """Return what moves on universes of a shape; None where they have no plots."""
        info = self.device.info
        plan = plots_of(shape, info.multiprocessors, shared_bytes_of(info.capability))
        return PlottedLife(self, plan, layout, shape.torus) if plan else None

    def memory(self, nbytes: int) -> Buffer | None:
        """Return at least so many bytes; None where there are not as many."""
        if self._memory is None or self._memory.nbytes < nbytes:
            self._memory = None  # freed before more is asked for
            try:
                self._memory = self.device.alloc(nbytes)
            except MemoryError:
                self.missed = True
        return self._memory


class PlottedLife:
    """Plots that move on a universe, which is in panels between the calls."""

    def __init__(self, plots: Plots, plan: PlotPlan, layout: CudaLayout, torus: bool) -> None:
        self.plots, self.plan, self._layout, self._torus = plots, plan, layout, torus
        self._module: Future[Module] | None = None

    def compiling(self) -> Future[Module]:
        """Return what will be the kernels: each size has its own, compiled while passes go on."""
        if self._module is None:
            defines = self.plan.defines(self.plots.rule, self._torus)
            defines["FLUSH"] = int(not self._torus and self._layout.flush)
            self._module = _compilers().submit(self.plots.device.module, SOURCE, defines)
        return self._module

    def step(
        self, universe: Buffer, target: Buffer, generations: int, made: Callable[[int], None]
    ) -> None:
        """Make generations, and call made() with their number.

        What has become of the universe is then in `target`; `universe` is not changed. Interrupted,
        fewer are made. None are, and made() is not called, where they are too few to pay, until
        kernels are compiled, and for good where Plots.missed is set.
        """
        plots, plan = self.plots, self.plan
        least = plots.least
        if least is None:
            least = PLOT_COSTS.worth(plan.width * plan.height)
        if generations < least or plots.missed or not self.compiling().done():
            return
        memory = plots.memory(plan.nbytes)
        if memory is None:
            return
        device = plots.device
        work = _Work(device, self.compiling().result(), memory, plan, self._layout, plots.rule)
        at_most = plots.launch or _launch_of(plan, device.info)
        started = False
        try:
            work.start(universe)
            started = True
            for first in range(0, generations, at_most):
                with whole_device(device.info):
                    work.run(min(at_most, generations - first))
                    device.synchronize()
        finally:
            device.synchronize()
            if started:
                count, plots.missed = work.made()
                if count:
                    work.finish(target)
                    device.synchronize()
                    made(count)


@cache
def _compilers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, "plots")


def _launch_of(plan: PlotPlan, info: DeviceInfo) -> int:
    """Return the generations of a launch: whole rounds between exchanges.

    Emulated blocks run one after the other and cannot wait for those after them: one round.
    """
    seconds = 0.0 if info.index is None else LAUNCH_SECONDS
    rounds = int(seconds * PLOT_COSTS.frequency / plan.clocks / plan.halo)
    return plan.halo * max(1, rounds)


class _Work:
    """Launches for one universe."""

    def __init__(
        self,
        device: Device,
        module: Module,
        memory: Buffer,
        plan: PlotPlan,
        layout: CudaLayout,
        rule: LifeRule | MapRule,
    ) -> None:
        self._device, self._module, self._memory, self._plan = device, module, memory, plan
        self._shared = plan.shared_bytes(plan.held(rule))
        sizes = (0, plan.cell_bytes, plan.row_bytes, plan.column_bytes, plan.flag_bytes)
        offsets = list(accumulate(sizes))
        self._cells, self._rows, self._columns, self._flags, self._state = (
            Slice(memory, offset) for offset in offsets
        )
        self._state_offset = offsets[-1]
        self._panels = (layout.panels, layout.useful, layout.halo, layout.row_words)
        self._panel_words = plan.height * layout.panels * layout.row_words

    def start(self, universe: Buffer) -> None:
        """Queue the making of plots from panels."""
        plan = self._plan
        self._launch(
            "plots_in",
            (-(-plan.cell_bytes // 4 // _THREADS), _THREADS),
            (universe, self._cells),
            (plan.width, plan.height, *self._panels, plan.across, plan.down),
            (self._flags, self._state),
        )

    def run(self, generations: int) -> None:
        """Queue generations, at least 1."""
        plan = self._plan
        self._launch(
            "plots",
            (plan.plots, plan.threads),
            (self._cells,),
            (generations, plan.width, plan.height, plan.across, plan.down),
            (self._rows, self._columns, self._flags, self._state),
            self._shared,
        )

    def made(self) -> tuple[int, bool]:
        """Return the generations made since start(), and whether blocks have missed each other.

        Where they have, none count.
        """
        state = np.empty(2, np.uint32)
        self._device.download(state, self._memory, self._state_offset)
        missed, count = bool(state[0]), int(state[1])
        return (0 if missed else count), missed

    def finish(self, target: Buffer) -> None:
        """Queue the making of panels from plots."""
        plan = self._plan
        self._launch(
            "plots_out",
            (-(-self._panel_words // _THREADS), _THREADS),
            (self._cells, target),
            (plan.width, plan.height, *self._panels, plan.across, plan.down),
        )

    def _launch(
        self,
        kernel: str,
        size: tuple[int, int],
        before: tuple[Buffer | Slice, ...],
        numbers: tuple[int, ...],
        after: tuple[Buffer | Slice, ...] = (),
        shared: int = 0,
    ) -> None:
        """Queue a kernel of so many blocks of threads; numbers stand between its pointers."""
        grid, block = (size[0], 1, 1), (size[1], 1, 1)
        values = (np.int32(number) for number in numbers)
        self._module.launch(kernel, grid, block, *before, *values, *after, shared=shared)
