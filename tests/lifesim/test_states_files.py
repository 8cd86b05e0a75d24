"""Macrocell and MCell files of several states, against a reader by the definition and Golly."""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifesim.engine import Life
from lifesim.grid import BitGrid
from lifesim.patterns import Pattern, PatternError, read, write
from lifesim.rule import Rule
from lifesim.start import start_of_pattern
from tests.lifesim.test_states import states
from tests.lifesim.test_states_runs import STAR_WARS, some_states

BGOLLY = shutil.which("bgolly")


def cells_of(pattern):
    """Return the cells that live as {(x, y): state}."""
    held = pattern.grid.states()
    return {
        (x + pattern.x, y + pattern.y): int(held[y, x]) for x, y in pattern.grid.cells().tolist()
    }


def slowly_read(text):
    """Return the cells of a macrocell file, node by node."""
    nodes = [None]
    for line in text.splitlines():
        if re.match(r"[0-9]", line):
            nodes.append([int(word) for word in line.split()])
    cells = {}

    def paint(level, number, x, y):
        if not number:
            return
        half = 1 << level - 1
        for quarter, child in enumerate(nodes[number][1:]):
            at = x + half * (quarter & 1), y + half * (quarter >> 1)
            if level > 1:
                paint(level - 1, child, *at)
            elif child:
                cells[at] = child

    top = nodes[-1][0]
    paint(top, len(nodes) - 1, -1 << top - 1, (-1 << top - 1) + 1)
    return cells


@given(states(), st.integers(-100, 100), st.integers(-(10**15), 10**15))
def test_macrocells(drawn, x, y):
    cells, planes = drawn
    pattern = Pattern(BitGrid.from_states(cells, planes), x, y)
    out = io.BytesIO()
    write(pattern, out, format="macrocell")
    if cells.max() > 1:
        assert cells_of(pattern) == slowly_read(out.getvalue().decode())
    again = read(io.BytesIO(out.getvalue()))
    assert cells_of(again) == cells_of(pattern)
    assert again.grid.largest_state() == cells.max()


def test_a_small_root_is_in_the_middle():
    text = b"[M2] (golly 3.3)\n#R 345/2/4\n1 3 0 1 2\n"
    assert cells_of(read(io.BytesIO(text))) == {(-1, 0): 3, (-1, 1): 1, (0, 1): 2}
    text += b"2 1 0 0 0\n"
    assert cells_of(read(io.BytesIO(text))) == {(-2, -1): 3, (-2, 0): 1, (-1, 0): 2}


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("#R 345/2/4\n1 0 4 0 0", "a:3:5: state 4: rule 345/2/4 has states 0 to 3"),
        ("1 0 256 0 0", "a:2:5: state 256: states are 0 to 255"),
        ("#R B3/S23\n1 0 1 0 0", "a:3:1: level 1: nodes have level 4 to 64"),
        ("1 0 1 0 0\n2 0 0 2 1", "a:3:7: node 2 is used before it stands in the file"),
        ("1 0 1 0 0\n3 0 0 0 1", "a:3:9: node 1 has level 1, a child here has 2"),
        ("1 0 1 0 0\n65 0 0 0 0", "a:3:1: level 65: nodes have level 1 to 64"),
        ("1 0 1 0 0\n..*$", "a:3:1: '..*$' is not LEVEL NW NE SW SE"),
        ("1 0 1 0", "a:2:1: '1 0 1 0' is not LEVEL NW NE SW SE"),
    ],
)
def test_refused_macrocells(lines, message):
    with pytest.raises(PatternError, match=f"^{re.escape(message)}"):
        read(io.BytesIO(b"[M2]\n" + lines.encode()), name="a")


def test_a_short_macrocell_file_takes_no_great_grid():
    """Each line doubles a square that is full: the 40th stands for 2^80 cells."""
    text = b"[M2]\n#R 345/2/4\n1 1 2 3 1\n"
    text += b"".join(b"%d %d %d %d %d\n" % (k, *[k - 1] * 4) for k in range(2, 41))
    with pytest.raises(PatternError, match=r"a:42:1: a universe of .* cells needs"):
        read(io.BytesIO(text), name="a")


@given(st.text("0123 \n4567890", max_size=80))
def test_hostile_macrocells(text):
    try:
        found = cells_of(read(io.BytesIO(b"[M2]\n1 1 2 0 255\n" + text.encode()), name="a"))
    except PatternError as error:
        told = str(error)
        assert told.startswith("a:")
        return
    assert found == slowly_read(f"1 1 2 0 255\n{text}")


def test_mcell_files_of_several_states():
    head = b"#MCell 4.00\n#GAME Generations\n#RULE /2/30\n#BOARD 20x10\n"
    pattern = read(io.BytesIO(head + b"#L 2.BaA2$3\n#L X.aE\n"))
    assert (pattern.rule, pattern.size) == (Rule.parse("/2/30"), (20, 10))
    cells = {(2, 0): 2, (3, 0): 25, (0, 2): 24, (1, 2): 24, (2, 2): 24, (4, 2): 29}
    assert cells_of(pattern) == {(x - 2, y - 1): state for (x, y), state in cells.items()}
    for line, message in (
        (b"#L A.aF", "a:5:6: 'aF' is no cell: rule /2/30 has states 0 to 29"),
        (b"#L A$\n#L pA", "a:6:4: 'pA' is no cell"),
        (b"#L A0B", "a:5:5: a run count of 0"),
        (b"#L A3", "a:6:1: the pattern is cut off"),
        (b"#L A!", "a:5:5: '!' is no cell"),
    ):
        with pytest.raises(PatternError, match=f"^{re.escape(message)}"):
            read(io.BytesIO(head + line + b"\n"), name="a")


@pytest.mark.skipif(not BGOLLY, reason="bgolly is not installed")
@pytest.mark.parametrize("kind", ["rle", "mc"])
def test_bgolly_agrees(tmp_path, kind):
    """Golly reads what is written here, and what it writes is read."""
    cells = some_states(STAR_WARS, 70, 50, 2)
    start = tmp_path / f"start.{kind}"
    write(Pattern(BitGrid.from_states(cells), -21, 33, STAR_WARS), start)
    life = Life.from_start(start_of_pattern(start, None, None, None, None, None, wide=False))
    life.run(9)
    for theirs in ("rle", "mc"):
        end = tmp_path / f"end.{theirs}"
        command = [BGOLLY, "-q", "-q", "-a", "Generations", "-m", "9", "-o", end, start]
        subprocess.run(command, check=True, timeout=60, env={**os.environ, "HOME": str(tmp_path)})
        found = read(end)
        assert found.grid == life.grid()
        assert found.rule == STAR_WARS
        if theirs == "mc":
            assert (found.x, found.y, found.generation) == (*life.frame()[:2], 9)
