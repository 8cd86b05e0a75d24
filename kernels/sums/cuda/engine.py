"""Sums on CUDA devices."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kernels.targets.cuda.device import Device

from ..plan import check_pair, choose, sum_bits
from ..slicing import WORD, Words

SOURCE = Path(__file__).with_name("sums.cu")


def add_bitwise(device: Device, a_planes: Words, b_planes: Words) -> Words:
    """Return bit planes (min(k + 1, 32), groups) of pairwise sums of two batches (k, groups)."""
    check_pair(a_planes, b_planes, 2)
    k, groups = a_planes.shape
    if not 1 <= k <= WORD:
        raise ValueError(f"1 to {WORD} planes, not {k}")
    result = np.empty((sum_bits(k), groups), np.uint32)
    _launch(device, "sums_bitwise", k, a_planes, b_planes, result, groups)
    return result


def add_naive(device: Device, a: Words, b: Words) -> Words:
    """Return (A_i + B_i) mod 2^32, one pair a thread."""
    check_pair(a, b, 1)
    result = np.empty_like(a)
    _launch(device, "sums_naive", WORD, a, b, result, a.size)
    return result


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
