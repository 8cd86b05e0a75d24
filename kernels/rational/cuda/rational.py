"""Sums and products of rationals in slabs on a device: a thread has a pair of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import numpy as np

from kernels.bignum.cuda.layouts import Slabs
from kernels.bignum.cuda.slabs import Argument, common_count, empty, operand, resize, target, upload
from kernels.targets.cuda.device import Device

SOURCE = Path(__file__).with_name("rational.cu")
CLASSES = (2, 4, 6, 8)  # words of an operand that a lane has registers for
WIDEST = CLASSES[-1]
THREADS = 128  # of a block

# Numerators, and denominators above zero, in lowest terms.
Ratios: TypeAlias = tuple[Slabs, Slabs]


def add(device: Device, a: Ratios, b: Ratios) -> Ratios:
    """Return a + b in lowest terms, with as many bits as the longest has, which the host waits for.

    A batch of one stands for all. Precondition of all three: no operand is wider than
    WIDEST. Raises ValueError where the counts do not fit each other, and MemoryError.
    """
    return _sum(device, a, b, subtract=False)


def subtract(device: Device, a: Ratios, b: Ratios) -> Ratios:
    """Return a - b in lowest terms, as add() does."""
    return _sum(device, a, b, subtract=True)


def _sum(device: Device, a: Ratios, b: Ratios, *, subtract: bool) -> Ratios:
    (n1, d1), (n2, d2) = a, b
    count = common_count(n1, d1, n2, d2)
    args = (
        *operand(n1, count),
        *_unsigned(d1, count),
        *operand(n2, count),
        *_unsigned(d2, count),
        np.uint32(subtract),
    )
    signed = subtract or n1.negative is not None or n2.negative is not None
    bits = max(n1.bits + d2.bits, n2.bits + d1.bits) + 1, d1.bits + d2.bits
    return _launch(device, "rational_add", (n1, d1, n2, d2), args, count, signed, bits)


def multiply(device: Device, a: Ratios, b: Ratios) -> Ratios:
    """Return a * b in lowest terms, as add() does."""
    return _product(device, a, b)


def divide(device: Device, a: Ratios, b: Ratios) -> Ratios:
    """Return a / b in lowest terms, as add() does. Precondition: b is nowhere zero."""
    return _product(device, a, (b[1], b[0]))


def _product(device: Device, a: Ratios, b: Ratios) -> Ratios:
    """Both numbers of b may be negative."""
    (n1, d1), (n2, d2) = a, b
    count = common_count(n1, d1, n2, d2)
    args = (
        *operand(n1, count),
        *_unsigned(d1, count),
        *operand(n2, count),
        *operand(d2, count),
    )
    signed = any(x.negative is not None for x in (n1, n2, d2))
    bits = n1.bits + n2.bits, d1.bits + d2.bits
    return _launch(device, "rational_multiply", (n1, d1, n2, d2), args, count, signed, bits)


def _unsigned(d: Slabs, count: int) -> tuple[Argument, ...]:
    words, _, width, form = operand(d, count)
    return words, width, form


def width_class(operands: tuple[Slabs, ...]) -> int:
    """Return the words in registers for each of the operands."""
    widest = max(x.width for x in operands)
    return next(width for width in CLASSES if width >= widest)


def _launch(
    device: Device,
    kernel: str,
    operands: tuple[Slabs, ...],
    args: tuple[Argument, ...],
    count: int,
    signed: bool,
    bits: tuple[int, int],
) -> Ratios:
    """Launch a kernel; bits: upper bounds of those of the results."""
    n = empty(device, count, bits[0], signed=signed)
    d = empty(device, count, bits[1], signed=False)
    if not count:
        return n, d
    longest = upload(device, np.zeros(2, np.uint32))
    module = device.module(SOURCE, {"WORDS": width_class(operands)})
    results = (*target(n), np.uint32(signed), d.words, np.uint32(d.width), longest)
    grid = (-(-count // THREADS), 1, 1)
    module.launch(kernel, grid, (THREADS, 1, 1), *args, *results, np.uint64(count))
    found = np.zeros(2, np.uint32)
    device.download(found, longest)
    return _cut(device, n, int(found[0])), _cut(device, d, int(found[1]))


def _cut(device: Device, a: Slabs, bits: int) -> Slabs:
    shorter = replace(a, bits=bits)
    return shorter if shorter.width == a.width else resize(device, a, bits)
