"""The screens that the documentation shows: each can be made as it is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)
pytest.importorskip("pyqtgraph")
pytest.importorskip("tornado")
pytest.importorskip("PIL")

from PIL import Image

from tests.screens import PICTURES, all_screens
from tests.screens.stage import Stage, save
from ui.qt import theme


def test_all_screens_are_kept_and_no_others() -> None:
    assert {path.stem for path in PICTURES.glob("*.png")} == set(all_screens())


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", all_screens())
def test_a_screen(
    name: str, app: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unforeseen: None
) -> None:
    """It has the size that it was given, and is not empty. Those of pages are made where Chromium
    is, and JupyterLab."""
    for variable in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(variable, str(tmp_path))
    screen, path = all_screens()[name], tmp_path / "made.png"
    stage = Stage(tmp_path, screen.theme, screen.size)
    try:
        save(screen.make(stage), path)
    finally:
        stage.leave()
        theme.apply(app, "dark")
    with Image.open(path) as made, Image.open(PICTURES / f"{name}.png") as kept:
        if kept.size == screen.size:  # dialogs are as large as letters want them
            assert made.size == kept.size
        assert len(made.convert("RGB").getcolors(1 << 24)) > 16
