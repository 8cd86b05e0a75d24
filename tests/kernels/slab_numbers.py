"""Batches of integers in slabs, made of Python's and back, and values that hurt."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from kernels.bignum.cuda.layouts import SLAB, Slabs
from kernels.targets.cuda.device import Device


def slabs_of(device: Device, values: Sequence[int], bits: int | None = None) -> Slabs:
    if bits is None:
        bits = max((abs(v).bit_length() for v in values), default=0)
    shape = Slabs(device.alloc(0), len(values), bits)
    size = 4 * shape.width
    padded = [abs(v) for v in values] + [0] * (shape.slabs * SLAB - len(values))
    raw = np.frombuffer(b"".join(v.to_bytes(size, "little") for v in padded), "<u4")
    words = raw.reshape(-1, SLAB, shape.width).transpose(0, 2, 1)
    buffer = device.alloc(4 * words.size)
    device.upload(buffer, np.ascontiguousarray(words, np.uint32))
    if all(v >= 0 for v in values):
        return Slabs(buffer, len(values), bits)
    signs = np.zeros(shape.slabs, np.uint32)
    for k, v in enumerate(values):
        signs[k // SLAB] |= np.uint32((v < 0) << k % SLAB)
    negative = device.alloc(signs.nbytes)
    device.upload(negative, signs)
    return Slabs(buffer, len(values), bits, negative)


def ints_of(device: Device, slabs: Slabs) -> list[int]:
    """Return the numbers; check what a batch promises: bits, no negative zero, nothing beyond."""
    words = np.empty((slabs.slabs, slabs.width, SLAB), np.uint32)
    if slabs.count:
        device.download(words, slabs.words)
    rows = np.ascontiguousarray(words.transpose(0, 2, 1)).astype("<u4")
    values = [int.from_bytes(row.tobytes(), "little") for row in rows.reshape(-1, slabs.width)]
    signs = np.zeros(slabs.slabs, np.uint32)
    if slabs.negative is not None and slabs.count:
        device.download(signs, slabs.negative)
    negative = [bool(signs[k // SLAB] >> np.uint32(k % SLAB) & 1) for k in range(len(values))]
    assert not any(values[slabs.count :]), "words past the last number"
    assert not any(n and not v for v, n in zip(values, negative, strict=True)), "a negative zero"
    assert all(v.bit_length() <= slabs.bits for v in values)
    return [-v if n else v for v, n in zip(values, negative, strict=True)][: slabs.count]


def hurting(words: int, rng: random.Random, signed: bool = True) -> list[int]:
    """Values of up to `words` words, all different in kind: 33, more than a slab."""
    bits = 32 * words
    top = (1 << bits) - 1
    runs = [rng.getrandbits(bits) | ((1 << bits // 2) - 1) << bits // 4 for _ in range(4)]
    values = [0, 1, 2, top, top - 1, top >> 1, (top >> 1) + 1, (top >> 1) + 2, 0xFFFFFFFF]
    values += [1 << rng.randrange(bits) for _ in range(4)]
    values += [(1 << rng.randrange(bits)) - 1 for _ in range(4)]
    values += [top ^ (1 << rng.randrange(bits)) for _ in range(4)]
    values += [v & top for v in runs]
    values += [rng.getrandbits(rng.randrange(1, bits + 1)) for _ in range(33 - len(values))]
    rng.shuffle(values)
    return [-v if signed and rng.random() < 0.5 else v for v in values]
