"""Pattern files: what is written is read again, and what cannot be read is refused."""

from __future__ import annotations

import ast
import gzip
import io
import shutil
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kernels.runs import ref as runs_ref
from kernels.runs.ref import paint
from lifesim import patterns
from lifesim.errors import LifesimError
from lifesim.grid import BitGrid
from lifesim.patterns import (
    Pattern,
    PatternError,
    ReadCancelledError,
    cells,
    life105,
    life106,
    macrocell,
    quadtree,
    rle,
    rle_body,
    text,
)
from lifesim.patterns import files as pattern_files
from lifesim.patterns.runs import live_runs
from lifesim.rule import LIFE, Rule
from lifesim.soup import random_grid
from lifesim.topology import Topology, parse_bounds
from tests.quick import examples
from tests.strategies import grids
from tests.strategies import patterns as any_pattern

FORMATS = {module.NAME: module for module in (rle, life105, life106, cells, macrocell)}
POSITIONED = ["rle", "life105", "life106", "macrocell"]
EXTENSION = {name: ends[0] for name, ends in patterns.formats().items()}

GLIDER = {(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)}
GLIDERS = {
    "rle": b"#N Glider\nx = 3, y = 3, rule = B3/S23\nbob$2bo$3o!\n",
    "life105": b"#Life 1.05\n#D Name: Glider\n#N\n#P 0 0\n.*\n..*\n***\n",
    "life106": b"#Life 1.06\n1 0\n2 1\n0 2\n1 2\n2 2\n",
    "cells": b"!Name: Glider\n!\n.O\n..O\nOOO\n",
    "macrocell": b"[M2] (golly 3.3)\n#R B3/S23\n$$$$$$$.*$\n..*$***$\n4 0 1 0 2\n",
}


def absolute(pattern: Pattern) -> set[tuple[int, int]]:
    return {(pattern.x + x, pattern.y + y) for x, y in pattern.grid.cells().tolist()}


def encoded(pattern: Pattern, name: str) -> bytes:
    out = io.BytesIO()
    patterns.write(pattern, out, format=name)
    return out.getvalue()


def read(data: bytes, name: str = "a.x") -> Pattern:
    return patterns.read(io.BytesIO(data), name=name)


@contextmanager
def memory(free: int) -> Iterator[None]:
    with (
        mock.patch("lifesim.grid.available_memory", return_value=free),
        mock.patch.object(pattern_files, "available_memory", return_value=free),
        mock.patch.object(macrocell, "available_memory", return_value=free),
    ):
        yield


# Round trips


@given(st.binary(max_size=50))
@example(rb"\udcb4 \xb4" + b"\\\xb4")
def test_bytes_in_a_message_are_quoted_once(data: bytes) -> None:
    said = text.shown(data)
    assert said.isprintable()
    read = data.decode("utf-8", "surrogateescape")
    if len(read) <= 40 and all(char < "\x80" or char >= "\udc80" for char in read):
        assert ast.literal_eval(f"b{said}") == data


