"""The plots, drawn and saved."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtWidgets import QApplication, QFileDialog

from tests.windows import SIDE, rest, soup_after, until
from ui.cells.session import MemorySession
from ui.qt import theme
from ui.qt.film.plots_dock import PlotsDock

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
    assert set(dock.plots) == {"population", "density", "rate"}
    dock.draw()
    x, y = dock._curves["population"].getData()
    assert x.tolist() == [0, 1, 2, 3, 4, 5]
    populations = [soup_after(k).population() for k in range(6)]  # type: ignore[attr-defined]
    assert y.tolist() == populations
    assert dock._curves["density"].getData()[1].tolist() == [p / SIDE**2 for p in populations]
    assert dock.plots["density"].isVisible()
    assert not dock.plots["rate"].isVisible()
    dock.buttons["rate"].setChecked(True)
    assert dock.plots["rate"].isVisible()
    theme.apply(app, "light")
    assert dock.plots["rate"].backgroundBrush().color().name() == "#ffffff"
    theme.apply(app, "dark")
    path = tmp_path / "run.csv"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))
    dock.save_button.click()
    assert path.read_text().startswith(f"generation,population,density,rate\n0,{populations[0]},")
    dock.save(str(tmp_path / "none" / "run.csv"))
    assert "cannot write" in str(reported[0])
    dock.adopt(session)
    assert len(dock.series) == 1
    dock.close()
    dock.deleteLater()
    QApplication.processEvents()


def test_without_pyqtgraph(
    app: QApplication, session: MemorySession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyqtgraph", None)
    dock = PlotsDock(lambda error: None)
    dock.adopt(session)
    dock.show()
    assert dock.missing.isVisible()
    assert "pyqtgraph" in dock.missing.text()
    dock.draw()
    dock.close()
    dock.deleteLater()
