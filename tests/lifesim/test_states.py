"""Cells of several states: grids against arrays of numbers, and RLE against a reader of letters."""

from __future__ import annotations

import io
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.life.rules import AgeingRule
from kernels.runs.states import StateWalk, StateWriter
from lifesim.errors import LifesimError
from lifesim.grid import BitGrid, Box, GridError
from lifesim.patterns import Pattern, PatternError, read, write
from lifesim.patterns.rle_body import Body, decode
from tests.strategies import sizes

MOST = {1: 2, 2: 4, 3: 6, 5: 29, 8: 256}  # states of universes in so many planes


@st.composite
def states(draw):
    """Return a (height, width) array of states, and the bit planes that hold them."""
    (width, height), count = draw(sizes), draw(st.sampled_from([2, 3, 5, 8]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    cells = rng.integers(0, MOST[count], (height, width))
    cells[rng.random((height, width)) < draw(st.sampled_from([0.0, 0.3, 0.97, 1.0]))] = 0
    if draw(st.booleans()):  # long runs
        cells = np.repeat(cells, 5, axis=1)[:, :width]
    return cells.astype(np.uint8), count


def assert_holds(grid, cells, planes):
    assert grid.planes == planes
    np.testing.assert_array_equal(grid.states(), cells)
    # The padding of all planes is zero: nothing else makes equal grids equal.
    assert grid == BitGrid.from_states(cells, planes)


# --- grids ---------------------------------------------------------------------------


@given(states())
def test_what_is_asked_of_a_grid(drawn):
    cells, planes = drawn
    grid = BitGrid.from_states(cells, planes)
    assert_holds(grid, cells, planes)
    assert_holds(grid.copy(), cells, planes)
    assert_holds(grid.in_planes(8), cells, 8)
    if cells.max() > 1:
        with pytest.raises(GridError, match="1 bit planes hold no state"):
            grid.in_planes(1)
    assert_holds(grid.transposed(), cells.T, planes)
    assert grid.words.shape == (*cells.shape[:1], planes, -(-cells.shape[1] // 64))
    np.testing.assert_array_equal(np.asarray(grid), cells)
    np.testing.assert_array_equal(grid.to_bool(), cells != 0)
    assert BitGrid.from_array(grid) == grid
    assert BitGrid.from_array(cells, planes=planes) == grid
    assert BitGrid.from_array(grid.words, width=grid.width) == grid
    assert grid.population() == np.count_nonzero(cells)
    counts = np.bincount(cells.reshape(-1), minlength=1 << planes)
    assert grid.populations() == counts.tolist()
    assert grid.largest_state() == cells.max()
    live = BitGrid.from_bool(cells != 0)
    assert grid.bounding_box() == live.bounding_box()
    np.testing.assert_array_equal(grid.cells(), live.cells())


@given(states(), st.data())
def test_get_and_set_a_state(drawn, data):
    cells, planes = drawn
    grid = BitGrid.from_states(cells, planes)
    height, width = cells.shape
    x, y = data.draw(st.integers(0, width - 1)), data.draw(st.integers(0, height - 1))
    assert grid[x, y] == cells[y, x]
    cells[y, x] = data.draw(st.integers(0, (1 << planes) - 1))
    grid[x, y] = int(cells[y, x])
    assert_holds(grid, cells, planes)
    with pytest.raises(ValueError, match="states are 0 to"):
        grid[x, y] = 1 << planes


@given(states(), st.data())
def test_cut_and_paste(drawn, data):
    """Pasted cells that live replace what is there, and others leave it."""
    cells, planes = drawn
    height, width = cells.shape
    x, y = data.draw(st.integers(0, width - 1)), data.draw(st.integers(0, height - 1))
    box = Box(x, y, data.draw(st.integers(1, width - x)), data.draw(st.integers(1, height - y)))
    part = BitGrid.from_states(cells, planes).crop(box)
    cut = cells[y : y + box.height, x : x + box.width]
    assert_holds(part, cut, planes)
    into = np.roll(cells[::-1], 1, axis=1).copy()
    grid = BitGrid.from_states(into, planes)
    to_x, to_y = data.draw(st.integers(-90, 90)), data.draw(st.integers(-90, 90))
    grid.paste(part, to_x, to_y, wrap=True)
    for (v, u), state in np.ndenumerate(cut):
        if state:
            into[(to_y + v) % height, (to_x + u) % width] = state
    assert_holds(grid, into, planes)


def test_paste_cells_of_two_states_among_others():
    grid = BitGrid.from_states(np.full((3, 70), 5))
    grid.paste(BitGrid.from_cells(2, 1, [(0, 0)]), 63, 1)
    assert (grid[63, 1], grid[64, 1], grid[62, 1]) == (1, 5, 5)
    with pytest.raises(GridError, match="3 bit planes cannot be put among cells in 1"):
        BitGrid(3, 3).paste(BitGrid(1, 1, planes=3), 0, 0)


@pytest.mark.parametrize(
    "array", [[[0, 4]], [[-1, 0]], [[0.5]], [0, 1]], ids=["large", "negative", "floats", "a row"]
)
def test_what_is_no_state(array):
    with pytest.raises(ValueError, match="states are"):
        BitGrid.from_states(array, 2)
    with pytest.raises((ValueError, TypeError)):
        BitGrid.from_array(array, planes=2)


def test_words_that_are_no_grid():
    with pytest.raises(ValueError, match="padding"):
        BitGrid(63, 1, np.full((1, 2, 1), 1 << 63, np.uint64))
    for shape in ((1, 1, 1), (1, 9, 1), (2, 2, 1), (1, 2, 2)):
        with pytest.raises(ValueError, match=r"uint64 words|bit planes"):
            BitGrid(63, 1, np.zeros(shape, np.uint64))


@pytest.mark.parametrize("name", ["life105", "life106", "cells"])
def test_formats_of_two_states_refuse_others(name):
    grid = BitGrid.from_states([[0, 1, 0, 1]], 2)
    out, same = io.BytesIO(), io.BytesIO()
    write(Pattern(grid), out, format=name)
    write(Pattern(grid.in_planes(1)), same, format=name)
    assert out.getvalue() == same.getvalue()
    grid[0, 0] = 2
    with pytest.raises(LifesimError, match=f"the format {name} has two states, the cells have mor"):
        write(Pattern(grid), out, format=name)


# --- RLE -------------------------------------------------------------------------------


def letters(state):
    """Return the tag of a state, as Golly's formats say."""
    if state == 0:
        return "."
    tens, letter = divmod(state - 1, 24)
    return ("" if tens == 0 else chr(ord("p") + tens - 1)) + chr(ord("A") + letter)


def slowly_read(text):
    """Return the cells of a body as {(x, y): state}, one tag after the other."""
    tags = {letters(state): state for state in range(256)} | {"b": 0, "o": 1}
    cells, x, y = {}, 0, 0
    for count, tag in re.findall(r"(\d*)([p-y]?[A-X]|[.bo$])", text.replace("\n", "")):
        if tag == "$":
            x, y = 0, y + int(count or 1)
            continue
        for _ in range(int(count or 1)):
            if tags[tag]:
                cells[x, y] = tags[tag]
            x += 1
    return cells


@given(states())
def test_rle_round_trip(drawn):
    cells, planes = drawn
    grid = BitGrid.from_states(cells, planes)
    out = io.BytesIO()
    write(Pattern(grid), out)
    lines = out.getvalue().decode().splitlines()
    assert max(map(len, lines)) <= 70
    box = grid.bounding_box() or Box(0, 0, 1, 1)
    found = slowly_read("".join(line for line in lines if line[:1] not in "#x" or "=" not in line))
    expected = {(x - box.x, y - box.y): int(cells[y, x]) for x, y in grid.cells().tolist()}
    assert found == expected
    again = read(io.BytesIO(out.getvalue()))
    np.testing.assert_array_equal(again.grid.states(), grid.crop(box).states())
    assert (again.x, again.y) == (box.x, box.y) or not expected


@given(states(), st.integers(1, 40), st.data())
def test_rle_in_pieces(drawn, step, data):
    """The result does not depend on where pieces end and blanks stand."""
    cells, planes = drawn
    writer, text = StateWriter(), b""
    cut = data.draw(st.integers(0, len(cells)))
    for rows in (cells[:cut], cells[cut:]):
        if len(rows):
            text += writer.write(rows)
    blanks = [b" " * (ord(one) % 3) for one in data.draw(st.text(max_size=9))] or [b"\n"]
    text = b"".join(bytes([one]) + blanks[i % len(blanks)] for i, one in enumerate(text)) + b"!"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kernels.runs.states._STEP", max(step, 25))
        grid, box, ended = decode(Body(text, 0, "a", states=MOST[planes]))
    assert ended
    whole = np.zeros_like(cells)
    if box is not None:
        whole[box.y : box.y + box.height, box.x : box.x + box.width] = grid.states()
        assert grid.planes == planes
    np.testing.assert_array_equal(whole, cells)


@given(st.binary(max_size=60) | st.text("0123.bo$ABXpqyz!\n ", max_size=60).map(str.encode))
def test_hostile_bodies(text):
    """A body is read as one letter after the other says, or refused in a line."""
    try:
        grid, box, _ = decode(Body(text, 0, "a", states=256))
    except PatternError as error:
        refusal = str(error)
        assert re.fullmatch("a:[0-9]+:[0-9]+: .*", refusal)
        return
    cells = {}
    if box is not None:
        states = grid.states()
        cells = {(x + box.x, y + box.y): int(states[y, x]) for x, y in grid.cells().tolist()}
    body = re.sub(r"[ \t\r\n\v\f]", "", text.decode("latin-1").split("!")[0])
    assert cells == slowly_read(body)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"x = 3, y = 1, rule = B3/S23\nbo$AoB!", "a:2:6: state 'B': rule B3/S23 has states 0 and"),
        (b"x = 3, y = 1, rule = B3/S23\n3pA!", "a:2:2: state 'pA': rule B3/S23 has states 0 and 1"),
        (b"x = 3, y = 1\nApZ!", "a:2:2: unknown character 'p'"),
        (b"x = 3, y = 1\nA2p2B!", "a:2:3: unknown character 'p'"),
        (b"x = 3, y = 1\nAyP!", "a:2:2: state 'yP'"),
        (b"x = 3, y = 1\nB3$\n3p", "a:3:2: unknown character 'p'"),
        (b"x = 3, y = 1\nB0A!", "a:2:2: a run count of 0"),
        (b"x = 3, y = 1\nB3", "a:2:3: the pattern is cut off"),
        (b"x = 3, y = 1\nB1234567890123456789A!", "a:2:2: a run count has at most 18 digits"),
        (b"x = 3, y = 1\nB" + 9 * b"999999999999999999.", "a:2:96: the run counts add up to more"),
        (b"x = 3, y = 1\nB99999999999$99999999999A!", "a:1:1: the header says 3x1"),
    ],
)
def test_refused_rle(text, message):
    with pytest.raises(PatternError, match=re.escape(message)):
        read(io.BytesIO(text), name="a")


def test_the_rule_says_how_many_states_there_are():
    rule = AgeingRule(table=0, states=5)
    body = Body(b"ABCD$!", 0, "a", rule="B2/S/C5", states=rule.states)
    assert decode(body)[0].planes == rule.planes
    with pytest.raises(PatternError, match=r"a:1:5: state 'E': rule B2/S/C5 has states 0 to 4"):
        decode(body._replace(data=b"ABCDE!"))
    # Two states are as many planes as the rule has, too.
    assert decode(body._replace(data=b"A!"))[0].planes == rule.planes


def test_letters_are_all_of_gollys():
    text = "".join(letters(state) for state in range(1, 256)).encode() + b"!"
    grid = read(io.BytesIO(b"x = 255, y = 1\n" + text)).grid
    assert grid.states().tolist() == [list(range(1, 256))]
    walk = StateWalk(255)
    assert walk.go(text, 0) == (7, len(text) - 3)
