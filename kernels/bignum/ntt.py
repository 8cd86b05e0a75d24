"""Products of long numbers by number-theoretic transforms modulo 2^64 - 2^32 + 1.

Digits of 16 bits, so that sums of up to 2^22 products stay below the modulus: exact for
products of up to 2^26 bits. Two passes over memory (Bailey, FFTs in external or
hierarchical memory, 1990), each transform in shared memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from kernels.device import Buffer, Device

from . import stretches
from .slabs import upload

SOURCE = Path(__file__).with_name("ntt.cu")
MODULUS = 2**64 - 2**32 + 1
GENERATOR = 7  # of all numbers modulo MODULUS but 0

MAX_LOG = 22  # points
MAX_WORDS = 1 << (MAX_LOG - 1)  # of a product
_TABLE_LOG = 11  # as ROOT in ntt.cu
_TILE = 4096  # points in shared memory: 32 KiB
_THREADS = 256
_ROOM = 1 << 30  # bytes for points, at most


@dataclass(frozen=True, slots=True)
class Plan:
    """2^n1_log transforms of 2^n2_log points along rows, after as many down columns, of
    which `apart` are done together."""

    n1_log: int
    n2_log: int
    apart: int

    @property
    def n_log(self) -> int:
        return self.n1_log + self.n2_log


def choose(words: int) -> Plan:
    """For products of up to so many words. Raises ValueError beyond MAX_WORDS."""
    if words > MAX_WORDS:
        raise ValueError(f"a product of {words} words is too long: {MAX_WORDS} at most")
    n_log = max(2, (2 * words - 1).bit_length())
    n1_log = n_log // 2
    n2_log = n_log - n1_log
    return Plan(n1_log, n2_log, min(1 << n2_log, _TILE >> n1_log, 32))


def multiply(
    device: Device, a_words: Buffer, b_words: Buffer, table: stretches.Table, words: Buffer
) -> npt.NDArray[np.uint64]:
    """The products of the table's pairs, into `words`: their lengths.

    The room of each must hold the lengths of both. Raises ValueError where that is more
    than MAX_WORDS, MemoryError.
    """
    lengths = np.empty(len(table), np.uint64)
    sums = (table[:, 1] + table[:, 3]).astype(np.int64)
    logs = np.array([choose(n).n_log for n in sums.tolist()], np.int64)
    for n_log in np.unique(logs).tolist():
        plan, pairs = choose(1 << (n_log - 1)), np.flatnonzero(logs == n_log)
        most = min(stretches.MOST, max(1, _ROOM >> (n_log + 4)))
        for first in range(0, len(pairs), most):
            part = pairs[first : first + most]
            lengths[part] = _multiply(device, plan, a_words, b_words, table[part], words)
    return lengths


def _multiply(
    device: Device,
    plan: Plan,
    a_words: Buffer,
    b_words: Buffer,
    table: stretches.Table,
    words: Buffer,
) -> npt.NDArray[np.uint64]:
    module, count = device.module(SOURCE, {}), len(table)
    a, b = (device.alloc(8 * count << plan.n_log) for _ in range(2))
    longs, roots = upload(device, table), upload(device, root_tables())
    n1_log, n2_log, apart = (np.uint32(x) for x in (plan.n1_log, plan.n2_log, plan.apart))
    columns, block = ((1 << plan.n2_log) // plan.apart, count, 1), (_THREADS, 1, 1)
    tile = 8 * plan.apart << plan.n1_log
    for second, (source, points) in enumerate(((a_words, a), (b_words, b))):
        module.launch(
            "ntt_columns", columns, block, source, longs, np.uint32(second), n1_log, n2_log, apart,
            roots, points, shared=tile,
        )  # fmt: skip
    scale = np.uint64(pow(2, -plan.n_log, MODULUS))
    rows = (1 << plan.n1_log, count, 1)
    module.launch(
        "ntt_rows", rows, block, a, b, n1_log, n2_log, roots, scale, shared=16 << plan.n2_log
    )
    module.launch("ntt_back", columns, block, a, n1_log, n2_log, apart, roots, shared=tile)
    parts = max(1, -(-int(table[:, 5].max()) // stretches.STRETCH))
    marks = device.alloc(4 * parts * count)
    module.launch(
        "ntt_words", (-(-32 * parts // _THREADS), count, 1), block, a, longs,
        np.uint32(plan.n_log), words, np.uint32(stretches.STRETCH), np.uint32(parts), marks,
    )  # fmt: skip
    return stretches.carry(device, words, longs, count, marks, parts, stretches.STRETCH)


@cache
def root_tables() -> npt.NDArray[np.uint64]:
    """Powers 0 to 2^11 - 1 of the 2^22-th root of one; and of its 2^11-th power."""
    root = pow(GENERATOR, (MODULUS - 1) >> (2 * _TABLE_LOG), MODULUS)
    tables = []
    for base in (root, pow(root, 1 << _TABLE_LOG, MODULUS)):
        powers = [1]
        for _ in range((1 << _TABLE_LOG) - 1):
            powers.append(powers[-1] * base % MODULUS)
        tables += powers
    return np.array(tables, np.uint64)
