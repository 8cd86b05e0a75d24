"""Life on a CUDA-like device: universes stay there, in panels, between passes."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from kernels.backend import LifeArena, LifeUniverse, Shape, Words
from kernels.device import Buffer, Device, Module
from kernels.life.plan import CudaLayout, CudaPlan, choose_cuda, cuda_plan, pass_steps

SOURCE = Path(__file__).with_name("life.cu")
BAND_BYTES = 1 << 26  # of rows that are packed or unpacked at once
_QUEUED = 64  # passes queued before the host waits, so that it can be interrupted


def layout_bytes(layout: CudaLayout, height: int) -> int:
    """Of a universe in panels. Raises MemoryError where the kernels do not reach that far."""
    rows = layout.panels * height
    if rows * layout.lanes >= 1 << 32:
        raise MemoryError(
            f"{layout.period}x{height} cells are more than one device's kernels address"
        )
    return 4 * rows * layout.row_words


def slot_bytes(shapes: Sequence[Shape], multiprocessors: int) -> int:
    return max(
        layout_bytes(choose_cuda(*shape, multiprocessors).layout, shape[1]) for shape in shapes
    )


def device_bytes(shapes: Sequence[Shape], slots: int, multiprocessors: int) -> int:
    """What an arena takes, with the staging of one thread that puts and one that gets."""
    raw = max(min(8 * -(-width // 64) * height, BAND_BYTES) for width, height, _ in shapes)
    return (slots + 1) * slot_bytes(shapes, multiprocessors) + min(slots, 2) * raw


class DeviceArena(LifeArena):
    """Buffers, the last of them the spare; a pass reads one, writes the spare, and they swap.

    plan: of the longest passes of every universe, instead of the chosen one.
    """

    def __init__(
        self,
        device: Device,
        shapes: Sequence[Shape],
        slots: int,
        birth: int,
        survival: int,
        plan: CudaPlan | None = None,
    ) -> None:
        self.slots, self.device, self._plan = slots, device, plan
        self._birth, self._survival = birth, survival
        if plan is None:
            nbytes = slot_bytes(shapes, device.info.multiprocessors)
        else:
            nbytes = max(layout_bytes(plan.layout, height) for _, height, _ in shapes)
        self.memory = [device.alloc(nbytes) for _ in range(slots + 1)]
        self._modules: dict[tuple[CudaLayout, int, bool], Module] = {}
        self._staging = threading.local()

    def open(self, slot: int, width: int, height: int, *, torus: bool) -> DeviceLife:
        if not 0 <= slot < self.slots:
            raise ValueError(f"no slot {slot}: there are {self.slots}")
        if width < 1 or height < 1:
            raise ValueError(f"{width}x{height} cells")
        plan = self._plan or choose_cuda(width, height, torus, self.device.info.multiprocessors)
        try:
            nbytes = layout_bytes(plan.layout, height)
        except MemoryError as error:
            raise ValueError(str(error)) from None
        if nbytes > self.memory[slot].nbytes:
            raise ValueError(f"{width}x{height} cells in {self.memory[slot].nbytes} bytes")
        return DeviceLife(self, slot, width, height, torus, plan)

    def close(self) -> None:
        self.memory.clear()
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
        device, memory, slot = self._arena.device, self._arena.memory, self._slot
        layout, queued = self._plan.layout, 0
        try:
            for steps, count in pass_steps(generations, self.stride):
                plan = self._plan
                if steps != plan.steps:
                    plan = cuda_plan(layout, self.height, steps, device.info.multiprocessors)
                module = self._arena.module(plan, self._torus)
                teams = layout.panels * -(-self.height // plan.segment)
                grid = (-(-teams * layout.lanes // 32), 1, 1)
                sizes = [
                    np.int32(value)
                    for value in (
                        layout.period,
                        self.height,
                        layout.panels,
                        layout.useful,
                        layout.halo,
                        plan.segment,
                    )
                ]
                for _ in range(count):
                    module.launch("life", grid, (32, 1, 1), memory[slot], memory[-1], *sizes)
                    # Interrupted before this, the pass is made again from what it read.
                    memory[slot], memory[-1] = memory[-1], memory[slot]
                    self.generation += steps
                    queued += 1
                    if queued % _QUEUED == 0:
                        device.synchronize()
        finally:
            device.synchronize()  # other threads may use the memory next

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
                first,
                len(band),
                2 * band.shape[1],
                layout.panels,
                layout.useful,
                layout.halo,
            )
        ]
