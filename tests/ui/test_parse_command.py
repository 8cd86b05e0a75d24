"""`ckyparse view`: what it says where no window can be opened. No Qt is needed here."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from ckyparse.cli import group
from ui.parsing import cli as parse_cli

ROOT = Path(__file__).parents[2]


def view(*arguments: str) -> str:
    """Return what is said of arguments that are refused."""
    done = CliRunner().invoke(group, ["view", *arguments])
    assert done.exit_code
    assert len(done.output.splitlines()) == 1
    return done.output


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    assert "none.cfg: cannot be read" in view("-g", str(tmp_path / "none.cfg"))
    assert "none.txt: cannot be read" in view(str(tmp_path / "none.txt"))
    (tmp_path / "latin.cfg").write_bytes(b"S -> 'a'\nT -> '\xe4'\n")
    assert "latin.cfg:2: no grammar: not UTF-8" in view("-g", str(tmp_path / "latin.cfg"))


def test_no_display(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ui.cli.importlib.util.find_spec", lambda name: object())
    monkeypatch.setattr("sys.platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    assert "there is no display" in view()


def test_no_qt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ui.cli.importlib.util.find_spec", lambda name: None)
    assert "needs PySide6" in view()


def test_it_is_found_by_name_only() -> None:
    assert group.get_command(None, "view") is parse_cli.command  # type: ignore[arg-type]


def test_the_model_needs_no_qt() -> None:
    code = (
        "import sys; sys.modules['PySide6'] = None\n"
        "import ui.parsing.model, ui.parsing.sentences, ckyparse.drawing.layout\n"
        "import ui.parsing.files, ui.parsing.launch\n"
        "import ui.parsing.cli"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
