"""Powers modulo slabs of numbers on a device: a thread has a number."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kernels.targets.cuda.device import Device

from ..plan import width_class, window_of
from .divide import scratch_for
from .layouts import Slabs
from .multiply import THREADS
from .slabs import common_count, empty, operand, target

SOURCE = Path(__file__).with_name("powmod.cu")
WIDEST = 32  # words of a modulus that a lane has registers for


def powmod(device: Device, a: Slabs, exponents: Slabs, moduli: Slabs) -> Slabs:
    """Return pow(a, e, m), with Python's signs. Each operand may stand for all.

    Precondition: no modulus is zero, no exponent negative.
    """
    operands = (a, exponents, moduli)
    count = common_count(*operands)
    signed = moduli.negative is not None
    result = empty(device, count, moduli.bits, signed=signed)
    if not count:
        return result
    width = width_class(moduli.width, WIDEST)
    n = max(width + 2, moduli.width)  # by_division's, which needs the most
    window = window_of(exponents.bits)
    room = ((1 << window) + 4) * n + 2 * max(a.width, n)
    blocks, scratch = scratch_for(device, -(-count // THREADS), room)
    module = device.module(SOURCE, {"PART_WORDS": width})
    if result.negative is not None:  # the kernels pass over slabs that are not theirs
        device.upload(result.negative, np.zeros(result.slabs, np.uint32))
    for kernel in ("montgomery", "by_division")[moduli.width > WIDEST :]:
        module.launch(
            kernel,
            (blocks, 1, 1),
            (THREADS, 1, 1),
            *(argument for x in operands for argument in operand(x, count)),
            *target(result),
            np.uint32(signed),
            np.int32(window),
            scratch,
            np.uint32(room),
            np.uint64(count),
        )
    return result
