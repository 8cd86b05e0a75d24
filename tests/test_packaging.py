"""One version everywhere, and distributions that hold what an installation needs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
COPIED = PROJECT["tool"]["scikit-build"]["wheel"]["packages"]
PACKAGES = [package for package in COPIED if "/" not in package]
VERSION = PROJECT["project"]["version"]
# Run or included at run time: CUDA kernels are compiled on the machine they run on, and browsers
# load scripts.
NEEDED = (".py", ".cu", ".hpp", ".js", ".css", ".html")


def test_one_version() -> None:
    assert metadata.version("bulkbits") == VERSION
    shown = subprocess.run(
        [Path(sys.executable).with_name("lifesim"), "--version"], capture_output=True, text=True
    )
    assert shown.stdout.split()[-1] == VERSION
    assert re.search(rf"^## \[{re.escape(VERSION)}\]", (ROOT / "CHANGELOG.md").read_text(), re.M)


def test_lists_of_packages_agree() -> None:
    folders = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests", "benchmarks"}
    tools = PROJECT["tool"]
    (sources,) = (
        other["wheel"]["packages"]
        for other in tools["scikit-build"]["overrides"]
        if other["if"].get("state") == "editable"
    )
    for listed in (
        PACKAGES,
        sources,
        tools["mypy"]["packages"],
        tools["importlinter"]["root_packages"],
    ):
        assert set(listed) == folders


def needed_files() -> set[str]:
    return {
        str(path.relative_to(ROOT))
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.suffix in NEEDED
    }


def pattern_files() -> set[str]:
    """The library's patterns, where the wheel has them."""
    [(there, here)] = [(there, here) for there, here in COPIED.items() if "/" in there]
    return {f"{there}/{path.name}" for path in (ROOT / here).glob("*.rle")}


def test_all_pythons_of_the_classifiers_get_wheels() -> None:
    named = {
        f"cp3{found[1]}-*"
        for line in PROJECT["project"]["classifiers"]
        if (found := re.fullmatch(r"Programming Language :: Python :: 3\.(\d+)", line))
    }
    assert named <= set(PROJECT["tool"]["cibuildwheel"]["build"])


@pytest.mark.slow
def test_distributions(distributions: Path) -> None:
    check_wheel(distributions)
    check_sdist(distributions)


def check_wheel(distributions: Path) -> None:
    """It holds what runs, and no tests."""
    [wheel] = distributions.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert needed_files() | pattern_files() <= names
    info = f"bulkbits-{VERSION}.dist-info"
    assert {name.split("/")[0] for name in names} == {*PACKAGES, info}
    assert f"{info}/licenses/LICENSE" in names
    assert wheel.stat().st_size < 6 << 20
    if shutil.which("c++"):
        assert any(re.fullmatch(r"kernels/_cpu\..*(so|pyd)", name) for name in names)


def check_sdist(distributions: Path) -> None:
    """It holds what builds, and tests."""
    [sdist] = distributions.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    built = {"CMakeLists.txt", "pyproject.toml", "kernels/_cpu.cpp", "kernels/life/cpu/life.cpp"}
    tested = {"tests/life_contract.py", "tests/emulation/engine.cpp", "data/patterns/acorn.rle"}
    documents = {"README.md", "LICENSE", "scripts/demo", "scripts/test"}
    assert needed_files() | built | tested | documents <= names
    assert not any(name.split("/")[0] in ("build", ".venv", ".git") for name in names)


@pytest.mark.slow
def test_gpu_tests_are_found_without_what_they_do_not_need(tmp_path: Path) -> None:
    """A machine with a GPU needs neither Qt, Dask nor cryptography for `-m gpu`."""
    missing = ["distributed", "dask", "PySide6", "pyqtgraph", "cryptography"]
    (tmp_path / "without.py").write_text(
        f"import sys\nsys.modules.update(dict.fromkeys({missing}))\n"
    )
    found = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "without", "-m", "gpu", "--collect-only"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0, found.stdout[-2000:]
    assert "tests/kernels/life/test_cuda.py::" in found.stdout
