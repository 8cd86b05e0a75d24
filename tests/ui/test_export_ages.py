"""Ages in exports, as the window asks for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtWidgets import QApplication, QDialogButtonBox

from lifesim.grid import Box
from tests.windows import press_key, settle, until
from ui.model import CanvasView
from ui.picture.age_colours import age_table
from ui.picture.viewport import Viewport
from ui.qt.film.export_dialogs import FilmDialog, PictureChoice, PictureDialog, Shade, Shown
from ui.qt.menus.share import ShareMenu
from ui.qt.window import LifeWindow

pytestmark = pytest.mark.usefixtures("unforeseen")

AGED = CanvasView(Viewport(10, 5, 1, 20, 10), selection=Box(3, 4, 10, 7), ages=True)


def ok(dialog: PictureDialog) -> bool:
    return dialog.buttons.button(QDialogButtonBox.StandardButton.Ok).isEnabled()


@pytest.fixture
def made(app: QApplication) -> Iterator[list[PictureDialog]]:
    """Dialogs go on the main thread."""
    dialogs: list[PictureDialog] = []
    yield dialogs
    for dialog in dialogs:
        dialog.deleteLater()


def offered(dialog: PictureDialog) -> bool:
    return dialog.shade.findData(Shade.AGES) >= 0


def test_a_picture_has_the_ages_of_the_view(made: list[PictureDialog], tmp_path: Path) -> None:
    path = str(tmp_path / "a.png")
    dialog = PictureDialog(Shown(200, 100, AGED), path)
    made.append(dialog)
    assert ok(dialog)
    assert dialog.value().look.ages
    dialog.region.setCurrentIndex(1)
    assert dialog.problem.text() == "ages are known of the view only: choose another region"
    dialog.shade.setCurrentIndex(0)
    assert ok(dialog)
    assert not dialog.value().look.ages
    dialog.region.setCurrentIndex(0)
    dialog.shade.setCurrentIndex(2)
    assert ok(dialog)
    dialog.scale.setText("1:8")
    assert dialog.problem.text() == "ages are told at 1:4 and nearer"
    # All of it, if all is in view.
    dialog = PictureDialog(
        Shown(200, 100, replace(AGED, viewport=Viewport(0, 0, 0, 300, 200))), path
    )
    made.append(dialog)
    dialog.region.setCurrentIndex(2)
    assert ok(dialog)


@pytest.mark.parametrize(
    ("view", "finest"),
    [
        (replace(AGED, ages=False), 0),
        (replace(AGED, viewport=Viewport(0, 0, 3, 20, 10)), 0),
        (AGED, 1),
    ],
)
def test_ages_that_nobody_knows_are_not_offered(
    made: list[PictureDialog], tmp_path: Path, view: CanvasView, finest: int
) -> None:
    dialog = PictureDialog(Shown(200, 100, view, finest), str(tmp_path / "a.png"))
    made.append(dialog)
    assert not offered(dialog)


def test_films_have_ages_of_their_own(made: list[PictureDialog], tmp_path: Path) -> None:
    path = str(tmp_path / "a.gif")
    dialog = FilmDialog(Shown(200, 100, AGED), path, 4)
    made.append(dialog)
    assert dialog.value().look.ages
    for region in range(3):
        dialog.region.setCurrentIndex(region)
        assert ok(dialog)
    dialog = FilmDialog(Shown(200, 100, replace(AGED, ages=False)), path, 4)
    made.append(dialog)
    assert offered(dialog)
    assert not dialog.value().look.ages
    dialog = FilmDialog(Shown(200, 100, AGED, finest=1), path, 4)
    made.append(dialog)
    dialog.shade.setCurrentIndex(2)
    assert dialog.problem.text() == "what was recorded from afar has no ages"
    dialog.recorded.setCurrentIndex(0)
    assert ok(dialog)


def test_the_window_exports_the_ages_that_it_shows(
    window: LifeWindow,
    made: list[PictureDialog],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    press_key(window, "A")
    window.canvas.zoom_to(0)
    settle(window)
    window.session.step(1)
    until(lambda: window.canvas.frame.generation == 1)
    settle(window)
    shown = window.canvas.frame
    path, share = str(tmp_path / "a.png"), window.menu_of(ShareMenu)

    def ask(what: Shown, _: str) -> PictureChoice:
        dialog = PictureDialog(what, path)
        made.append(dialog)
        assert ok(dialog)
        return dialog.value()

    monkeypatch.setattr(share, "ask_picture", ask)
    window.registry.run("share.png")
    until(lambda: not share.exporting.is_busy)
    left, top, right, bottom = shown.inside
    levels = shown.pixels[top:bottom, left:right]
    assert len(np.unique(levels)) > 2
    with Image.open(path) as image:
        found = np.asarray(image.convert("RGB"))
    assert np.array_equal(found, age_table(window.view.palette)[levels])
