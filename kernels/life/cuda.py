"""Life on a CUDA-like device: universes stay there, in panels, between passes."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from kernels.backend import (
    ChainedUniverse,
    ChainShape,
    ChainTurns,
    LifeArena,
    LifeChain,
    LifeUniverse,
    Shape,
    Words,
    check_chain,
    with_slack,
)
from kernels.device import Buffer, Device, Module, Slice
from kernels.life.plan import (
    SHORT_PASSES,
    CudaLayout,
    CudaPlan,
    choose_cuda,
    cuda_pass,
    cuda_plan,
    pass_steps,
)

SOURCE = Path(__file__).with_name("life.cu")
BAND_BYTES = 1 << 26  # of rows that are packed or unpacked at once
QUEUED = 64  # passes queued before the host waits, so that it can be interrupted


def row_bytes(layout: CudaLayout) -> int:
    """Of a row of all panels."""
    return 4 * layout.panels * layout.row_words


def layout_bytes(layout: CudaLayout, height: int) -> int:
    """Of a universe in panels. Raises MemoryError where the kernels do not reach that far."""
    if layout.panels * height * layout.lanes >= 1 << 32:
        raise MemoryError(
            f"{layout.period}x{height} cells are more than one device's kernels address"
        )
    return height * row_bytes(layout)


def slot_bytes(shapes: Sequence[Shape], multiprocessors: int) -> int:
    return max(
        layout_bytes(choose_cuda(*shape, multiprocessors).layout, shape[1]) for shape in shapes
    )


def staging_bytes(shapes: Sequence[Shape], slots: int) -> int:
    """Of one thread that puts and one that gets."""
    raw = max(min(8 * -(-width // 64) * height, BAND_BYTES) for width, height, _ in shapes)
    return min(slots, 2) * raw


def chain_plan(chain: ChainShape, multiprocessors: int) -> CudaPlan:
    """Whose layout all universes of a chain have. Raises ValueError for sizes of no chain."""
    check_chain(chain)
    width, _, torus, height = chain
    return choose_cuda(width, height, torus, multiprocessors)


def chain_of(chain: ChainShape, plan: CudaPlan) -> LifeChain:
    """Of passes as long as the plan's, but where the height is too small for them."""
    width, generations, torus, height = chain
    longest = next(s for s in (plan.steps, *SHORT_PASSES) if s <= height // 2)
    passes = pass_steps(generations, longest)
    return LifeChain(width, torus, tuple(steps for steps, count in passes for _ in range(count)))


def device_chain(chain: ChainShape, multiprocessors: int) -> LifeChain:
    return chain_of(chain, chain_plan(chain, multiprocessors))


def _chain_bytes(
    shapes: Sequence[Shape], shape: ChainShape, layout: CudaLayout, chain: LifeChain
) -> tuple[int, int]:
    """Of a slot that holds any of the chain's universes; of the history."""
    slot = max(
        layout_bytes(layout, height)
        for width, height, torus in with_slack(shapes, shape, chain)
        if (width, torus) == (chain.width, chain.torus)
    )
    return slot, 2 * chain.generations * row_bytes(layout)


def device_bytes(
    shapes: Sequence[Shape], slots: int, multiprocessors: int, chain: ChainShape | None = None
) -> int:
    """What an arena takes, with the staging of one thread that puts and one that gets."""
    slot, history = slot_bytes(shapes, multiprocessors), 0
    if chain is not None:
        layout = chain_plan(chain, multiprocessors).layout
        chained, history = _chain_bytes(shapes, chain, layout, device_chain(chain, multiprocessors))
        slot = max(slot, chained)
        shapes = [*shapes, (chain[0], chain[3], chain[2])]
    return (slots + 1) * slot + history + staging_bytes(shapes, slots)


class DeviceArena(LifeArena):
    """Buffers, the last of them the spare; a pass reads one, writes the spare, and they swap.

    plan: of the longest passes of every universe, instead of the chosen one.
    room: bytes of a buffer, instead of what `shapes` need.
    """

    def __init__(
        self,
        device: Device,
        shapes: Sequence[Shape],
        slots: int,
        birth: int,
        survival: int,
        plan: CudaPlan | None = None,
        chain: ChainShape | None = None,
        room: int | None = None,
    ) -> None:
        self.slots, self.device, self._plan = slots, device, plan
        self._birth, self._survival = birth, survival
        self.chain = None
        if room is not None:
            nbytes = room
        elif plan is None:
            nbytes = slot_bytes(shapes, device.info.multiprocessors)
        else:
            nbytes = max(layout_bytes(plan.layout, height) for _, height, _ in shapes)
        history = 0
        if chain is not None:
            chosen = chain_plan(chain, device.info.multiprocessors)
            self._chain_plan = plan or chosen
            self.chain = chain_of(chain, self._chain_plan)
            self._turns = ChainTurns(self.chain)
            slot, history = _chain_bytes(shapes, chain, self._chain_plan.layout, self.chain)
            nbytes = max(nbytes, slot)
        self.memory = [device.alloc(nbytes) for _ in range(slots + 1)]
        self.history = [device.alloc(history)] if history else []
        self._modules: dict[tuple[CudaLayout, int, bool], Module] = {}
        self._staging = threading.local()

    def open(self, slot: int, width: int, height: int, *, torus: bool) -> DeviceLife:
        if width < 1 or height < 1:
            raise ValueError(f"{width}x{height} cells")
        plan = self._plan or choose_cuda(width, height, torus, self.device.info.multiprocessors)
        self.check(slot, width, height, plan.layout)
        return DeviceLife(self, slot, width, height, torus, plan)

    def open_chained(self, slot: int, height: int, *, first: bool) -> ChainedDeviceLife:
        if self.chain is None:
            raise ValueError("there is no chain in this arena")
        self.chain.check_height(height, first=first)
        plan = self._chain_plan
        rows = height + (0 if first else self.chain.slack)
        self.check(slot, self.chain.width, rows, plan.layout)
        return ChainedDeviceLife(self, slot, height, self._turns, plan, first=first)

    def check(self, slot: int, width: int, height: int, layout: CudaLayout) -> None:
        """Raises ValueError where there is no such slot or no such room in it."""
        if not 0 <= slot < self.slots:
            raise ValueError(f"no slot {slot}: there are {self.slots}")
        try:
            nbytes = layout_bytes(layout, height)
        except MemoryError as error:
            raise ValueError(str(error)) from None
        if nbytes > self.memory[slot].nbytes:
            raise ValueError(f"{width}x{height} cells in {self.memory[slot].nbytes} bytes")

    def close(self) -> None:
        self.memory.clear()
        self.history.clear()
        self._staging = threading.local()

    def module(self, plan: CudaPlan, torus: bool) -> Module:
        key = plan.layout, plan.steps, torus
        if key not in self._modules:
            defines = plan.defines(self._birth, self._survival, torus)
            self._modules[key] = self.device.module(SOURCE, defines)
        return self._modules[key]

    def staging(self, nbytes: int) -> Buffer:
        """The calling thread's own."""
        buffer: Buffer | None = getattr(self._staging, "buffer", None)
        if buffer is None or buffer.nbytes < nbytes:
            self._staging.buffer = None  # freed before more is asked for
            buffer = self._staging.buffer = self.device.alloc(nbytes)
        return buffer


class DeviceLife(LifeUniverse):
    """In panels, in a slot of an arena. plan: of the longest passes."""

    base = 0  # the row of the memory at which row 0 stands

    def __init__(
        self,
        arena: DeviceArena,
        slot: int,
        width: int,
        height: int,
        torus: bool,
        plan: CudaPlan,
    ) -> None:
        self.width, self.height, self.generation = width, height, 0
        self._arena, self._slot, self._torus, self._plan = arena, slot, torus, plan
        self.stride = plan.steps

    def step(self, generations: int) -> None:
        queued = 0
        try:
            for steps, count in pass_steps(generations, self.stride):
                for _ in range(count):
                    self.queue(steps)
                    queued += 1
                    if queued % QUEUED == 0:
                        self.synchronize()
        finally:
            self.synchronize()  # other threads may use the memory next

    def synchronize(self) -> None:
        self._arena.device.synchronize()

    def queue(self, steps: int) -> None:
        """A pass, as long as the plan's or one of SHORT_PASSES."""
        plan, memory, slot = self._plan, self._arena.memory, self._slot
        if steps != plan.steps:
            multiprocessors = self._arena.device.info.multiprocessors
            plan = cuda_plan(plan.layout, self.height, steps, multiprocessors)
        self._launch(plan, self.height, 0, 0)
        # Interrupted before this, the pass is made again from what it read.
        memory[slot], memory[-1] = memory[-1], memory[slot]
        self.generation += steps

    def queue_rows(self, y: int, other: DeviceLife, first: int, count: int) -> None:
        """`count` rows from y on become those from `first` on of one with the same layout, on
        another device."""
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
        self.check_rows(y, words)
        layout, device = self._plan.layout, self._arena.device
        module = self._arena.module(self._plan, self._torus)
        try:
            for first, band, raw in self._bands(y, words):
                device.upload(raw, band)
                rows = len(band) * layout.panels
                across = min(rows, 1 << 30)
                module.launch(
                    "pack",
                    (across, -(-rows // across), 1),
                    (layout.row_words, 1, 1),
                    raw,
                    self._arena.memory[self._slot],
                    *self._sizes(first, band),
                    np.int32(not self._torus),
                )
        finally:
            device.synchronize()  # `words` is the caller's again

    def get(self, y: int, words: Words) -> None:
        self.check_rows(y, words, written=True)
        module = self._arena.module(self._plan, self._torus)
        for first, band, raw in self._bands(y, words):
            module.launch(
                "unpack",
                (-(-2 * band.size // 256), 1, 1),
                (256, 1, 1),
                self._arena.memory[self._slot],
                raw,
                *self._sizes(first, band),
            )
            self._arena.device.download(band, raw)

    def _bands(self, y: int, words: Words) -> Iterator[tuple[int, Words, Buffer]]:
        """(first row, rows, device memory for them) of the bands of `words`."""
        if not len(words):
            return
        rows = max(1, BAND_BYTES // (8 * words.shape[1]))
        raw = self._arena.staging(8 * words.shape[1] * min(rows, len(words)))
        for i in range(0, len(words), rows):
            yield y + i, words[i : i + rows], raw

    def _sizes(self, first: int, band: Words) -> list[np.int32]:
        layout = self._plan.layout
        return [
            np.int32(value)
            for value in (
                self.width,
                self.base + first,
                len(band),
                2 * band.shape[1],
                layout.panels,
                layout.useful,
                layout.halo,
            )
        ]


class ChainedDeviceLife(ChainedUniverse, DeviceLife):
    """Its rows stand at the same place of every buffer; what it takes, right in front of them."""

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
        try:
            super().step(generations)
        finally:
            self._arena.device.synchronize()  # other threads may use the memory next

    def _make(self, i: int) -> None:
        memory, slot = self._arena.memory, self._slot
        steps = self.chain.passes[i]
        above = 0 if self.first else 2 * steps
        plan = self._plan_of(self._plan, self.height + above, steps)
        start = self.base - above
        self._launch(plan, self.height + above, start, start + above // 2)
        # Interrupted before this, the pass is made again from what it read.
        memory[slot], memory[-1] = memory[-1], memory[slot]
        self.generation += steps
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
