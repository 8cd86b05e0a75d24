"""available_memory() on made-up machines and containers."""

from __future__ import annotations

import mmap
import subprocess
import sys
from pathlib import Path

import pytest

from kernels.targets import memory
from kernels.targets.memory import available_memory, recent_memory, resident_memory
from tests.limits import needs_limits

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


def test_parents_limit_too(machine: Path) -> None:
    """A job without a limit of its own, in a slice that has one."""
    write(machine / "proc" / "self" / "cgroup", "0::/user.slice/scope/job\n")
    group = machine / "cgroup" / "user.slice"
    write(group / "scope" / "job" / "memory.max", "max\n")
    write(group / "scope" / "job" / "memory.current", f"{MIB}\n")
    assert available(machine) == 8 * MIB
    write(group / "memory.max", f"{5 * MIB}\n")
    write(group / "memory.current", f"{2 * MIB}\n")
    assert available(machine) == 3 * MIB
    write(group / "scope" / "memory.max", f"{4 * MIB}\n")
    write(group / "scope" / "memory.current", f"{2 * MIB}\n")
    assert available(machine) == 2 * MIB


def test_where_a_group_is_slowed_down(machine: Path) -> None:
    write(machine / "cgroup" / "memory.max", "max\n")
    write(machine / "cgroup" / "memory.high", f"{6 * MIB}\n")
    write(machine / "cgroup" / "memory.current", f"{2 * MIB}\n")
    assert available(machine) == 4 * MIB


def test_parents_of_version_1(machine: Path) -> None:
    write(machine / "proc" / "self" / "cgroup", "4:memory:/outer/inner\n")
    for name, limit, used in (("outer", 6 * MIB, 3 * MIB), ("outer/inner", 2**63 - 4096, MIB)):
        write(machine / "cgroup" / "memory" / name / "memory.limit_in_bytes", str(limit))
        write(machine / "cgroup" / "memory" / name / "memory.usage_in_bytes", str(used))
    assert available(machine) == 3 * MIB
    # A container may see only itself; the least limit of its parents is told.
    inner = machine / "cgroup" / "memory" / "outer" / "inner"
    write(inner / "memory.stat", f"cache 1\nhierarchical_memory_limit {2 * MIB}\n")
    assert available(machine) == MIB


def test_both_versions_beside_each_other(machine: Path) -> None:
    write(machine / "proc" / "self" / "cgroup", "4:memory:/\n0::/job\n")
    write(machine / "cgroup" / "unified" / "job" / "memory.max", f"{3 * MIB}")
    write(machine / "cgroup" / "unified" / "job" / "memory.current", f"{MIB}")
    assert available(machine) == 2 * MIB


LIMITS = """Limit                     Soft Limit           Hard Limit           Units
Max data size             {data}            unlimited            bytes
Max address space         {space}            unlimited            bytes
"""


def test_limits_of_the_process(machine: Path) -> None:
    own, page = machine / "proc" / "self", mmap.PAGESIZE
    write(own / "statm", "300 20 10 1 0 50 0\n")
    write(own / "limits", LIMITS.format(data="unlimited", space="unlimited"))
    assert available(machine) == 8 * MIB
    write(own / "limits", LIMITS.format(data="unlimited", space=400 * page))
    assert available(machine) == 100 * page
    write(own / "limits", LIMITS.format(data=80 * page, space=400 * page))
    assert available(machine) == 30 * page
    write(own / "limits", LIMITS.format(data=40 * page, space="unlimited"))
    assert available(machine) == 0
    write(own / "statm", "what is this\n")
    assert available(machine) == 8 * MIB


LIMITED = """
import resource
from kernels.targets.memory import available_memory
size = 4096 * int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (size + (64 << 20), resource.RLIM_INFINITY))
print(available_memory())
"""


@pytest.mark.skipif(not Path("/proc/self/limits").exists(), reason="no limits are told here")
@needs_limits
def test_a_real_limit_of_addresses() -> None:
    done = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, check=True)
    assert 32 * MIB < int(done.stdout) <= 64 * MIB


def test_what_this_process_has(tmp_path: Path) -> None:
    assert resident_memory(tmp_path) == 0
    write(tmp_path / "self" / "status", "Name:\tx\nVmHWM:\t 9 kB\nVmRSS:\t   3 kB\n")
    assert resident_memory(tmp_path) == 3 << 10
    if Path("/proc/self/status").exists():
        assert resident_memory() > MIB


def test_a_recent_answer_is_given_again(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter((7, 5))
    now = 100.0
    monkeypatch.setattr(memory, "available_memory", lambda: next(answers))
    monkeypatch.setattr(memory, "_recent", memory._Recent())
    monkeypatch.setattr(memory.time, "monotonic", lambda: now)
    assert recent_memory() == 7
    now += 0.09
    assert recent_memory() == 7
    now += 0.02
    assert recent_memory() == 5
