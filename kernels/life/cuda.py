"""Life on a CUDA-like device: the universe stays there, in panels, between passes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kernels.backend import LifeUniverse, Words
from kernels.device import Buffer, Device, Module
from kernels.life.plan import CudaPlan, choose_cuda, cuda_plan, pass_steps

SOURCE = Path(__file__).with_name("life.cu")
_QUEUED = 64  # passes queued before the host waits, so that it can be interrupted


class DeviceLife(LifeUniverse):
    """Two copies of the universe on the device; a pass reads one and writes the other."""

    def __init__(
        self,
        device: Device,
        words: Words,
        width: int,
        height: int,
        torus: bool,
        birth: int,
        survival: int,
        plan: CudaPlan | None = None,
    ) -> None:
        """plan: of the longest passes, instead of the chosen one."""
        self.width, self.height, self.generation = width, height, 0
        self._device, self._torus = device, torus
        self._birth, self._survival = birth, survival
        self._plan = plan or choose_cuda(width, height, torus, device.info.multiprocessors)
        self._layout = self._plan.layout
        self._modules: dict[int, tuple[CudaPlan, Module]] = {}
        self.stride = self._plan.steps

        layout = self._layout
        rows = layout.panels * height
        if rows * layout.lanes >= 1 << 32:
            raise MemoryError(f"{width}x{height} cells are more than one device's kernels address")
        self._raw_words = height * words.shape[1] * 2
        raw = device.alloc(4 * self._raw_words)
        self._now: Buffer = device.alloc(4 * rows * layout.row_words)
        self._next: Buffer = device.alloc(4 * rows * layout.row_words)
        device.upload(raw, np.ascontiguousarray(words))
        across = min(rows, 1 << 30)
        self._pass(self.stride)[1].launch(
            "pack",
            (across, -(-rows // across), 1),
            (layout.row_words, 1, 1),
            raw,
            self._now,
            np.int32(width),
            np.int32(height),
            np.int32(2 * words.shape[1]),
            np.int32(layout.panels),
            np.int32(layout.useful),
            np.int32(layout.halo),
            np.int32(not torus),
        )
        device.synchronize()  # raw is freed on return

    def _pass(self, steps: int) -> tuple[CudaPlan, Module]:
        if steps not in self._modules:
            plan = self._plan
            if steps != plan.steps:
                plan = cuda_plan(
                    self._layout, self.height, steps, self._device.info.multiprocessors
                )
            defines = plan.defines(self._birth, self._survival, self._torus)
            self._modules[steps] = plan, self._device.module(SOURCE, defines)
        return self._modules[steps]

    def step(self, generations: int) -> None:
        queued = 0
        for steps, count in pass_steps(generations, self._plan.steps):
            plan, module = self._pass(steps)
            layout = self._layout
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
                module.launch("life", grid, (32, 1, 1), self._now, self._next, *sizes)
                # Interrupted before this, the pass is made again from what it read.
                self._now, self._next = self._next, self._now
                self.generation += steps
                queued += 1
                if queued % _QUEUED == 0:
                    self._device.synchronize()
        self._device.synchronize()

    def words(self) -> Words:
        stride = -(-self.width // 64)
        raw = self._device.alloc(4 * self._raw_words)
        self._pass(self.stride)[1].launch(
            "unpack",
            (-(-self._raw_words // 256), 1, 1),
            (256, 1, 1),
            self._now,
            raw,
            np.int32(self.width),
            np.int32(self.height),
            np.int32(2 * stride),
            np.int32(self._layout.panels),
            np.int32(self._layout.useful),
            np.int32(self._layout.halo),
        )
        words = np.empty((self.height, stride), np.uint64)
        self._device.download(words, raw)
        return words
