"""Run the tests against the installed distribution, not against the sources beside them.

`python tests/installed.py [arguments of pytest]`, with a Python that has bulkbits and what its
tests need. The tests run in a folder with a copy of all that is here, but for the packages: these
are links to those that are installed, so nothing is tested that the distribution does not hold.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
_SKIPPED = shutil.ignore_patterns(".git", ".venv*", "build", "dist", "*cache*", "*.so")


def packages_of(folder: Path) -> list[str]:
    """Return the names of the packages that a wheel of this checkout holds."""
    project = tomllib.loads((folder / "pyproject.toml").read_text())
    copied: dict[str, str] = project["tool"]["scikit-build"]["wheel"]["packages"]
    return [package for package in copied if "/" not in package]  # not what goes into another


def installed_in() -> Path:
    """Return the folder that bulkbits is installed in; exit where it is not, or only in place."""
    try:
        folder = Path(str(distribution("bulkbits").locate_file("")))
    except PackageNotFoundError:
        sys.exit(f"{sys.executable} has no bulkbits installed")
    if not (folder / "kernels" / "__init__.py").is_file():
        sys.exit(f"{sys.executable} has bulkbits in place only: install a wheel")
    return folder.resolve()


def lay_out(folder: Path, installed: Path) -> None:
    """Fill a folder with copies of what is here, and links to the installed packages."""
    packages = packages_of(HERE)
    skipped = _SKIPPED(str(HERE), os.listdir(HERE))
    for entry in HERE.iterdir():
        if entry.name in packages:
            (folder / entry.name).symlink_to(installed / entry.name)
        elif entry.name in skipped:
            continue
        elif entry.is_dir():
            shutil.copytree(entry, folder / entry.name, ignore=_SKIPPED)
        else:
            shutil.copy2(entry, folder / entry.name)


def main(arguments: list[str]) -> int:
    """Run pytest in such a folder, and return its exit code."""
    sys.path[:] = [path for path in sys.path if not path or Path(path).resolve() != HERE / "tests"]
    installed = installed_in()
    import pytest

    with tempfile.TemporaryDirectory(prefix="bulkbits-installed-") as name:
        folder = Path(name).resolve()
        lay_out(folder, installed)
        os.chdir(folder)
        print(f"tests of what is installed in {installed}", flush=True)
        try:
            return int(pytest.main(arguments))
        finally:
            os.chdir(HERE)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
