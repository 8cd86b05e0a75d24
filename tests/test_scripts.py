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


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_the_same_text_is_compiled_once(tmp_path: Path) -> None:
    """Wherever it lies; other options, another header or another text make another object."""
    kept = tmp_path / "kept"

    def compiled(name: str, body: str, header: str, *options: str) -> tuple[int, int]:
        """Return the exit code, and how many objects there are then."""
        folder = tmp_path / name
        folder.mkdir()
        (folder / "one.hpp").write_text(header)
        (folder / "one.cpp").write_text(f'#include "one.hpp"\n{body}')
        command = [
            *(ROOT / "scripts" / "compile_once", "g++", f"-I{folder}", *options),
            *("-MD", "-MT", "one.o", "-MF", folder / "one.d"),
            *("-o", folder / "one.o", "-c", folder / "one.cpp"),
        ]
        environment = {**os.environ, "OBJECTS": str(kept)}
        done = subprocess.run(command, env=environment, capture_output=True)
        assert "one.hpp" in (folder / "one.d").read_text()
        objects = list(kept.glob("*.o"))
        assert set(kept.iterdir()) == set(objects)
        return done.returncode, len(objects)

    body, header = "int f() { return N; }", "enum { N = 1 };"
    assert compiled("first", body, header) == (0, 1)
    assert compiled("second", body, f"\n// elsewhere\n{header}") == (0, 1)
    first, second = ((tmp_path / name / "one.o").read_bytes() for name in ("first", "second"))
    assert first == second
    assert compiled("third", body, header, "-O2") == (0, 2)
    assert compiled("fourth", body, header.replace("1", "2")) == (0, 3)
    assert compiled("fifth", body + "int g;", header) == (0, 4)
    assert compiled("sixth", "no C++", header) == (1, 4)
    assert not (tmp_path / "sixth" / "one.o").exists()