@settings(deadline=None, max_examples=examples(150))
@given(any_pattern(), st.sampled_from(sorted(FORMATS)))
def test_what_is_written_is_read(pattern: Pattern, name: str) -> None:
    back = read(encoded(pattern, name))
    if name in POSITIONED:
        assert absolute(back) == absolute(pattern)
    assert back.grid == pattern.trimmed().grid
    if name in ("rle", "macrocell", "life105"):
        assert back.rule == pattern.rule
    if name in ("rle", "macrocell"):
        assert (back.topology, back.size) == (pattern.topology, pattern.size)
        assert back.generation == pattern.generation
    if name != "life106":
        assert (back.name, back.comments) == (pattern.name, pattern.comments)


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("packed", [False, True])
def test_reading_is_cancelled_at_any_look(
    name: str, packed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (pattern_files, text, rle_body):
        monkeypatch.setattr(module, "STEP", 64)
    for module in (runs_ref, quadtree):
        monkeypatch.setattr(module, "_STEP", 64)
    monkeypatch.setattr(life106, "_BLOCK", 64)
    monkeypatch.setattr(macrocell, "_READ", 1)
    soup = Pattern(random_grid(40, 30, 0.5, 1))
    data = encoded(soup, name)
    looks = 0

    def is_cancelled() -> bool:
        nonlocal looks
        looks += 1
        return looks == last

    def again() -> Pattern:
        nonlocal looks
        looks = 0
        file = io.BytesIO(gzip.compress(data) if packed else data)
        return patterns.read(file, name="a.x", is_cancelled=is_cancelled)

    last = 0
    assert again().grid == soup.grid
    looked = looks
    assert looked > 2 * len(data) // 64 - 3  # once as bytes, once as text at least
    for last in range(1, looked + 1):
        with pytest.raises(ReadCancelledError):
            again()
        assert looks == last
    assert read(data).grid == soup.grid


@settings(deadline=None, max_examples=examples(60))
@given(any_pattern(), st.sampled_from(sorted(FORMATS)))
def test_writing_what_was_read_changes_nothing(pattern: Pattern, name: str) -> None:
    once = encoded(pattern, name)
    assert encoded(read(once), name) == once


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("packed", ["", ".gz"])
def test_files_round_trip(tmp_path: Path, name: str, packed: str) -> None:
    pattern = Pattern(BitGrid.from_cells(3, 3, GLIDER), rule=LIFE)
    path = tmp_path / f"glider{EXTENSION[name]}{packed}"
    patterns.write(pattern, path)
    first = path.read_bytes()
    assert (first[:2] == b"\x1f\x8b") == bool(packed)
    assert patterns.read(path).grid == pattern.grid
    patterns.write(pattern, str(path))
    assert path.read_bytes() == first
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_knows_the_glider(name: str) -> None:
    assert absolute(read(GLIDERS[name])) == GLIDER
    for other in FORMATS:
        assert absolute(read(encoded(read(GLIDERS[name]), other))) == GLIDER


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", FORMATS)
def test_a_block_of_many_steps_round_trips(name: str) -> None:
    rng = np.random.default_rng(7)
    for shape in [(3, 100_000), (100_000, 3), (700, 1300)]:
        grid = BitGrid.from_bool(rng.random(shape) < 0.4)
        assert read(encoded(Pattern(grid), name)).grid == Pattern(grid).trimmed().grid


def test_rows_wider_than_a_step_keep_their_runs_whole() -> None:
    grid = BitGrid(3 * 64 << 15, 2)
    grid.words[:] = ~np.uint64(0)
    grid[5, 1] = False
    runs = [np.concatenate(part).tolist() for part in zip(*live_runs(grid), strict=True)]
    assert runs == [[0, 1, 1], [0, 0, 6], [grid.width, 5, grid.width]]
    for name in ("rle", "macrocell"):
        back = read(encoded(Pattern(grid, x=-3, y=5), name))
        assert back.grid == grid
        assert (back.x, back.y) == (-3, 5)


@settings(deadline=None, max_examples=examples(100))
@given(grids())
def test_runs_are_the_cells(grid: BitGrid) -> None:
    copy = BitGrid(grid.width, grid.height)
    for y, start, end in live_runs(grid):
        assert (start < end).all()
        for one in zip(y, start, end, strict=True):
            assert not one[0] > grid.height
        paint(copy.words, (y, start, end))
    assert copy == grid


def test_rle_lines_have_at_most_70_characters() -> None:
    grid = BitGrid.from_bool(np.random.default_rng(3).random((90, 333)) < 0.2)
    text = encoded(Pattern(grid), "rle").decode()
    assert max(map(len, text.splitlines())) == 70
    assert all(line[-1] in "bo$!" for line in text.splitlines()[1:])


# What the files say


def test_rle_says_everything() -> None:
    text = (
        b"#N A name\n#O Somebody, 1970\n#C A comment\n#c another\n"
        b"#CXRLE Pos=0,-1377 Gen=3480106827776\n"
        b"x = 3, y = 3, rule = b36s23:T100,200\n2b\no2$\n.A!junk after the end"
    )
    pattern = read(text)
    assert absolute(pattern) == {(2, -1377), (1, -1375)}
    assert pattern.generation == 3480106827776
    assert pattern.rule == Rule.parse("HighLife")
    assert (pattern.topology, pattern.size) == (Topology.TORUS, (100, 200))
    assert pattern.name == "A name"
    assert pattern.comments == ("Author: Somebody, 1970", "A comment", "another")
    assert read(encoded(pattern, "rle")).comments == pattern.comments


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (b"#P -3 4\nbo!", (-2, 4)),
        (b"#R -3 4\nx = 9, y = 9\nbo!", (-2, 4)),
        (b"x = 7, y = 5, rule = B3/S23:T20,10\no!", (-3, -2)),
        (b"x = 7, y = 5, rule = B3/S23:P0,11\no!", (-3, -2)),
        (b"x = 20, y = 10, rule = B3/S23:T20,10\no!", (-10, -5)),
        (b"x = 21, y = 3, rule = B3/S23:P21,11\no!", (-10, -1)),
        (b"x = 22, y = 3, rule = B3/S23:P21,11\no!", (-10, -5)),
        (b"#CXRLE Pos=1,2\nx = 3, y = 3, rule = B3/S23:T20,10\no!", (1, 2)),
    ],
)
def test_rle_positions(text: bytes, where: tuple[int, int]) -> None:
    pattern = read(text)
    assert (pattern.x, pattern.y) == where


