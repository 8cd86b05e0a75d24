"""Saving in places where what is in memory cannot be saved again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from tests.windows import answer, settle, until, write_glider
from ui.cells.edits import Stroke
from ui.cells.session import MemorySession
from ui.qt.window import LifeWindow


def change(window: LifeWindow) -> None:
    assert isinstance(window.session, MemorySession)
    window.session.edit(Stroke(((1, 1),), True, 1))
    settle(window)
    assert window.session.status().modified


def test_a_universe_that_became_a_directory_is_saved_elsewhere(
    window: LifeWindow, tmp_path: Path
) -> None:
    directory, file = str(tmp_path / "universe"), tmp_path / "later.rle"
    answer(save_file=directory)(window)
    window.files.save_as()
    until(lambda: not window.background.is_busy)
    assert window.session.path == directory
    change(window)
    answer(save_file=str(file))(window)
    window.files.save()
    until(lambda: not window.background.is_busy)
    asked: tuple[str, tuple[Any, ...]] = window.dialogs.asked[-1]  # type: ignore[attr-defined]
    assert asked == ("save_file", (directory + ".rle",))
    assert file.exists()
    assert not window.session.status().modified


@pytest.mark.parametrize("name", ["gun", "gun.txt"])
def test_a_file_whose_name_tells_no_format_stays(
    window: LifeWindow, tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    Path(write_glider(window)).rename(path)
    before = path.read_bytes()
    window.files.open_path(str(path))
    until(lambda: window.session.path == str(path))
    change(window)
    answer(save_file=None)(window)
    window.files.save()
    assert window.dialogs.asked[-1] == (  # type: ignore[attr-defined]
        "save_file", (f"{path}.rle",),
    )  # fmt: skip
    assert path.read_bytes() == before
    assert window.session.status().modified
