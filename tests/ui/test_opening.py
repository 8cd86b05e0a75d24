"""What a session begins with."""

from __future__ import annotations

import io
import os
import sys
from contextlib import closing
from itertools import product
from pathlib import Path

import pytest

from kernels.targets.choose import pick
from lifesim import patterns
from lifesim.errors import LifesimError
from lifesim.grid import BitGrid, Box, GridError
from lifesim.patterns import Pattern
from lifesim.rule import LIFE, Rule, RuleError
from lifesim.soup import SoupError, random_grid
from lifesim.topology import Topology
from ui import opening
from ui.cells.session import MemorySession
from ui.launch import ViewLaunch
from ui.session import SessionError

GLIDER = BitGrid.from_cells(3, 3, [(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)])


@pytest.fixture
def glider(tmp_path: Path) -> Path:
    path = tmp_path / "glider.rle"
    patterns.write(Pattern(GLIDER, name="Glider", comments=("It moves.",)), path)
    return path


@pytest.mark.parametrize("end", [".rle", ".cells", ".lif", ".mc", ".rle.gz"])
def test_a_pattern_lies_on_a_plane_without_bounds(tmp_path: Path, end: str) -> None:
    path = str(tmp_path / f"glider{end}")
    patterns.write(Pattern(GLIDER), path)
    with closing(opening.open(path)) as session:
        assert (session.is_bounded, session.topology) == (False, Topology.PLANE)
        assert session.bounding_box() == Box(0, 0, 3, 3)
        assert min(session.width, session.height) > 2000
        assert session.path == path
        assert not session.status().modified


def test_a_large_pattern_has_room(tmp_path: Path) -> None:
    path = str(tmp_path / "long.rle")
    patterns.write(Pattern(random_grid(9000, 5, 0.5, 1)), path)
    with closing(opening.open(path)) as session:
        assert not session.is_bounded
        assert session.width >= 1.25 * 9000
        assert session.height >= 4096


def test_a_bounded_pattern_lies_where_its_file_says(tmp_path: Path) -> None:
    path = str(tmp_path / "bounded.rle")
    Path(path).write_text(
        "#CXRLE Pos=-40,-20 Gen=7\nx = 3, y = 3, rule = B36/S23:P80,40\nbo$2bo$3o!\n"
    )
    with closing(opening.open(path)) as session:
        assert (session.width, session.height, session.topology) == (80, 40, Topology.PLANE)
        assert session.bounding_box() == Box(0, 0, 3, 3)
        assert str(session.rule) == "B36/S23"
        assert session.status().generation == 7


def test_what_is_asked_for_comes_before_what_a_file_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "x = 3, y = 3, rule = B36/S23:P80,40\nbo$2bo$3o!\n"
    path = tmp_path / "bounded.rle"
    path.write_text(text)
    asked = Rule.parse("B2/S"), Topology.TORUS, (30, 20)
    for rule, topology, size in product(*((None, wish) for wish in asked)):
        with closing(opening.open(str(path), rule=rule, topology=topology, size=size)) as session:
            assert (session.width, session.height) == (size or (80, 40))
            assert str(session.rule) == str(rule or "B36/S23")
            assert session.topology is (topology or Topology.PLANE)
            assert session.path == str(path)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    with closing(opening.open("-", size=(9, 8))) as session:
        assert (session.width, session.height, session.path) == (9, 8, None)


def test_a_directory_has_settings_of_its_own(tmp_path: Path) -> None:
    for asked in ({"size": (9, 9)}, {"rule": LIFE}, {"topology": Topology.PLANE}):
        with pytest.raises(SessionError, match="is a directory: a universe has its size"):
            opening.open(str(tmp_path), **asked)  # type: ignore[arg-type]


def test_opening_is_cancelled(glider: Path) -> None:
    with pytest.raises(patterns.ReadCancelledError):
        opening.open(str(glider), is_cancelled=lambda: True)


