"""Universes as pages see them: a Life that somebody else may run, too, and a directory."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.targets import cpu
from kernels.targets.choose import pick
from lifesim import BitGrid, Life, LifesimError, Rule, Universe, random_grid
from lifesim.colours import pixels_of, state_colours
from lifesim.render import density_levels
from lifesim.stream.run import StreamedLife
from tests.quick import examples
from tests.universes import on_disk
from tests.waiting import until
from ui.cells.edits import Stroke
from ui.web.blocks import Blocks, tiles_of
from ui.web.living import LifeBoard, drawn_on
from ui.web.orders import BlockKey, Order
from ui.web.stored import StoredBoard

GLIDER = [(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)]


def drawn(*points: tuple[int, int], stroke: int = 0) -> Order:
    return Order("draw", points=points, stroke=stroke)


def joined(tiles: np.ndarray, key: BlockKey) -> np.ndarray:
    """Return the tiles of a block as one picture."""
    rest = tiles.shape[3:]
    rows = tiles.reshape(key.height, key.width, 256, 256, *rest).swapaxes(1, 2)
    return rows.reshape(256 * key.height, 256 * key.width, *rest)


@settings(max_examples=examples(12), deadline=None)
@given(
    st.integers(1, 400),
    st.integers(1, 400),
    st.integers(0, 6),
    st.tuples(st.integers(-1, 2), st.integers(-1, 2)),
    st.tuples(st.integers(1, 3), st.integers(1, 3)),
)
def test_tiles_are_parts_of_the_picture(
    width: int, height: int, scale: int, at: tuple[int, int], size: tuple[int, int]
) -> None:
    grid = random_grid(width, height, 0.3, seed=width + height)
    board = LifeBoard(Life(grid, backend="cpu"))
    key = BlockKey(scale, *at, *size)
    picture = joined(tiles_of(board.shot(1).source, key), key)
    board.close()
    whole = np.zeros((2560, 2560), np.uint8)  # the universe begins in its middle
    levels = density_levels(grid, None, scale)
    whole[1024 : 1024 + levels.shape[0], 1024 : 1024 + levels.shape[1]] = levels
    x, y = 1024 + 256 * at[0], 1024 + 256 * at[1]
    assert np.array_equal(picture, whole[y : y + 256 * size[1], x : x + 256 * size[0]])


def test_cells_in_colours() -> None:
    rule = Rule.parse("345/2/4")
    life = Life(BitGrid.from_states(np.arange(300 * 260).reshape(260, 300) % 4), rule=rule)
    board = LifeBoard(life)
    colours = state_colours(rule)
    assert colours is not None
    for scale in (0, 1):
        key = BlockKey(scale, 0, 0, 1, 1)
        [tile] = tiles_of(board.shot(1).source, key)
        expected = pixels_of(life.grid(), None, scale, colours)[:256, :256]
        assert np.array_equal(tile[: expected.shape[0], : expected.shape[1]], expected)
    board.close()


def test_cells_of_a_plane_keep_their_places() -> None:
    """A plane's frame moves with what lives; tiles are by the coordinates of cells."""
    life = Life(BitGrid.from_cells(3, 3, GLIDER), topology="unbounded", at=(-130, 70))
    life.run(40)
    board = LifeBoard(life)
    key = BlockKey(0, -1, 0, 2, 1)
    picture = joined(tiles_of(board.shot(1).source, key), key)
    cells = {(int(x) - 256, int(y)) for y, x in zip(*np.nonzero(picture), strict=True)}
    assert cells == {(x, y) for x, y in life.live_cells().tolist()}
    assert not board.facts().bounded
    board.close()


