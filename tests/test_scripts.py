"""What scripts/demo and scripts/test share: a failed installation is never taken for a good one."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.emulation import driven

ROOT = Path(__file__).parents[1]
ENVIRONMENT = ROOT / "scripts" / "environment.sh"

# Stands for the Python of .venv. What is built imports where there is a file "built", GPUs are seen
# where there is one named "gpu", and pip notes how it was called and writes what a compiler said.
PYTHON = """#!/bin/bash
here=$(dirname "$0")
case "$*" in
*kernels._cpu*) [ -f "$here/built" ] ;;
*libcuda*) [ -f "$here/gpu" ] ;;
*"-m pip"*)
    echo "$*" >>"$here/calls"
    while [ "$1" != --log ]; do shift; done
    echo "2026-01-01T00:00:00,000   one.cpp:7:1: error: this is no C++" >"$2"
    ;;
esac
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A checkout with such a Python, and a compiler."""
    (tmp_path / "kernels").mkdir()
    for name in ("CMakeLists.txt", "pyproject.toml", "kernels/one.cpp"):
        (tmp_path / name).write_text(name)
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(PYTHON)
    python.chmod(0o755)
    return tmp_path


def prepare(
    root: Path, extra: str = "", *, compiler: bool = True
) -> subprocess.CompletedProcess[str]:
    none = "" if compiler else "compilers() { :; };"
    code = f"set -euo pipefail; root={root}; source {ENVIRONMENT}; {none} prepare {extra}"
    environment = {**os.environ, "CXX": "true"}
    return subprocess.run(["bash", "-c", code], capture_output=True, text=True, env=environment)


def calls(root: Path) -> list[str]:
    return (root / ".venv/bin/calls").read_text().splitlines()


def test_what_is_prepared_is_not_prepared_again(root: Path) -> None:
    (root / ".venv/bin/built").touch()
    for _ in range(2):
        done = prepare(root)
        assert (done.returncode, done.stderr) == (0, "")
    assert len(calls(root)) == 1
    assert "LEVELS=native" in calls(root)[0]
    (root / "kernels/one.cpp").write_text("changed")
    prepare(root, "dev")
    prepare(root)  # with what tests need, as before
    assert len(calls(root)) == 2
    assert calls(root)[1].endswith(f"{root}[dev]")
    assert "native" not in calls(root)[1], "tests run the code of all levels"


def test_a_failed_compile_is_said_and_tried_again(root: Path) -> None:
    for tried in (1, 2):
        done = prepare(root)
        assert done.returncode == 1
        assert "one.cpp:7:1: error: this is no C++" in done.stderr
        assert done.stderr.splitlines()[-1].endswith("install.log has all that was said")
        assert len(calls(root)) == tried


def test_without_a_compiler_the_reference_will_do(root: Path) -> None:
    for _ in range(2):
        done = prepare(root, compiler=False)
        assert done.returncode == 0
    assert len(calls(root)) == 1


def test_a_gpu_gets_what_it_needs(root: Path) -> None:
    for name in ("built", "gpu"):
        (root / ".venv/bin" / name).touch()
    prepare(root)
    prepare(root, "docs")
    prepare(root)
    wanted = [call.rpartition("[")[2] for call in calls(root)]
    assert wanted == ["gpu]", "docs,gpu]"]


@pytest.mark.skipif(shutil.which(os.environ.get("CXX", "g++")) is None, reason="no g++")
def test_a_gpu_is_seen() -> None:
    """The driver is asked, not a package."""
    code = f'source {ENVIRONMENT}; python3 -c "$COUNT_GPUS"'
    emulated = driven.environment()
    assert subprocess.run(["bash", "-c", code], env=emulated).returncode == 0
    hidden = code.replace("$COUNT_GPUS", "${COUNT_GPUS/libcuda/libnothing}")
    assert subprocess.run(["bash", "-c", hidden], env=emulated).returncode == 1
