"""Universes as pages see them: a Life that somebody else may run, too, and a directory."""

from __future__ import annotations

import gzip
import threading
from dataclasses import astuple
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.targets import cpu
from kernels.targets.choose import pick
from lifesim import BitGrid, Life, LifesimError, Rule, Universe, random_grid
from lifesim.colours import pixels_of, state_colours
from lifesim.kept import Kept
from lifesim.render import density_levels
from lifesim.soup import Soup
from lifesim.stream.run import StreamedLife
from tests.quick import examples
from tests.universes import on_disk
from tests.waiting import until
from ui.cells.edits import Stroke
from ui.web.blocks import Blocks, tiles_of
from ui.web.living import LifeBoard, drawn_on
from ui.web.orders import BlockKey, PageOrder
from ui.web.stored import StoredBoard
from ui.web.widget import WidgetLink

GLIDER = [(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)]


def drawn(*points: tuple[int, int], stroke: int = 0) -> PageOrder:
    return PageOrder("draw", points=points, stroke=stroke)


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
        high, wide, _ = expected.shape
        assert np.array_equal(tile[:high, :wide], expected)
        assert (tile[high:] == colours[0]).all()  # outside of the universe
        assert (tile[:, wide:] == colours[0]).all()
    assert board.facts().message()["dead"] == tuple(colours[0])
    board.close()


@pytest.mark.parametrize("shows", ["a board", "a widget"])
def test_a_universe_on_disk_in_colours(shows: str) -> None:
    """Its tiles are those of the same cells in memory, of a page as of a notebook."""
    rule = Rule.parse("345/2/4")
    grid = BitGrid(700, 520, planes=2)
    Soup(0.4, 3).fill_grid(grid, 4)
    with on_disk(grid, (2, 3), rule=rule, pyramid=True) as universe:
        universe.close()
        life, board = LifeBoard(Life(grid, rule=rule)), StoredBoard(universe.path)
        sent: list[tuple[dict[str, Any], list[bytes]]] = []
        link = WidgetLink(board, lambda message, buffers=(): sent.append((message, buffers)))
        for scale in (0, 2, 5):
            key = BlockKey(scale, 0, 0, 2, 2)
            until(lambda key=key: Blocks(board).block(key, 1).is_whole)  # type: ignore[misc]
            expected = tiles_of(life.shot(1).source, key)
            if shows == "a board":
                found = Blocks(board).block(key, 1)
                body, channels = found.body, found.channels
            else:
                link.hear({"ask": "block", "id": 1, "place": [*astuple(key)], "version": 1})
                answer, [body] = sent.pop()
                channels = answer["block"]["channels"]
            assert channels == 3
            assert gzip.decompress(body) == expected.tobytes()
        facts = board.facts().message()
        assert (facts["states"], facts["dead"]) == (4, life.facts().dead)
        board.close()
        life.close()


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


def test_whoever_else_changes_it_is_noticed() -> None:
    """The generation stays the same, and another board of the same Life looks on."""
    life = Life(BitGrid(8, 8), backend="cpu")
    start = life.keep()
    one, other = LifeBoard(life), LifeBoard(life)
    told: list[int | None] = []
    other.listen(lambda: told.append(other.facts().population))
    one.do(drawn((1, 1), (3, 1)))
    until(lambda: 3 in told)
    life.go_back(start)
    until(lambda: 0 in told)
    assert one.facts().population == 0
    one.close()
    other.close()


def test_pictures_that_there_are_do_not_wait_for_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    life = Life(BitGrid.from_cells(8, 8, GLIDER), backend="cpu")
    board = LifeBoard(life)
    version = board.facts().version
    steps, step_ends, found = threading.Event(), threading.Event(), threading.Event()
    whole = life.whole

    def waiting() -> Kept:
        steps.set()
        assert step_ends.wait(60)
        return whole()

    def look() -> None:
        board.shot(version)
        found.set()

    life.run(1)
    monkeypatch.setattr(life, "whole", waiting)
    threads = [threading.Thread(target=work, daemon=True) for work in (board.facts, look)]
    threads[0].start()
    assert steps.wait(60)
    threads[1].start()
    seen = found.wait(60)
    step_ends.set()
    for thread in threads:
        thread.join()
    board.close()
    assert seen


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
    board.do(PageOrder("undo"))
    assert board.facts().population == 9
    board.do(PageOrder("undo"))
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
    to_and_fro = tuple((8191 * (n % 2), 0) for n in range(4096))
    for points in ((0, 0), (1 << 20, 0)), to_and_fro:
        with pytest.raises(LifesimError, match="at most"):
            board.do(drawn(*points))
    assert (life.population(), life.generation) == (8, 2)
    life.run(1)
    assert life.live_cells().min(axis=0).tolist() == [-39, -31]  # three in a row have turned round
    board.do(PageOrder("undo"))
    assert (life.population(), life.generation) == (5, 2)
    board.close()


def test_drawing_that_changes_nothing_is_not_undone() -> None:
    board = LifeBoard(Life(BitGrid(32, 32), backend="cpu"))
    for order in drawn((100, 100)), drawn(), PageOrder("draw", points=((3, 3),), state=0):
        board.do(order)
        assert (board.facts().population, board.facts().undo) == (0, False)
    board.do(drawn((30, 3), (40, 3)))
    assert board.facts().population == 2
    board.close()


def test_steps_and_the_way_back() -> None:
    life = Life(BitGrid.from_cells(16, 16, GLIDER), backend="cpu")
    start = life.grid()
    board = LifeBoard(life)
    board.do(PageOrder("step", 5))
    until(lambda: board.facts().generation == 5)
    board.do(PageOrder("reset"))
    assert (board.facts().generation, life.grid()) == (0, start)
    with pytest.raises(LifesimError, match="at once"):
        board.do(PageOrder("speed", 1 << 40))
    board.close()


def test_a_drawing_is_what_a_run_begins_with() -> None:
    """Reset does not lose what has been drawn since the last one."""
    life = Life(BitGrid(32, 32), backend="cpu")
    board = LifeBoard(life)

    def step_and_reset() -> None:
        board.do(PageOrder("step"))
        until(lambda: board.facts().generation == 1)
        board.do(PageOrder("reset"))

    step_and_reset()
    board.do(drawn((3, 3), (6, 3)))
    board.do(PageOrder("reset"))
    step_and_reset()
    assert (board.facts().generation, board.facts().population) == (0, 4)
    board.close()


def test_a_refused_stroke_lets_a_run_go_on() -> None:
    life = Life(BitGrid.from_cells(16, 16, GLIDER), backend="cpu")
    board = LifeBoard(life)
    board.do(PageOrder("play"))
    with pytest.raises(LifesimError, match="no state 5"):
        board.do(PageOrder("draw", points=((1, 1),), state=5))
    before = life.generation
    until(lambda: life.generation > before)
    assert board.is_running
    board.close()


def test_a_change_that_cannot_be_undone_now_can_be_later(monkeypatch: pytest.MonkeyPatch) -> None:
    life = Life(BitGrid(8, 8), backend="cpu")
    board = LifeBoard(life)
    board.do(drawn((1, 1)))

    def fails(changed: object) -> None:
        raise MemoryError

    with monkeypatch.context() as patched:
        patched.setattr(life, "change", fails)
        with pytest.raises(MemoryError):
            board.do(PageOrder("undo"))
    board.do(PageOrder("undo"))
    assert (life.population(), board.facts().undo) == (0, False)
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
        for order in (PageOrder("play"), drawn((1, 1)), PageOrder("undo")):
            with pytest.raises(LifesimError, match="on disk"):
                board.do(order)
        board.close()
