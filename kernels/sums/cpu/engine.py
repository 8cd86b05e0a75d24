"""Sums on the CPU."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from kernels.targets.cpu import CpuTarget

from ..plan import check_pair, sum_bits
from ..slicing import WORD, Words


def add_bitwise_cpu(
    cpu: CpuTarget, a_planes: Words, b_planes: Words, out: Words | None = None
) -> Words:
    """Return what add_bitwise() does.

    out: takes the result, if given; it may not overlap the operands.
    """
    check_pair(a_planes, b_planes, 2)
    k, groups = a_planes.shape
    if not 1 <= k <= WORD:
        raise ValueError(f"1 to {WORD} planes, not {k}")
    result = np.empty((sum_bits(k), groups), np.uint32) if out is None else out
    a, b = (np.ascontiguousarray(planes) for planes in (a_planes, b_planes))
    _extension().sums_bitwise(cpu.level, a, b, result, cpu.threads)
    return result


def add_naive_cpu(cpu: CpuTarget, a: Words, b: Words, out: Words | None = None) -> Words:
    """Return what add_naive() does. out: takes the result, as in add_bitwise_cpu()."""
    check_pair(a, b, 1)
    result = np.empty_like(a) if out is None else out
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    _extension().sums_naive(cpu.level, a, b, result, cpu.threads)
    return result


def _extension() -> Any:
    """Return the compiled module, imported only where it is used, as it may be missing."""
    return importlib.import_module("kernels._cpu")
