"""Batches of mixed lengths, rearranged: what moves numbers but computes nothing.

Where each number lies is worked out on the host, which reads 16 bytes a number; the words
stay on the device.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels.targets.cuda.device import Device

from ..numbers import Indices, Mask
from .layouts import SLAB, Rows
from .rows import sign
from .slabs import get_mask, launch, put_mask, upload
from .transfer import SOURCE

GROUP = 4  # words, of which every number has a whole number of its own: 16 bytes


@dataclass(frozen=True, slots=True)
class Numbered:
    """Some numbers of a batch: where their words lie, and their signs, on the host."""

    batch: Rows
    starts: Indices
    lengths: Indices
    negative: Mask

    def __getitem__(self, index: slice | npt.NDArray[Any]) -> Numbered:
        parts = self.starts[index], self.lengths[index], self.negative[index]
        return Numbered(self.batch, *parts)

    def spread(self, count: int) -> Numbered:
        """Return a single number as many times as are wanted."""
        return self[np.zeros(count, np.int64)] if len(self.starts) == 1 != count else self


def numbered(device: Device, a: Rows) -> Numbered:
    """Return all numbers of a batch, for choosing among them."""
    starts, lengths = np.empty(a.count, np.int64), np.empty(a.count, np.int64)
    negative = np.zeros(a.count, np.bool_)
    if a.count:
        device.download(starts, a.starts)
        device.download(lengths, a.lengths)
        if a.negative is not None:
            negative = get_mask(device, a.negative, a.count)
    return Numbered(a, starts, lengths, negative)


def assemble(
    device: Device, count: int, parts: Iterable[tuple[slice | Indices | Mask, Numbered]]
) -> Rows:
    """Return a batch of its own: the numbers of each part are those at its index of the result.

    The indices cover 0 to count - 1, each once. Raises MemoryError.
    """
    parts = list(parts)
    lengths, negative = np.zeros(count, np.int64), np.zeros(count, np.bool_)
    for index, part in parts:
        lengths[index], negative[index] = part.lengths, part.negative
    room = -(-lengths // GROUP) * GROUP
    places = np.cumsum(room) - room
    words = device.alloc(4 * int(room.sum()))
    for index, part in parts:
        columns = [upload(device, x) for x in (part.starts, part.lengths, places[index])]
        n = np.uint64(len(part.starts))
        module = device.module(SOURCE, {})
        launch(device, module, "rows_align", SLAB * int(n), part.batch.words, *columns, words, n)
    return Rows(
        words,
        upload(device, places),
        upload(device, lengths),
        count,
        int(lengths.max(initial=0)),
        int(lengths.sum()),
        put_mask(device, negative) if negative.any() else None,
    )


def take(device: Device, a: Rows, index: slice | npt.NDArray[np.integer[Any]] | Mask) -> Rows:
    """Return the numbers at an index. Raises IndexError, as numpy does."""
    chosen = numbered(device, a)[index]
    return assemble(device, len(chosen.starts), [(slice(None), chosen)])


def concatenate(device: Device, batches: Iterable[Rows]) -> Rows:
    """Return the numbers of all batches, one batch after the other."""
    parts, at = [], 0
    for batch in batches:
        parts.append((slice(at, at + batch.count), numbered(device, batch)))
        at += batch.count
    return assemble(device, at, parts)


def select(device: Device, mask: Mask, a: Rows, b: Rows) -> Rows:
    """Return a[i] where mask[i], else b[i]. Each may stand for all."""
    x, y = (numbered(device, batch).spread(len(mask)) for batch in (a, b))
    return assemble(device, len(mask), [(mask, x[mask]), (~mask, y[~mask])])


def with_signs(device: Device, a: Rows, negative: Mask) -> Rows:
    """Return the magnitudes of a, in memory of their own, with other signs."""
    numbers = replace(numbered(device, a), negative=negative)
    return assemble(device, a.count, [(slice(None), numbers)])


def negate(device: Device, a: Rows) -> Rows:
    """Return -a."""
    return with_signs(device, a, sign(device, a) > 0)


def absolute(device: Device, a: Rows) -> Rows:
    """Return the absolute values."""
    return with_signs(device, a, np.zeros(a.count, np.bool_))
