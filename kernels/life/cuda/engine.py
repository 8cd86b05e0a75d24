"""Life on a CUDA-like device: universes stay there, in panels, between passes."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from math import prod
from pathlib import Path

import numpy as np

from kernels.life.chain import ChainedUniverse, ChainTurns
from kernels.life.contract import (
    ChainShape,
    LifeArena,
    LifeChain,
    LifeEngine,
    LifeShape,
    LifeUniverse,
    Words,
    check_planes,
)
from kernels.life.costs import CUDA_TUNING, CudaTuning
from kernels.life.cuda import sizes
from kernels.life.cuda.plots import Plots, PlottedLife
from kernels.life.cuda.sizes import (
    chain_bytes,
    chain_of,
    chain_plan,
    device_bytes,
    device_chain,
    layout_bytes,
    plan_of,
    row_bytes,
    slot_bytes,
)
from kernels.life.plan import (
    CudaLayout,
    CudaPlan,
    cuda_pass,
    cuda_plan,
    pass_steps,
    reads_top_cells,
)
from kernels.life.rules import CellRule, LifeRule, MapRule, NineCellRule
from kernels.targets.cuda.array import DeviceArray
from kernels.targets.cuda.device import Buffer, Device, Module, Slice

SOURCE = Path(__file__).with_name("life.cu")
# Generations of the longest passes by circuits that take cells of the row above, whose stages need
# more registers: more of them would not fit (nvcc -Xptxas=-v).
TOP_CELLS_STEPS = 4
QUEUED = 64  # passes queued before the host waits, so that it can be interrupted


class CudaLifeEngine(LifeEngine[NineCellRule]):
    """Life on one CUDA-like device."""

    def __init__(self, device: Device) -> None:
        self.device = device

    def arena(
        self,
        shapes: Sequence[LifeShape],
        slots: int,
        rule: NineCellRule,
        chain: ChainShape | None = None,
    ) -> LifeArena:
        """Return an arena of panels in the device's memory."""
        check_planes(shapes, chain)
        return DeviceArena(self.device, shapes, slots, rule, chain=chain)

    def arena_bytes(
        self, shapes: Sequence[LifeShape], slots: int, chain: ChainShape | None = None
    ) -> tuple[int, int]:
        """Return 0, and the bytes of device memory that arena() would take."""
        check_planes(shapes, chain)
        return 0, device_bytes(shapes, slots, self.device.info.multiprocessors, chain)

    def chain(self, shape: ChainShape) -> LifeChain:
        """Return the chain of an arena, as device_chain() does."""
        check_planes((), shape)
        return device_chain(shape, self.device.info.multiprocessors)


