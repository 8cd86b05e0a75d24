"""Products of long numbers by number-theoretic transforms modulo 2^64 - 2^32 + 1.

Digits of 16 bits, so that sums of up to 2^22 products stay below the modulus: exact for
products of up to 2^26 bits. Two passes over memory (Bailey, FFTs in external or
hierarchical memory, 1990), each transform in shared memory.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from kernels.targets.cuda.device import Buffer, Device

from ..plan import Transforms, transforms_for
from . import stretches
from .slabs import upload

SOURCE = Path(__file__).with_name("ntt.cu")
MODULUS = 2**64 - 2**32 + 1
GENERATOR = 7  # of all numbers modulo MODULUS but 0

_TABLE_LOG = 11  # as ROOT in ntt.cu
_THREADS = 256
_ROOM = 1 << 30  # bytes for points, at most


def multiply(
    device: Device, a_words: Buffer, b_words: Buffer, table: stretches.Table, words: Buffer
) -> npt.NDArray[np.uint64]:
    """Write the products of the table's pairs into `words`; return their lengths.

    The room of each must hold the lengths of both. Raises ValueError where that is more
    than MAX_WORDS, MemoryError.
    """
    lengths = np.empty(len(table), np.uint64)
    sums = (table[:, 1] + table[:, 3]).astype(np.int64)
    logs = np.array([transforms_for(n).n_log for n in sums.tolist()], np.int64)
    for n_log in np.unique(logs).tolist():
        plan, pairs = transforms_for(1 << (n_log - 1)), np.flatnonzero(logs == n_log)
        most = min(stretches.MOST, max(1, _ROOM >> (n_log + 4)))
        for first in range(0, len(pairs), most):
            part = pairs[first : first + most]
            lengths[part] = _multiply(device, plan, a_words, b_words, table[part], words)
    return lengths


def _multiply(
    device: Device,
    plan: Transforms,
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
