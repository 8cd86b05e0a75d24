"""Who takes part: whether all have the same code, and what each computes on."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import platform
import socket
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

DISTRIBUTION = "bulkbits"
# What tasks run; device sources are compiled where they run.
_PACKAGES = ("arith", "ckyparse", "kernels", "lifesim")
_SOURCES = (".py", ".cu", ".hpp")


@dataclass(frozen=True, slots=True)
class Code:
    """Two of different digests might compute different things."""

    version: str
    digest: str
    python: str

    def __str__(self) -> str:
        return f"{self.version} ({self.digest[:8]})"


@functools.cache
def code() -> Code:
    """Of the packages that this process would import."""
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
    return Code(metadata.version(DISTRIBUTION), found.hexdigest(), platform.python_version())


@dataclass(frozen=True, slots=True)
class Place:
    """Where a process runs."""

    host: str
    pid: int
    code: Code


def place() -> Place:
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