class DeviceArena(LifeArena):
    """An arena of device buffers, the last of them the spare.

    A pass reads one, writes the spare, and they swap. plan: of the longest passes of every
    universe, instead of the chosen one. room: bytes of a buffer, instead of what `shapes` need.
    """

    def __init__(
        self,
        device: Device,
        shapes: Sequence[LifeShape],
        slots: int,
        rule: CellRule,
        plan: CudaPlan | None = None,
        chain: ChainShape | None = None,
        room: int | None = None,
        tuning: CudaTuning = CUDA_TUNING,
    ) -> None:
        self.slots, self.device, self._plan = slots, device, plan
        self.rule, self.planes, self.tuning = rule, rule.planes, tuning
        self.chain = None
        if room is not None:
            nbytes = room
        elif plan is None:
            nbytes = slot_bytes(shapes, device.info.multiprocessors, tuning)
        else:
            nbytes = max(layout_bytes(plan.layout, shape.height) for shape in shapes)
        history = 0
        if chain is not None:
            chosen = chain_plan(chain, device.info.multiprocessors, tuning)
            self._chain_plan = plan or chosen
            self.chain = chain_of(chain, self._chain_plan)
            self._turns = ChainTurns(self.chain)
            slot, history = chain_bytes(shapes, chain, self._chain_plan.layout, self.chain)
            nbytes = max(nbytes, slot)
        self.memory = [device.alloc(nbytes) for _ in range(slots + 1)]
        self.history = [device.alloc(history)] if history else []
        self.plots = None
        if not plan and room is None and isinstance(rule, LifeRule | MapRule):
            self.plots = Plots(device, rule)
        self._modules: dict[tuple[CudaLayout, int, bool], Module] = {}
        self._staging = threading.local()

    def open(self, slot: int, shape: LifeShape) -> DeviceLife:
        """Return a universe in a slot; its cells are undefined until all are put."""
        self.check_slot(slot, shape)
        plan = self.plan(shape)
        self.check_room(shape, plan.layout)
        rule = self.rule
        short = isinstance(rule, LifeRule | MapRule) and reads_top_cells(rule)
        if self._plan is None and short:
            steps = min(plan.steps, TOP_CELLS_STEPS)
            plan = cuda_plan(plan.layout, shape.height, steps, self.device.info.multiprocessors)
        life = DeviceLife(self, slot, shape, plan)
        life.plots = self.plots.of(shape, plan.layout) if self.plots else None
        return life

    def plan(self, shape: LifeShape) -> CudaPlan:
        """Return the plan of the longest passes over a universe of that shape."""
        return self._plan or plan_of(shape, self.device.info.multiprocessors, self.tuning)

    def open_chained(self, slot: int, height: int, *, first: bool) -> ChainedDeviceLife:
        """Return a universe of the chain in a slot."""
        shape, plan = self.check_chained(slot, height, first=first), self._chain_plan
        self.check_room(shape, plan.layout, 0 if first else self._turns.chain.slack)
        return ChainedDeviceLife(self, slot, height, self._turns, plan, first=first)

    def check_room(self, shape: LifeShape, layout: CudaLayout, slack: int = 0) -> None:
        """Raise ValueError where a slot does not hold the rows and `slack` more."""
        try:
            nbytes = layout_bytes(layout, shape.height + slack)
        except MemoryError as error:
            raise ValueError(str(error)) from None
        room = self.memory[0].nbytes
        if nbytes > room:
            raise ValueError(f"{shape.width}x{shape.height} cells in {room} bytes")

    def close(self) -> None:
        """Let the buffers go."""
        self.memory.clear()
        self.history.clear()
        self._staging = threading.local()

    def module(self, plan: CudaPlan, torus: bool) -> Module:
        """Return life.cu compiled for a plan and this arena's rule."""
        key = plan.layout, plan.steps, torus
        if key not in self._modules:
            self._modules[key] = self.compiled(plan, torus)
        return self._modules[key]

    def compiled(self, plan: CudaPlan, torus: bool) -> Module:
        """Compile life.cu for a plan."""
        assert isinstance(self.rule, LifeRule | MapRule)
        return self.device.module(SOURCE, plan.defines(self.rule, torus))

    def staging(self, nbytes: int) -> Buffer:
        """Return the calling thread's own device memory for rows that are packed or unpacked."""
        buffer: Buffer | None = getattr(self._staging, "buffer", None)
        if buffer is None or buffer.nbytes < nbytes:
            self._staging.buffer = None  # freed before more is asked for
            buffer = self._staging.buffer = self.device.alloc(nbytes)
        return buffer


