"""Patterns on planes without bounds: what is held of one grows before a cell is at its border."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.targets.choose import pick
from lifesim import patterns
from lifesim.engine import Life
from lifesim.errors import LifesimError
from lifesim.grid import BitGrid, Box
from lifesim.patterns import Pattern
from lifesim.store import read
from lifesim.store.universe import Universe
from lifesim.stream.run import StreamedLife
from lifesim.topology import Topology
from tests.waiting import until
from ui import opening
from ui.cells import plane
from ui.cells.edits import Clear, Mode, Paste, Stroke
from ui.cells.saving import Whole
from ui.cells.session import MemorySession
from ui.disk.session import DiskSession
from ui.film.export import ExportLook
from ui.film.films import RunExport
from ui.film.recorder import Recorder
from ui.film.recording import Recording
from ui.picture.ages import Ages
from ui.picture.draw import draw
from ui.picture.live import Aim
from ui.picture.request import FrameRequest
from ui.picture.sources import lacks
from ui.picture.viewport import Viewport
from ui.session import Event, Session

DATA = Path(__file__).parents[2] / "data" / "patterns"
GUN = str(DATA / "gosper-gun.rle")
GLIDER = BitGrid.from_cells(3, 3, [(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)])


def cells_of(some: Life | Session) -> set[tuple[int, int]]:
    box = some.frame() if isinstance(some, Life) else some.box
    grid = some.grid() if isinstance(some, Life) else some.cells(box)
    return {(int(x) + box.x, int(y) + box.y) for x, y in grid.cells()}


def after(generations: int, pattern: str | Pattern = GUN) -> Life:
    life = Life.from_pattern(pattern, backend="reference" if pattern is not GUN else "auto")
    life.run(generations)
    return life


def gone(session: Session, generations: int) -> None:
    assert isinstance(session, MemorySession)
    session.step(generations)
    session.settle()
    assert not session.status().problem


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts are so small that they grow soon."""
    monkeypatch.setattr(plane, "_UNIT", 64)
    monkeypatch.setattr(plane, "_ROOM", 64)
    monkeypatch.setattr(plane, "_LEAST", 16)


@pytest.fixture
def glider(narrow: None) -> Iterator[MemorySession]:
    with closing(of_pattern(Pattern(GLIDER))) as session:
        yield session


def of_pattern(pattern: Pattern) -> MemorySession:
    life = Life.from_pattern(pattern, backend="reference")
    frame = life.frame()
    return MemorySession(life.grid(), topology="plane", bounds=(0, 0), at=(frame.x, frame.y))


def test_a_gun_goes_on_for_ever(narrow: None) -> None:
    with closing(opening.open(GUN)) as session:
        assert not session.is_bounded
        assert session.topology is Topology.PLANE
        before = session.box
        gone(session, 1600)
        assert session.box != before
        life = after(1600)
        assert cells_of(session) == cells_of(life)
        until(lambda: session.status().population is not None)
        assert session.status().population == life.population()


@pytest.mark.parametrize("end", [".rle", ".mc", "/"])
def test_what_is_saved_has_no_bounds(tmp_path: Path, end: str, narrow: None) -> None:
    path = str(tmp_path / f"saved{end}")
    with closing(opening.open(GUN)) as session:
        gone(session, 400)
        session.save(path)
    life = after(400)
    with closing(opening.open(path)) as session:
        assert not session.is_bounded
        assert session.status().generation == 400
        assert cells_of(session) == cells_of(life)
        if isinstance(session, MemorySession):
            gone(session, 400)
            assert cells_of(session) == cells_of(after(800))
        else:  # a copy
            session.save(str(tmp_path / "copy"))
            copy = Universe.open(str(tmp_path / "copy"))
            assert copy.bounds == (0, 0)
            assert copy.frame() == life.frame()


