"""A film of a run, on disk: any picture of it can be seen again at once.

The files (ui.film.reels) stay within a budget: where they exceed it, pictures are left out so that
the distances between the rest stay as even as they can be, the oldest first. New files are
written before old ones go, and a file that breaks off is as good as up to there, so that
whoever is killed loses the last picture at most.
"""

from __future__ import annotations

import heapq
import os
import shutil
import tempfile
import threading
import time
import weakref
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

from lifesim.errors import LifesimError
from lifesim.render import format_scale
from lifesim.store.lock import Lock
from ui.cells.saving import Whole
from ui.film.reels import (
    SUFFIX,
    GoneError,
    RecordedShot,
    RecordingError,
    Reel,
    is_reel,
    shots_of,
    still_of,
)
from ui.film.stills import AfarSource, Rows, Still, rows_of, scale_of
from ui.picture.coloured import source_of
from ui.picture.sources import MemorySource

__all__ = ["RecordedShot", "Recording", "RecordingError", "Seen"]

_PREFIX, _LOCK = "lifesim-recording-", "recording.lock"
_MOST, _SHARE = 8 << 30, 4  # bytes on disk; of what is free
_LEAST = 1 << 22
_ROOM = 4  # one part in so many of the budget is made free at once
_AT_ONCE = 8  # reels that are written anew before the old ones go
_YOUNG = 60.0  # seconds, of a folder that may not be locked yet

Seen = MemorySource | AfarSource