def test_rle_without_a_rule_names_none() -> None:
    assert read(b"bo$2bo$3o!").rule is None
    assert read(b"x = 3, y = 3\nbo$2bo$3o!").rule is None
    assert read(b"#r 23/36\nx = 3, y = 3\nbo$2bo$3o!").rule == Rule.parse("B36/S23")
    assert read(b"x = 3, y = 3, rule = B3/S23:P30\n!").size == (30, 30)
    assert b"rule" not in encoded(read(b"3o!"), "rle")


def test_dead_cells_take_no_place() -> None:
    pattern = read(b"x = 5, y = 5\n2bo99b$999999999999b$o$1000000000000$!")
    assert absolute(pattern) == {(2, 0), (0, 2)}
    assert absolute(read(b"999999999999$o!")) == {(0, 999999999999)}
    empty = read(b"x = 1000000000, y = 1000000000\n5$!")
    assert (empty.grid.width, empty.grid.height, empty.grid.population()) == (1, 1, 0)


def test_carriage_returns_blank_lines_and_marks_are_fine() -> None:
    for name, data in GLIDERS.items():
        for end in (b"\r\n", b"\r"):
            assert absolute(read(data.replace(b"\n", end))) == GLIDER, name
        assert absolute(read(b"\xef\xbb\xbf" + data)) == GLIDER, name
    assert absolute(read(b"\n\n" + GLIDERS["rle"])) == GLIDER


def test_life105_blocks_may_overlap() -> None:
    data = b"#Life 1.05\n#R 23/36\n#P -1 -1\n.*\n***\n#P 0 0\n*.*\n"
    pattern = read(data)
    assert absolute(pattern) == {(0, -1), (-1, 0), (0, 0), (1, 0), (2, 0)}
    assert pattern.rule == Rule.parse("B36/S23")


def test_macrocell_counts_squares_once() -> None:
    grid = BitGrid.from_bool(np.tile(np.eye(8), (128, 128)))
    data = encoded(Pattern(grid, x=-512, y=-511), "macrocell")
    assert data.splitlines()[1:3] == [b"*$.*$..*$...*$....*$.....*$......*$.......*$", b"4 1 1 1 1"]
    assert len(data.splitlines()) == 1 + 8
    assert read(data).grid == grid


LINES = (
    b"$,..*$**$,........$.......*$,*$*$*$*$*$*$*$*$,4 0 1 0 2,4 2 2 2 2,5 3 0 0 3,6 0 0 5 5"
    b",4 1 1 1 1,*$*$*$*$*$*$*$*$*,.........$,4 0 1 0 9,4  1 0 0 1,65 0 0 0 0,3 0 0 0 0,4 0 0 0"
    b",4 0 0 0 0 ,#,4 0 0 0 0\r,#C words,,4 0 0 0 -1,4 0 0 0 1234567890123456789,a"
).split(b",")


@settings(max_examples=examples(200))
@given(st.lists(st.sampled_from(LINES) | st.sampled_from(LINES[:9]), max_size=12), st.booleans())
@example(LINES[:8], True)
def test_macrocell_lines_are_read_alike_by_compiled_code(some: list[bytes], ended: bool) -> None:
    data = b"[M2]\n" + b"\n".join(some) + b"\n" * ended
    told = []
    for plain in (macrocell.plain_lines, lambda *_: None):
        with mock.patch.object(macrocell, "plain_lines", plain):
            try:
                tree = macrocell._Tree(data, "a.mc", range(4, 65))
            except PatternError as error:
                told.append(str(error))
            else:
                lists = [
                    part.tolist()
                    for part in (tree.squares.levels, tree.squares.children, tree.squares.leaves)
                ]
                told.append((lists, tree.last, tree.pattern))
    assert told[0] == told[1]


