"""Memory that can be taken: of the machine, of the container and within the process's limits.

Everything that asks how much memory is free asks here, so that all heed the same limits.
"""

from __future__ import annotations

import mmap
import threading
import time
from pathlib import Path

_UNKNOWN = 4 << 30
_RECENT = 0.1  # seconds for which recent_memory() stands by what it has found

_PROC = Path("/proc")
_CGROUPS = Path("/sys/fs/cgroup")


def available_memory(proc: Path = _PROC, cgroups: Path = _CGROUPS) -> int:
    """Return how many bytes can be taken without swapping, being refused or being killed.

    It is the least of what the machine has free (MemAvailable), what is left below the limits of
    each control group of version 1 or 2 that this process is in, their parents included, and what
    is left of the process's own limits (RLIMIT_AS, `ulimit -v`, and RLIMIT_DATA, `ulimit -d`).
    Without MemAvailable the machine counts as having 4 GiB free.
    """
    fields = _fields(proc / "meminfo")
    free = [fields["MemAvailable:"] * 1024 if "MemAvailable:" in fields else _UNKNOWN]
    for folder, names in _groups(proc, cgroups):
        free += _left_of_group(folder, *names)
    return min([*free, *_left_of_process(proc / "self")])


def resident_memory(proc: Path = _PROC) -> int:
    """Return the bytes of memory that this process has now; 0 where the system does not tell."""
    return 1024 * _fields(proc / "self" / "status").get("VmRSS:", 0)


class _Recent:
    """The last answer of available_memory(), and when it was given."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.told: tuple[float, int] | None = None


_recent = _Recent()


def recent_memory() -> int:
    """Return available_memory() as it was a tenth of a second ago at most.

    It is for defaults that are only a share of it, where a thousand small things are made one
    after the other: reading the files of /proc takes longer than they do.
    """
    with _recent.lock:
        now = time.monotonic()
        if _recent.told is None or not 0 <= now - _recent.told[0] < _RECENT:
            _recent.told = now, available_memory()
        return _recent.told[1]


# limits, usage, and what of the usage is only cached
_Names = tuple[tuple[str, ...], str, str]
_V2: _Names = (("memory.max", "memory.high"), "memory.current", "inactive_file")
_V1: _Names = (("memory.limit_in_bytes",), "memory.usage_in_bytes", "total_inactive_file")


def _groups(proc: Path, cgroups: Path) -> list[tuple[Path, _Names]]:
    """Return the folders that may limit this process, with the names of their files.

    A group's limit holds for all groups below it too, so that every parent is one of them.
    """
    # Inside a container its own group is the root that one sees.
    found = [(cgroups, _V2), (cgroups / "unified", _V2), (cgroups / "memory", _V1)]
    try:
        lines = (proc / "self" / "cgroup").read_text().splitlines()
    except OSError:
        return found
    for line in lines:
        _, controllers, path = (*line.split(":", 2), "", "")[:3]
        parts = [part for part in path.split("/") if part]
        if ".." in parts:
            continue
        if controllers == "":
            roots, names = [cgroups, cgroups / "unified"], _V2
        elif "memory" in controllers.split(","):
            roots, names = [cgroups / "memory"], _V1
        else:
            continue
        for root in roots:
            found += [(root.joinpath(*parts[:k]), names) for k in range(1, len(parts) + 1)]
    return found


def _left_of_group(
    folder: Path, limits: tuple[str, ...], usage: str, reclaimable: str
) -> list[int]:
    """Return the bytes below the limits, [] without any; the file cache counts as free."""
    most = [limit for name in limits if (limit := _number(folder / name)) is not None]
    used = _number(folder / usage)
    if not most or used is None:
        return []
    stat = _fields(folder / "memory.stat")
    # Of version 1: the least limit of the parents too, which a container may not see.
    most += [stat[name] for name in ("hierarchical_memory_limit",) if name in stat]
    return [max(0, min(most) - max(0, used - stat.get(reclaimable, 0)))]


_LIMITS = (("Max address space", 0), ("Max data size", 5))  # with their fields of statm, in pages


def _left_of_process(folder: Path) -> list[int]:
    """Return what is left of each limit of this process's own; [] without limits."""
    try:
        limits = (folder / "limits").read_text().splitlines()
        pages = [int(field) for field in (folder / "statm").read_text().split()]
    except (OSError, ValueError):
        return []
    left = []
    for name, field in _LIMITS:
        for line in limits:
            soft = line.removeprefix(name).split()[:1]
            if line.startswith(name) and soft and soft[0].isdigit() and field < len(pages):
                left.append(max(0, int(soft[0]) - pages[field] * mmap.PAGESIZE))
    return left


def _number(path: Path) -> int | None:
    """Return the number that a file holds; None without one: "max" stands for no limit."""
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None


def _fields(path: Path) -> dict[str, int]:
    """Return a file of lines that are a name and a number; {} if it cannot be read."""
    try:
        rows = [line.split() for line in path.read_text().splitlines()]
    except OSError:
        return {}
    return {row[0]: int(row[1]) for row in rows if len(row) > 1 and row[1].isdigit()}
