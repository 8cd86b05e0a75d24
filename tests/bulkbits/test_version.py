"""The version of what is installed, and of sources that never were."""

from __future__ import annotations

import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from click.testing import CliRunner

from bulkbits import version as module
from bulkbits.comparison import Comparison
from bulkbits.version import version

ROOT = Path(__file__).parents[2]


def test_what_is_installed() -> None:
    assert version() == metadata.version("bulkbits")


@pytest.fixture
def never_installed(monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the version of the sources, of which nothing is installed."""
    known = metadata.version

    def of(name: str) -> str:
        if name == "bulkbits":
            raise metadata.PackageNotFoundError(name)
        return known(name)

    monkeypatch.setattr(metadata, "version", of)
    monkeypatch.setattr(module, "__file__", str(ROOT / "bulkbits" / "version.py"))
    return str(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"])


def test_sources_that_were_never_installed(never_installed: str) -> None:
    assert version() == f"{never_installed} (from its sources, not installed)"
    table = Comparison("arith", "CPU", "cpu", "a processor")
    assert f"arith bench of bulkbits {never_installed} (from its sources" in table.text()
    assert str(table.facts()["version"]).startswith(never_installed)


@pytest.mark.parametrize("name", ["arith", "ckyparse", "lifesim", "semigroups"])
def test_commands_say_it(never_installed: str, name: str) -> None:
    import importlib

    group = importlib.import_module(f"{name}.cli").group
    done = CliRunner().invoke(group, ["--version"])
    assert done.exit_code == 0
    assert done.output == f"{name}, version {never_installed} (from its sources, not installed)\n"


@pytest.mark.parametrize("text", [None, "[", "project = 3\n", '[project]\nname = "other"\n'])
def test_a_package_without_its_project(
    never_installed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None
) -> None:
    monkeypatch.setattr(module, "__file__", str(tmp_path / "bulkbits" / "version.py"))
    if text is not None:
        (tmp_path / "pyproject.toml").write_text(text)
    assert version() == "unknown (not installed)"