def test_macrocell_reaches_far() -> None:
    far = Pattern(BitGrid.from_cells(1, 1, [(0, 0)]), x=-(2**63), y=2**63)
    assert absolute(read(encoded(far, "macrocell"))) == {(-(2**63), 2**63)}
    with pytest.raises(LifesimError, match="cannot hold cells 9223372036854775809 away"):
        encoded(Pattern(far.grid, x=2**63), "macrocell")


# Which format it is


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("extension", ["", ".txt", *EXTENSION.values()])
def test_the_content_says_the_format(tmp_path: Path, name: str, extension: str) -> None:
    path = tmp_path / f"glider{extension}"
    path.write_bytes(GLIDERS[name])
    assert absolute(patterns.read(path)) == GLIDER
    path.write_bytes(gzip.compress(GLIDERS[name]))
    assert absolute(patterns.read(path)) == GLIDER


def test_the_extension_says_it_where_the_content_does_not() -> None:
    assert read(b"", "a.cells").grid.population() == 0
    with pytest.raises(PatternError, match=r"^a\.rle\.gz:1:1: the pattern is cut off"):
        read(b"", "a.rle.gz")
    with pytest.raises(PatternError, match=r"^a\.x: the content fits none of the pattern form"):
        read(b"<html>", "a.x")


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(gzip.compress(GLIDERS["rle"])))
    monkeypatch.setattr(sys, "stdin", stream)
    assert absolute(patterns.read("-")) == GLIDER
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"x = 1, y = 1\n2q!")))
    with pytest.raises(PatternError, match=r"^<stdin>:2:2: "):
        patterns.read("-")


def test_standard_output(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO())
    monkeypatch.setattr(sys, "stdout", stream)
    patterns.write(read(GLIDERS["cells"]), "-")
    assert stream.buffer.getvalue() == GLIDERS["rle"].replace(b"bob", b"bo").replace(
        b", rule = B3/S23", b""
    ).replace(b"#N Glider\n", b"#N Glider\n#C\n")


# Refusals


