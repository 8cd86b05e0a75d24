"""Dialogs for files: as wide as the screen allows, and what they answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import QEvent, QRect, QTimer
from PySide6.QtGui import QScreen
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget

from ui.qt import file_dialogs

pytestmark = pytest.mark.usefixtures("unforeseen")


@pytest.mark.parametrize(("screen", "size"), [((3000, 2000), (980, 620)), ((640, 400), (640, 360))])
def test_as_wide_as_the_screen_allows(
    app: QApplication, monkeypatch: pytest.MonkeyPatch, screen: tuple[int, int],
    size: tuple[int, int],
) -> None:  # fmt: skip
    monkeypatch.setattr(QScreen, "availableGeometry", lambda _: QRect(0, 0, *screen))
    parent = QWidget()
    dialog = file_dialogs.made(parent, "Open", "", "All (*)", QFileDialog.FileMode.ExistingFile)
    assert (dialog.width(), dialog.height()) == size
    details = dialog.viewMode() is QFileDialog.ViewMode.Detail
    assert details == (screen[0] > 700)
    assert not dialog.testOption(QFileDialog.Option.DontUseNativeDialog)
    parent.deleteLater()


def answered(parent: QWidget, ask: Callable[[], Any], press: Callable[[QFileDialog], None]) -> Any:
    """Return what is answered when somebody presses a button of the dialog."""

    def look() -> None:
        found = [one for one in parent.findChildren(QFileDialog) if one.isVisible()]
        if found:
            press(found[0])
        else:
            QTimer.singleShot(1, look)

    QTimer.singleShot(0, look)
    answer = ask()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)  # type: ignore[arg-type]
    assert not parent.findChildren(QFileDialog)
    return answer


def test_what_is_answered(app: QApplication, tmp_path: Path) -> None:
    parent = QWidget()
    (tmp_path / "a.rle").touch()
    path, here = str(tmp_path / "a.rle"), str(tmp_path)

    def take(dialog: QFileDialog) -> None:
        dialog.selectFile(path)
        dialog.accept()

    for ask, press, expected in (
        (lambda: file_dialogs.open_file(parent, "Open", here, "All (*)"), take, path),
        (lambda: file_dialogs.open_file(parent, "Open", here, "All (*)"), QFileDialog.reject, ""),
        (
            lambda: file_dialogs.save_file(parent, "Save", here + "/new.rle", "A (*.rle);;B (*)"),
            QFileDialog.accept,
            (here + "/new.rle", "A (*.rle)"),
        ),
        (
            lambda: file_dialogs.save_file(parent, "Save", path, "A (*.rle)"),
            QFileDialog.reject,
            ("", ""),
        ),
        (lambda: file_dialogs.open_folder(parent, "Folder", here), QFileDialog.accept, here),
    ):
        assert answered(parent, ask, press) == expected
    parent.deleteLater()
