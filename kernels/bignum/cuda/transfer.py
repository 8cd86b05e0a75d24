"""Numbers between the host and a device: packed words cross the bus, turned to slabs there."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels.targets.cuda.device import Buffer, Device, Slice

from ..numbers import Numbers, Words64
from .layouts import SLAB, Rows, Slabs
from .slabs import empty, get_mask, launch, longest, nbytes, put_mask, resize, upload

SOURCE = Path(__file__).with_name("transfer.cu")
PIECE = 32 << 20  # bytes that cross the bus at once
PIECES = 8  # that lie on the device, packed, before they are turned


class Transfer:
    """Copies through two pinned pieces of host memory, one filled while the other is sent.

    Several threads copy from or to them, as one alone is slower than the bus.
    """

    def __init__(self, device: Device, piece: int = PIECE) -> None:
        self._device, self._piece = device, piece
        self._lock = threading.Lock()  # of the pieces

    @cached_property
    def _pieces(self) -> list[npt.NDArray[np.uint8]]:
        return [self._device.pinned(self._piece) for _ in range(2)]

    @cached_property
    def _copiers(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(min(6, os.cpu_count() or 1), "bignum-copy")

    # --- to the device -----------------------------------------------------------

    def put_slabs(self, numbers: Numbers) -> Slabs:
        """Return a batch as slabs. Raises MemoryError."""
        device, count = self._device, len(numbers)
        bound = 64 * numbers.width
        signs = None if numbers.negative is None else put_mask(device, numbers.negative)
        if not count or not bound:
            result = empty(device, count, 0, signed=False)
            device.upload(result.words, np.zeros(nbytes(count, 0), np.uint8))
            return result
        # Several slabs at a time, so that their packed words need little memory.
        most = SLAB * max(1, PIECES * self._piece // (8 * SLAB * numbers.width))
        self._room(nbytes(count, bound) + nbytes(min(most, count), bound))
        full = empty(device, count, bound, signed=False)
        measured = upload(device, np.zeros(1, np.uint64))
        module = device.module(SOURCE, {})
        squares = -(-full.width // SLAB)
        for first in range(0, count, most):
            part = numbers.take(slice(first, min(first + most, count)))
            packed, args = self._pack(part)
            slabs = -(-len(part) // SLAB)
            place = Slice(full.words, nbytes(first, bound))
            args = (packed, *args, np.uint64(len(part)), place, np.uint32(full.width), measured)
            launch(device, module, "slabs_pack", SLAB * slabs * squares, *args)
        bits = np.empty(1, np.uint64)
        device.download(bits, measured)
        result = Slabs(full.words, count, int(bits[0]), signs)
        if result.width < full.width:
            result = resize(device, Slabs(full.words, count, bound, signs), result.bits)
        return result

    def put_rows(self, numbers: Numbers) -> Rows:
        """Return a batch as rows. Raises MemoryError."""
        device = self._device
        lengths = numbers.length_array()
        words = int(lengths.sum())
        self._room(8 * words + 16 * len(numbers))
        packed = device.alloc(-(-8 * words // 16) * 16)  # groups of four words may be read
        self._send(packed, self._packed(numbers))
        starts = np.cumsum(lengths) - lengths
        return Rows(
            packed,
            upload(device, 2 * starts),
            upload(device, 2 * lengths),
            len(numbers),
            2 * int(lengths.max(initial=0)),
            2 * words,
            None if numbers.negative is None else put_mask(device, numbers.negative),
        )

    def _pack(self, numbers: Numbers) -> tuple[Buffer, tuple[Any, ...]]:
        """Their words on the device, and where each number lies in them."""
        device = self._device
        if numbers.dense:
            if not numbers.step:  # one number for all goes up once
                numbers = replace(numbers, count=1, negative=None)
            packed = device.alloc(8 * numbers.width * len(numbers))
            self._send(packed, self._packed(numbers))
            step = 2 * numbers.width if numbers.step else 0
            return packed, (packed, packed, np.uint32(0), np.uint64(step))
        lengths = numbers.length_array()
        starts = np.cumsum(lengths) - lengths
        packed = device.alloc(8 * int(lengths.sum()))
        self._send(packed, self._packed(numbers))
        places = [upload(device, (2 * x).astype(np.uint64)) for x in (starts, lengths)]
        return packed, (*places, np.uint32(1), np.uint64(0))

    def _packed(self, numbers: Numbers) -> Iterator[Words64]:
        """Their words, number after number, in parts that are copied only if they must be."""
        count, width, step = len(numbers), numbers.width, numbers.step
        if not count or not width:
            return
        if numbers.starts is None:
            if step == width or count == 1:
                yield numbers.words[: count * width]
                return
            strided = np.lib.stride_tricks.as_strided(
                numbers.words, (count, width), (8 * step, 8), writeable=False
            )
            most = max(1, self._piece // (8 * width))
            for first in range(0, count, most):
                yield np.ascontiguousarray(strided[first : first + most]).reshape(-1)
        else:
            starts, ends = numbers.starts, numbers.starts + numbers.length_array()
            # Runs of numbers that follow each other.
            breaks = np.flatnonzero(starts[1:] != ends[:-1]) + 1
            if len(breaks) <= count // 64:
                bounds = [0, *breaks.tolist(), count]
                for first, last in pairwise(bounds):
                    yield numbers.words[starts[first] : ends[last - 1]]
                return
            lengths = ends - starts
            most = max(1, self._piece // (8 * max(1, width)))
            for first in range(0, count, most):
                yield _gather(numbers.words, starts[first:][:most], lengths[first:][:most])

    def _send(self, target: Buffer, parts: Iterable[Words64]) -> None:
        device, at, turn = self._device, 0, 0
        with self._lock:
            for part in parts:
                raw = part.view(np.uint8)
                if raw.nbytes < self._piece // 8:
                    device.upload(target, raw, at)
                    at += raw.nbytes
                    continue
                for first in range(0, raw.nbytes, self._piece):
                    chunk = raw[first : first + self._piece]
                    piece = self._pieces[turn % 2][: chunk.nbytes]
                    _finish(self._copy(piece, chunk))
                    device.synchronize()  # the other piece is free
                    device.upload(target, piece, at)
                    at += chunk.nbytes
                    turn += 1
            device.synchronize()

    # --- and back ----------------------------------------------------------------

    def get_slabs(self, a: Slabs) -> Numbers:
        """Dense, with as many words as the longest has."""
        device = self._device
        width = -(-longest(device, a) // 64)
        if not width:
            return Numbers(np.zeros(0, np.uint64), a.count, 0)
        words = np.empty(a.count * width, np.uint64)
        most = SLAB * max(1, PIECES * self._piece // (8 * SLAB * width))
        packed = device.alloc(8 * width * min(most, a.count))
        module = device.module(SOURCE, {})
        squares = -(-2 * width // SLAB)
        for first in range(0, a.count, most):
            count = min(most, a.count - first)
            source = Slice(a.words, nbytes(first, a.bits))
            args = (source, np.uint32(a.width), np.uint64(count), packed, np.uint32(2 * width))
            slabs = -(-count // SLAB)
            launch(device, module, "slabs_unpack", SLAB * slabs * squares, *args)
            self._fetch(words[first * width :][: count * width], packed)
        return Numbers(words, a.count, width, width, negative=self._negative(a))

    def get_rows(self, a: Rows) -> Numbers:
        """Ragged: number k has half as many words as there, rounded up."""
        device = self._device
        lengths = np.empty(a.count, np.uint64)
        device.download(lengths, a.lengths)
        wide = (lengths.astype(np.int64) + 1) // 2
        starts = np.cumsum(wide) - wide
        words = np.empty(int(wide.sum()), np.uint64)
        if words.size:
            packed = device.alloc(words.nbytes)
            places = upload(device, (2 * starts).astype(np.uint64))
            args = (a.words, a.starts, a.lengths, places, packed, np.uint64(a.count))
            launch(device, device.module(SOURCE, {}), "rows_align", SLAB * a.count, *args)
            self._fetch(words, packed)
        negative = self._negative(a)
        return Numbers(words, a.count, int(wide.max(initial=0)), 0, starts, wide, negative)

    def _negative(self, a: Slabs | Rows) -> npt.NDArray[np.bool_] | None:
        if a.negative is None or not a.count:
            return None
        mask = get_mask(self._device, a.negative, a.count)
        return mask if mask.any() else None

    def _fetch(self, target: Words64, source: Buffer) -> None:
        raw = target.view(np.uint8)
        if raw.nbytes < self._piece // 8:
            self._device.download(raw, source)
            return
        with self._lock:
            pending: list[list[Future[None]]] = [[], []]
            for i, first in enumerate(range(0, raw.nbytes, self._piece)):
                part = raw[first : first + self._piece]
                piece = self._pieces[i % 2][: part.nbytes]
                _finish(pending[i % 2])
                self._device.download(piece, source, first)
                pending[i % 2] = self._copy(part, piece)
            _finish(pending[0] + pending[1])

    def _copy(
        self, target: npt.NDArray[np.uint8], source: npt.NDArray[np.uint8]
    ) -> list[Future[None]]:
        each = max(1 << 20, -(-target.nbytes // self._copiers._max_workers))
        return [
            self._copiers.submit(np.copyto, target[at : at + each], source[at : at + each])
            for at in range(0, target.nbytes, each)
        ]

    def _room(self, nbytes: int) -> None:
        """Raise MemoryError before any of it is taken."""
        free = self._device.free_memory()
        if nbytes > free:
            raise MemoryError(
                f"{self._device.info.name}: {nbytes:,} bytes are needed, {free:,} are free"
            )


def _finish(copies: list[Future[None]]) -> None:
    for copy in copies:
        copy.result()


def _gather(
    words: Words64, starts: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]
) -> Words64:
    ends = np.cumsum(lengths)
    places = np.arange(ends[-1]) + np.repeat(starts - (ends - lengths), lengths)
    packed: Words64 = words[places]
    return packed
