"""Small screens and narrow windows: everything can still be seen and pressed."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import QPoint, QRect, QSettings, Qt
from PySide6.QtGui import QScreen
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QFormLayout,
    QLabel,
    QPushButton,
    QWidget,
)

from kernels.targets.choose import pick
from lifesim.rule import LIFE
from lifesim.topology import Topology
from tests.windows import close, glider_session, record_run, until
from ui.model import CanvasView
from ui.qt.dialogs import NewDialog
from ui.qt.film.export_dialogs import FilmDialog, PictureDialog, Shown
from ui.qt.menus.time import TimeMenu
from ui.qt.rows import RowsLayout, Scrolled
from ui.qt.shy import ShyLabel
from ui.qt.window import LifeWindow

pytestmark = pytest.mark.usefixtures("unforeseen")


@pytest.mark.parametrize("screen", [(640, 400), (1024, 768), (3000, 2000)])
def test_the_first_size_is_no_more_than_the_screen(
    app: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, screen: tuple[int, int]
) -> None:
    """A new window fits into the screen, as one of 1280 x 800 pixels at a scale factor of 2."""
    monkeypatch.setattr(QScreen, "availableGeometry", lambda _: QRect(0, 0, *screen))
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    window = LifeWindow(glider_session(), pick("auto", threads=1), settings)
    window.show()
    QApplication.processEvents()
    assert window.width() == min(1200, screen[0])
    assert window.height() <= min(800, screen[1])
    menu = window.menu_of(TimeMenu)
    menu.timeline.show()
    menu.plots.show()
    until(lambda: menu.plots.plots)
    QApplication.processEvents()
    assert window.minimumSizeHint().width() <= 640
    assert window.minimumSizeHint().height() <= 400
    close(window)


def inside(widget: QWidget, place: QWidget) -> bool:
    """Return whether all of the widget is seen there."""
    corner = widget.mapTo(place, QPoint(0, 0))
    return place.rect().contains(QRect(corner, widget.size()))


@pytest.mark.sample(4)
@pytest.mark.parametrize("width", [1200, 700, 520, 400, 260])
def test_all_of_the_timeline_can_be_pressed(window: LifeWindow, width: int) -> None:
    timeline = window.menu_of(TimeMenu).timeline
    timeline.show()
    window.resize(width, 640)
    record_run(timeline, window.session, 3)  # type: ignore[arg-type]
    timeline.scrub(1)
    timeline.goal.setText("x")  # what is wrong with it takes room, too
    QApplication.processEvents()
    assert window.width() == width
    buttons = timeline.body.findChildren(QPushButton)
    assert len(buttons) == 5
    for button in buttons:
        assert inside(button, timeline.body), button.text()
        assert button.width() >= button.sizeHint().width(), button.text()
    for widget in (timeline.every, timeline.goal, timeline.slider):
        assert inside(widget, timeline.body)
    shown: list[QWidget] = [*buttons, timeline.every, timeline.goal, timeline.slider]
    shown += [label for label in timeline.body.findChildren(QLabel) if label.isVisible()]
    boxes = [QRect(w.mapTo(timeline.body, QPoint(0, 0)), w.size()) for w in shown]
    for number, box in enumerate(boxes):
        assert not any(box.intersects(other) for other in boxes[:number])
    assert not [button for button in timeline.findChildren(QAbstractButton) if not button.height()]


@pytest.mark.parametrize("width", [1200, 600, 420, 260])
def test_what_the_status_line_says_can_be_read(window: LifeWindow, width: int) -> None:
    line = window.status_line
    window.registry.run("edit.all")
    window.resize(width, 480)
    QApplication.processEvents()
    until(lambda: line.population.text() == "pop 5")
    QApplication.processEvents()
    assert window.width() == width
    labels = [label for label in line.findChildren(QLabel) if label.isVisible()]
    assert line.generation in labels
    assert line.population in labels
    for label in labels:
        if label is not line.under:
            assert label.width() >= label.sizeHint().width(), label.text()
            assert inside(label, line), label.text()
    assert (line.where in labels) == (width == 1200)


def test_a_long_name_is_shortened_while_it_is_opened(window: LifeWindow) -> None:
    name = "a" * 200 + ".rle"
    window.background.busy.emit(f"Opening {name}…", True)
    QApplication.processEvents()
    busy = window.status_line.busy
    assert busy.label.text().startswith("Opening a")
    assert "…" in busy.label.text()
    assert name in busy.label.toolTip()
    assert inside(busy.button, window.status_line)
    window.background.busy.emit("", False)


def test_dialogs_fit_small_screens(app: QApplication) -> None:
    shown = Shown(64, 64, CanvasView())
    for dialog in (
        FilmDialog(shown, "/tmp/a.gif", 5),
        PictureDialog(shown, "/tmp/a.png"),
        NewDialog((64, 64), LIFE, Topology.TORUS, None),
    ):
        dialog.show()
        natural = dialog.size()
        place = dialog.findChild(Scrolled)
        assert place is not None
        assert not place.verticalScrollBar().isVisible()
        assert place.height() >= place.widget().height()
        dialog.resize(natural.width(), 340)
        QApplication.processEvents()
        assert dialog.height() == 340
        for button in dialog.buttons.buttons():
            assert inside(button, dialog)
        assert place.verticalScrollBar().isVisible() == (natural.height() > 340)
        assert inside(dialog.fields.itemAt(0, QFormLayout.ItemRole.FieldRole).widget(), place)
        dialog.close()


@pytest.mark.parametrize("width", [400, 120, 20])
def test_a_text_without_room_says_that_it_goes_on(app: QApplication, width: int) -> None:
    text = "probability 0.004725, 100 % of the sentence's"
    pictures = []
    for kind in (ShyLabel, QLabel):
        label = kind("") if kind is ShyLabel else QLabel()
        label.setContentsMargins(6, 2, 6, 2)
        metrics, room = label.fontMetrics(), width - 12
        ends = Qt.TextElideMode.ElideRight
        label.setText(text if kind is ShyLabel else metrics.elidedText(text, ends, room))
        label.setFixedSize(width, 24)
        pictures.append(label.grab().toImage())
    assert pictures[0] == pictures[1]


def test_rows(app: QApplication) -> None:
    place = QWidget()
    rows = RowsLayout(place)
    labels = [QLabel(text) for text in ("one", "two", "three")]
    for label in labels:
        label.setFixedSize(100, 20)
        rows.addWidget(label)
    assert (rows.sizeHint().width(), rows.minimumSize().width()) == (312, 100)
    assert [rows.heightForWidth(width) for width in (312, 311, 206, 205, 50)] == [
        20,
        46,
        46,
        72,
        72,
    ]
    assert rows.itemAt(3) is None
    assert rows.takeAt(3) is None
    taken = rows.takeAt(1)
    assert taken is not None
    assert taken.widget() is labels[1]
    assert rows.count() == 2
    place.deleteLater()
