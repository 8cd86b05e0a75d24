"""Pairwise sums of k-bit numbers, one by one and bitwise: 32 pairs to a word.

The smallest example of bulk bit-parallel computing (Fujita 2017, 5.1). A batch of
numbers is either a uint32 array or its bit planes (k, groups), which slice_bits
makes; the bitwise sum takes time proportional to k.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kernels.cpu import CpuBackend
from kernels.device import Device

from .slicing import WORD, Words, slice_bits, unslice_bits

__all__ = [
    "Params",
    "add_bitwise",
    "add_bitwise_cpu",
    "add_naive",
    "add_naive_cpu",
    "choose",
    "slice_bits",
    "sum_bits",
    "unslice_bits",
]

SOURCE = Path(__file__).with_name("sums.cu")
MAX_GRID = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Params:
    """A launch of one thread for each unit of work."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]


def choose(threads: int, multiprocessors: int) -> Params:
    """Blocks of 256 threads, smaller while there are too few for every multiprocessor."""
    if threads < 1:
        raise ValueError("nothing to launch")
    block = 256
    while block > 32 and -(-threads // block) < 2 * multiprocessors:
        block //= 2
    blocks = -(-threads // block)
    if blocks > MAX_GRID:
        raise ValueError(f"{threads} threads are too many for one launch")
    return Params((blocks, 1, 1), (block, 1, 1))


def sum_bits(k: int) -> int:
    """Planes of the sum of k-bit numbers, which is taken modulo 2^32."""
    return min(k + 1, WORD)


def add_bitwise(device: Device, a_planes: Words, b_planes: Words) -> Words:
    """Bit planes (min(k + 1, 32), groups) of the pairwise sums of two batches (k, groups)."""
    _check_pair(a_planes, b_planes, 2)
    k, groups = a_planes.shape
    if not 1 <= k <= WORD:
        raise ValueError(f"1 to {WORD} planes, not {k}")
    result = np.empty((sum_bits(k), groups), np.uint32)
    _launch(device, "sums_bitwise", k, a_planes, b_planes, result, groups)
    return result


def add_naive(device: Device, a: Words, b: Words) -> Words:
    """(A_i + B_i) mod 2^32, one pair a thread."""
    _check_pair(a, b, 1)
    result = np.empty_like(a)
    _launch(device, "sums_naive", WORD, a, b, result, a.size)
    return result


def add_bitwise_cpu(
    cpu: CpuBackend, a_planes: Words, b_planes: Words, out: Words | None = None
) -> Words:
    """As add_bitwise(). out: takes the result, if given; it may not overlap the operands."""
    _check_pair(a_planes, b_planes, 2)
    k, groups = a_planes.shape
    if not 1 <= k <= WORD:
        raise ValueError(f"1 to {WORD} planes, not {k}")
    result = np.empty((sum_bits(k), groups), np.uint32) if out is None else out
    a, b = (np.ascontiguousarray(planes) for planes in (a_planes, b_planes))
    _extension().sums_bitwise(cpu.level, a, b, result, cpu.threads)
    return result


def add_naive_cpu(cpu: CpuBackend, a: Words, b: Words, out: Words | None = None) -> Words:
    """As add_naive(). out: takes the result, if given; it may not overlap the operands."""
    _check_pair(a, b, 1)
    result = np.empty_like(a) if out is None else out
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    _extension().sums_naive(cpu.level, a, b, result, cpu.threads)
    return result


def _extension() -> Any:
    """Not imported above: without it all but the CPU's part still works."""
    return importlib.import_module("kernels._cpu")


def _launch(
    device: Device, kernel: str, k: int, a: Words, b: Words, result: Words, threads: int
) -> None:
    if not threads:
        return
    params = choose(threads, device.info.multiprocessors)
    module = device.module(SOURCE, {"K": k})
    operands = [device.alloc(x.nbytes) for x in (a, b)]
    target = device.alloc(result.nbytes)
    for buffer, values in zip(operands, (a, b), strict=True):
        device.upload(buffer, np.ascontiguousarray(values))
    module.launch(kernel, params.grid, params.block, *operands, target, np.uint64(threads))
    device.download(result, target)


def _check_pair(a: Words, b: Words, dimensions: int) -> None:
    if a.shape != b.shape or a.ndim != dimensions:
        raise ValueError(f"shapes {a.shape} and {b.shape}")
    if a.dtype != np.uint32 or b.dtype != np.uint32:
        raise ValueError(f"uint32 wanted, not {a.dtype} and {b.dtype}")
