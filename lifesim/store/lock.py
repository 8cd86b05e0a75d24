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
from typing import Any

from lifesim.errors import LifesimError
from lifesim.store import disk

_MOST = 4096  # bytes of what a lock says
_LONGEST = 200  # characters of any part of it


class Lock:
    """A lock on a universe, which is held from the start until close().

    Raises LifesimError that names the owner, and OSError where something else than a plain file
    of the universe's own has its name.
    """

    def __init__(self, path: str, *, shared: bool = False) -> None:
        self._fd, self._shared = -1, shared
        try:
            fd = disk.open_plain(
                path, os.O_CREAT | (os.O_RDONLY if shared else os.O_RDWR), own=not shared
            )
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
        """Give the lock up."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            if not self._shared:  # those who only share it say nothing of themselves
                with contextlib.suppress(OSError):
                    os.ftruncate(fd, 0)
            os.close(fd)


def owner_facts(path: str) -> dict[str, Any]:
    """Return what the lock of that path says of who holds it; {} where it says nothing."""
    try:
        fd = disk.open_plain(path, os.O_RDONLY)
    except OSError:
        return {}
    try:
        return _facts(fd)
    finally:
        os.close(fd)


def _facts(fd: int) -> dict[str, Any]:
    """Return pid, an int, and host, command and since, each a line of text; {} where the lock does
    not say who holds it."""
    try:
        facts = json.loads(os.pread(fd, _MOST, 0))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(facts, dict) or type(facts.get("pid")) is not int:
        return {}
    texts = {name: facts.get(name, "?") for name in ("host", "command", "since")}
    if "host" not in facts or not all(isinstance(text, str) for text in texts.values()):
        return {}
    return {"pid": facts["pid"]} | {
        name: "".join(
            c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text[:_LONGEST]
        )
        for name, text in texts.items()
    }


def _owner(fd: int) -> str:
    facts = _facts(fd)
    if not facts:
        return "another process"
    return f"process {facts['pid']} on {facts['host']} ({facts['command']}, since {facts['since']})"
