"""Greatest common divisors of slabs on a device (gcd.hpp says how).

A thread has a pair, in registers up to 1024 bits, then in shared memory; of long numbers
so few pairs fit there that threads work on one in teams.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from kernels.bignum.layouts import SLAB, Slabs
from kernels.device import Buffer, Device, DeviceInfo

SOURCE = Path(__file__).with_name("gcd.cu")
CLASSES = (2, 4, 8, 12, 16, 24, 32)  # words for which the registers suffice
THREADS = 256  # of a block, at most
SHARED = 48 << 10  # bytes that a block has without asking for more
ROOM = 28 << 10  # of them, if a team of FEW threads is enough: more warps fit then
FEW = 4
MAX_TEAM = 32  # threads that have a pair together
CHUNK = 4  # limbs in memory are read so many at a time
LIMB = 4 * 2 * SLAB  # bytes of a limb of two numbers for each thread of a warp
WARPS = 8  # of a multiprocessor, where the numbers are in global memory


@dataclass(frozen=True, slots=True)
class Params:
    """How numbers of one width are computed."""

    defines: dict[str, int | str]
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    limbs: int = 0  # of a number in memory; 0 where it is in registers
    shared: int = 0  # bytes
    scratch: int = 0  # bytes of global memory


def choose(words: int, count: int, info: DeviceInfo) -> Params:
    """Registers, else shared memory, else global memory."""
    if not words or not count:
        raise ValueError("nothing to compute")
    slabs = -(-count // SLAB)
    for width in CLASSES:
        if words <= width:
            threads = THREADS
            while threads > SLAB and -(-slabs * SLAB // threads) < 2 * info.multiprocessors:
                threads //= 2
            return Params({"WORDS": width}, (-(-slabs * SLAB // threads), 1, 1), (threads, 1, 1))
    team, part = 1, _limbs(words, 1)
    while part * LIMB > (ROOM if team < FEW else SHARED) and team < MAX_TEAM:
        team *= 2
        part = _limbs(words, team)
    room = LIMB * part
    defines: dict[str, int | str] = {"CHUNK": CHUNK, "TEAM": team}
    warps, limbs, block = slabs * team, part * team, (SLAB, 1, 1)
    if room <= SHARED:
        return Params(defines, (warps, 1, 1), block, limbs, shared=room)
    warps = min(warps, WARPS * info.multiprocessors)
    return Params({**defines, "SCRATCH": 1}, (warps, 1, 1), block, limbs, scratch=warps * room)


def _limbs(words: int, team: int) -> int:
    """Of a thread of a team that has a pair: one above a multiple of CHUNK."""
    limbs = -(-32 * words // 31)
    return max(1, -(-(limbs - team) // (CHUNK * team))) * CHUNK + 1


def gcd(device: Device, a: Slabs, b: Slabs) -> Slabs:
    """gcd(a[i], b[i]), never negative; gcd(0, 0) = 0. A batch of one stands for all.

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
    params = choose(wide.width, count, device.info)
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
    """Its words are still to be written."""
    width = max(1, -(-bits // 32))
    return Slabs(device.alloc(4 * SLAB * -(-count // SLAB) * width), count, bits)
