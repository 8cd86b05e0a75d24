"""Greatest common divisors of slabs on a device (gcd.hpp says how).

A thread has a pair, in registers up to 1024 bits, then in shared memory; of long numbers
so few pairs fit there that threads work on one in teams.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from kernels.bignum.cuda.layouts import SLAB, Slabs
from kernels.gcd.plan import THREADS, gcd_launch
from kernels.targets.cuda.device import Buffer, Device

SOURCE = Path(__file__).with_name("gcd.cu")


def gcd(device: Device, a: Slabs, b: Slabs) -> Slabs:
    """Return gcd(a[i], b[i]), never negative; gcd(0, 0) = 0. A batch of one stands for all.

    The result's bits are those of the longest, which the host waits for. Raises ValueError
    where the counts do not fit each other, and MemoryError.
    """
    count = b.count if a.count == 1 else a.count
    if b.count not in (1, count):
        raise ValueError(f"operands of {a.count} and {b.count} numbers")
    if not count:
        return _empty(device, 0, 0)
    wide = _empty(device, count, max(a.bits, b.bits))
    longest = device.alloc(4)
    device.upload(longest, np.zeros(1, np.uint32))
    params = gcd_launch(wide.width, count, device.info)
    args: list[Buffer | np.integer[Any]] = []
    for x in (a, b):
        args += (x.words, np.uint32(x.width), np.uint32(x.count == count))
    args += (wide.words, np.uint32(wide.width), longest, np.uint64(count))
    module = device.module(SOURCE, params.defines)
    args += (device.alloc(params.scratch) if params.scratch else longest, np.int32(params.limbs))
    module.launch("gcd_slabs", params.grid, params.block, *args, shared=params.shared)
    bits = np.zeros(1, np.uint32)
    device.download(bits, longest)
    result = _empty(device, count, int(bits[0]))
    if result.width == wide.width:
        return replace(wide, bits=result.bits)
    grid = (-(-result.slabs * SLAB // THREADS), 1, 1)
    args = [wide.words, np.uint32(wide.width), result.words, np.uint32(result.width)]
    module.launch("gcd_narrow", grid, (THREADS, 1, 1), *args, np.uint64(result.slabs))
    return result


def _empty(device: Device, count: int, bits: int) -> Slabs:
    """Return a batch whose words are still to be written."""
    width = max(1, -(-bits // 32))
    return Slabs(device.alloc(4 * SLAB * -(-count // SLAB) * width), count, bits)