def test_time_goes_back_to_a_smaller_part(glider: MemorySession) -> None:
    boxes = [glider.box]
    for _ in range(3):
        gone(glider, 400)
        boxes.append(glider.box)
    assert len(set(boxes)) > 2
    glider.go_to(850)
    glider.settle()
    assert cells_of(glider) == cells_of(after(850, Pattern(GLIDER)))
    glider.undo()
    for number in (3, 2, 1, 0):
        glider.settle()
        assert glider.status().generation == 400 * number
        assert glider.box == boxes[number]
        assert cells_of(glider) == cells_of(after(400 * number, Pattern(GLIDER)))
        if number:
            glider.undo()
    for _ in range(3):
        glider.redo()
    glider.settle()
    assert cells_of(glider) == cells_of(after(1200, Pattern(GLIDER)))
    glider.reset()
    glider.settle()
    assert cells_of(glider) == cells_of(after(0, Pattern(GLIDER)))


def test_cells_are_put_down_outside_of_what_is_held(glider: MemorySession) -> None:
    first, before = glider.box, cells_of(glider)
    glider.edit(Stroke(((0, 0),), True, 1))
    glider.edit(Stroke(((-500, 9), (-498, 9)), True, 1))
    glider.edit(Paste(GLIDER, 800, -700, Mode.OR))
    glider.settle()
    far = {(-500, 9), (-499, 9), (-498, 9)}
    put = {(int(x) + 800, int(y) - 700) for x, y in GLIDER.cells()}
    assert cells_of(glider) == before | {(0, 0)} | far | put
    assert glider.cells(Box(-502, 9, 3, 1)).population() == 1
    glider.undo()
    glider.settle()
    assert cells_of(glider) == before | {(0, 0)} | far
    glider.undo()
    glider.undo()
    glider.settle()
    assert (cells_of(glider), glider.box) == (before, first)
    for _ in range(3):
        glider.redo()
    glider.settle()
    assert cells_of(glider) == before | {(0, 0)} | far | put
    glider.edit(Clear(Box(-(10**6), -(10**6), 1000, 1000)))  # where nothing lives
    glider.settle()
    assert glider.can_redo is None
    assert glider.can_undo == "pasting"


