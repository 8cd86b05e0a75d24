"""Thumbnails that are kept on disk, in the user's cache folder.

A file is named after a digest of what it is of, and begins with a digest of its own content. What
does not fit is taken for missing, so a damaged file costs no more than drawing once again.
"""

from __future__ import annotations

import hashlib
import os
import struct
import zlib
from contextlib import suppress
from pathlib import Path

import numpy as np

from kernels.draft import Draft
from ui.start.thumbnails import HIGHEST, WIDEST, Thumbnail

_MAGIC = b"lifethm1"
_DIGEST = 16  # bytes
_FACTS = struct.Struct("<HHB")  # width, height and channels
_MOST_FILE = 1 << 18  # bytes: more than any thumbnail takes
_END = ".thumbnail"
MOST_FILES, MOST_BYTES = 2000, 16 << 20  # that are kept, once trim() has been called


def cache_folder() -> Path:
    """Return the folder of thumbnails, of this user."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "bulkbits" / "thumbnails"


class ThumbnailCache:
    """Keeps thumbnails in files of one folder. What the system refuses is passed over: then
    nothing is kept. Any thread may call."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, fingerprint: str) -> Thumbnail | None:
        """Return the thumbnail that was put under this fingerprint, None where there is none, or
        none that is whole."""
        path = self._path(fingerprint)
        try:
            with open(path, "rb") as file:
                data = file.read(_MOST_FILE + 1)
        except OSError:
            return None
        found = _unpacked(data)
        with suppress(OSError):
            if found is None:
                os.unlink(path)
            else:
                os.utime(path)  # trim() removes those first that were not used for longest
        return found

    def put(self, fingerprint: str, thumbnail: Thumbnail) -> None:
        """Keep a thumbnail."""
        path = self._path(fingerprint)
        with suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with Draft(path) as draft:
                draft.append(_packed(thumbnail))

    def trim(self, most_files: int = MOST_FILES, most_bytes: int = MOST_BYTES) -> None:
        """Remove the thumbnails that were not used for longest, until so many are left."""
        found: list[tuple[float, int, str]] = []
        with suppress(OSError), os.scandir(self._folder) as entries:
            for entry in entries:
                if entry.name.endswith(_END):
                    with suppress(OSError):
                        facts = entry.stat(follow_symlinks=False)
                        found.append((facts.st_mtime, facts.st_size, entry.path))
        files = taken = 0
        for _, size, path in sorted(found, reverse=True):
            files, taken = files + 1, taken + size
            if files > most_files or taken > most_bytes:
                with suppress(OSError):
                    os.unlink(path)

    def _path(self, fingerprint: str) -> Path:
        data = os.fsencode(fingerprint)
        return self._folder / (hashlib.blake2b(data, digest_size=_DIGEST).hexdigest() + _END)


def _packed(thumbnail: Thumbnail) -> bytes:
    pixels = np.ascontiguousarray(thumbnail.pixels)
    height, width = pixels.shape[:2]
    facts = _FACTS.pack(width, height, 1 if pixels.ndim == 2 else 3)
    body = facts + zlib.compress(pixels.tobytes(), 6)
    return _MAGIC + hashlib.blake2b(body, digest_size=_DIGEST).digest() + body


def _unpacked(data: bytes) -> Thumbnail | None:
    """Return the thumbnail of a file's content; None for what is not just as _packed() made it."""
    start = len(_MAGIC) + _DIGEST
    body = data[start:]
    right = _MAGIC + hashlib.blake2b(body, digest_size=_DIGEST).digest()
    if len(data) > _MOST_FILE or data[:start] != right or len(body) < _FACTS.size:
        return None
    width, height, channels = _FACTS.unpack_from(body)
    if not (0 < width <= WIDEST and 0 < height <= HIGHEST and channels in (1, 3)):
        return None
    size = width * height * channels
    try:
        pixels = zlib.decompressobj().decompress(body[_FACTS.size :], size + 1)
    except zlib.error:
        return None
    if len(pixels) != size:
        return None
    shape = (height, width) if channels == 1 else (height, width, 3)
    return Thumbnail(np.frombuffer(pixels, np.uint8).reshape(shape))
