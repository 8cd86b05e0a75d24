"""Draws thumbnails in a thread of its own, those first that were asked for last."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress

from lifesim.cancelling import ReadCancelledError
from lifesim.errors import LifesimError
from ui.start.kept import ThumbnailCache
from ui.start.thumbnails import Thumbnail, ThumbnailError, drawn, fingerprint

_MOST_WANTED = 200  # of those that were asked for first, nobody looks at any more

Told = Callable[[str, Thumbnail | ThumbnailError], None]


class ThumbnailPainter:
    """Takes paths, and tells of each its thumbnail, or why there is none.

    told: is called in the painter's thread. draw: makes a thumbnail, as thumbnails.drawn() does.
    """

    def __init__(
        self,
        cache: ThumbnailCache,
        told: Told,
        draw: Callable[[str, Callable[[], bool]], Thumbnail] = drawn,
    ) -> None:
        self._cache, self._told, self._draw = cache, told, draw
        self._wanted: dict[str, None] = {}
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._busy: str | None = None

    def want(self, path: str, *, again: bool = False) -> None:
        """Ask for a thumbnail, before those that were asked for earlier. Of many, the one that was
        asked for first is forgotten.

        again: the file may have changed by now; else one that is being drawn is not drawn twice.
        """
        with self._changed:
            if self._closed or (path == self._busy and not again):
                return
            self._wanted.pop(path, None)
            self._wanted[path] = None
            if len(self._wanted) > _MOST_WANTED:
                del self._wanted[next(iter(self._wanted))]
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="thumbnails", daemon=True)
                self._thread.start()
            self._changed.notify()

    def close(self) -> None:
        """Tell of nothing more; the thread ends soon."""
        with self._changed:
            self._closed = True
            self._wanted.clear()
            self._changed.notify()

    def _work(self) -> None:
        self._cache.trim()
        while True:
            with self._changed:
                while not (self._wanted or self._closed):
                    self._changed.wait()
                if self._closed:
                    return
                path = self._busy = self._wanted.popitem()[0]
            with suppress(ReadCancelledError):
                self._tell(path, self._thumbnail(path))

    def _tell(self, path: str, found: Thumbnail | ThumbnailError) -> None:
        with self._changed:
            self._busy = None
            if not self._closed:
                self._told(path, found)

    def _thumbnail(self, path: str) -> Thumbnail | ThumbnailError:
        """Return what is kept of a path, or draw it and keep it."""
        try:
            key = fingerprint(path)
            found = self._cache.get(key)
            if found is None:
                found = self._draw(path, lambda: self._closed)
                self._cache.put(key, found)
            return found
        except ThumbnailError as error:
            return error
        except ReadCancelledError:
            raise
        except LifesimError:
            return ThumbnailError("cannot be read")
