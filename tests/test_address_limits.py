"""Every command where addresses are limited, as by `ulimit -v` or a batch system."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

GIB = 1 << 30
MIB = 1 << 20

JOBS = {
    "lifesim": ["run", "blinker.rle", "--steps", "5", "--out", "after.rle"],
    "arith": ["eval", "mul", "a.txt", "a.txt"],
    "ckyparse": ["accept", "-g", "g.cfg", "lines.txt"],
    "semigroups": ["enumerate", "bihecke:4", "--out", "S.h5"],
}
FILES = {
    "blinker.rle": "x = 3, y = 1\n3o!\n",
    "a.txt": "12\n34\n",
    "g.cfg": "S -> 'a' S | 'b'\n",
    "lines.txt": "a a b\n",
}


def run(name: str, folder: Path, limit: int) -> subprocess.CompletedProcess[str]:
    for file, text in FILES.items():
        (folder / file).write_text(text)
    return subprocess.run(
        [sys.executable, "-m", name, *JOBS[name]],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", JOBS)
def test_a_small_job_within_two_gigabytes(name: str, tmp_path: Path) -> None:
    done = run(name, tmp_path, 2 * GIB)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", JOBS)
def test_one_line_where_it_cannot_begin(name: str, tmp_path: Path) -> None:
    done = run(name, tmp_path, 100 * MIB)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"{name}: 256 MiB of addresses are needed at least, the limit is 100 MiB: "
        "ulimit -v 262144, or more, raises it\n"
    )