@pytest.mark.parametrize("end", ["", ".gz"])
def test_how_much_of_a_file_has_been_read(tmp_path: Path, end: str) -> None:
    path = tmp_path / f"soup.rle{end}"
    patterns.write(Pattern(random_grid(4000, 1000, 0.5, 1)), path)
    told: list[float] = []
    with closing(opening.open(str(path), progress=told.append)):
        assert told == sorted(set(told))
        assert told[-1] == 1
        assert end or len(told) > 1
    with pytest.raises(LifesimError, match="nowhere"):
        opening.open(str(tmp_path / "nowhere.rle"), progress=told.append)
    if end:
        os.truncate(path, os.path.getsize(path) // 2)
        with pytest.raises(LifesimError, match=r"soup\.rle\.gz: damaged gzip data"):
            opening.open(str(path))


def test_of_a_pipe_nobody_knows_how_much_is_left(glider: Path) -> None:
    end, other = os.pipe()
    with open(other, "wb") as file:
        file.write(glider.read_bytes())
    told: list[float] = []
    with closing(opening.open(f"/dev/fd/{end}", progress=told.append)) as session:
        assert session.status().generation == 0
    os.close(end)
    assert told == []


def test_what_is_saved_is_opened_again(glider: Path, tmp_path: Path) -> None:
    path = str(tmp_path / "again.rle")
    with closing(opening.open(str(glider))) as session:
        session.step(5)
        session.settle()
        session.save(path)
        cells = session.cells(Box(-20, -20, 99, 99))
        assert session.path == path
    text = Path(path).read_text()
    assert "#N Glider" in text
    assert "#C It moves." in text
    with closing(opening.open(path)) as session:
        assert isinstance(session, MemorySession)
        assert session.status().generation == 5
        assert session.cells(Box(-20, -20, 99, 99)) == cells


def test_a_torus_has_a_size(glider: Path) -> None:
    with pytest.raises(SessionError, match="a torus has a size"):
        opening.open(str(glider), topology=Topology.TORUS)


def test_new_ones_and_soups() -> None:
    with closing(opening.new(100, 50, "B36/S23", "plane")) as session:
        assert (session.width, session.height, session.topology) == (100, 50, Topology.PLANE)
        assert str(session.rule) == "B36/S23"
        assert session.bounding_box() is None
        assert session.path is None
    with closing(opening.random(100, 50, 0.25, 9)) as session:
        assert session.cells(Box(0, 0, 100, 50)) == random_grid(100, 50, 0.25, 9)


def test_what_cannot_be_opened_is_said_in_one_line(tmp_path: Path) -> None:
    prose = tmp_path / "letter.txt"
    prose.write_text("Dear Sir or Madam,\nthank you.\n")
    broken = tmp_path / "broken.rle"
    broken.write_text("x = 3, y = 3\nbo$2")
    huge = tmp_path / "huge.rle"
    huge.write_text("99999999999o99999999999$o!")
    wide = tmp_path / "wide.rle"
    wide.write_text("x = 9, y = 1, rule = B3/S23:T1000000000,1000000000\n9o!")
    folder = tmp_path / "folder"
    folder.mkdir()
    for path in (prose, broken, huge, wide, folder, tmp_path / "nothing.rle"):
        with pytest.raises(LifesimError) as error:
            opening.open(str(path))
        assert path.name in str(error.value)
        assert "\n" not in str(error.value)


def test_sizes_and_rules_that_there_are_none_of() -> None:
    with pytest.raises(GridError):
        opening.new(0, 10)
    with pytest.raises(GridError):
        opening.new(1 << 24, 1 << 24)
    with pytest.raises(RuleError):
        opening.new(10, 10, "prose")
    with pytest.raises(SoupError):
        opening.random(10, 10, 2.0, 1)


def test_no_such_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernels.targets.cpu._cpu", None)
    with pytest.raises(SessionError, match="not built"):
        opening.new(10, 10, backend="cpu")


def test_a_pipe_that_nobody_writes_to_is_not_waited_for(tmp_path: Path) -> None:
    path = str(tmp_path / "pipe.rle")
    os.mkfifo(path)
    with pytest.raises(SessionError, match="it is a pipe"):
        opening.open(path)
    with pytest.raises(SessionError, match="it is a pipe"):
        ViewLaunch(path, size=(9, 9)).session(pick("auto", threads=1))


def test_a_pipe_without_a_name(glider: Path) -> None:
    end, other = os.pipe()
    with open(other, "wb") as file:
        file.write(glider.read_bytes())
    try:
        session = opening.open(f"/dev/fd/{end}")
    finally:
        os.close(end)
    with closing(session):
        assert session.cells(Box(0, 0, session.width, session.height)).population() == 5


def test_rules_of_all_families(tmp_path: Path) -> None:
    path = tmp_path / "brain.rle"
    path.write_text("x = 2, y = 1, rule = /2/3\nBA!\n")
    for make in (
        lambda: opening.open(str(path)),
        lambda: opening.new(8, 8, "/2/3"),
        lambda: opening.random(8, 8, 0.5, 1, "/2/3"),
    ):
        with closing(make()) as session:
            assert session.rule.states == 3
            assert session.whole().cells.planes == 2
    path.write_text("x = 2, y = 1\nBA!\n")
    with pytest.raises(SessionError, match="a cell has state 2: rule B3/S23 has states 0 and 1"):
        opening.open(str(path))