REFUSED = [
    (b"x = 3, y = 3\nbo$2b?o$3o!", "a:2:6: unknown character '?'"),
    (b"x = 3, y = 3\n", "a:2:1: the pattern is cut off: no '!' ends it"),
    (b"x = 3, y = 3\nbo$2bo$3", "a:2:9: the pattern is cut off: no '!' ends it"),
    (b"x = 3, y = 3\nbo$\n2bo$\n3\n", "a:5:1: the pattern is cut off: no '!' ends it"),
    (b"#C\nx = 3, y = 3\n9999999o!", "a:2:1: the header says 3x3 cells, the body has 9999999x1"),
    (b"x = 3, y = 3\no9999999$o!", "a:1:1: the header says 3x3 cells, the body has 1x10000000"),
    (b"x = 3, y\no!", "a:1:1: 'x = 3, y' is not 'x = WIDTH, y = HEIGHT, rule = RULE'"),
    (b"x = 3, y = 3, rule = B3\nbo$2bB$o!", "a:2:6: state 'B': rule B3/S has states 0 and 1"),
    (b"x = 3, y = 3\nppAo!", "a:2:2: unknown character 'p'"),
    (b"x = 3, y = 3\nbo$\xb4", r"a:2:4: unknown character '\\xb4'"),
    (b"x = 3, y = 3, ruel = B3/S23\no!", "a:1:1: 'x = 3, y = 3, ruel"),
    (b"x = 3, y = 3, rule = B3/S23" + b" " * 99_999 + b"x\no!", "a:1:22: rule .*, column 7: ' '"),
    (b"x = 3, y = 3, rule = Brain\no!", "a:1:22: unknown rule 'Brain'"),
    (b"x = 3, y = 3, rule = B3/S23:K0,30\no!", "a:1:22: 'K0,30': a Klein bottle has bounds"),
    (b"x = 3, y = 3, rule = B3/S23:T3+5,2+1\no!", "a:1:22: 'T3\\+5,2\\+1': one pair of edges"),
    (b"x = 3, y = 3, rule = B3/S23:S30,30\no!", "a:1:22: 'S30,30': a sphere has one number"),
    (b"x = 3, y = 3, rule = B3/S23:X30,20\no!", "a:1:22: 'X30,20' are no bounds"),
    (b"#CXRLE Pos=1\no!", "a:1:1: #CXRLE Pos is not Pos=X,Y"),
    (b"#P 1\no!", "a:1:1: '#P 1' is not #P X Y"),
    (b"o999999999999$o!", "a:1:15: a universe of 1x1000000000000 cells needs 7.276 TiB"),
    (b"o$\n 99999999999999\n9o!", "a:3:2: a universe of 999999999999999x2 cells needs"),
    (b"1000000000000000000o!", "a:1:1: a run count has at most 18 digits"),
    (b"o" + b"999999999999999999$" * 5 + b"o!", "a:1:96: the run counts add up to more than"),
    (b"o$\n00b!", "a:2:1: a run count of 0"),
    (b"x = 1, y = 1\n" + b"9" * 5_000_000 + b"o!", "a:2:1: a run count has at most 18 digits"),
    (b"#Life 1.05\n#P 0\n*", "a:2:1: a block begins with #P X Y"),
    (b"#Life 1.05\n#P 0 0\n.*x", "a:3:3: 'x' is no cell"),
    (b"#Life 1.05\n#I other.lif\n*", "a:2:1: unknown line '#I other.lif'"),
    (b"#Life 1.05\n#R 9/9\n*", "a:2:1: rule '9/9', column 3: a cell has at most 8 neighbours"),
    (b"#Life 1.05\n*\n#P 0 99999999999999\n**\n", "a:4:1: a universe of 2x10000"),
    (b"#Life 1.06\n0 0\n1 x\n", "a:3:1: '1 x' is not X Y"),
    (b"#Life 1.06\n0 0\n1\n2\n", "a:3:1: '1' is not X Y"),
    (b"#Life 1.06\n0 0\n1_0 1\n", "a:3:1: '1_0 1' is not X Y"),
    (b"#Life 1.06\n0 1000000000000000000\n", "a:2:3: a coordinate has at most 18 digits"),
    (b"#Life 1.06\n0 0\n0 -999999999999999\n", "a:3:1: a universe of 1x1000000000000000"),
    (b"!\n.O.\n.oO\n", "a:3:2: 'o' is no cell"),
    (b"[M2]\n.*$x$\n", "a:2:4: 'x' stands in a leaf"),
    (b"[M2]\n$$$$$$$$$*$\n", "a:2:1: a leaf has at most 8 rows"),
    (b"[M2]\n.........$\n", "a:2:1: a row of a leaf has at most 8 cells"),
    (b"[M2]\n*$\n4 1 2 0 0\n", "a:3:5: node 2 is used before it stands in the file"),
    (b"[M2]\n*$\n5 1 0 0 0\n", "a:3:3: node 1 has level 3, a child here has 4"),
    (b"[M2]\n*$\n65 1 0 0 0\n", "a:3:1: level 65: nodes have level 4 to 64"),
    (b"[M2]\n*$\n4 1 0\n", "a:3:1: '4 1 0' is not LEVEL NW NE SW SE"),
    (b"[M2]\nwhat\n", "a:2:1: 'what' is neither a leaf nor a node"),
    (b"[M2]\n#G x\n", "a:2:1: '#G x' is not #G NUMBER"),
    (b"[M2]\n#R B3/S23:C3+1\n", "a:2:1: 'C3\\+1': a cross-surface has no shift"),
]


@pytest.mark.parametrize(("data", "message"), REFUSED, ids=range(len(REFUSED)))
def test_refusals_say_where(data: bytes, message: str) -> None:
    start = time.perf_counter()
    with pytest.raises(PatternError, match=f"^{message}") as caught:
        read(data, "a")
    assert "\n" not in str(caught.value)
    assert caught.value.name == "a"
    assert time.perf_counter() - start < 5


def deep(root: int) -> bytes:
    """Return a full square of level `root`, in a few lines."""
    lines = [b"[M2]", b"********$" * 8]
    lines += [b"%d %d %d %d %d" % (n, n - 3, n - 3, n - 3, n - 3) for n in range(4, root + 1)]
    return b"\n".join(lines) + b"\n"


