"""Files of recorded pictures. A reel is a file of a few, each all rows or what differs from
the one before; nothing in it is ever changed, so that whoever reads needs no lock.

A picture is a fixed part (_FIXED: magic, lengths and XXH3 of head and body), a head in JSON
and a body: zstandard of packed words, or of the pixels of what is seen from afar. A file that
ends within a picture holds those before it.
"""

from __future__ import annotations

import contextlib
import json
import os
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import xxhash
import zstandard

from lifesim.errors import DamagedDataError, LifesimError
from lifesim.grid import BitGrid, check_size
from lifesim.render import MAX_SCALE
from lifesim.rule import Rule, RuleError
from lifesim.topology import Topology
from ui.cells.saving import Whole
from ui.film.stills import Afar, Rows, Still, grows_of, rows_of, scale_of

P = TypeVar("P")

SUFFIX = ".reel"
_MAGIC = b"LSR1"
_FIXED = struct.Struct("<4sIQQQ")
_MOST_HEAD = 1 << 16
_FARTHEST = 1 << 62  # cells, of a coordinate
_BAND = 1 << 22  # bytes of cells that are handled at once
_SAMPLE, _SAMPLES = 1 << 16, 16  # bytes of cells, places, that tell what is smaller
_LEVEL = 1
_LONGEST = 32  # pictures of a reel
_UNPACKED = 1 << 26  # bytes that may be unpacked for one picture, if that are four pictures


class RecordingError(LifesimError):
    """Raised for a picture that cannot be recorded, or is not there any more."""


class GoneError(Exception):
    """Raised where the reel has been replaced by another."""


@dataclass(frozen=True, slots=True)
class RecordedShot:
    """A recorded picture. serial: grows from picture to picture of a recording. nbytes: on the
    disk, from byte `start` of a file on. before: what its body is the difference to. scale: of
    what is seen from afar; 0 is all cells."""

    serial: int
    generation: int
    width: int
    height: int
    rule: Rule
    topology: Topology
    path: Path
    start: int
    nbytes: int
    before: RecordedShot | None
    scale: int = 0
    at: tuple[int, int] = (0, 0)
    grows: tuple[bool, bool] = (False, False)