def test_what_memory_does_not_hold_stops_the_run(
    glider: MemorySession, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[Event] = []
    glider.listen(found.append)
    monkeypatch.setattr(plane, "available_memory", lambda: 1000)
    glider.step(1000)
    glider.settle()
    status = glider.status()
    assert "has outgrown memory at generation" in status.problem
    assert Event.FAILED in found
    assert 100 < status.generation < 1000
    assert cells_of(glider) == cells_of(after(status.generation, Pattern(GLIDER)))
    monkeypatch.undo()


def test_a_rule_that_fills_a_plane_needs_a_size(glider: MemorySession) -> None:
    glider.set_rule("B03/S23")
    glider.step(1)
    glider.settle()
    assert "brings empty space to life" in glider.status().problem
    assert glider.status().generation == 0
    glider.resize(100, 80)
    glider.step(1)
    glider.settle()
    assert glider.status().generation == 1


def test_a_size_and_a_torus_are_bounds(glider: MemorySession) -> None:
    at = cells_of(glider)
    glider.resize(101, 80)
    glider.settle()
    assert glider.is_bounded
    assert (glider.width, glider.height) == (101, 80)
    assert cells_of(glider) == at  # in the same place
    assert glider.whole().bounds == (101, 80)
    glider.undo()
    glider.settle()
    assert not glider.is_bounded
    glider.set_topology("torus")
    glider.settle()
    assert glider.is_bounded
    box = glider.box
    gone(glider, 4 * box.width * 2)
    assert glider.box == box
    assert len(cells_of(glider)) == 5


def test_bounds_one_way_only(tmp_path: Path, narrow: None) -> None:
    path = tmp_path / "strip.rle"
    path.write_text("x = 3, y = 3, rule = B3/S23:T40,0\nbo$2bo$3o!\n")
    with closing(opening.open(str(path))) as session:
        assert (session.box.x, session.width, session.is_bounded) == (0, 40, False)
        gone(session, 1000)
        life = Life.from_pattern(str(path))
        life.run(1000)
        assert cells_of(session) == cells_of(life)


def test_pictures_keep_to_the_cells(glider: MemorySession) -> None:
    """A view of the place where cells live shows the same, whatever is held."""
    gone(glider, 400)
    x, y, _, _ = glider.bounding_box() or Box(0, 0, 0, 0)
    for scale in (-2, 0, 2, 3, 5):
        view = Viewport.fitting(Box(x - 30, y - 30, 63, 63), 64, 64)
        view = Viewport(view.left, view.top, view.scale, 64, 64).zoomed(view.scale - scale, 32, 32)
        frame = draw(FrameRequest(view), glider.source(FrameRequest(view)))
        rows, columns = frame.pixels.nonzero()
        assert len(rows)
        for row, column in zip(rows, columns, strict=True):
            under = view.cells_at(int(column), int(row))
            assert glider.cells(under).population()
    seen, _ = Aim(fit=True).taken(glider.source(FrameRequest(view)), view)
    assert seen.box.x <= x < seen.box.x + seen.box.width
    _, aim = Aim(box=Box(x, y, 3, 3), generation=400).taken(glider.source(FrameRequest(view)), view)
    assert aim
    assert aim.box == glider.bounding_box()


def test_ages_go_on_in_a_larger_part(narrow: None) -> None:
    block = Pattern(BitGrid.from_cells(40, 3, [(0, 0), (0, 1), (1, 0), (1, 1)] + [
        (37 + x, y) for x, y in ((1, 0), (2, 1), (0, 2), (1, 2), (2, 2))]))  # fmt: skip
    request = FrameRequest(Viewport(0, 0, 0, 2, 2), ages=True)
    with closing(of_pattern(block)) as session:
        ages = Ages()
        before = draw(request, ages.seen(request, session.source(request))).pixels
        box = session.box
        gone(session, 500)
        assert session.box != box
        later = draw(request, ages.seen(request, session.source(request))).pixels
        assert (later > before).all()


def test_a_recording_keeps_to_the_cells(glider: MemorySession, tmp_path: Path) -> None:
    recording = Recording(str(tmp_path / "film"))
    recorder = Recorder(glider, recording)
    until(lambda: len(recording) == 1)
    for count in range(2, 5):
        gone(glider, 250)
        until(lambda count=count: len(recording) == count)  # type: ignore[misc]
    recorder.stop()
    recording.close()
    recording = Recording(str(tmp_path / "film"))
    shots = recording.shots
    assert len({(shot.at, shot.width) for shot in shots}) > 1
    for shot in shots:
        whole = recording.whole(shot)
        found = {(int(x) + whole.at[0], int(y) + whole.at[1]) for x, y in whole.cells.cells()}
        assert found == cells_of(after(shot.generation, Pattern(GLIDER)))
    glider.put(recording.whole(shots[1]))
    gone(glider, 600)
    assert cells_of(glider) == cells_of(after(850, Pattern(GLIDER)))
    recording.close()


def test_a_film_of_a_run_leaves_what_is_held(glider: MemorySession) -> None:
    film = RunExport(glider.whole(), 400, 200, "reference")
    place = after(400, Pattern(GLIDER)).frame()
    look = ExportLook(Box(place.x, place.y, 3, 3))
    *_, last = film.sources(lambda share: None)
    assert last.generation == 400
    assert int((look.levels(last, Ages()) > 0).sum()) == 5


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 300), st.booleans()), max_size=4), st.integers(0, 2**32))
def test_any_run_is_that_of_the_engine(runs: list[tuple[int, bool]], seed: int) -> None:
    from lifesim.soup import random_grid

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plane, "_UNIT", 64)
        patch.setattr(plane, "_ROOM", 1)
        patch.setattr(plane, "_LEAST", 3)
        pattern = Pattern(random_grid(12, 9, 0.5, seed), x=-5, y=7)
        life = Life.from_pattern(pattern)
        with closing(MemorySession(life.grid(), topology="plane", bounds=(0, 0),
                                   at=life.frame()[:2])) as session:  # fmt: skip
            for generations, undone in runs:
                gone(session, generations)
                if undone:
                    session.undo()
                    session.redo()
                    session.settle()  # what is held is the larger part again
                life.run(generations)
            assert cells_of(session) == cells_of(life)


