"""Other distributions that have packages named `kernels` or `ui`: what is said, what works."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LIBRARIES = sysconfig.get_path("purelib")


def installed(folder: Path, name: str) -> Path:
    """Install another distribution, other-NAME 9.9, which has a package of that name."""
    (folder / name).mkdir(parents=True)
    (folder / name / "__init__.py").write_text("def get_kernel():\n    return 'theirs'\n")
    facts = folder / f"other_{name}-9.9.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: other-{name}\nVersion: 9.9\n")
    (facts / "RECORD").write_text(f"{name}/__init__.py,,\n{facts.name}/METADATA,,\n")
    return folder


def python(*arguments: str | Path, path: list[Path], cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a fresh Python that looks for packages in these folders, in this order."""
    folders = os.pathsep.join([*map(str, path), LIBRARIES])
    return subprocess.run(
        [sys.executable, "-S", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": folders, "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
    )


RUN = ["run", "--size", "9", "--steps", "1", "--backend", "reference"]


def refused(done: subprocess.CompletedProcess[str], *said: str) -> None:
    """Hold that a command said all of this in one line, and ended as at bad input."""
    assert done.returncode == 2, done
    [line] = done.stderr.splitlines()
    assert all(text in line for text in said), line


@pytest.mark.sample(1)
@pytest.mark.parametrize("command", ["lifesim", "arith", "ckyparse", "semigroups"])
def test_commands_name_who_hides_ours(command: str, tmp_path: Path) -> None:
    theirs = installed(tmp_path / "theirs", "kernels")
    done = python("-m", command, "--help", path=[theirs, ROOT], cwd=tmp_path)
    path = str(theirs / "kernels" / "__init__.py")
    refused(done, f"{command}: {path} is not", "other-kernels 9.9", "python -m venv")


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "wanted",
    [
        "lifesim import Life",
        "arith import add",
        "ckyparse import Grammar",
        "semigroups import full",
    ],
)
def test_imports_name_who_hides_ours(wanted: str, tmp_path: Path) -> None:
    theirs = installed(tmp_path / "theirs", "kernels")
    done = python("-c", f"from {wanted}", path=[theirs, ROOT], cwd=tmp_path)
    said = done.stderr.splitlines()[-1]
    assert said.startswith("bulkbits.ownership.ForeignPackageError: ")
    assert "the distribution other-kernels 9.9" in said


def test_ours_works_before_theirs(tmp_path: Path) -> None:
    theirs = installed(tmp_path / "theirs", "kernels")
    done = python("-m", "lifesim", *RUN, path=[ROOT, theirs], cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_theirs_is_said_to_be_hidden_by_ours(tmp_path: Path) -> None:
    theirs = installed(tmp_path / "theirs", "kernels")
    done = python("-c", "from kernels import get_kernel", path=[ROOT, theirs], cwd=tmp_path)
    said = done.stderr.splitlines()[-1]
    assert said.startswith("bulkbits.ownership.ForeignPackageError: ")
    assert "hides that of the distribution other-kernels 9.9" in said
    ours = "from kernels import life, targets; assert not hasattr(life, 'get_kernel')"
    assert python("-c", ours, path=[ROOT, theirs], cwd=tmp_path).returncode == 0


def test_files_that_theirs_replaced(tmp_path: Path) -> None:
    """Installed into the same folder after ours, theirs has its __init__.py in place of ours."""
    both = tmp_path / "both"
    for package in ("bulkbits", "kernels", "lifesim", "arith"):
        shutil.copytree(ROOT / package, both / package, ignore=shutil.ignore_patterns("*.so"))
    shutil.rmtree(both / "kernels" / "targets")
    (both / "kernels" / "__init__.py").unlink()
    theirs = installed(tmp_path / "theirs", "kernels")
    shutil.copytree(theirs, both, dirs_exist_ok=True)
    done = python("-m", "lifesim", *RUN, path=[both], cwd=tmp_path)
    refused(done, str(both / "kernels"), "uninstall other-kernels", "--force-reinstall")


def test_a_file_of_that_name_where_the_command_runs(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text("print('a script of mine')\n")
    done = python("-m", "arith", "--version", path=[ROOT], cwd=tmp_path)
    refused(done, str(tmp_path / "kernels.py"), "hides it: rename it")
    assert not done.stdout


@pytest.mark.sample(1)
@pytest.mark.parametrize("command", ["lifesim", "ckyparse"])
def test_the_window_names_who_hides_ours(command: str, tmp_path: Path) -> None:
    theirs = installed(tmp_path / "theirs", "ui")
    done = python("-m", command, "view", path=[theirs, ROOT], cwd=tmp_path)
    refused(done, "bulkbits' package ui", "other-ui 9.9")


def test_a_package_that_is_gone(tmp_path: Path) -> None:
    """Uninstalling another distribution takes our file along that it had replaced."""
    for package in ("bulkbits", "lifesim"):
        shutil.copytree(ROOT / package, tmp_path / "rest" / package)
    done = python("-m", "lifesim", *RUN, path=[tmp_path / "rest"], cwd=tmp_path)
    refused(done, "bulkbits' package kernels is not here: install bulkbits again")


def test_unknown_names_are_attribute_errors_where_nobody_else_is() -> None:
    import kernels
    import ui

    for package in (kernels, ui):
        assert not hasattr(package, "get_kernel")
        assert not hasattr(package, "__wrapped__")
