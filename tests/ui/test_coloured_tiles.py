"""Pictures in colours of universes on disk: against those of memory, and before all is read."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lifesim.colours import pixels_of
from lifesim.grid import BitGrid, Box
from lifesim.rule import Rule
from lifesim.soup import Soup
from lifesim.store import editing
from lifesim.store.universe import Universe
from tests.disk_sessions import WAIT, Opening, make, sessions, sharp
from tests.quick import examples
from tests.waiting import until
from ui.cells.edits import Stroke
from ui.cells.saving import Whole
from ui.disk import colour_parts
from ui.disk.colour_parts import ColouredSnapshot
from ui.disk.coloured import ColouredTiles, shades
from ui.disk.part_cache import PartCache
from ui.disk.session import DiskSession
from ui.film.export import ExportLook, save_png_of_source
from ui.picture.coloured import source_of, state_of, window_colours
from ui.picture.draw import draw
from ui.picture.request import Frame, FrameRequest
from ui.picture.viewport import Viewport

STARWARS, MANY = Rule.parse("345/2/4"), Rule.parse("/2/40")


def soup(rule: Rule, width: int, height: int, density: float = 0.3, seed: int = 1) -> BitGrid:
    grid = BitGrid(width, height, planes=rule.planes)
    Soup(density, seed).fill_grid(grid, rule.states)
    return grid


@pytest.fixture
def opened() -> Iterator[Opening]:
    with sessions() as opening:
        yield opening


# Rule, width, height, and how it is made.
SHAPES: list[tuple[Rule, int, int, dict[str, Any]]] = [
    (STARWARS, 700, 530, {"tiles": (2, 3)}),
    (STARWARS, 1024, 777, {"tiles": (4, 5), "compression": "zstd", "torus": False}),
    (Rule.parse("/2/9"), 130, 1100, {"tiles": (1, 17), "corner": (-37, 11), "torus": False}),
    (MANY, 333, 333, {"tiles": (1, 1), "pyramid": False}),
    (STARWARS, 20000, 90, {"tiles": (3, 2), "pyramid": False}),  # slabs; blocks lie in no tile
    (STARWARS, 17000, 300, {"tiles": (1, 7), "corner": (5, -300), "torus": False}),
]


@pytest.fixture(scope="module", params=SHAPES, ids=lambda made: f"{made[0]}-{made[1]}")
def universe(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[DiskSession, BitGrid, Rule, tuple[int, int]]]:
    rule, width, height, how = request.param
    grid = soup(rule, width, height)
    grid.words[: height // 3, :, : width // 128] = 0  # tiles that are dead
    path = make(tmp_path_factory.mktemp("universe") / "u", grid, rule=rule, **how)
    session = DiskSession.open(path, backend="reference")
    yield session, grid, rule, how.get("corner", (0, 0))
    session.close()


@pytest.mark.sample(4)
@given(st.data())
@settings(
    max_examples=examples(25),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_what_has_arrived_is_as_in_memory(
    universe: tuple[DiskSession, BitGrid, Rule, tuple[int, int]], data: st.DataObject
) -> None:
    session, grid, rule, (x, y) = universe
    scale = data.draw(st.integers(-3, 15))
    far = max(scale, 0)
    view = Viewport(
        data.draw(st.integers(x - 50, x + grid.width)) >> far,
        data.draw(st.integers(y - 50, y + grid.height)) >> far,
        scale,
        data.draw(st.integers(1, 200)),
        data.draw(st.integers(1, 120)),
    )
    expected = draw(FrameRequest(view), source_of(grid, rule, at=(x, y)))
    frame = sharp_frame(session, view)
    assert frame.inside == expected.inside
    assert frame.colours is not None
    assert np.array_equal(frame.pixels, expected.pixels)
    counted = Box(0, 0, grid.width, grid.height)
    assert np.array_equal(sharp(session, counted, 3), source_of(grid, rule).levels(counted, 3))


def sharp_frame(session: DiskSession, view: Viewport) -> Frame:
    """Return the picture of a view, when nothing is missing."""
    end = time.monotonic() + WAIT
    while True:
        source = session.source(FrameRequest(view))
        frame = draw(FrameRequest(view), source)
        if not source.missing:
            return frame
        assert time.monotonic() < end
        time.sleep(0.005)


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Universes of a few thousand cells count as large ones."""
    monkeypatch.setattr(colour_parts, "_SMALL", 1 << 10)


def colours_at(session: DiskSession, scale: int) -> npt.NDArray[np.uint8]:
    """Return the colours of all of a universe at a scale."""
    wide, high = -(-session.width >> scale), -(-session.height >> scale)
    return sharp_frame(session, Viewport(0, 0, scale, wide, high)).pixels


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("mixed", [0.02, 0.3, 1.0])
def test_from_afar_a_soup_looks_as_near_by(tmp_path: Path, opened: Opening, mixed: float) -> None:
    """No picture jumps where cells give way to the pyramid, if states are mixed alike."""
    grid = soup(STARWARS, 1024, 1024, mixed)
    session = opened(make(tmp_path / "u", grid, rule=STARWARS))
    colours = window_colours(STARWARS)
    for scale in range(3, 9):
        exact = pixels_of(grid, None, scale, colours).astype(int)
        seen = colours_at(session, scale).astype(int)
        if scale <= colour_parts._NEAR:
            assert np.array_equal(seen, exact)
        else:
            # A block of 32 x 32 has its own mixture; all of it has that of the sample.
            assert np.abs(seen - exact).max() <= 16
            assert np.abs(seen.mean(axis=(0, 1)) - exact.mean(axis=(0, 1))).max() < 1


