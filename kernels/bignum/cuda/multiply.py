"""Products of slabs of numbers on a device: a thread has a number, or several share a long one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from kernels.targets.cuda.device import Device

from ..plan import WIDEST, LaneTeam, product_team, width_class
from .layouts import SLAB, Slabs
from .slabs import clear_signs, common_count, empty, operand, target

HERE = Path(__file__).parent
THREADS = 64  # a block
_FIXED = 12  # words up to which the longer operand is in registers too


def multiply(
    device: Device,
    a: Slabs,
    b: Slabs,
    choose: Callable[[int, int, int, int], LaneTeam | None] = product_team,
) -> Slabs:
    """Return a * b. One of them may stand for all.

    choose: says, as product_team() does, which lanes share a number.
    """
    count = common_count(a, b)
    team = choose(a.width, b.width, count, device.info.multiprocessors)
    if team is None or not count:
        return _multiply(device, a, b, None)
    signed = a.negative is not None or b.negative is not None
    result = empty(device, count, a.bits + b.bits, signed=signed)
    clear_signs(device, result)
    exact = a.width == b.width == 2 * team.words and result.width == 2 * a.width
    macros = {"LANES": team.lanes, "OWN": team.own, "BLOCKS": team.blocks}
    macros |= {"EXACT": int(exact), "SIGNS": int(signed)}
    device.module(HERE / "multiply_lanes.cu", macros).launch(
        "multiply_lanes",
        (-(-result.slabs * SLAB * team.lanes // THREADS), 1, 1),
        (THREADS, 1, 1),
        *operand(a, count),
        *operand(b, count),
        *target(result),
        np.uint64(count),
    )
    return result


def multiply_add(device: Device, a: Slabs, b: Slabs, c: Slabs) -> Slabs:
    """Return a * b + c, the product not being written between. Each may stand for all."""
    return _multiply(device, a, b, c)


def _multiply(device: Device, a: Slabs, b: Slabs, c: Slabs | None) -> Slabs:
    a, b = sorted((a, b), key=lambda x: x.width)
    if c is not None and b.width <= WIDEST:
        a, b = b, a  # no word of c is met before all rows are there
    operands = (a, b, a if c is None else c)
    count = common_count(*operands)
    signed = any(x.negative is not None for x in operands)
    bits = a.bits + b.bits
    if c is not None:
        bits = max(bits, c.bits) + 1
    result = empty(device, count, bits, signed=signed)
    if not count:
        return result
    arguments = [argument for x in operands for argument in operand(x, count)]
    exact = c is None and a.width == b.width and result.width == 2 * a.width
    macros = {
        "WIDTH": width_class(a.width, WIDEST),
        "SHORT": int((a.width if c is None else max(a.width, b.width)) <= WIDEST),
        "EXACT": int(exact and a.width == width_class(a.width, WIDEST)),
        "ROWS": width_class(b.width, WIDEST) if b.width <= _FIXED else 0,
        "ADD": int(c is not None),
        "SIGNS": int(signed),
    }
    device.module(HERE / "multiply.cu", macros).launch(
        "multiply",
        (-(-count // THREADS), 1, 1),
        (THREADS, 1, 1),
        *arguments,
        *target(result),
        np.uint64(count),
    )
    return result
