"""One process at a time changes a universe; the system drops the lock of one that died."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import socket
import sys
import time

from lifesim.errors import LifesimError


class Lock:
    """Held from the start until close(). Raises LifesimError that names the owner."""

    def __init__(self, path: str, *, shared: bool = False) -> None:
        self._fd, self._shared = -1, shared
        how = os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            fd = os.open(path, how | (os.O_RDONLY if shared else os.O_RDWR), 0o666)
        except OSError as error:
            if shared and error.errno in (errno.EROFS, errno.EACCES):
                return  # where nobody could make it, nobody holds it
            raise
        try:
            fcntl.flock(fd, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except OSError as error:
            owner = _owner(fd)
            os.close(fd)
            if error.errno not in (errno.EAGAIN, errno.EACCES):
                if shared:
                    return
                raise
            folder = os.path.dirname(path)
            raise LifesimError(f"{folder}: in use by {owner}") from None
        self._fd = fd
        if not shared:
            facts = {
                "pid": os.getpid(),
                "host": socket.gethostname(),
                "command": os.path.basename(sys.argv[0]) if sys.argv else "",
                "since": time.strftime("%Y-%m-%d %H:%M:%S"),
            }
            with contextlib.suppress(OSError):  # a full disk is no reason not to hold it
                os.ftruncate(fd, 0)
                os.pwrite(fd, json.dumps(facts).encode() + b"\n", 0)

    def close(self) -> None:
        fd, self._fd = self._fd, -1
        if fd >= 0:
            if not self._shared:  # those who only share it say nothing of themselves
                with contextlib.suppress(OSError):
                    os.ftruncate(fd, 0)
            os.close(fd)


def _owner(fd: int) -> str:
    try:
        facts = json.loads(os.pread(fd, 4096, 0))
        return (
            f"process {facts['pid']} on {facts['host']} ({facts['command']}, "
            f"since {facts['since']})"
        )
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