def test_a_small_file_takes_little_memory() -> None:
    assert read(deep(10)).grid.population() == 1 << 20
    bombs = [
        deep(64),
        deep(40),
        b"o$999999999999$o!",
        b"99999999999999o!",
        b"".join(b"%do$" % (10**k) for k in range(17)) + b"!",
        b"#Life 1.06\n-99999999 -99999999\n99999999 99999999\n",
        b"#Life 1.05\n#P -99999999 -99999999\n*\n#P 99999999 99999999\n*\n",
        b"!\nO" + b".\n" * 100_000 + b"." * 1_000_000 + b"O\n",
        b"[M2]\n" + b"$\n" * 700_000,
        gzip.compress(bytes(100 << 20)),
        gzip.compress(b"x = 1, y = 1\n" + b" " * (100 << 20)),
    ]
    tracemalloc.start()
    try:
        with memory(32 << 20):
            for bomb in bombs:
                tracemalloc.reset_peak()
                with pytest.raises(PatternError):
                    read(bomb, "a")
                assert tracemalloc.get_traced_memory()[1] < 48 << 20
    finally:
        tracemalloc.stop()


def test_a_distant_cell_is_read_at_its_place() -> None:
    data = b"".join(b"%d %d 0 0 0\n" % (n, n - 3) for n in range(4, 65))
    assert absolute(read(b"[M2]\n*$\n" + data)) == {(-(2**63), -(2**63) + 1)}


@pytest.mark.parametrize("cut", [5, 20, -1, -5])
def test_damaged_gzip(cut: int) -> None:
    packed = gzip.compress(GLIDERS["rle"])
    with pytest.raises(PatternError, match=r"^a: damaged gzip data: "):
        read(packed[:cut], "a")
    with pytest.raises(PatternError, match=r"^a: damaged gzip data: "):
        read(packed[:15] + b"\xff\xff" + packed[17:], "a")


def outcome(data: bytes, name: str) -> None:
    """Read data, or get one line that says why not."""
    message = ""
    with memory(64 << 20):
        try:
            grid = read(data, name).grid
            BitGrid(grid.width, grid.height, grid.words)  # refuses broken padding
        except LifesimError as error:
            message = str(error)
    assert "\n" not in message


@settings(deadline=10_000, max_examples=examples(150))
@given(st.binary(max_size=300), st.sampled_from(["a", "a.rle", "a.mc", "a.cells", "a.lif"]))
@example(b"\x1f\x8b", "a")
@example(b"[M2", "a.mc")
def test_any_bytes_are_read_or_refused(data: bytes, name: str) -> None:
    outcome(data, name)


@settings(deadline=10_000, max_examples=examples(150))
@given(st.sampled_from(["rle", "life105", "life106", "cells", "macrocell"]), st.data())
def test_any_text_of_a_format_is_read_or_refused(name: str, data: st.DataObject) -> None:
    alphabet = {
        "rle": "bo$!123456789 \n.A",
        "life105": "#P0123 -.*\nRN",
        "life106": "0123456789- \n",
        "cells": ".O*!\n",
        "macrocell": ".*$\n0123456789 #RG",
    }[name]
    start = {"rle": "x = 99, y = 99\n", "life105": "#Life 1.05\n", "life106": "#Life 1.06\n"}
    text = data.draw(st.text(alphabet, max_size=200))
    outcome((start.get(name, "[M2]\n" if name == "macrocell" else "") + text).encode(), "a")


@settings(deadline=10_000, max_examples=examples(300))
@given(any_pattern(), st.sampled_from(sorted(FORMATS)), st.integers(0, 2**32 - 1))
def test_damaged_files_are_read_or_refused(pattern: Pattern, name: str, seed: int) -> None:
    data = bytearray(encoded(pattern, name))
    random = np.random.default_rng(seed)
    for _ in range(random.integers(1, 4)):
        at, length = random.integers(len(data) + 1), random.integers(40)
        match random.integers(4):
            case 0:
                data[at : at + length] = b""
            case 1:
                data[at:at] = random.choice(np.frombuffer(b"90$\n-#!o*\0", np.uint8), 2).tobytes()
            case 2:
                data[at : at + 1] = random.bytes(1)
            case 3:
                data[at:at] = data[:length]
    outcome(bytes(data), f"a{EXTENSION[name]}")


# Files