class Reel:
    """Writes a file of recorded pictures.

    nbytes: so far.
    """

    def __init__(self, path: Path) -> None:
        """Make the file. Raises RecordingError where none can be made."""
        self.path, self.nbytes = path, 0
        self._shots = 0
        self._last: tuple[RecordedShot, Rows] | None = None
        with _told(path):
            self._handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)

    def takes(self, still: Still) -> bool:
        """Tell whether one more picture, of that size, has its place here."""
        if self._last is None:
            return True
        shot = self._last[0]
        most = min(max(4, _UNPACKED // rows_of(still).nbytes), _LONGEST)
        one = shot.width, shot.height, shot.scale, shot.rule.planes
        other = still.width, still.height, scale_of(still), still.rule.planes
        return one == other and self._shots < most

    def add(self, still: Still, serial: int, most: int) -> RecordedShot:
        """Append a picture, and keep its rows, which nobody changes any more.

        Raises RecordingError, where it takes more than `most` bytes, too; nothing has been added
        then.
        """
        before = self._last
        rows = rows_of(still)
        is_difference, body = _smaller(rows, before[1] if before else None)
        head = json.dumps(
            {
                "serial": serial,
                "generation": still.generation,
                "width": still.width,
                "height": still.height,
                "rule": str(still.rule),
                "topology": still.topology.value,
                "difference": is_difference,
                **({"scale": still.scale} if isinstance(still, Afar) else {}),
                "at": still.at,
                "grows": grows_of(still),
            }
        ).encode()
        length = sum(map(len, body))
        nbytes = _FIXED.size + len(head) + length
        if nbytes > most:
            raise RecordingError(f"a picture takes {nbytes:,} bytes, {most:,} may be recorded")
        checks = xxhash.xxh3_64_intdigest(head), _digest(body)
        self._write([_FIXED.pack(_MAGIC, len(head), length, *checks), head, *body])
        shot = RecordedShot(
            serial,
            still.generation,
            still.width,
            still.height,
            still.rule,
            still.topology,
            self.path,
            self.nbytes,
            nbytes,
            before[0] if before and is_difference else None,
            scale_of(still),
            still.at,
            grows_of(still),
        )
        self.nbytes += nbytes
        self._shots += 1
        self._last = shot, rows
        return shot

    def last_rows(self, serial: int) -> Rows | None:
        """Return the rows of a picture, if it is the last one here."""
        return self._last[1] if self._last and self._last[0].serial == serial else None

    def close(self) -> None:
        """Close the file."""
        os.close(self._handle)
        self._last = None

    def _write(self, parts: list[bytes]) -> None:
        try:
            with _told(self.path):
                for part in parts:
                    left = memoryview(part)
                    while left:
                        left = left[os.write(self._handle, left) :]
        except BaseException:
            with contextlib.suppress(OSError):
                os.ftruncate(self._handle, self.nbytes)
                os.lseek(self._handle, self.nbytes, os.SEEK_SET)
            raise


@contextlib.contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RecordingError(f"cannot record to {path}: {error.strerror or error}") from None


# --- bodies --------------------------------------------------------------------


def _smaller(words: Rows, before: Rows | None) -> tuple[bool, list[bytes]]:
    """Return the smaller encoding: the difference, if there is one, or all rows. Large ones are
    tried at some places only."""
    if before is None:
        return False, _packed(words)
    if words.nbytes <= _SAMPLE * _SAMPLES:
        both = _packed(words), _packed(words, before)
        is_difference = _length(both[1]) < _length(both[0])
        return is_difference, both[is_difference]
    rows = max(1, _SAMPLE // words[0].nbytes)
    lengths = [0, 0]
    for y in np.linspace(0, len(words) - rows, _SAMPLES).astype(int):
        band, old = words[y : y + rows], before[y : y + rows]
        lengths[0] += _length(_packed(band))
        lengths[1] += _length(_packed(band, old))
    is_difference = lengths[1] < lengths[0]
    return is_difference, _packed(words, before if is_difference else None)


def _packed(words: Rows, before: Rows | None = None) -> list[bytes]:
    compressor = zstandard.ZstdCompressor(level=_LEVEL).compressobj()
    parts = []
    step = max(1, _BAND // words[0].nbytes)
    for y in range(0, len(words), step):
        band = words[y : y + step]
        if before is not None:
            band = band ^ before[y : y + step]
        parts.append(compressor.compress(np.ascontiguousarray(band).view(np.uint8).data))
    parts.append(compressor.flush())
    return [part for part in parts if part]


def _length(body: list[bytes]) -> int:
    return sum(map(len, body))


def _digest(body: list[bytes]) -> int:
    digest = xxhash.xxh3_64()
    for part in body:
        digest.update(part)
    return digest.intdigest()


# --- reading -------------------------------------------------------------------


def shots_of(path: Path) -> list[RecordedShot]:
    """Return the pictures that a file holds, up to where it breaks off. Raises RecordingError for
    a rule that is not known here."""
    shots: list[RecordedShot] = []
    with contextlib.suppress(OSError), open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        start = 0
        while (found := _head(file.read(_FIXED.size), file.read)) is not None:
            head, length, _ = found
            end = file.tell() + length
            shot = _shot(head, path, start, end - start, shots[-1] if shots else None)
            if shot is None or end > size:
                break
            shots.append(shot)
            file.seek(end)
            start = end
    return shots


def is_reel(path: Path) -> bool:
    """Tell whether a file has been begun by a Reel: others are not to be touched."""
    if not (len(path.stem) == 10 and path.stem.isdecimal()):
        return False
    try:
        with open(path, "rb") as file:
            return file.read(len(_MAGIC)) in (b"", _MAGIC)
    except OSError:
        return False


def _head(fixed: bytes, read: Callable[[int], bytes]) -> tuple[dict[str, object], int, int] | None:
    """Return a head, the length of the body and its digest; None where it is none."""
    if len(fixed) != _FIXED.size:
        return None
    magic, length, body, check, body_check = _FIXED.unpack(fixed)
    if magic != _MAGIC or length > _MOST_HEAD:
        return None
    data = read(length)
    if xxhash.xxh3_64_intdigest(data) != check:
        return None
    try:
        head = json.loads(data)
    except ValueError:
        return None
    return (head, body, body_check) if isinstance(head, dict) else None


def _shot(
    head: dict[str, object], path: Path, start: int, nbytes: int, before: RecordedShot | None
) -> RecordedShot | None:
    numbers = [head.get(name) for name in ("serial", "generation", "width", "height")]
    numbers.append(head.get("scale", 0))
    try:
        name, topology = str(head["rule"]), Topology(str(head["topology"]))
        serial, generation, width, height, scale = (int(str(number)) for number in numbers)
    except (KeyError, ValueError):
        return None
    try:
        rule = Rule.parse(name)
    except RuleError as error:  # of a file that is not there: what was recorded is not damaged
        raise RecordingError(f"cannot show {path}: {error}") from None
    is_difference = bool(head.get("difference"))
    if min(width, height) < 1 or not 0 <= scale <= MAX_SCALE or (is_difference and before is None):
        return None
    other = before if is_difference else None
    if other:
        same = (other.width, other.height, other.scale) == (width, height, scale)
        if not same or other.rule.planes != rule.planes:
            return None
    at, grows = _pair(head.get("at", [0, 0]), int), _pair(head.get("grows", [False] * 2), bool)
    if at is None or grows is None or max(map(abs, at)) > _FARTHEST:
        return None
    size = width, height, rule, topology
    return RecordedShot(serial, generation, *size, path, start, nbytes, other, scale, at, grows)


def _pair(value: object, kind: type[P]) -> tuple[P, P] | None:
    if not isinstance(value, list) or [type(one) for one in value] != [kind, kind]:
        return None
    return value[0], value[1]


def still_of(shot: RecordedShot, known: tuple[int, Rows] | None = None) -> Still:
    """Return what a picture holds. known: the serial of a picture and its rows, which may save some
    work.

    Raises GoneError for a reel that is not there any more, DamagedDataError, GridError.
    """
    about = shot.rule, shot.topology, shot.generation
    if shot.scale:
        across, down = -(-shot.width >> shot.scale), -(-shot.height >> shot.scale)
        check_size(8 * across, down, 2)
        pixels = np.empty((down, across), np.uint8)
        _read(shot, pixels, known)
        return Afar(pixels, shot.scale, shot.width, shot.height, *about, shot.at)
    planes = shot.rule.planes
    check_size(shot.width, shot.height, 2 * planes)
    grid = BitGrid(shot.width, shot.height, planes=planes)
    _read(shot, grid.words, known)
    if shot.width % 64 and np.any(grid.words[..., -1] >> np.uint64(shot.width % 64)):
        raise _damaged(shot)
    if planes > 1 and grid.largest_state() >= shot.rule.states:
        raise _damaged(shot)
    return Whole(grid, *about, shot.at, shot.grows)


def _read(shot: RecordedShot, rows: Rows, known: tuple[int, Rows] | None) -> None:
    chain = [shot]
    while chain[-1].before and not (known and chain[-1].serial == known[0]):
        chain.append(chain[-1].before)
    first = chain.pop()
    if known and first.serial == known[0]:
        rows[:] = known[1]
    else:
        _unpack(first, rows, add=False)
    while chain:
        _unpack(chain.pop(), rows, add=True)


def _unpack(shot: RecordedShot, words: Rows, *, add: bool) -> None:
    try:
        with open(shot.path, "rb") as file:
            file.seek(shot.start)
            found = _head(file.read(_FIXED.size), file.read)
            if found is None:
                raise _damaged(shot)
            head, length, check = found
            body = file.read(min(length, shot.nbytes))
    except FileNotFoundError:
        raise GoneError from None
    except OSError as error:
        raise RecordingError(f"cannot read {shot.path}: {error.strerror or error}") from None
    if head.get("serial") != shot.serial or xxhash.xxh3_64_intdigest(body) != check:
        raise _damaged(shot)
    step = max(1, _BAND // words[0].nbytes)
    with zstandard.ZstdDecompressor().stream_reader(body) as reader:
        for y in range(0, len(words), step):
            target = words[y : y + step]
            part = np.empty_like(target) if add else target
            left = part.reshape(-1).view(np.uint8).data
            while left:
                try:
                    count = reader.readinto(left)
                except zstandard.ZstdError:
                    count = 0
                if not count:
                    raise _damaged(shot)
                left = left[count:]
            if add:
                target ^= part


def _damaged(shot: RecordedShot) -> DamagedDataError:
    return DamagedDataError(f"{shot.path}: generation {shot.generation:,} is damaged")