def test_a_directory_that_grows_is_looked_at_again(tmp_path: Path) -> None:
    path = str(tmp_path / "plane")
    with closing(opening.open(GUN)) as session:
        place = session.bounding_box()
        session.save(path)
    with closing(opening.open(path)) as session:
        assert isinstance(session, DiskSession)
        assert not session.is_bounded
        assert place
        assert session.cells(place).population() == 36
        before = session.box
        old = Universe.open(path)
        with Universe.open(path, writing=True) as universe:
            StreamedLife(universe, [pick("auto", threads=1)]).run(1500)
        until(lambda: session.status().generation == 1500)
        assert session.box != before
        life = after(1500)
        assert cells_of(session) == cells_of(life)
        with pytest.raises(LifesimError, match="has grown meanwhile"):
            read.whole(old)
        found = session.whole()
        assert (found.frame(), found.bounds) == (life.frame(), (0, 0))
        still = session.still()
        assert isinstance(still, Whole)
        assert still.at == session.box[:2]
        view = Viewport.fitting(life.frame(), 500, 500)
        request = FrameRequest(view, any_cell=True)

        def is_sharp() -> bool:
            source = session.source(request)
            frame = draw(request, source)
            return not lacks(source) and bool(frame.pixels.any())

        until(is_sharp)
        pixels = draw(request, session.source(request)).pixels
        whole = life.grid()
        for row, column in list(zip(*pixels.nonzero(), strict=True))[::20]:
            under = view.cells_at(int(column), int(row))
            near = Box(under.x - 4, under.y - 4, under.width + 8, under.height + 8)
            frame = life.frame()
            inner = near.common(frame)
            assert inner
            inner = inner._replace(x=inner.x - frame.x, y=inner.y - frame.y)
            assert whole.crop(inner).population()


def test_an_edge_that_was_asked_for_is_watched(tmp_path: Path) -> None:
    for topology in ("plane", "torus"):
        life = Life.from_pattern(GUN, watch=True, size=(90, 70), topology=topology)
        life.run(400)
        assert life.edge
        with closing(opening.open(GUN, size=(90, 70), topology=Topology(topology))) as session:
            for generations in (7, life.edge - 8, 1):
                assert session.status().edge is None
                gone(session, generations)
            assert session.status().edge == life.edge
            gone(session, 400 - life.edge)
            assert session.status().edge == life.edge
            assert session.cells(session.box) == life.grid()
            session.go_to(3)
            session.settle()  # type: ignore[attr-defined]
            assert session.status().edge is None
            gone(session, 397)
            assert session.status().edge == life.edge
    with closing(opening.open(GUN, size=(90, 70))) as session:
        assert isinstance(session, MemorySession)
        gone(session, 5)
        session.edit(Stroke(((0, 50),)))
        gone(session, 1)
        assert session.status().edge == 5
    with closing(opening.random(90, 70, 0.5, 1)) as session:
        gone(session, 5)
        assert session.status().edge is None


def test_oddities_of_a_file_are_known(tmp_path: Path) -> None:
    path = tmp_path / "odd.rle"
    path.write_text("x = 3, y = 3\nbo$2bo$3o\n")
    with closing(opening.open(str(path))) as session:
        assert session.oddities == patterns.read(path).notes
        assert "may be cut off" in session.oddities[0]
