"""Hash rows of images to 128 bits, which depend neither on who computes them nor on the parts.

A row's bytes, padded with zeros to a multiple of 16, are words w of 32 bits, little-endian.
They are cut into blocks of BLOCK words; the last may be shorter. With the key k of
BLOCK + SHIFT words, half i of the hash of a block is NH of Black et al. (UMAC: Fast and
Secure Message Authentication, 1999, section 4), shifted as there:

    sum over even j of (w[j] + k[j + i SHIFT] mod 2^32) (w[j + 1] + k[j + 1 + i SHIFT] mod 2^32)

Half i of the row's is the sum of its blocks' times odd factors, mod 2^64. Being sums, both can
be computed in parts, in any order.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernels.cells.ref import mix

from .maps import Maps

BLOCK = 1024  # words
SHIFT = 4  # words by which the key of the second half is moved on
STEP = 16  # bytes: rows are padded to multiples of this

Hashes = npt.NDArray[np.uint64]  # (count, 2)
_MASK = 2**64 - 1
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def row_stride(width: int, itemsize: int) -> int:
    """Return the bytes of a row of `width` images that is padded."""
    return -(-width * itemsize // STEP) * STEP


@dataclass(frozen=True, eq=False)
class HashKey:
    """Holds the numbers that rows of `stride` bytes are hashed with.

    words: uint32 (BLOCK + SHIFT,). factors: uint64 (blocks, 2), odd. mask: what is kept of each
    half; less than all its bits only where tests want rows of equal hashes.
    """

    words: npt.NDArray[np.uint32]
    factors: npt.NDArray[np.uint64]
    mask: tuple[int, int]

    @classmethod
    @functools.lru_cache(maxsize=4)
    def make(cls, stride: int, seed: int = 0, bits: int = 128) -> HashKey:
        """Return a key; its arrays are read-only, as the latest ones are kept.

        bits: that hashes have, the low ones of the first half before those of the second.
        """
        blocks = -(-stride // (4 * BLOCK))
        numbers = _splitmix(seed, BLOCK + SHIFT + 2 * blocks)
        words = (numbers[: BLOCK + SHIFT] >> np.uint64(32)).astype(np.uint32)
        factors = (numbers[BLOCK + SHIFT :] | np.uint64(1)).reshape(blocks, 2)
        words.flags.writeable = factors.flags.writeable = False
        return cls(words, factors, ((1 << min(bits, 64)) - 1, (1 << max(bits - 64, 0)) - 1))

    def hashes(self, rows: Maps) -> Hashes:
        """Hash rows (count, width) by numpy to (count, 2): what engines must compute."""
        count, width = rows.shape
        stride = row_stride(width, rows.itemsize)
        padded = np.zeros((count, stride), np.uint8)
        padded[:, : width * rows.itemsize] = np.ascontiguousarray(rows).view(np.uint8)
        words = padded.view("<u4").astype(np.uint32)
        result = np.zeros((count, 2), np.uint64)
        for i in range(2):
            for b, factor in enumerate(self.factors[:, i]):
                part = words[:, b * BLOCK : (b + 1) * BLOCK]
                sums = part + self.words[i * SHIFT : i * SHIFT + part.shape[1]]
                products = sums[:, 0::2].astype(np.uint64) * sums[:, 1::2]
                result[:, i] += products.sum(axis=1, dtype=np.uint64) * factor
            result[:, i] &= np.uint64(self.mask[i])
        return result


def _splitmix(seed: int, count: int) -> npt.NDArray[np.uint64]:
    """Return the first numbers of SplitMix64 (Steele, Lea and Flood 2014)."""
    return mix(np.uint64(seed & _MASK) + np.arange(1, count + 1, dtype=np.uint64) * _GOLDEN)
