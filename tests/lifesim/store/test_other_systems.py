"""Universes on disk where the system has less than Linux: they work, with the same cells."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from arith import shared_factors

# What macOS has not, of what Python's os has on Linux.
WITHOUT = """
import os, sys
import kernels.draft
for name in (
    "O_DIRECT", "O_PATH", "O_TMPFILE", "copy_file_range", "fdatasync", "memfd_create", "pipe2",
    "posix_fadvise", "posix_fallocate", "sched_getaffinity", "sched_setaffinity", "splice",
):
    if hasattr(os, name):
        delattr(os, name)
kernels.draft._BOOT = "/nowhere"
"""
COMMANDS = """
from lifesim.cli import main
for line in sys.argv[1:]:
    sys.argv = ["lifesim", *line.split()]
    try:
        main()
    except SystemExit as stop:
        assert not stop.code, (line, stop.code)
"""
LINES = (
    "random --size 512 --seed 3 --out soup --tiles 2x2",
    "run soup --steps 30 --quiet",
    "verify soup",
    "info soup --json",
)


def test_universes_on_disk_without_what_only_linux_has(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT + COMMANDS, *LINES],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    alone = [sys.executable, "-m", "lifesim", "run", "--size", "512", "--seed", "3"]
    in_memory = subprocess.run(
        [*alone, "--steps", "30", "--json", "--quiet"], capture_output=True, check=True
    )
    wanted = json.loads(in_memory.stdout)
    assert found["generation"] == wanted["generation"] == 30
    assert found["digest"] == wanted["digest"]


def test_numbers_without_what_only_linux_has(tmp_path: Path) -> None:
    code = "from arith import shared_factors; print(shared_factors([15, 21, 77]))"
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT + code], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{shared_factors([15, 21, 77])}\n"
