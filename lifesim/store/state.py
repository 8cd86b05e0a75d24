"""Read what is on disk of a universe at one moment: the manifest, and the phase under way."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator

from lifesim.errors import DamagedDataError, LifesimError
from lifesim.store import disk
from lifesim.store.manifest import Manifest, Phase, read_journal, read_manifest
from lifesim.store.names import JOURNAL, MANIFEST
from lifesim.store.sealed import HEAD

_MOST_BYTES = 1 << 29  # of a manifest or journal: of the most tiles there can be, and more


@contextlib.contextmanager
def disk_errors(path: str) -> Iterator[None]:
    """Turn what the system refuses into one line that names the universe."""
    try:
        yield
    except OSError as error:
        place = error.filename if isinstance(error.filename, str) else path
        if isinstance(error, disk.StrangerError):
            raise DamagedDataError(f"{place}: {error.strerror}") from None
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            free = disk.free_bytes(path) if os.path.isdir(path) else 0
            again = " and go on with `lifesim resume`" if _can_be_resumed(path) else ""
            raise LifesimError(
                f"{path}: the disk is full ({free / 1e6:,.0f} MB free): make room{again}"
            ) from None
        raise LifesimError(f"{place}: {error.strerror or error}") from None


def _can_be_resumed(path: str) -> bool:
    """Tell whether a run of the universe at a path is under way."""
    if os.path.exists(os.path.join(path, JOURNAL)):
        return True
    try:
        return read_manifest(manifest_bytes(path), path).run is not None
    except (OSError, LifesimError):
        return False


def check_folder(path: str) -> None:
    """Raise DamagedDataError where a link has the name of a universe's own folder."""
    if os.path.islink(path):
        with disk_errors(path):
            raise disk.NoFolderError(path)


def read_state(path: str) -> tuple[Manifest, Phase | None, int]:
    """Return manifest and journal of the same moment, whoever changes them meanwhile; last, how
    many bytes of the journal hold the phase. Raises as read_manifest() and read_journal()."""
    at = os.path.join(path, MANIFEST)
    data = _bytes_of(at)
    while True:
        manifest = read_manifest(data or b"", at)
        journal = _bytes_of(os.path.join(path, JOURNAL))
        again = _bytes_of(at)
        if again == data:
            break
        data = again
    return manifest, *_phase_of(journal, path, manifest)


def manifest_bytes(path: str) -> bytes:
    """Return the bytes of the manifest of a universe directory. OSError where there is none."""
    return disk.read_file(os.path.join(path, MANIFEST), _MOST_BYTES, HEAD)


def read_phase(path: str, manifest: Manifest) -> tuple[Phase | None, int]:
    """Return the phase under way as the journal has it by now, as read_journal()."""
    return _phase_of(_bytes_of(os.path.join(path, JOURNAL)), path, manifest)


def _phase_of(journal: bytes | None, path: str, manifest: Manifest) -> tuple[Phase | None, int]:
    if journal is None:
        return None, 0
    return read_journal(journal, manifest, os.path.join(path, JOURNAL))


def _bytes_of(path: str) -> bytes | None:
    """Return all of a file, None where there is none, and of what is none of a universe's no more
    than shows that."""
    try:
        return disk.read_file(path, _MOST_BYTES, HEAD)
    except FileNotFoundError:
        return None
