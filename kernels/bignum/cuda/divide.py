"""Quotients and remainders of slabs of numbers on a device.

A thread has a number, or several share it where the divisor is long.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from kernels.targets.cuda.device import Buffer, Device

from ..plan import WIDEST, LaneTeam, quotient_team, width_class
from .layouts import SLAB, Slabs
from .multiply import THREADS
from .slabs import Argument, clear_signs, common_count, empty, operand, target

HERE = Path(__file__).parent
GUIDE = WIDEST + 2  # as in long.hpp
_RESIDENT = 4  # blocks of a multiprocessor
# Where divisors are in memory: more blocks at a time beat longer parts (benchmarks/RESULTS.md).
_LONG = {"PART_WORDS": 16, "AHEAD_WORDS": 8, "RESIDENT": 8}
_SCRATCH = 1 << 30  # bytes at most, unless one block needs more


def divmod(
    device: Device,
    a: Slabs,
    b: Slabs,
    *,
    quotient: bool = True,
    remainder: bool = True,
    choose: Callable[[int, int, int], LaneTeam | None] = quotient_team,
) -> tuple[Slabs | None, Slabs | None]:
    """Floor quotient, and remainder with the divisor's sign; None for what is not asked for.

    Either operand may stand for all. choose: says, as quotient_team() does, which lanes share a
    number. Precondition: no divisor is zero.
    """
    count = common_count(a, b)
    signed = a.negative is not None or b.negative is not None
    results = (
        empty(device, count, a.bits, signed=signed) if quotient else None,
        empty(device, count, b.bits, signed=b.negative is not None) if remainder else None,
    )
    if not count or not (quotient or remainder):
        return results
    macros = {"QUOTIENT": int(quotient), "REMAINDER": int(remainder)}
    arguments: list[Argument] = [*operand(a, count), *operand(b, count)]
    for x in results:
        arguments += target(x or a)
        arguments.append(np.uint32(x is not None and x.negative is not None))
    blocks = -(-count // THREADS)
    team = choose(b.width, count, device.info.multiprocessors)
    if team is not None:
        kernel, blocks = "divide_lanes", -(-(-(-count // SLAB) * SLAB * team.lanes) // THREADS)
        macros |= {"LANES": team.lanes, "OWN": team.own, "BLOCKS": team.blocks}
        for x in results:
            if x is not None:
                clear_signs(device, x)
    elif b.width <= WIDEST:
        kernel, macros["WIDTH"] = "divide", width_class(b.width, WIDEST)
    else:
        kernel = "divide_long"
        room = a.width + 2 * max(b.width, GUIDE) + (0 if quotient else a.width)
        macros |= _LONG
        blocks, scratch = scratch_for(device, blocks, room, _LONG["RESIDENT"])
        arguments.append(scratch)
    device.module(HERE / f"{kernel}.cu", macros).launch(
        kernel, (blocks, 1, 1), (THREADS, 1, 1), *arguments, np.uint64(count)
    )
    return results


def scratch_for(
    device: Device, blocks: int, room: int, resident: int = _RESIDENT
) -> tuple[int, Buffer]:
    """Return how many blocks run at a time, and `room` words for each of their threads.

    resident: blocks that a multiprocessor runs.
    """
    nbytes = 4 * THREADS * room
    blocks = min(blocks, resident * device.info.multiprocessors, max(1, _SCRATCH // nbytes))
    return blocks, device.alloc(blocks * nbytes)