@pytest.mark.usefixtures("large")
def test_from_afar_cells_of_one_state_have_its_colour(tmp_path: Path, opened: Opening) -> None:
    """A few cells in a large universe are found for the sample; what is dead is dark."""
    grid = BitGrid(2048, 4096, planes=2)
    for x in range(30):
        grid[1300 + x, 3333] = 3
    session = opened(make(tmp_path / "u", grid, (1, 2), rule=STARWARS))
    dead, colour = window_colours(STARWARS)[[0, 3]].astype(float)
    far = colours_at(session, 5)
    row, column = 3333 // 32, 1300 // 32
    share = np.round(255 * (32 * column + 32 - 1300) / 1024) / 255
    assert np.array_equal(far[row, column], np.floor(dead + share * (colour - dead) + 0.5))
    far[row, column : column + 2] = window_colours(STARWARS)[0]
    assert (far == window_colours(STARWARS)[0]).all()


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize(("bytes_", "last"), [(1 << 29, 4), (1 << 21, 3), (1 << 20, 2), (1, -1)])
def test_wide_rows_are_not_read_for_far_colours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bytes_: int, last: int
) -> None:
    """A screen of 1024 rows of pixels has so many bytes read for it at most."""
    monkeypatch.setattr(colour_parts, "_SCREEN", bytes_)
    path = make(tmp_path / "u", BitGrid(1024, 512, planes=2), (1, 2), rule=STARWARS)
    view = ColouredSnapshot(Universe.open(path))
    assert view.exact_to == last  # of rows of 256 bytes


def test_where_nothing_lives_shades_are_of_state_1() -> None:
    table = window_colours(STARWARS)
    made = shades(table, np.zeros(4, np.int64))
    assert np.array_equal(made[[0, 255]], table[:2])


@pytest.mark.usefixtures("large")
def test_pictures_come_at_once_and_sharpen(tmp_path: Path) -> None:
    """They have the densities of tiles, at every scale, before anything is read."""
    grid = soup(STARWARS, 512, 512, 0.4)
    grid.words[:256] = 0
    path = make(tmp_path / "u", grid, (1, 2), rule=STARWARS)
    parts = PartCache(
        ColouredSnapshot(Universe.open(path)), lambda: None, lambda error: None, lambda: None
    )
    parts.close()  # so that nothing ever comes
    view = parts.view
    assert isinstance(view, ColouredSnapshot)
    dead = view.colours[0]
    for scale in range(-2, 7):
        # The upper half is dead.
        side, top = (512 >> scale, 0) if scale >= 0 else (512, (256 << -scale) - 256)
        source = ColouredTiles(parts, 0.0, view)
        frame = draw(FrameRequest(Viewport(0, top, scale, side, side)), source)
        assert source.missing
        assert frame.pixels.shape == (side, side, 3)
        upper, lower = frame.pixels[: side // 2], frame.pixels[side // 2 :]
        assert (upper == dead).all()
        assert (lower == lower[0, 0]).all()
        assert (lower[0, 0] != dead).any()
    assert state_of(ColouredTiles(parts, 0.0, view), 3, 300) is None


def test_what_others_change_is_seen(tmp_path: Path, opened: Opening) -> None:
    grid = soup(STARWARS, 300, 200)
    session = opened(make(tmp_path / "u", grid, rule=STARWARS))
    view = Viewport(0, 0, 3, 38, 25)
    colours = window_colours(STARWARS)
    assert np.array_equal(sharp_frame(session, view).pixels, pixels_of(grid, None, 3, colours))
    change = BitGrid(20, 20, planes=2)
    Soup(1.0, 3).fill_grid(change, 4)
    with Universe.open(session.path, writing=True) as universe:
        editing.change(universe, Box(100, 90, 20, 20), lambda before: change, "a test")
    for y in range(20):
        for x in range(20):
            grid[100 + x, 90 + y] = change[x, y]
    expected = pixels_of(grid, None, 3, colours)
    until(lambda: bool(np.array_equal(sharp_frame(session, view).pixels, expected)))


@pytest.mark.parametrize("scale", [-1, 0, 3])
def test_a_saved_picture(tmp_path: Path, opened: Opening, scale: int) -> None:
    """It has the colours of the window, of what lies outside of the universe too."""
    Image = pytest.importorskip("PIL.Image")
    grid = soup(STARWARS, 160, 96)
    session = opened(make(tmp_path / "u", grid, rule=STARWARS))
    path = str(tmp_path / "a.png")
    box = Box(-8, 0, 176, 96)
    save_png_of_source(path, session.source, ExportLook(box, scale, "dark"))
    with Image.open(path) as picture:
        seen = np.asarray(picture.convert("RGB"))
    assert np.array_equal(seen, pixels_of(grid, box, scale, window_colours(STARWARS)))


def test_cells_are_drawn_copied_and_recorded(tmp_path: Path, opened: Opening) -> None:
    grid = soup(STARWARS, 200, 100)
    session = opened(make(tmp_path / "u", grid, rule=STARWARS))
    session.edit_now(Stroke(((3, 3), (9, 3)), 3))
    for x in range(3, 10):
        grid[x, 3] = 3
    assert session.cells(Box(0, 0, 200, 100)) == grid
    still = session.still()
    assert isinstance(still, Whole)
    assert still.cells == grid == session.whole().cells
    session.undo()
    session.settled().result(WAIT)
    assert session.cells(Box(0, 0, 200, 100)) == soup(STARWARS, 200, 100)
