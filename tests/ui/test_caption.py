"""The numbers beside a picture are those of that picture, and they are there."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtWidgets import QApplication

from kernels.targets.choose import pick
from lifesim.grid import Box
from lifesim.store.universe import Universe
from lifesim.stream.run import StreamedLife
from tests.disk_sessions import Held, break_off, make, soup
from tests.windows import close, make_window, record_run, soup_after, soup_session, until
from ui.cells.session import MemorySession
from ui.cells.snapshots import Pictures
from ui.disk.session import DiskSession
from ui.film.stills import Afar, AfarSource
from ui.picture.request import FrameRequest
from ui.picture.sources import caption_of
from ui.picture.viewport import Viewport
from ui.qt.menus.time import TimeMenu
from ui.qt.window import LifeWindow
from ui.session import Event

pytestmark = pytest.mark.usefixtures("unforeseen")

FAR = FrameRequest(Viewport(0, 0, 4, 4, 4))


def test_a_population_is_known_where_a_picture_was_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever draws may be the first to look at all cells."""
    due = Pictures.due

    def draw_first(pictures: Pictures, running: bool) -> float | None:
        pictures.source(FAR)
        return due(pictures, running)

    monkeypatch.setattr(Pictures, "due", draw_first)
    grid = soup_after(0)
    session = MemorySession(grid, backend=pick("auto", threads=1), small=0)
    try:
        until(lambda: session.status().population == grid.population())
        assert session.status().counted == 0
        session.resize(80, 80)  # another universe, of which the same may be so
        session.settle()
        until(lambda: session.source(FAR).width == 80)
        until(lambda: session.status().population == grid.population())
    finally:
        session.close()


def test_recorded_pictures_have_their_own_numbers(app: QApplication, tmp_path: Path) -> None:
    session = soup_session()
    window = make_window(tmp_path, session)
    line, timeline = window.status_line, window.menu_of(TimeMenu).timeline
    timeline.show()
    record_run(timeline, session, 6)
    until(lambda: line.generation.text() == "gen 6")
    timeline.scrub(2)
    until(lambda: line.generation.text() == "gen 2")
    assert line.population.text() == f"pop {soup_after(2).population():,}"
    assert "the universe is at 6" in line.generation.toolTip()
    window._hear(Event.STATUS)  # the universe tells of itself meanwhile
    assert line.generation.text() == "gen 2"
    timeline.leave()
    until(lambda: line.generation.text() == "gen 6")
    assert line.population.text() == f"pop {soup_after(6).population():,}"
    assert "recorded" not in line.generation.toolTip()
    close(window)


def test_what_nobody_has_counted_is_no_number(window: LifeWindow) -> None:
    session = window.session
    pixels = soup(8, 8).to_bool().astype("uint8") * 255
    still = Afar(pixels, 3, 64, 64, session.rule, session.topology, 77)

    assert caption_of(AfarSource(still)).population is None
    until(lambda: window.status_line.population.text() == "pop 5")
    landed = window._landed
    assert landed is not None
    recorded = type(landed)(landed.frame, None, caption_of(AfarSource(still)), True)
    window.status_line.show_status(session, session.status(), recorded)
    assert window.status_line.generation.text() == "gen 77"
    assert window.status_line.population.text() == "pop –"
    assert window.status_line.density.text() == "–"


def test_a_universe_that_another_process_runs(
    app: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A picture between two generations has tiles of both, and the status line shows both."""
    grid = soup(192, 160)
    path = make(tmp_path / "u", grid)
    window = make_window(tmp_path, DiskSession.open(path, backend="reference"))  # type: ignore[arg-type]
    line = window.status_line
    until(lambda: line.generation.text() == "gen 0")
    with Universe.open(path, writing=True) as universe:
        break_off(universe, monkeypatch)
    until(lambda: line.generation.text() == "gen 0–6")
    assert line.population.text() == f"pop {grid.population():,}"
    assert "at generation 0" in line.population.toolTip()
    with Universe.open(path, writing=True) as universe:
        StreamedLife(universe, [pick("reference")]).resume()
    until(lambda: line.generation.text() == "gen 12")
    close(window)


def test_a_picture_that_waits_for_its_parts_says_so(
    app: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, box = Held(monkeypatch), Box(0, 0, 64, 64)
    path = make(tmp_path / "u", soup(192, 160))
    session = DiskSession.open(path, backend="reference")
    try:
        source = session.source(FrameRequest(Viewport(0, 0, 0, 64, 64)))
        source.levels(box, 0)
        assert caption_of(source).is_old
        held.gate.set()
        until(lambda: source.levels(box, 0).any() and not source.is_old)
        assert not caption_of(source).is_old
    finally:
        held.gate.set()
        session.close()
