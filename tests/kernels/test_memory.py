"""available_memory() on made-up machines and containers."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernels.memory import available_memory

MIB = 1 << 20


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """Eight MiB free, and no control groups."""
    write(tmp_path / "proc" / "meminfo", "MemTotal: 16384 kB\nMemAvailable: 8192 kB\n")
    return tmp_path


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def available(machine: Path) -> int:
    return available_memory(machine / "proc", machine / "cgroup")


def test_of_the_machine_alone(machine: Path) -> None:
    assert available(machine) == 8 * MIB


def test_where_nothing_tells(tmp_path: Path) -> None:
    assert available(tmp_path) == 4 << 30


def test_a_container_of_version_2(machine: Path) -> None:
    write(machine / "cgroup" / "memory.max", f"{6 * MIB}\n")
    write(machine / "cgroup" / "memory.current", f"{4 * MIB}\n")
    assert available(machine) == 2 * MIB
    # What is only cached can be had.
    write(machine / "cgroup" / "memory.stat", f"anon 7\ninactive_file {3 * MIB}\n")
    assert available(machine) == 5 * MIB
    write(machine / "cgroup" / "memory.max", "max\n")
    assert available(machine) == 8 * MIB


def test_a_group_of_version_2_by_its_path(machine: Path) -> None:
    write(machine / "proc" / "self" / "cgroup", "0::/user.slice/job\n")
    write(machine / "cgroup" / "user.slice" / "job" / "memory.max", f"{3 * MIB}")
    write(machine / "cgroup" / "user.slice" / "job" / "memory.current", f"{MIB}")
    assert available(machine) == 2 * MIB


def test_a_group_of_version_1(machine: Path) -> None:
    write(machine / "proc" / "self" / "cgroup", "5:cpu,memory:/job\n1:name=x:/\nodd line\n")
    write(machine / "cgroup" / "memory" / "job" / "memory.limit_in_bytes", f"{5 * MIB}")
    write(machine / "cgroup" / "memory" / "job" / "memory.usage_in_bytes", f"{MIB}")
    assert available(machine) == 4 * MIB
    # The largest multiple of a page that fits stands for no limit.
    write(machine / "cgroup" / "memory" / "job" / "memory.limit_in_bytes", str(2**63 - 4096))
    assert available(machine) == 8 * MIB


def test_nothing_left(machine: Path) -> None:
    write(machine / "cgroup" / "memory.max", "1000")
    write(machine / "cgroup" / "memory.current", "2000")
    assert available(machine) == 0


def test_of_this_machine() -> None:
    assert available_memory() > MIB
