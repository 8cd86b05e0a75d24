"""Seal chunks of datasets by digests, so that any part of a file is known to be undamaged."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import xxhash

from bulkbits.exit_codes import DamagedFileError

CHUNK = 1 << 16  # bytes

DAMAGED = "damaged: its digest is another"


def chunk_count(nbytes: int) -> int:
    """Return how many chunks so many bytes have."""
    return -(-nbytes // CHUNK)


class Chunked:
    """Takes the bytes of a dataset, in parts of any length, and makes the digests of its chunks."""

    def __init__(self) -> None:
        self._done: list[int] = []
        self._hash = xxhash.xxh3_64()
        self._taken = 0  # of the chunk under way

    def update(self, data: Any) -> None:
        """Add the next bytes."""
        left = memoryview(data).cast("B")
        while left:
            part = left[: CHUNK - self._taken]
            self._hash.update(part)
            self._taken += len(part)
            left = left[len(part) :]
            if self._taken == CHUNK:
                self._end()

    def digests(self) -> list[int]:
        """Return the digests of all chunks; nothing may be added after that."""
        if self._taken:
            self._end()
        return self._done

    def _end(self) -> None:
        self._done.append(self._hash.intdigest())
        self._hash.reset()
        self._taken = 0


def check_chunks(data: npt.NDArray[np.uint8], digests: npt.NDArray[np.uint64]) -> None:
    """Raise DamagedFileError where some of the chunks that data are cut into has another digest."""
    left = memoryview(cast(Any, data))
    for k, digest in enumerate(digests.tolist()):
        if xxhash.xxh3_64_intdigest(left[k * CHUNK : (k + 1) * CHUNK]) != digest:
            raise DamagedFileError(DAMAGED)


def root_digest(
    numbers: Iterable[int], shapes: Iterable[tuple[int, ...]], digests: npt.NDArray[np.uint64]
) -> int:
    """Return the digest of a file's numbers, the shapes of its datasets, and their digests."""
    head = np.array([*numbers, *(length for shape in shapes for length in shape)], "<u8")
    return xxhash.xxh3_64_intdigest(head.tobytes() + digests.astype("<u8").tobytes())
