"""Who takes part: whether all have the same code, and what each computes on."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import platform
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bulkbits.version import DISTRIBUTION, version

from .errors import ClusterError, line_of

if TYPE_CHECKING:
    from .scheduler import Scheduler

# What tasks run; device sources are compiled where they run.
_PACKAGES = ("arith", "bulkbits", "ckyparse", "kernels", "lifesim")
_SOURCES = (".py", ".cu", ".hpp")


@dataclass(frozen=True, slots=True)
class Code:
    """The code that a process runs; two of different digests might compute different things."""

    version: str
    digest: str
    python: str

    def __str__(self) -> str:
        return f"{self.version} ({self.digest[:8]})"


@functools.cache
def code() -> Code:
    """Return the code of the packages that this process would import."""
    found = hashlib.blake2b(digest_size=16)
    for package in _PACKAGES:
        spec = importlib.util.find_spec(package)
        assert spec
        for folder in spec.submodule_search_locations or ():
            root = Path(folder)
            paths = [p for p in root.rglob("*") if p.suffix in _SOURCES]
            for path in sorted(paths, key=lambda p: p.relative_to(root).as_posix()):
                data = path.read_bytes()
                name = f"{package}/{path.relative_to(root).as_posix()}"
                found.update(f"{name}\0{len(data)}\0".encode() + data)
    return Code(version(), found.hexdigest(), platform.python_version())


@dataclass(frozen=True, slots=True)
class Place:
    """The host and process that something runs on, and its code."""

    host: str
    pid: int
    code: Code


def place() -> Place:
    """Return the place of this process."""
    return Place(socket.gethostname(), os.getpid(), code())


@dataclass(frozen=True, slots=True)
class WorkerFacts:
    """A worker: where it is, what computes there, with how many CPU threads, and how many
    bytes of host memory are its own to take."""

    name: str
    address: str
    host: str
    pid: int
    code: Code
    backend: str
    description: str
    threads: int
    memory: int


def take(scheduler: Scheduler, addresses: Mapping[str, str]) -> dict[str, Place]:
    """Return the place of each worker, by name. Raises ClusterError for one that has other code.

    addresses: of the workers, by name.
    """
    with scheduler.kept_up():
        # First by what every Python has: a worker that lacks the package cannot be asked more.
        _check(scheduler, *scheduler.ask(addresses, metadata.version, DISTRIBUTION))
        own, workers = scheduler.ask(addresses, place)
    _check(scheduler, own, workers)
    others = [
        (who, found)
        for who, found in _titled(scheduler, own, workers)
        if found.code.digest != code().digest
    ]
    if others:
        who, found = others[0]
        more = f", and {len(others) - 1} more have other code, too" if others[1:] else ""
        raise ClusterError(
            f"{who} on {found.host} has {DISTRIBUTION} {found.code}, this command "
            f"{code()}: they might differ{more}"
        )
    return workers


def _titled(scheduler: Scheduler, own: Any, workers: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield who answered, as messages name them, and what."""
    yield f"the scheduler {scheduler.address}", own
    yield from ((f"worker {name}", found) for name, found in workers.items())


def _check(scheduler: Scheduler, own: Any, workers: dict[str, Any]) -> None:
    """Raise ClusterError where an answer is an exception."""
    for who, found in _titled(scheduler, own, workers):
        if isinstance(found, metadata.PackageNotFoundError):
            raise ClusterError(f"{who} has no {DISTRIBUTION}: install it there")
        if isinstance(found, BaseException):
            raise ClusterError(f"{who} does not answer: {line_of(found)}")