def test_cells_that_are_far_apart() -> None:
    if not cpu.levels():
        pytest.skip("the extension is not built")
    life = Life(BitGrid.from_cells(3, 3, GLIDER), topology="unbounded", engine="hashlife")
    life.change(lambda now: drawn_on(now, Stroke(((0, 3000),)), life.rule, (0, 0)))
    life.run(1 << 45)
    board = LifeBoard(life)
    x = life.frame().x + 1
    here = tiles_of(board.shot(1).source, BlockKey(0, x // 256, x // 256, 1, 1))
    assert np.count_nonzero(here) == 5
    board.close()


def test_whoever_else_runs_it_is_noticed() -> None:
    life = Life(BitGrid.from_cells(8, 8, GLIDER), backend="cpu")
    board = LifeBoard(life)
    told: list[int] = []
    board.listen(lambda: told.append(board.facts().generation))
    life.run(7)
    until(lambda: 7 in told)
    board.forget(board.tell)
    board.close()


def test_pictures_of_a_version_stay_what_they_were() -> None:
    life = Life(BitGrid.from_cells(8, 8, GLIDER), backend="cpu")
    board = LifeBoard(life)
    blocks, key = Blocks(board), BlockKey(0, 0, 0, 1, 1)
    first = board.facts().version
    before = blocks.block(key, first)
    life.run(1)
    later = board.facts().version
    after = blocks.block(key, later)
    assert later > first
    assert after.tag != before.tag
    assert Blocks(board).block(key, first) == before
    for _ in range(40):
        life.run(1)
        board.facts()
    newest = Blocks(board).block(key, first)  # it is gone by now
    assert newest.version == board.facts().version
    board.close()


def test_undoing_goes_back_stroke_by_stroke() -> None:
    board = LifeBoard(Life(BitGrid(32, 32), backend="cpu"))
    board.do(drawn((1, 1), (5, 1), stroke=1))
    board.do(drawn((5, 1), (5, 5), stroke=1))
    board.do(drawn((9, 9), stroke=2))
    assert board.facts().population == 10
    board.do(Order("undo"))
    assert board.facts().population == 9
    board.do(Order("undo"))
    assert (board.facts().population, board.facts().undo) == (0, False)
    board.close()


@pytest.mark.parametrize("engine", ["auto", "dense", "tiles", "hashlife"])
def test_drawing_beyond_what_lives(engine: str) -> None:
    if engine != "dense" and not cpu.levels():
        pytest.skip("the extension is not built")
    life = Life(BitGrid.from_cells(3, 3, GLIDER), topology="unbounded", engine=engine)
    life.run(2)
    board = LifeBoard(life)
    board.do(drawn((-40, -30), (-38, -30)))
    assert {(-40, -30), (-39, -30), (-38, -30)} < {tuple(at) for at in life.live_cells().tolist()}
    for far in (1 << 40, -(1 << 60), 10**90):
        with pytest.raises(LifesimError, match="too far"):
            board.do(drawn((far, far)))
    with pytest.raises(LifesimError, match="at most"):
        board.do(drawn((0, 0), (1 << 20, 0)))
    assert (life.population(), life.generation) == (8, 2)
    life.run(1)
    assert life.live_cells().min(axis=0).tolist() == [-39, -31]  # three in a row have turned round
    board.do(Order("undo"))
    assert (life.population(), life.generation) == (5, 2)
    board.close()


def test_drawing_outside_of_bounds_does_nothing() -> None:
    board = LifeBoard(Life(BitGrid(32, 32), backend="cpu"))
    board.do(drawn((100, 100)))
    assert board.facts().population == 0
    board.do(drawn((30, 3), (40, 3)))
    assert board.facts().population == 2
    board.close()


def test_steps_and_the_way_back() -> None:
    life = Life(BitGrid.from_cells(16, 16, GLIDER), backend="cpu")
    start = life.grid()
    board = LifeBoard(life)
    board.do(Order("step", 5))
    until(lambda: board.facts().generation == 5)
    board.do(Order("reset"))
    assert (board.facts().generation, life.grid()) == (0, start)
    with pytest.raises(LifesimError, match="at once"):
        board.do(Order("speed", 1 << 40))
    board.close()


def test_a_directory_is_followed() -> None:
    grid = random_grid(600, 500, 0.4, seed=2)
    with on_disk(grid, (2, 2), pyramid=True) as universe:
        universe.close()
        board = StoredBoard(universe.path)
        key = BlockKey(0, 0, 0, 3, 2)
        blocks = Blocks(board)

        def picture() -> np.ndarray:
            tiles = tiles_of(board.shot(0).source, key)
            return joined(tiles, key)[:500, :600] > 0

        until(lambda: blocks.block(key, 1).is_whole)
        assert np.array_equal(picture(), np.asarray(grid))
        before = board.facts()
        assert (before.generation, before.population) == (0, grid.population())
        told: list[int] = []
        board.listen(lambda: told.append(board.facts().generation))
        with Universe.open(universe.path, writing=True) as writing:
            StreamedLife(writing, [pick("reference")]).run(6)
        until(lambda: 6 in told)
        assert board.facts().version > before.version
        life = Life(grid, backend="cpu")
        life.run(6)
        until(lambda: np.array_equal(picture(), np.asarray(life.grid())))
        for order in (Order("play"), drawn((1, 1)), Order("undo")):
            with pytest.raises(LifesimError, match="on disk"):
                board.do(order)
        board.close()
