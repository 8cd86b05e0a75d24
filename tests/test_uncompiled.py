"""An installation without a C++ compiler computes the same, only more slowly."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.uncompiled import PACKAGES, ROOT

pytest.importorskip("kernels._cpu")


def results(package: str, folder: Path, *blocked: str) -> subprocess.Popen[str]:
    """Start another process that computes; both write into folders of the same name."""
    folder.mkdir(parents=True)
    return subprocess.Popen(
        [sys.executable, "-m", "tests.uncompiled", package, folder, *blocked],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )


@pytest.mark.sample(1)
@pytest.mark.parametrize("package", PACKAGES)
def test_results_are_the_same_without_compiled_kernels(package: str, tmp_path: Path) -> None:
    printed = []
    for folder, process in [
        (tmp_path / name / "files", results(package, tmp_path / name / "files", *blocked))
        for name, blocked in (("fast", []), ("slow", ["blocked"]))
    ]:
        out, err = process.communicate()
        assert process.returncode == 0, err
        printed.append(json.loads(out.replace(str(folder), "FILES")))
    fast, slow = printed
    assert fast.keys() == slow.keys()
    assert not {name: (fast[name], slow[name]) for name in fast if fast[name] != slow[name]}


BLOCKED = """
import sys
sys.modules["kernels._cpu"] = sys.modules["pycuda"] = None
from {}.cli import main
main()
"""
LINES = [
    "arith eval neg -",
    "arith shared-primes -",
    "ckyparse accept -g data/grammars/dyck.cfg",
    "lifesim run --size 9 --steps 1",
    "semigroups enumerate full:2",
]


@pytest.mark.sample(2)
@pytest.mark.parametrize("line", LINES)
def test_commands_say_that_they_are_slow(line: str) -> None:
    name, *arguments = line.split()
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED.format(name), *arguments],
        input="15\n" if name == "arith" else "",
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    slow = f"{name}: running on the slow reference backend: the CPU kernels are not built: "
    assert [said.startswith(slow) for said in done.stderr.splitlines()] == [True]
