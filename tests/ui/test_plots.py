"""The plots, drawn and saved."""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtWidgets import QApplication

from kernels.targets.choose import pick
from tests.windows import SIDE, rest, soup_after, until
from ui import opening
from ui.cells.session import MemorySession
from ui.qt import file_dialogs, theme
from ui.qt.film.loading import Loading
from ui.qt.film.plots_dock import PlotsDock
from ui.session import Event, Status

GUN = str(Path(__file__).parents[2] / "data" / "patterns" / "gosper-gun.rle")

pytestmark = pytest.mark.usefixtures("unforeseen")


def test_numbers_are_gathered_and_drawn_when_seen(
    app: QApplication, session: MemorySession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reported: list[Exception] = []
    dock = PlotsDock(reported.append)
    dock.adopt(session)
    until(lambda: len(dock.series) == 1)
    for number in range(1, 6):
        session.step(1)
        rest(session)
        until(lambda number=number: len(dock.series) == number + 1)  # type: ignore[misc]
        until(lambda: session.status().population == session.whole().cells.population())
        QApplication.processEvents()
    assert not dock.plots
    pytest.importorskip("pyqtgraph")
    dock.show()
    until(lambda: set(dock.plots) == {"population", "density", "rate"})
    dock.draw()
    x, y = dock.plots["population"].curve.getData()
    assert x.tolist() == [0, 1, 2, 3, 4, 5]
    populations = [soup_after(k).population() for k in range(6)]  # type: ignore[attr-defined]
    assert y.tolist() == populations
    assert dock.plots["density"].curve.getData()[1].tolist() == [p / SIDE**2 for p in populations]
    assert dock.plots["density"].widget.isVisible()
    assert not dock.plots["rate"].widget.isVisible()
    dock.buttons["rate"].setChecked(True)
    assert dock.plots["rate"].widget.isVisible()
    theme.apply(app, "light")
    widget = dock.plots["rate"].widget
    until(lambda: widget.backgroundBrush().color().name() == "#ffffff")
    theme.apply(app, "dark")
    path = tmp_path / "run.csv"
    monkeypatch.setattr(file_dialogs, "save_file", lambda *_: (str(path), ""))
    dock.save_button.click()
    assert path.read_text().startswith(f"generation,population,density,rate\n0,{populations[0]},")
    dock.save(str(tmp_path / "none" / "run.csv"))
    assert "cannot write" in str(reported[0])
    dock.adopt(session)
    assert len(dock.series) == 1
    dock.close()
    dock.deleteLater()
    QApplication.processEvents()


def test_a_plane_without_bounds_has_no_density(
    app: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be that of the rectangle that happens to be held."""
    pytest.importorskip("pyqtgraph")
    session = opening.open(GUN, backend=pick("auto", threads=1))
    assert isinstance(session, MemorySession)
    dock = PlotsDock(lambda error: None)
    dock.adopt(session)
    dock.show()
    until(lambda: dock.plots and len(dock.series) == 1)
    dock.draw()
    assert not dock.buttons["density"].isEnabled()
    assert dock.buttons["density"].toolTip()
    assert dock.plots["population"].widget.isVisible()
    assert not dock.plots["density"].widget.isVisible()
    path = tmp_path / "run.csv"
    dock.save(str(path))
    assert path.read_text() == "generation,population,density,rate\n0,36,,0\n"
    session.resize(64, 64)
    session.step(1)
    rest(session)
    until(lambda: dock.series.points[-1].cells == 64 * 64)
    dock.draw()
    assert dock.plots["density"].widget.isVisible()
    x, y = dock.plots["density"].curve.getData()
    assert x.tolist() == [1]
    assert y.tolist() == [dock.series.points[-1].population / 64**2]
    dock.close()
    dock.deleteLater()
    session.close()
    QApplication.processEvents()


def test_all_buttons_of_a_narrow_dock_can_be_read(
    app: QApplication, session: MemorySession
) -> None:
    pytest.importorskip("pyqtgraph")
    dock = PlotsDock(lambda error: None)
    dock.adopt(session)
    dock.resize(220, 400)
    dock.show()
    until(lambda: dock.plots)
    for button in (*dock.buttons.values(), dock.save_button):
        assert button.width() >= button.sizeHint().width()
        assert button.x() + button.width() <= dock.width()
    dock.close()
    dock.deleteLater()
    QApplication.processEvents()


def test_without_pyqtgraph(
    app: QApplication, session: MemorySession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyqtgraph", None)
    dock = PlotsDock(lambda error: None, loading=Loading())
    dock.adopt(session)
    dock.show()
    until(lambda: "without pyqtgraph" in dock.missing.text())
    assert dock.missing.isVisible()
    dock.draw()
    dock.close()
    dock.deleteLater()


def test_a_slow_import_holds_nobody_up(
    app: QApplication, session: MemorySession, monkeypatch: pytest.MonkeyPatch
) -> None:
    pyqtgraph = pytest.importorskip("pyqtgraph")
    gate, importing = threading.Event(), []

    def slow(name: str) -> Any:
        importing.append((name, threading.current_thread()))
        gate.wait(60)
        return pyqtgraph

    monkeypatch.setattr(importlib, "import_module", slow)
    dock = PlotsDock(lambda error: None, loading=Loading())
    dock.adopt(session)
    dock.show()  # and here it is, while that goes on
    try:
        until(lambda: importing)
        assert not gate.is_set()
        assert dock.missing.isVisible()
        assert "being loaded" in dock.missing.text()
        assert not dock.plots
        dock.hide()
        dock.show()
        assert len(importing) == 1
        assert importing[0][0] == "pyqtgraph"
        assert importing[0][1] is not threading.main_thread()
    finally:
        gate.set()
    until(lambda: dock.plots and "loaded" not in dock.missing.text())
    dock.close()
    dock.deleteLater()


class Told:
    """A session of which only numbers are known."""

    width = height = 1000
    is_bounded = True

    def __init__(self) -> None:
        self.numbers: list[tuple[int, int]] = []

    def listen(self, listener: Callable[[Event], None]) -> None:
        self.listener = listener

    def status(self) -> Status:
        at, live = self.numbers[-1] if self.numbers else (0, None)
        return Status(at, live, at, False, 0.0, False)

    def tell(self, numbers: list[tuple[int, int]]) -> None:
        for number in numbers:
            self.numbers.append(number)
            self.listener(Event.STATUS)
            QApplication.processEvents()


@pytest.fixture
def told(app: QApplication) -> Iterator[tuple[PlotsDock, Told]]:
    pytest.importorskip("pyqtgraph")
    dock, session = PlotsDock(lambda error: None), Told()
    dock.adopt(session)  # type: ignore[arg-type]
    dock.resize(420, 700)
    dock.show()
    until(lambda: dock.plots)
    for button in dock.buttons.values():
        button.setChecked(True)
    yield dock, session
    dock.close()
    dock.deleteLater()


def test_nothing_is_no_plot(told: tuple[PlotsDock, Told]) -> None:
    dock, session = told
    until(lambda: dock.missing.isVisible())
    assert dock.missing.text() == "Run to see curves."
    assert not any(plot.widget.isVisible() for plot in dock.plots.values())
    session.tell([(7, 5)])
    until(lambda: dock.plots["population"].widget.isVisible())
    assert dock.missing.text() == "Run to see curves."  # a point is none
    session.tell([(9, 6)])
    until(lambda: not dock.missing.isVisible())
    assert dock.plots["population"].widget.isVisible()


@pytest.mark.sample(3)
@pytest.mark.parametrize("live", [0, 5, 36, 1_000_000])
@pytest.mark.parametrize("generations", [[0], [0, 1], [1000, 1001, 1200], [10**9, 10**9 + 1]])
def test_axes_of_what_does_not_change(
    told: tuple[PlotsDock, Told], live: int, generations: list[int]
) -> None:
    dock, session = told
    session.tell([(at, live) for at in generations])
    dock.draw()
    QApplication.processEvents()
    values = {"population": live, "density": live / 10**6, "rate": 0}
    for name, plot in dock.plots.items():
        across, up = plot.widget.viewRange()
        assert across[0] >= 0
        assert across[0] <= generations[0]
        assert across[1] >= generations[-1]
        assert across[1] - across[0] >= 1
        assert 0 <= up[0] <= values[name] <= up[1]
        assert up[1] - up[0] > values[name] / 100
        for side, (low, high), whole in (
            ("bottom", across, True), ("left", up, name == "population"),
        ):  # fmt: skip
            axis = plot.widget.getAxis(side)
            levels = axis.tickValues(low, high, 300)
            assert not whole or all(value % 1 == 0 for _, some in levels for value in some)
            spacing, values_of = levels[0]
            texts = axis.tickStrings(values_of, 1.0, spacing)
            assert len(set(texts)) == len(texts)
            assert all(text[0] != "-" for text in texts)
    assert (dock.plots["rate"].curve.opts["symbol"] is not None) == (len(generations) == 1)
