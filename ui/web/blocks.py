"""Blocks of tiles as bytes: drawn, compressed, and kept for the next who asks."""

from __future__ import annotations

import hashlib
import threading
import zlib
from collections import OrderedDict
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lifesim.render import PALETTES, palette_table
from ui.picture.draw import draw, painted
from ui.picture.request import FrameRequest
from ui.picture.sources import PictureSource, lacks
from ui.picture.viewport import Viewport
from ui.web.board import Board
from ui.web.orders import SIDE, BlockKey

BUDGET = 64 << 20  # bytes of blocks that are kept


class PictureBlock(NamedTuple):
    """A block of tiles.

    body: gzip of its tiles, one after the other, row by row; each is uint8 (256, 256), densities,
    or (256, 256, 3), colours. tag: a digest of the tiles. is_whole: False where some of it will be
    sharper, once more has been read.
    """

    version: int
    body: bytes
    channels: int
    tag: str
    is_whole: bool


def tiles_of(source: PictureSource, key: BlockKey) -> npt.NDArray[np.uint8]:
    """Draw the tiles of a block: uint8 (tiles, 256, 256), or (tiles, 256, 256, 3) in colours.
    Outside of the universe is what dead cells look like."""
    view = Viewport(SIDE * key.x, SIDE * key.y, key.scale, SIDE * key.width, SIDE * key.height)
    pixels = painted(draw(FrameRequest(view), source))
    cut = pixels.reshape(key.height, SIDE, key.width, SIDE, *pixels.shape[2:])
    return np.ascontiguousarray(cut.swapaxes(1, 2)).reshape(-1, SIDE, SIDE, *pixels.shape[2:])


def _compressed(data: bytes, channels: int) -> bytes:
    """Return gzip of pixels. Densities are runs and noise: to look for runs only takes half the
    time and a quarter of the bytes off. Colours repeat themselves every third byte."""
    strategy = zlib.Z_RLE if channels == 1 else zlib.Z_DEFAULT_STRATEGY
    packer = zlib.compressobj(1, zlib.DEFLATED, 16 + zlib.MAX_WBITS, zlib.DEF_MEM_LEVEL, strategy)
    return packer.compress(data) + packer.flush()


@cache
def palettes() -> dict[str, list[int]]:
    """Return the colours of the 256 densities by the names of palettes: red, green, blue and so
    on."""
    return {name: palette_table(name).ravel().tolist() for name in PALETTES}


class Blocks:
    """Makes the blocks of a board, and keeps those made last. Any thread may call it."""

    def __init__(self, board: Board, budget: int = BUDGET) -> None:
        self._board, self._budget = board, budget
        self._kept: OrderedDict[tuple[int, BlockKey], PictureBlock] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def block(self, key: BlockKey, version: int) -> PictureBlock:
        """Return a block of a version, or of the newest one where that is gone. Raises LifesimError
        where cells cannot be read."""
        with self._lock:
            found = self._kept.get((version, key))
            if found:
                self._kept.move_to_end((version, key))
                return found
        shot = self._board.shot(version)
        tiles = tiles_of(shot.source, key)
        data = tiles.tobytes()
        tag = hashlib.blake2b(data, digest_size=12).hexdigest()
        channels = 3 if tiles.ndim == 4 else 1
        with self._lock:
            before = self._kept.get((shot.version - 1, key))
        is_same = before is not None and before.tag == tag  # as most blocks of a run are
        body = before.body if before and is_same else _compressed(data, channels)
        made = PictureBlock(shot.version, body, channels, tag, not lacks(shot.source))
        if made.is_whole:
            self._keep((made.version, key), made)
        return made

    def _keep(self, at: tuple[int, BlockKey], block: PictureBlock) -> None:
        with self._lock:
            before = self._kept.pop(at, None)
            self._kept[at] = block
            self._bytes += len(block.body) - (len(before.body) if before else 0)
            while self._bytes > self._budget:
                _, old = self._kept.popitem(last=False)
                self._bytes -= len(old.body)
