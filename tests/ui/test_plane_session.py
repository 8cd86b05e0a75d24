"""Planes without bounds in the engines tiles and HashLife: sessions, pictures, and moves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.plane.hashlife.listing import SquareList
from kernels.targets.choose import pick
from kernels.targets.contract import BackendUnavailableError
from lifesim import patterns
from lifesim.engine import Life
from lifesim.errors import LifesimError
from lifesim.grid import BitGrid, Box, GridError
from lifesim.planes import plane_target
from lifesim.render import level_of
from lifesim.rule import LIFE, Rule
from lifesim.soup import random_grid
from lifesim.start import Start
from lifesim.topology import Topology
from lifesim.unbounded import ENGINES
from tests.quick import examples
from tests.waiting import until
from ui import opening
from ui.cells.edited import EditedSession
from ui.cells.edits import Clear, Stroke
from ui.launch import ViewLaunch
from ui.numbers import coordinate, generation_of, shortened
from ui.picture.ages import Ages
from ui.picture.draw import draw
from ui.picture.live import Aim, live_box, population
from ui.picture.request import FrameRequest
from ui.picture.viewport import FARTHEST, MOST_PIXELS, NEAREST, Viewport
from ui.planes.pictures import brightness
from ui.planes.session import PlaneSession
from ui.session import SessionError
from ui.speed import RunSpeed

try:
    plane_target("hashlife", "auto", None)
except BackendUnavailableError:
    pytest.skip("needs compiled code", allow_module_level=True)

ROOT = Path(__file__).parents[2]
GUN = str(ROOT / "data" / "patterns" / "gosper-gun.rle")
PLANES = tuple(name for name in ENGINES if name != "dense")
CPU = pick("cpu", threads=1)


def opened(engine: str, grid: BitGrid, at: tuple[int, int] = (0, 0), generation: int = 0):
    start = Start(grid, LIFE, Topology.PLANE, generation, (0, 0), at)
    return opening._session(start, CPU, engine=engine)


@contextmanager
def gun(engine: str) -> Iterator[EditedSession]:
    with closing(opening.open(GUN, engine=engine, backend=CPU)) as session:
        assert isinstance(session, EditedSession)
        yield session


def picture(session: EditedSession, view: Viewport) -> np.ndarray:
    request = FrameRequest(view)
    return draw(request, session.source(request)).pixels


# --- pictures ----------------------------------------------------------------


@settings(max_examples=examples(15), deadline=None)
@given(
    st.integers(0, 2**32), st.integers(-300, 300), st.integers(-300, 300),
    st.integers(NEAREST, 5), st.integers(-400, 400), st.integers(-400, 400),
)  # fmt: skip
def test_pictures_are_those_of_a_rectangle(
    seed: int, x: int, y: int, scale: int, left: int, top: int
) -> None:
    """Near at hand, wherever the cells lie and one looks; far out they are those of the middle."""
    grid = random_grid(150, 90, 0.3, seed)
    view = Viewport(left, top, scale, 83, 61)
    with closing(opened("dense", grid, (x, y))) as session:
        wanted = picture(session, view)
    for engine in PLANES:
        with closing(opened(engine, grid, (x, y))) as session:
            assert np.array_equal(picture(session, view), wanted)
            away = 1 << 58
            session.edit(Clear(Box(x, y, 150, 90)))
        with closing(opened(engine, grid, (x + away, y - away))) as session:
            shift = away >> scale if scale >= 0 else away << -scale
            assert np.array_equal(picture(session, view.moved(shift, -shift)), wanted)


def test_brightness_is_a_density_near_at_hand_and_tells_life_from_afar() -> None:
    for scale in range(FARTHEST + 1):
        most = 4.0**scale
        some = np.unique(np.geomspace(1, most, 50).round()) if scale else np.ones(1)
        counts = np.concatenate([np.zeros(1), some])
        levels = brightness(counts, scale)
        if scale <= 5:
            live = counts.astype(np.int64)
            assert np.array_equal(levels, level_of(live, np.full_like(live, 1 << 2 * scale)))
        assert levels[0] == 0
        assert levels[-1] == 255
        assert np.all(np.diff(levels.astype(int)) >= 0)
        assert np.all((levels[1:-1] > 0) & (levels[1:-1] < 255))


EDGES = st.integers(-(2**9), 2**14)
FAR_VIEWS = st.builds(
    Viewport,
    st.integers(-(2**280), 2**280),
    st.integers(-(2**280), 2**280),
    st.integers(NEAREST, FARTHEST),
    st.integers(1, 4000),
    st.integers(1, 4000),
)


@given(FAR_VIEWS, st.integers(-300, 300), EDGES, EDGES, st.integers(1, 999), st.data())
def test_a_late_picture_is_shown_exactly_where_it_belongs(
    view: Viewport, zoom: int, left: int, top: int, size: int, data: st.DataObject
) -> None:
    x, y = data.draw(st.integers(0, view.width - 1)), data.draw(st.integers(0, view.height - 1))
    other = view.zoomed(zoom, x, y)
    edges = left, top, left + size, top + size
    shown = view.shown_in(other, edges)
    factor = Fraction(2) ** (view.scale - other.scale)
    starts = (view.left, view.top) * 2
    begins = (other.left, other.top) * 2
    exact = [
        (start + edge) * factor - begin
        for edge, start, begin in zip(edges, starts, begins, strict=True)
    ]
    depth = min(other.width - exact[0], other.height - exact[1], *exact[2:])  # that is seen
    if abs(depth) > Fraction(1, 2**20):
        assert (shown is not None) == (depth > 0)
    for one, wanted in zip(shown or (), exact, strict=bool(shown)):
        if abs(wanted) <= 4 * MOST_PIXELS:
            assert abs(Fraction(one) - wanted) <= Fraction(1, 2**20)
        else:
            assert abs(one) >= 4 * MOST_PIXELS


@pytest.mark.parametrize("engine", PLANES)
def test_ages_are_those_of_a_rectangle(engine: str) -> None:
    sessions = [opened(name, random_grid(60, 60, 0.4, 3)) for name in ("dense", engine)]
    remembered = [Ages(), Ages()]
    for view in (Viewport(-10, -10, 0, 90, 90), Viewport(-3, -3, 2, 30, 30)):
        request = FrameRequest(view, ages=True)
        seen = []
        for session, ages in zip(sessions, remembered, strict=True):
            session.step(4)
            session.settle()
            seen.append(draw(request, ages.seen(request, session.source(request))).pixels)
        assert np.array_equal(*seen)
        assert len(np.unique(seen[0])) > 2 or view.scale == 0
    for session in sessions:
        session.close()


# --- running -----------------------------------------------------------------


@pytest.mark.parametrize("engine", PLANES)
def test_what_is_done_is_what_a_rectangle_does(engine: str) -> None:
    """Steps, edits, undo, redo, reset and jumps back, far out on the plane."""
    grid, at = random_grid(40, 30, 0.4, 5), (-(1 << 61), (1 << 61) - 77)
    around = Box(at[0] - 100, at[1] - 100, 240, 230)

    def after(session: EditedSession, told: list[str]) -> BitGrid:
        session.step(37)
        session.settle()
        session.edit(Stroke(((at[0] - 5, at[1] - 5), (at[0] + 70, at[1] + 9))))
        session.edit(Clear(Box(at[0] + 3, at[1] + 3, 9, 99)))
        session.step(5)
        session.settle()
        session.undo()
        session.undo()
        session.settle()
        told.append(f"{session.status().generation} {session.can_undo} {session.can_redo}")
        session.redo()
        session.step(11)
        session.settle()
        session.go_to(20)
        session.settle()
        told.append(f"{session.status().generation} {session.can_undo}")
        session.undo()
        session.settle()
        told.append(f"{session.status().generation} {session.status().modified}")
        cells = session.cells(around)
        session.reset()
        session.settle()
        assert (session.status().generation, session.cells(around).population()) == (
            0, grid.population(),
        )  # fmt: skip
        return cells

    told: dict[str, list[str]] = {"dense": [], engine: []}
    found = {}
    for name in told:
        # A rectangle is as far from its own origin.
        with closing(opened(name, grid, at)) as session:
            found[name] = after(session, told[name])
    assert told["dense"] == told[engine]
    assert found["dense"] == found[engine]
    assert found[engine].population()


def test_going_to_two_to_the_forty() -> None:
    with gun("hashlife") as session:
        session.go_to(1 << 40)
        session.settle()
        until(lambda: session.status().counted == 1 << 40)
        status = session.status()
        assert (status.generation, status.running, status.problem) == (1 << 40, False, "")
        life = Life.from_pattern(GUN, engine="hashlife")
        life.run(1 << 40)
        assert status.population == life.population()
        source = session.source(FrameRequest(Viewport(0, 0, 3, 800, 600)))
        view, _ = Aim(fit=True).taken(source, Viewport(0, 0, 3, 800, 600))
        frame = draw(FrameRequest(view), session.source(FrameRequest(view)))
        assert view.scale == 29
        assert np.count_nonzero(frame.pixels) > 500
        left, top, right, bottom = view.rectangle(life.frame())
        rows, columns = np.nonzero(frame.pixels)
        assert (columns.min(), rows.min()) == (left, top)
        assert (columns.max(), rows.max()) == (right - 1, bottom - 1)
        with pytest.raises(GridError, match="too much") as refused:
            session.still()
        assert "\n" not in str(refused.value)
        session.undo()
        session.settle()
        assert session.status().generation == 0


@pytest.mark.parametrize("engine", PLANES)
def test_a_run_can_be_stopped_and_looked_at(engine: str) -> None:
    """Pictures come before the stride under way, and the run goes on."""
    with closing(opened(engine, random_grid(400, 400, 0.4, 2))) as session:
        session.set_speed(1 << 12, None)
        session.start()
        for _ in range(3):
            before = session.status().generation
            assert picture(session, Viewport(0, 0, 0, 400, 400)).any()
            assert session.status().running
            until(lambda before=before: session.status().generation > before)
        session.stop()
        session.settle()
        assert not session.status().running
        generation = session.status().generation
        assert session.source(FrameRequest(Viewport(0, 0, 0, 9, 9))).generation == generation


@pytest.mark.parametrize("engine", PLANES)
def test_speeds_beyond_those_of_a_rectangle(engine: str) -> None:
    with gun(engine) as session:
        if engine != "tiles":  # which would leap only over what repeats itself
            session.set_speed(1 << 100, 30.0)
            session.start()
            until(lambda: session.status().generation >= 1 << 101)
            session.stop()
            session.settle()
            assert "hashlife" in session.where
        assert session.most_speed == (1 << 20 if engine == "tiles" else 1 << 200)
        with pytest.raises(SessionError, match="generations a picture"):
            session.set_speed(2 * session.most_speed, None)
    fast = RunSpeed(2, 150, 1 << 200)
    assert str(fast) == "2^150"
    assert fast.within(1 << 20) == RunSpeed(2, 20)
    assert fast.changed(99).is_fastest


# --- moving and opening ------------------------------------------------------


@pytest.mark.parametrize("old", ENGINES)
@pytest.mark.parametrize("new", ENGINES)
def test_cells_move_to_any_engine(old: str, new: str) -> None:
    grid, at = random_grid(90, 50, 0.4, 1), (-37, 1000)
    around = Box(-100, 900, 300, 250)
    session = opened(old, grid, at, generation=10**20)
    session.step(30)
    session.settle()
    with closing(session), closing(opening.moved(session, new, CPU)) as other:
        other.settle()
        assert other.cells(around) == session.cells(around)
        assert other.status().generation == 10**20 + 30
        assert other.engine == new
        other.step(3)
        session.step(3)
        other.settle()
        session.settle()
        assert other.cells(around) == session.cells(around)
        assert not other.status().modified
        session.edit(Clear(around))
        with closing(opening.moved(session, new, CPU)) as changed:
            assert changed.status().modified


@pytest.mark.parametrize("engine", PLANES)
def test_what_an_engine_cannot_hold_is_refused_in_one_line(engine: str, tmp_path: Path) -> None:
    refusals = []
    with closing(opening.new(64, 64, backend=CPU)) as torus:
        with pytest.raises(GridError) as refused:
            opening.moved(torus, engine, CPU)
        refusals.append(refused)
    with gun(engine) as session:
        with pytest.raises(LifesimError) as refused:
            session.set_rule("B0/S8")
        refusals.append(refused)
        for make in (lambda: session.set_topology("torus"), lambda: session.resize(9, 9)):
            with pytest.raises(SessionError) as refused:
                make()
            refusals.append(refused)
        session.set_topology("plane")
    if engine == "auto":  # which is a rectangle where nothing else will do
        return
    for options in ({"rule": Rule.parse("B0/S8")}, {"size": (99, 99)}):
        with pytest.raises(LifesimError) as refused:
            ViewLaunch(GUN, engine=engine, **options).session(CPU)  # type: ignore[arg-type]
        refusals.append(refused)
    with pytest.raises(LifesimError, match="runs on the CPU") as refused:
        ViewLaunch(GUN, engine="hashlife", backend="cuda").pick()
    refusals.append(refused)
    for refused in refusals:
        assert "\n" not in str(refused.value)


def test_a_rectangle_is_refused_for_what_is_too_wide() -> None:
    with gun("hashlife") as session:
        session.go_to(1 << 60)
        session.settle()
        for engine in ("dense", "tiles"):
            with pytest.raises(GridError, match="too m") as refused:
                opening.moved(session, engine, CPU)
            assert "\n" not in str(refused.value)


def wide(levels: int) -> SquareList:
    """Four blocks at the corners of a square of 2^levels cells."""
    leaf = 0b11 | 0b11 << 8
    children, heights = [[0] * 4, [0] * 4], [0, 3]
    for level in range(4, levels):
        heights.append(level)
        children.append([len(children) - 1, 0, 0, 0])
    children.append([len(children) - 1] * 4)
    heights.append(levels)
    return SquareList(
        np.array(heights, np.uint8),
        np.array(children, np.int64),
        np.array([0, leaf] + [0] * (levels - 3), np.uint64),
    )


def test_a_macrocell_file_that_is_too_wide_opens_in_hashlife(tmp_path: Path) -> None:
    path = str(tmp_path / "wide.mc")
    pattern = patterns.Pattern(BitGrid(1, 1), rule=LIFE, squares=wide(101))
    patterns.write(pattern, path)
    with closing(opening.open(path, backend=CPU)) as session:
        assert isinstance(session, PlaneSession)
        assert session.engine == "hashlife"
        session.settle()
        assert session.status().population == 16
        assert session.box.width == (1 << 100) + 2
        start = Viewport(0, 0, 3, 500, 400)
        source = session.source(FrameRequest(start))
        view, _ = Aim(fit=True).taken(source, start)
        pixels = picture(session, view)
        assert np.count_nonzero(pixels) == 4
        rows, columns = np.nonzero(pixels)
        # Zoomed in at each of the four, cells are there to the last one.
        for x, y in zip(columns.tolist(), rows.tolist(), strict=True):
            at = view.cells_at(x, y)
            near = Viewport(at.x, at.y, 0, 40, 40)
            near = near.centred(at.x, at.y)
            assert np.count_nonzero(picture(session, near)) == 4
            seen = session.source(FrameRequest(near))
            block = Box(at.x + (1 << 320), at.y + (1 << 320), at.width, at.height)
            assert population(seen, block) == 4
        box = live_box(session.source(FrameRequest(start)))
        assert box is not None
        assert (box.width, box.height) == session.box[2:]
        again = str(tmp_path / "again.mc")
        session.save(again)
        with pytest.raises(LifesimError, match=r"macrocell \(\.mc\)"):
            session.save(str(tmp_path / "again.rle"))
    with closing(opening.open(again, backend=CPU)) as session:
        session.settle()
        assert (session.status().population, session.box) == (16, Box(*session.box))
    small = str(tmp_path / "small.mc")
    patterns.write(patterns.Pattern(random_grid(200, 99, 0.5, 1)), small)
    with closing(opening.open(small, backend=CPU)) as session:
        assert session.engine == "dense"
        assert session.cells(Box(0, 0, 200, 99)) == random_grid(200, 99, 0.5, 1)


# --- words -------------------------------------------------------------------


@given(st.integers(-(2**260), 2**260), st.integers(0, 256))
def test_coordinates_are_exact_where_they_are_no_digits_left_out(block: int, scale: int) -> None:
    at = block << scale
    text = coordinate(at, scale)
    assert len(text) < 50
    if "…" not in text:
        assert eval(text.replace(",", "").replace("·", "*").replace("^", "**")) == at
    else:
        digits = str(abs(at))
        assert digits[-6:] in text or str(abs(block))[-6:] in text


def test_words_of_long_numbers() -> None:
    assert shortened(123456789) == "123,456,789"
    assert shortened(1 << 200) == "2^200"
    assert shortened(-3 * 10**30) == "-3·10^30"
    assert shortened(7**40) == "636680…224001 (34 digits)"
    for text, value in (
        ("1e6", 10**6),
        ("2^40", 1 << 40),
        ("1,000", 1000),
        ("64K", 65536),
        (str(7**60), 7**60),
    ):
        assert generation_of(text, 1 << 200) == value
    assert generation_of(str(7**60), 1 << 200) == 7**60
    for text in ("2^201", "-1", "1.5", "x", "", "2^99999999"):
        with pytest.raises(ValueError, match=r"2\^"):
            generation_of(text, 1 << 200)
