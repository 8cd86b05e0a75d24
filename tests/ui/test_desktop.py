"""The window on a desktop: files dropped by another program, and dialogs for files, by hand."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from lifesim import patterns
from tests.desktop import Desktop
from tests.drag_source import TITLE
from tests.waiting import until

ROOT = Path(__file__).parents[2]
FILES = ("acorn.rle", "diehard.rle", "gosper-gun.rle", "lwss.rle", "pulsar.cells")
START = "^lifesim$"

pytestmark = pytest.mark.slow


@pytest.fixture
def desktop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desktop]:
    """A desktop, with some patterns in the folder where programs begin."""
    for name in FILES:
        shutil.copy(ROOT / "data" / "patterns" / name, tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    with Desktop(tmp_path) as made:
        yield made


def begin(desktop: Desktop, folder: Path, *words: object) -> str:
    """Start `lifesim view`, and return its window."""
    desktop.python("-m", "lifesim", "view", *words, cwd=folder)
    return desktop.window(f"^{words[0]} " if words else START)


def drop(desktop: Desktop, file: Path, window: str, x: int, y: int) -> subprocess.Popen[str]:
    """Drag a file from another program to a pixel of a window."""
    source = desktop.python("-m", "tests.drag_source", file)
    desktop.drag(desktop.window(TITLE), window, x, y)
    return source


def test_files_are_opened_where_they_are_dropped(desktop: Desktop, tmp_path: Path) -> None:
    """Wherever that is; and the program that would move them finds that they were copied."""
    window = begin(desktop, tmp_path)
    for name, x, y in (
        ("acorn.rle", 700, 400),  # the patterns of the start page
        ("gosper-gun.rle", 600, 400),  # a universe
        ("lwss.rle", 600, 50),  # the toolbar
        ("pulsar.cells", 300, -10),  # the line at the bottom
    ):
        source = drop(desktop, tmp_path / name, window, x, y)
        window = desktop.window(f"^{name} ")
        source.kill()
        source.wait()
    desktop.activate(window)
    desktop.keys("F9")
    _, height = desktop.size(window)
    # Where one types in the console, which would take the name of the file.
    drop(desktop, tmp_path / "diehard.rle", window, 400, height - 73)
    desktop.window("^diehard.rle ")
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == sorted(FILES)


def test_files_are_opened_and_saved_by_keyboard(desktop: Desktop, tmp_path: Path) -> None:
    window = begin(desktop, tmp_path)
    desktop.activate(window)
    desktop.keys("ctrl+o")
    desktop.window("^Open a pattern$")
    desktop.write("acorn.rle")
    desktop.keys("Return")
    desktop.window("^acorn.rle ")
    desktop.keys("ctrl+shift+s")
    desktop.window("^Save the universe$")
    desktop.keys("ctrl+a")
    desktop.write("other.cells")
    desktop.keys("Return")
    desktop.window("^other.cells ")
    expected = patterns.read(str(tmp_path / "acorn.rle")).grid.bounding_box()
    assert patterns.read(str(tmp_path / "other.cells")).grid.bounding_box()[2:] == expected[2:]


def test_a_tree_is_exported_while_a_sentence_is_typed(desktop: Desktop, tmp_path: Path) -> None:
    """Ctrl+E is of the window there, too, though Qt knows it as the end of a line."""
    (tmp_path / "she.cfg").write_text("S -> 'she' V\nV -> 'slept'\n")
    desktop.python("-m", "ckyparse", "view", "-g", "she.cfg", cwd=tmp_path)
    window = desktop.window("^she.cfg ")
    desktop.activate(window)
    desktop.click(window, 200, -395)  # the line for a sentence
    desktop.write("she slept")

    def asked() -> bool:
        desktop.keys("ctrl+e")  # which does nothing before there is a tree
        return "Export the tree" in desktop.titles()

    until(asked)


def test_files_are_opened_and_saved_by_mouse(desktop: Desktop, tmp_path: Path) -> None:
    window = begin(desktop, tmp_path, "acorn.rle")
    desktop.click(window, 26, 52)  # the first button of the toolbar
    asked = desktop.window("^Open a pattern$")
    desktop.write("lwss.rle")
    desktop.click(asked, 40, -22)  # which closes the list of names that are offered
    desktop.click(asked, -58, -57)  # Open
    desktop.gone("^Open a pattern$")
    window = desktop.window("^lwss.rle ")
    desktop.click(window, -300, 300)  # draws a cell
    desktop.window("^lwss.rle[*] ")
    before = (tmp_path / "lwss.rle").read_bytes()
    desktop.click(window, 66, 52)  # the second one
    until(lambda: (tmp_path / "lwss.rle").read_bytes() != before)
    desktop.window("^lwss.rle — ")