class DeviceLife(LifeUniverse):
    """A universe in panels, in a slot of an arena.

    plan: of the longest passes.
    """

    base = 0  # the row of the memory at which row 0 stands
    plots: PlottedLife | None = None  # where it can stay on the chip

    def __init__(
        self,
        arena: DeviceArena,
        slot: int,
        shape: LifeShape,
        plan: CudaPlan,
    ) -> None:
        self.width, self.height, self.generation = shape.width, shape.height, 0
        self.planes = shape.planes
        self._arena, self._slot, self._torus, self._plan = arena, slot, shape.torus, plan
        self.stride = plan.steps

    def step(self, generations: int) -> None:
        """Move on by generations, on chip where that pays; passes are queued, then waited for."""
        last, memory = self.generation + generations, self._arena.memory
        try:
            while self.generation < last:
                if self.plots:
                    left = last - self.generation
                    self.plots.step(memory[self._slot], memory[-1], left, self._swap)
                left = min(last - self.generation, QUEUED * self.stride)
                for steps, count in pass_steps(left, self.stride):
                    for _ in range(count):
                        self.queue(steps)
                self.synchronize()
        finally:
            self.synchronize()  # other threads may use the memory next

    @property
    def device(self) -> Device:
        """Return the device that has the cells."""
        return self._arena.device

    def staging(self, nbytes: int) -> Buffer:
        """Return the calling thread's own memory for rows that are packed or unpacked."""
        return self._arena.staging(nbytes)

    def synchronize(self) -> None:
        """Wait for all that the calling thread has queued on the device."""
        self._arena.device.synchronize()

    def queue(self, steps: int) -> None:
        """Queue a pass, as long as the plan's or one of SHORT_PASSES."""
        plan = self._plan
        if steps != plan.steps:
            multiprocessors = self._arena.device.info.multiprocessors
            plan = cuda_plan(plan.layout, self.height, steps, multiprocessors)
        self._launch(plan, self.height, 0, 0)
        self._swap(steps)

    def _swap(self, steps: int) -> None:
        """Take what has been made, in the spare memory, for the universe.

        Interrupted before this, it is made again from what it was made of.
        """
        memory, slot = self._arena.memory, self._slot
        memory[slot], memory[-1] = memory[-1], memory[slot]
        self.generation += steps

    def queue_rows(self, y: int, other: DeviceLife, first: int, count: int) -> None:
        """Queue a copy of rows from another universe with the same layout, on another device.

        `count` rows from y on become those from `first` on of the other.
        """
        row = row_bytes(self._plan.layout)
        mine, theirs = self._arena, other._arena
        target, source = mine.memory[self._slot], theirs.memory[other._slot]
        mine.device.copy_from(target, y * row, theirs.device, source, first * row, count * row)

    def _launch(self, plan: CudaPlan, height: int, source_row: int, target_row: int) -> None:
        """Queue a pass over rows from source_row of the slot on, to target_row of the spare."""
        layout, memory = plan.layout, self._arena.memory
        teams = layout.panels * -(-height // plan.segment)
        sizes = (layout.period, height, layout.panels, layout.useful, layout.halo, plan.segment)
        self._arena.module(plan, self._torus).launch(
            "life",
            (-(-teams * layout.lanes // 32), 1, 1),
            (32, 1, 1),
            Slice(memory[self._slot], source_row * row_bytes(layout)),
            Slice(memory[-1], target_row * row_bytes(layout)),
            *(np.int32(value) for value in sizes),
        )

    def put(self, y: int, words: Words) -> None:
        """Upload rows in bands, and pack them into panels."""
        self.check_rows(y, words)
        device = self._arena.device
        try:
            for first, band, raw in self._bands(y, words):
                device.upload(raw, band)
                self.pack(first, len(band), raw)
        finally:
            device.synchronize()  # `words` is the caller's again

    def pack(self, first: int, rows: int, source: Buffer | Slice) -> None:
        """Queue the setting of rows to those in the device's memory, as put() takes them."""
        layout = self._plan.layout
        lines = rows * layout.panels
        across = min(lines, 1 << 30)
        self._arena.module(self._plan, self._torus).launch(
            "pack",
            (across, -(-lines // across), 1),
            (layout.row_words, 1, 1),
            source,
            self._arena.memory[self._slot],
            *self._sizes(first, rows),
            np.int32(not self._torus),
        )

    def get(self, y: int, words: Words) -> None:
        """Unpack rows from panels, and download them in bands."""
        self.check_rows(y, words, written=True)
        for first, band, raw in self._bands(y, words):
            self.unpack(first, len(band), raw)
            self._arena.device.download(band, raw)

    def device_words(self) -> DeviceArray:
        """Unpack all rows into device memory of their own."""
        device, row = self._arena.device, self._row_shape()
        nbytes = 8 * prod(row)
        buffer = device.alloc(nbytes * self.height)
        rows = max(1, sizes.BAND_BYTES // nbytes)
        for y in range(0, self.height, rows):
            self.unpack(y, min(rows, self.height - y), Slice(buffer, nbytes * y))
        device.synchronize()
        return DeviceArray(device, buffer, (self.height, *row), np.uint64)

    def unpack(self, first: int, rows: int, target: Buffer | Slice) -> None:
        """Queue the writing of rows into the device's memory, as get() gives them."""
        count = -(-self.width // 64)
        self._arena.module(self._plan, self._torus).launch(
            "unpack",
            (-(-2 * rows * count // 256), 1, 1),
            (256, 1, 1),
            self._arena.memory[self._slot],
            target,
            *self._sizes(first, rows),
        )

    def _bands(self, y: int, words: Words) -> Iterator[tuple[int, Words, Buffer]]:
        """Yield (first row, rows, device memory for them) of the bands of `words`."""
        if not len(words):
            return
        nbytes = 8 * prod(words.shape[1:])
        rows = max(1, sizes.BAND_BYTES // nbytes)
        raw = self._arena.staging(nbytes * min(rows, len(words)))
        for i in range(0, len(words), rows):
            yield y + i, words[i : i + rows], raw

    def _sizes(self, first: int, rows: int) -> list[np.int32]:
        layout = self._plan.layout
        values = (self.width, self.base + first, rows, 2 * -(-self.width // 64))
        return [np.int32(n) for n in (*values, layout.panels, layout.useful, layout.halo)]


class ChainedDeviceLife(ChainedUniverse, DeviceLife):
    """A universe of a chain on a device.

    Its rows stand at the same place of every buffer; what it takes, right in front of them.
    """

    def __init__(
        self,
        arena: DeviceArena,
        slot: int,
        height: int,
        turns: ChainTurns,
        plan: CudaPlan,
        *,
        first: bool,
    ) -> None:
        ChainedUniverse.__init__(self, turns, height, first=first)
        self._arena, self._slot, self._torus = arena, slot, self.chain.torus
        self._plan = self._plan_of(plan, height, self.chain.longest)
        self._queued = 0

    def _plan_of(self, plan: CudaPlan, height: int, steps: int) -> CudaPlan:
        if plan is self._arena._plan and plan.steps == steps:
            return plan
        return cuda_pass(plan.layout, height, steps, self._arena.device.info.multiprocessors)

    def step(self, generations: int) -> None:
        """Make whole passes, and wait for them."""
        try:
            super().step(generations)
        finally:
            self._arena.device.synchronize()  # other threads may use the memory next

    def _make(self, i: int) -> None:
        steps = self.chain.passes[i]
        above = 0 if self.first else 2 * steps
        plan = self._plan_of(self._plan, self.height + above, steps)
        start = self.base - above
        self._launch(plan, self.height + above, start, start + above // 2)
        self._swap(steps)
        self._turns.made += 1
        self._queued += 1
        if self._queued % QUEUED == 0:
            self._arena.device.synchronize()

    def _take(self, i: int) -> None:
        first, end = self.entry(i)
        slot = self._arena.memory[self._slot]
        self._copy(slot, self.base - (end - first), self._arena.history[0], first, end - first)

    def _leave(self, i: int) -> None:
        first, end = self.left_rows(i)
        to = self.entry(i)[0]
        slot = self._arena.memory[self._slot]
        self._copy(self._arena.history[0], to, slot, self.base + first, end - first)

    def _copy(self, target: Buffer, to: int, source: Buffer, first: int, count: int) -> None:
        """Rows."""
        row = row_bytes(self._plan.layout)
        self._arena.device.copy(target, to * row, source, first * row, count * row)
