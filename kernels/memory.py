"""How much memory can be taken: of the machine, and of the container that this runs in."""

from __future__ import annotations

from pathlib import Path

_UNKNOWN = 4 << 30


def available_memory(proc: Path = Path("/proc"), cgroups: Path = Path("/sys/fs/cgroup")) -> int:
    """Bytes that can be taken without swapping or being killed; 4 GiB where nothing tells.

    The least of what the machine has free (MemAvailable) and what is left below the
    limit of each control group, of version 1 or 2, that this process is in.
    """
    free = [_UNKNOWN]
    fields = _fields(proc / "meminfo")
    if "MemAvailable:" in fields:
        free = [fields["MemAvailable:"] * 1024]
    for folder, names in _groups(proc, cgroups):
        left = _left(folder, *names)
        if left is not None:
            free.append(left)
    return min(free)


_V2 = ("memory.max", "memory.current", "inactive_file")
_V1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")


def _groups(proc: Path, cgroups: Path) -> list[tuple[Path, tuple[str, str, str]]]:
    """Folders that may limit this process, with the names of their files."""
    # Inside a container its own group is the root that one sees.
    found = [(cgroups, _V2), (cgroups / "memory", _V1)]
    try:
        lines = (proc / "self" / "cgroup").read_text().splitlines()
    except OSError:
        return found
    for line in lines:
        _, controllers, path = (*line.split(":", 2), "", "")[:3]
        relative = path.strip("/")
        if relative and ".." not in relative:
            if controllers == "":
                found.append((cgroups / relative, _V2))
            elif "memory" in controllers.split(","):
                found.append((cgroups / "memory" / relative, _V1))
    return found


def _left(folder: Path, limit: str, usage: str, reclaimable: str) -> int | None:
    """Bytes below the limit, counting the file cache as free; None without a limit."""
    try:
        most = int((folder / limit).read_text())
        used = int((folder / usage).read_text())
    except (OSError, ValueError):  # "max" is no number, and no limit
        return None
    cache = _fields(folder / "memory.stat").get(reclaimable, 0)
    return max(0, most - max(0, used - cache))


def _fields(path: Path) -> dict[str, int]:
    """A file of lines that are a name and a number; {} if it cannot be read."""
    try:
        rows = [line.split() for line in path.read_text().splitlines()]
    except OSError:
        return {}
    return {row[0]: int(row[1]) for row in rows if len(row) > 1 and row[1].isdigit()}
