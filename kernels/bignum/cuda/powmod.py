"""Powers modulo slabs of numbers on a device: some lanes have a number whose modulus is odd."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from kernels.targets.cuda.device import Device

from ..plan import LONG_WINDOW, WIDEST, LaneTeam, power_team, width_class, window_of
from .divide import divmod, scratch_for
from .layouts import SLAB, Slabs
from .multiply import THREADS
from .slabs import clear_signs, common_count, empty, operand, target, upload

BY_DIVISION = Path(__file__).with_name("powmod.cu")
ODD = Path(__file__).with_name("powmod_odd.cu")


def powmod(
    device: Device,
    a: Slabs,
    exponents: Slabs,
    moduli: Slabs,
    choose: Callable[[int, int, int], LaneTeam | None] = power_team,
) -> Slabs:
    """Return pow(a, e, m), with Python's signs. Each operand may stand for all.

    choose: says, as power_team() does, which lanes share a number. Precondition: no modulus is
    zero, no exponent negative.
    """
    count = common_count(a, exponents, moduli)
    signed = moduli.negative is not None
    result = empty(device, count, moduli.bits, signed=signed)
    if not count:
        return result
    clear_signs(device, result)
    team = choose(moduli.width, count, device.info.multiprocessors)
    if team is not None:
        _odd(device, a, exponents, moduli, result, team)
    _by_division(device, a, exponents, moduli, result, all_moduli=team is None)
    return result


def _odd(
    device: Device, a: Slabs, exponents: Slabs, moduli: Slabs, result: Slabs, team: LaneTeam
) -> None:
    """Write the powers modulo odd moduli."""
    magnitudes = Slabs(moduli.words, moduli.count, moduli.bits)
    # A product is divided by 2^(32 words): its factors are brought into that form with this.
    square = divmod(device, _power_of_two(device, 64 * team.words), magnitudes, quotient=False)[1]
    assert square is not None
    if a.width > team.words:
        rest = divmod(device, a, magnitudes, quotient=False)[1]  # never negative
        assert rest is not None
        a = rest
    window = window_of(exponents.bits, LONG_WINDOW)
    blocks = -(-result.slabs * SLAB * team.lanes // THREADS)
    blocks, scratch = scratch_for(device, blocks, team.own << window, team.blocks)
    macros = {"LANES": team.lanes, "OWN": team.own, "BLOCKS": team.blocks}
    macros["SQUARES"] = int(team.squares)
    device.module(ODD, macros).launch(
        "powmod_odd",
        (blocks, 1, 1),
        (THREADS, 1, 1),
        *(part for x in (a, exponents, moduli, square) for part in operand(x, result.count)),
        *target(result),
        np.uint32(result.negative is not None),
        np.int32(window),
        scratch,
        np.uint64(result.count),
    )


def _power_of_two(device: Device, exponent: int) -> Slabs:
    words = np.zeros((exponent // 32 + 1, SLAB), np.uint32)
    words[-1, 0] = 1 << exponent % 32
    return Slabs(upload(device, words), 1, exponent + 1)


def _by_division(
    device: Device,
    a: Slabs,
    exponents: Slabs,
    moduli: Slabs,
    result: Slabs,
    *,
    all_moduli: bool,
) -> None:
    """Write the powers modulo even moduli, or modulo all."""
    width = width_class(moduli.width, WIDEST)
    n = max(width + 2, moduli.width)
    window = window_of(exponents.bits)
    room = ((1 << window) + 4) * n + 2 * max(a.width, n)
    blocks, scratch = scratch_for(device, -(-result.count // THREADS), room)
    device.module(BY_DIVISION, {"PART_WORDS": width}).launch(
        "by_division",
        (blocks, 1, 1),
        (THREADS, 1, 1),
        *(part for x in (a, exponents, moduli) for part in operand(x, result.count)),
        *target(result),
        np.uint32(result.negative is not None),
        np.int32(window),
        np.uint32(all_moduli),
        scratch,
        np.uint32(room),
        np.uint64(result.count),
    )
