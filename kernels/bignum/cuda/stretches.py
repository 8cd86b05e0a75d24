"""Long numbers by many warps, each with a stretch of the words: sums, and their carries."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from kernels.targets.cuda.device import Buffer, Device

from .slabs import upload

SOURCE = Path(__file__).with_name("rows.cu")
STRETCH = 1024  # words of a warp
MOST = 65535  # pairs of a launch
_BLOCK = 256

Table = npt.NDArray[np.uint64]
"""(pairs, 6): first word and length of a, the same of b, first word of the result and room
for it. All in 32-bit words."""


def add(
    device: Device,
    a_words: Buffer,
    b_words: Buffer,
    table: Table,
    subtract: npt.NDArray[np.bool_],
    words: Buffer,
    stretch: int = STRETCH,
) -> npt.NDArray[np.uint64]:
    """Write magnitudes a + b, or a - b modulo 2^(32 room), into `words`; return their lengths."""
    lengths = np.empty(len(table), np.uint64)
    for first in range(0, len(table), MOST):
        part = table[first : first + MOST]
        longs, minus = upload(device, part), upload(device, subtract[first:][:MOST].astype("<u4"))
        stretches = max(1, -(-int(part[:, 5].max()) // stretch))
        marks = device.alloc(4 * stretches * len(part))
        device.module(SOURCE, {}).launch(
            "long_add", (-(-32 * stretches // _BLOCK), len(part), 1), (_BLOCK, 1, 1), a_words,
            b_words, longs, minus, words, np.uint32(stretch), np.uint32(stretches), marks,
        )  # fmt: skip
        lengths[first:][:MOST] = carry(device, words, longs, len(part), marks, stretches, stretch)
    return lengths


def carry(
    device: Device,
    words: Buffer,
    longs: Buffer,
    count: int,
    marks: Buffer,
    stretches: int,
    stretch: int,
) -> npt.NDArray[np.uint64]:
    """Lets the carries that stretches make into those above. Returns the lengths.

    marks: uint32 (count, stretches): 1 where a stretch makes a carry, 2 where it would
    pass one on.
    """
    module = device.module(SOURCE, {})
    found = np.zeros(count, np.uint64)
    lengths = upload(device, found)
    module.launch("long_scan", (1, count, 1), (32, 1, 1), marks, np.uint32(stretches))
    module.launch(
        "long_carry", (-(-32 * stretches // _BLOCK), count, 1), (_BLOCK, 1, 1), words, longs,
        marks, np.uint32(stretch), np.uint32(stretches), lengths,
    )  # fmt: skip
    device.download(found, lengths)
    return found