def test_missing_and_unwritable_paths(tmp_path: Path) -> None:
    with pytest.raises(LifesimError, match=r"^cannot read .*absent\.rle: No such file"):
        patterns.read(tmp_path / "absent.rle")
    with pytest.raises(LifesimError, match=r"^cannot read .*: Is a directory"):
        patterns.read(tmp_path)
    pattern = read(GLIDERS["rle"])
    with pytest.raises(LifesimError, match=r"^cannot write .*no/a\.rle: No such file"):
        patterns.write(pattern, tmp_path / "no" / "a.rle")
    with pytest.raises(LifesimError, match=r"^cannot write .*a\.png: the name must end in one of"):
        patterns.write(pattern, tmp_path / "a.png")
    with pytest.raises(LifesimError, match=r"^unknown pattern format 'png': known are rle, "):
        patterns.write(pattern, tmp_path / "a.png", format="png")
    patterns.write(pattern, tmp_path / "a.png", format="cells")
    assert (tmp_path / "a.png").read_bytes() == GLIDERS["cells"].replace(b"!\n", b"").replace(
        b".O\n..O", b".O.\n..O"
    )


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failed_write_leaves_the_old_file(tmp_path: Path, failure: BaseException) -> None:
    path = tmp_path / "a.rle"
    path.write_bytes(b"old")
    expected = LifesimError if isinstance(failure, OSError) else KeyboardInterrupt
    for step in ("os.fsync", "lifesim.patterns.rle.encode"):
        with mock.patch(step, side_effect=failure), pytest.raises(expected):
            patterns.write(read(GLIDERS["rle"]), path)
        assert path.read_bytes() == b"old"
        assert [entry.name for entry in tmp_path.iterdir()] == ["a.rle"]


def test_a_link_and_its_mode_stay(tmp_path: Path) -> None:
    path, link = tmp_path / "a.rle", tmp_path / "link.rle"
    path.write_bytes(b"old")
    path.chmod(0o640)
    link.symlink_to(path)
    patterns.write(read(GLIDERS["rle"]), link)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert absolute(patterns.read(path)) == GLIDER


def test_a_device_is_written_to() -> None:
    patterns.write(read(GLIDERS["rle"]), "/dev/null", format="macrocell")
    assert Path("/dev/null").is_char_device()


def test_patterns_check_themselves() -> None:
    with pytest.raises(ValueError, match="generation"):
        Pattern(BitGrid(1, 1), generation=-1)
    with pytest.raises(ValueError, match="size"):
        Pattern(BitGrid(1, 1), size=(-1, 3))
    trimmed = Pattern(BitGrid.from_cells(9, 9, [(4, 5)]), x=1, y=2).trimmed()
    assert (trimmed.x, trimmed.y, trimmed.grid.width, trimmed.grid.height) == (5, 7, 1, 1)
    assert Pattern(BitGrid(9, 9)).trimmed().grid == BitGrid(1, 1)


# Golly


BGOLLY = shutil.which("bgolly")


def through_golly(source: Path, target: Path) -> Pattern:
    command = [str(BGOLLY), "-h", "-m", "0", "-o", str(target), str(source)]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    return patterns.read(target)


@pytest.mark.skipif(BGOLLY is None, reason="bgolly is not installed")
@pytest.mark.parametrize("end", [".rle", ".mc", ".rle.gz", ".mc.gz"])
@pytest.mark.parametrize(
    "bounds", ["", "T300,250", "P300,0", "T300-7,250", "K300,250*+1", "C300,250", "S300"]
)
def test_golly_reads_and_writes_the_same(tmp_path: Path, end: str, bounds: str) -> None:
    cells_live = np.random.default_rng(5).random((70, 150)) < 0.3
    rule = Rule.parse("B36/S23")
    topology, size = parse_bounds(bounds) if bounds else (None, None)
    pattern = Pattern(BitGrid.from_bool(cells_live), -31, -47, rule, topology, size, 1234, "Soup")
    patterns.write(pattern, tmp_path / f"in{end}")
    back = through_golly(tmp_path / f"in{end}", tmp_path / "out.mc")
    assert absolute(back) == absolute(pattern)
    assert (back.rule, back.generation) == (rule, 1234)
    assert (back.topology, back.size) == (topology, size)
    # bgolly leaves the position out of its RLE
    assert through_golly(tmp_path / f"in{end}", tmp_path / "out.rle").grid == pattern.grid