class Recording:
    """Recorded pictures in the files of a folder.

    One thread adds, any may look. folder: where it lies. nbytes: of its files.
    """

    def __init__(self, folder: str | None = None, budget: int | None = None) -> None:
        """Record in a temporary folder, which goes with close(), or in one that is made or that
        holds a recording, which is then gone on with.

        budget: bytes; a share of what is free on the disk, unless told. Raises LifesimError
        for a folder that cannot be used, or is in use, and for recordings by rules whose files are
        not found.
        """
        self.is_temporary = folder is None
        try:
            if folder is None:
                _sweep()
                folder = tempfile.mkdtemp(prefix=_PREFIX)
            os.makedirs(folder, exist_ok=True)
            self._lock = Lock(os.path.join(folder, _LOCK))
            free = shutil.disk_usage(folder).free
        except OSError as error:
            where = folder or tempfile.gettempdir()
            raise RecordingError(f"cannot record to {where}: {error.strerror or error}") from None
        self.folder = Path(folder)
        if self.is_temporary:
            self._remove = weakref.finalize(self, shutil.rmtree, folder, True)
        self.nbytes = 0
        self._changing = threading.Lock()
        self._shots: list[RecordedShot] = []
        self._holders = 1
        self._seen: tuple[int, Rows, Seen] | None = None
        self._reel: Reel | None = None
        self._files = 0
        try:
            self._load()
        except BaseException:
            self._lock.close()
            raise
        self.budget = budget or max(min(_MOST, (free + self.nbytes) // _SHARE), _LEAST)

    def _load(self) -> None:
        known: dict[int, RecordedShot] = {}
        for path in sorted(self.folder.glob(f"*{SUFFIX}")):
            fresh = [shot for shot in shots_of(path) if shot.serial not in known]
            known.update((shot.serial, shot) for shot in fresh)
            with suppress(ValueError):
                self._files = max(self._files, int(path.stem))
            if not fresh and is_reel(path):
                with suppress(OSError):
                    path.unlink()
        self._shots = [known[serial] for serial in sorted(known)]
        self._count()

    def _count(self) -> None:
        paths = {shot.path for shot in self._shots}
        total = 0
        for path in paths:
            with suppress(OSError):
                total += path.stat().st_size
        self.nbytes = total

    # --- looking ---------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._shots)

    @property
    def shots(self) -> list[RecordedShot]:
        """Return the pictures in the order they were taken; generations may go back."""
        with self._changing:
            return self._shots.copy()

    def shot(self, number: int) -> RecordedShot:
        """Return a picture, counted from 0; the last one where there are fewer. Raises
        RecordingError for none."""
        with self._changing:
            if not self._shots:
                raise RecordingError("nothing has been recorded")
            return self._shots[min(max(number, 0), len(self._shots) - 1)]

    def number_of(self, serial: int) -> int:
        """Return the number of a picture, or where it has been left out, of the next one."""
        with self._changing:
            at = bisect_left(self._shots, serial, key=lambda shot: shot.serial)
            return min(at, max(0, len(self._shots) - 1))

    def find(self, generation: int) -> int | None:
        """Return the number of the picture of a generation, or of the nearest before it; of several
        the last. None where there is none."""
        best = None
        shots = self.shots
        for number, shot in enumerate(shots):
            if shot.generation <= generation and (
                best is None or shot.generation >= shots[best].generation
            ):
                best = number
        return best

    def source(self, shot: RecordedShot) -> Seen:
        """Return what to draw a picture from. Raises as still() does."""
        with self._changing:
            seen = self._seen
        if seen and seen[0] == shot.serial:
            return seen[2]
        still = self.still(shot)
        source: Seen
        if isinstance(still, Whole):
            about = still.cells, still.rule, still.generation
            source = source_of(*about, at=still.at, grows=any(still.grows))
        else:
            source = AfarSource(still)
        with self._changing:
            self._seen = shot.serial, rows_of(still), source
        return source

    def whole(self, shot: RecordedShot) -> Whole:
        """Return all cells of a picture. Raises RecordingError where they are not recorded, and as
        still() does."""
        still = self.still(shot)
        if not isinstance(still, Whole):
            what = f"generation {shot.generation:,} is recorded at {format_scale(shot.scale)} only"
            raise RecordingError(what)
        return still

    def still(self, shot: RecordedShot) -> Still:
        """Return what was recorded. Raises RecordingError for a picture that has been left out
        meanwhile, DamagedDataError, GridError."""
        with self._changing:
            seen = self._seen
        known = seen[:2] if seen else None
        serial = shot.serial
        while True:
            try:
                return still_of(shot, known)
            except GoneError:
                # Another file may have it by now.
                gone, shot = shot, self.shot(self.number_of(serial))
                if shot.serial != serial or shot == gone:
                    what = f"generation {gone.generation:,} is not recorded any more"
                    raise RecordingError(what) from None

    # --- adding ----------------------------------------------------------------

    def add(self, still: Still) -> bool:
        """Record a picture, which nobody changes any more; not if it is the last one
        again. Raises RecordingError where it cannot be written or exceeds the budget."""
        last = self._shots[-1] if self._shots else None
        if last and self._is(last, still):
            return False
        if self._reel and not self._reel.takes(still):
            self._end_reel()
        self._reel = self._reel or self._new_reel()
        shot = self._reel.add(still, last.serial + 1 if last else 0, self.budget)
        with self._changing:
            self._shots.append(shot)
            self.nbytes += shot.nbytes
        if self.nbytes > self.budget:
            self._end_reel()
            self._thin()
        return True

    def _is(self, shot: RecordedShot, still: Still) -> bool:
        rows = self._reel.last_rows(shot.serial) if self._reel else None
        one, other = (
            (some.generation, some.width, some.height, some.rule, some.topology, some.at)
            for some in (shot, still)
        )
        same = one == other and shot.scale == scale_of(still)
        return same and rows is not None and bool((rows == rows_of(still)).all())

    def _new_reel(self) -> Reel:
        self._files += 1
        return Reel(self.folder / f"{self._files:010d}{SUFFIX}")

    def _end_reel(self) -> None:
        if self._reel:
            self._reel.close()
            self._reel = None

    # --- leaving out -----------------------------------------------------------

    def _thin(self) -> None:
        target = self.budget - self.budget // _ROOM
        while self.nbytes > target and len(self._shots) > 1:
            drop = to_drop(self._shots, self.nbytes - target)
            for portion in _portions(self._shots, drop):
                self._rewrite(portion, drop)

    def _rewrite(self, old: list[RecordedShot], drop: set[int]) -> None:
        """Write those of some reels that stay to new ones."""
        new: list[RecordedShot] = []
        reel: Reel | None = None
        known: tuple[int, Rows] | None = None
        try:
            for shot in old:
                if shot.serial in drop:
                    continue
                still = still_of(shot, known)
                known = shot.serial, rows_of(still)
                if reel and not reel.takes(still):
                    reel.close()
                    reel = None
                reel = reel or self._new_reel()
                new.append(reel.add(still, shot.serial, self.budget))
        except BaseException as error:
            for path in {shot.path for shot in new}:
                with suppress(OSError):
                    path.unlink()
            if isinstance(error, GoneError):
                raise RecordingError(f"{self.folder}: recorded files are gone") from None
            raise
        finally:
            if reel:
                reel.close()
        with self._changing:
            first = self._shots.index(old[0])
            self._shots[first : first + len(old)] = new
        for path in {shot.path for shot in old}:
            with suppress(OSError):
                path.unlink()
        self._count()

    def hold(self) -> None:
        """Keep it open for one more close(). For the main thread, before the last one."""
        with self._changing:
            self._holders += 1

    def close(self) -> None:
        """Let go of it: once nobody holds it, a temporary recording is gone, another one stays."""
        with self._changing:
            self._holders -= 1
            if self._holders:
                return
        self._end_reel()
        self._lock.close()
        if self.is_temporary:
            self._remove()


def to_drop(shots: list[RecordedShot], nbytes: int) -> set[int]:
    """Return the serials of pictures that hold so many bytes: those between close neighbours first,
    of equal ones the oldest. The first, the last, and those where generations turn stay; if there
    are no others, the oldest go."""
    times = [0]
    for one, next_ in pairwise(shots):
        times.append(times[-1] + max(1, abs(next_.generation - one.generation)))
    before, after = list(range(-1, len(shots) - 1)), list(range(1, len(shots) + 1))

    def may_go(at: int) -> bool:
        if not 0 < at < len(shots) - 1:
            return False
        one, two, three = (shots[k].generation for k in (at - 1, at, at + 1))
        return one <= two <= three

    heap = [(times[k + 1] - times[k - 1], k) for k in range(len(shots)) if may_go(k)]
    heapq.heapify(heap)
    dropped: set[int] = set()
    while heap and nbytes > 0:
        gap, at = heapq.heappop(heap)
        left, right = before[at], after[at]
        if shots[at].serial in dropped or gap != times[right] - times[left]:
            continue
        dropped.add(shots[at].serial)
        nbytes -= shots[at].nbytes
        after[left], before[right] = right, left
        for near in (left, right):
            if may_go(near):
                heapq.heappush(heap, (times[after[near]] - times[before[near]], near))
    if not dropped:
        for shot in shots[:-1]:
            if nbytes <= 0:
                break
            dropped.add(shot.serial)
            nbytes -= shot.nbytes
    return dropped


def _portions(shots: list[RecordedShot], drop: set[int]) -> Iterator[list[RecordedShot]]:
    """Yield the pictures of a few neighbouring reels at a time, of those that lose some."""
    reels: list[list[RecordedShot]] = []
    for shot in shots:
        if not reels or reels[-1][-1].path != shot.path:
            reels.append([])
        reels[-1].append(shot)
    portion: list[RecordedShot] = []
    count = 0
    for reel in reels:
        loses = any(shot.serial in drop for shot in reel)
        if portion and (not loses or count == _AT_ONCE):
            yield portion
            portion, count = [], 0
        if loses:
            portion, count = portion + reel, count + 1
    if portion:
        yield portion


def _sweep() -> None:
    """Remove what viewers have left behind that were killed."""
    with suppress(OSError):
        for entry in os.scandir(tempfile.gettempdir()):
            with suppress(OSError, LifesimError):
                if not entry.name.startswith(_PREFIX) or not entry.is_dir(follow_symlinks=False):
                    continue
                facts = entry.stat(follow_symlinks=False)
                lock = os.path.join(entry.path, _LOCK)
                if facts.st_uid != os.getuid() or time.time() - facts.st_mtime < _YOUNG:
                    continue
                if os.path.exists(lock):
                    held = Lock(lock)
                    shutil.rmtree(entry.path, ignore_errors=True)
                    held.close()
