"""Sums and products of rationals on the CPU in one pass, eight at a time by AVX-512 IFMA."""

from __future__ import annotations

from typing import TypeAlias

from kernels.bignum.cpu.engine import CpuArithmetic
from kernels.bignum.numbers import Numbers

try:
    from kernels import _cpu
except ImportError:
    _cpu = None  # type: ignore[assignment]

# Numerators, and denominators above zero, in lowest terms.
Ratios: TypeAlias = tuple[Numbers, Numbers]


def add(engine: CpuArithmetic, a: Ratios, b: Ratios) -> Ratios | None:
    """Return a + b in lowest terms; None where this CPU has no such way for the batches.

    A batch of one stands for all. Raises ValueError, as all four, where counts do not fit each
    other or a denominator is zero, and MemoryError.
    """
    return _combine(engine, "add", a, b)


def subtract(engine: CpuArithmetic, a: Ratios, b: Ratios) -> Ratios | None:
    """Return a - b in lowest terms, as add() does."""
    return _combine(engine, "subtract", a, b)


def multiply(engine: CpuArithmetic, a: Ratios, b: Ratios) -> Ratios | None:
    """Return a * b in lowest terms, as add() does."""
    return _combine(engine, "multiply", a, b)


def divide(engine: CpuArithmetic, a: Ratios, b: Ratios) -> Ratios | None:
    """Return a / b in lowest terms, as add() does. Precondition: b is nowhere zero."""
    return _combine(engine, "multiply", a, (b[1], b[0]))


def _combine(engine: CpuArithmetic, operation: str, a: Ratios, b: Ratios) -> Ratios | None:
    found = _cpu.rational_combine(engine.level, operation, *a, *b, engine.threads)
    return None if found is None else (Numbers(*found[0]), Numbers(*found[1]))
