"""A file that is made beside its name, and takes the name once it is whole."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def drafted(path: str | os.PathLike[str]) -> Iterator[str]:
    """The path of a file for the block to write, which replaces the one at `path` in the end.

    Where the block fails, the old one stays and nothing of the draft is left. Raises OSError.
    """
    target = os.path.realpath(os.fspath(path))
    if os.path.lexists(target) and not os.path.isfile(target):
        # The rename at the end would put a file in the place of a device.
        raise OSError(errno.EINVAL, "this is no regular file", os.fspath(path))
    draft = os.path.join(os.path.dirname(target), f".{secrets.token_hex(8)}.tmp")
    try:
        yield draft
        _sync(draft)
        os.replace(draft, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(draft)
        raise
    with contextlib.suppress(OSError):  # not all systems can
        _sync(os.path.dirname(target))  # so that the new name lasts through a power cut


def _sync(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
