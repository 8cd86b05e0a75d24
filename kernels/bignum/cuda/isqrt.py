"""Integer square roots of slabs of numbers on a device: a thread has a number."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kernels.targets.cuda.device import Device

from .divide import scratch_for
from .layouts import Slabs
from .multiply import THREADS
from .slabs import empty, operand

SOURCE = Path(__file__).with_name("isqrt.cu")


def isqrt(device: Device, a: Slabs) -> Slabs:
    """Rounded down. Precondition: none is negative."""
    result = empty(device, a.count, (a.bits + 1) // 2, signed=False)
    if a.count:
        blocks, scratch = scratch_for(device, -(-a.count // THREADS), 3 * -(-a.width // 2))
        words, _, width, form = operand(a, a.count)
        device.module(SOURCE, {}).launch(
            "isqrt",
            (blocks, 1, 1),
            (THREADS, 1, 1),
            words,
            width,
            form,
            result.words,
            np.uint32(result.width),
            scratch,
            np.uint64(a.count),
        )
    return result
