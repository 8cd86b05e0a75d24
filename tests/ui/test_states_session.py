"""Universes of several states in memory: opened, run, recorded, saved, and what is refused."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from kernels.targets.choose import pick
from lifesim.colours import GifColours, pixels_of, state_colours
from lifesim.engine import Life
from lifesim.errors import LifesimError
from lifesim.grid import BitGrid, Box, GridError
from lifesim.rule import Rule
from lifesim.soup import Soup
from lifesim.store.universe import Universe
from lifesim.topology import Topology
from tests.waiting import until
from ui import opening
from ui.cells.edits import Invert, Mode, Paste, RandomFill, Stroke
from ui.cells.saving import Whole
from ui.cells.session import MemorySession
from ui.film import export
from ui.film.export import ExportLook
from ui.film.films import FilmClip, RunExport
from ui.film.recording import Recording, RecordingError
from ui.picture.coloured import source_of
from ui.session import SessionError

STARWARS = Rule.parse("345/2/4")
TABLE = """@RULE Rust
@TABLE
n_states:3
neighborhood:vonNeumann
symmetries:none
1,0,0,0,0,2
@COLORS
1 200 200 210
2 180 60 10
"""


def soup(rule: Rule = STARWARS, side: int = 90, seed: int = 1) -> BitGrid:
    grid = BitGrid(side, side, planes=rule.planes)
    Soup(0.4, seed).fill_grid(grid, rule.states)
    return grid


@pytest.mark.parametrize(
    "text", ["345/2/4", "/2/3", "WireWorld", "R2,C3,M1,S6..10,B6..8,NM", "LifeHistory"]
)
@pytest.mark.parametrize("topology", ["torus", "unbounded"])
@pytest.mark.parametrize("small", [0, 1 << 20])
@pytest.mark.sample(5)
def test_runs_are_those_of_life(text: str, topology: str, small: int) -> None:
    rule = Rule.parse(text)
    cells = soup(rule, 40)
    bounds = None if topology == "torus" else (0, 0)
    edges = Topology.TORUS if topology == "torus" else Topology.PLANE
    life = Life(cells, rule=rule, topology=edges, bounds=bounds, backend="auto")
    life.run(45)
    session = MemorySession(cells, rule=rule, topology=edges, bounds=bounds, small=small)
    with closing(session):
        session.step(45)
        session.settle()
        assert session.status().problem == ""
        whole = session.whole()
        assert whole.frame() == life.frame()
        assert whole.grid() == life.grid()
        until(lambda: session.status().counted == 45)
        assert session.status().population == life.population()
        session.undo()
        session.settle()
        assert session.cells(Box(0, 0, 40, 40)) == cells


def test_a_wide_reach_has_room_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells that look ten cells far need ten times the room of Life's."""
    for name in ("_ROOM", "_UNIT"):
        monkeypatch.setattr(f"ui.cells.plane.{name}", 64)
    rule = Rule.parse("R10,C2,M1,S60..441,B60..441,NM")
    cells = BitGrid.from_bool(np.ones((31, 29)))
    life = Life(cells, rule=rule, topology="plane", bounds=(0, 0))
    life.run(40)
    assert life.frame().width > 400
    with closing(MemorySession(cells, rule=rule, topology="plane", bounds=(0, 0))) as session:
        session.step(40)
        session.settle()
        whole = session.whole()
        assert (whole.frame(), whole.grid()) == (life.frame(), life.grid())


@pytest.mark.parametrize("end", [".rle", ".mc", ".rle.gz"])
def test_files_come_back(tmp_path: Path, end: str) -> None:
    path, cells = str(tmp_path / f"soup{end}"), soup()
    with closing(MemorySession(cells, rule=STARWARS)) as session:
        session.edit(Stroke(((1, 1),), 3))
        session.save(path)
        assert not session.status().modified
        saved = session.whole().cells
    assert saved[1, 1] == 3
    with closing(opening.open(path, topology="torus", size=(90, 90))) as session:
        assert session.rule == STARWARS
        assert session.whole().cells == saved


def test_an_mcell_file(tmp_path: Path) -> None:
    path = tmp_path / "brain.mcl"
    path.write_text("#MCell 4.20\n#GAME Generations\n#RULE /2/3\n#L .AB$\n#L B\n")
    with closing(opening.open(str(path))) as session:
        box = session.bounding_box()
        assert box is not None
        assert session.cells(box).states().tolist() == [[0, 1, 2], [2, 0, 0]]


def test_a_universe_on_disk_of_a_table(tmp_path: Path) -> None:
    path, rule = str(tmp_path / "universe"), Rule.parse("WireWorld")
    with closing(MemorySession(soup(rule), rule=rule)) as session:
        session.save(path)
        saved = session.whole().cells
    with Universe.open(path) as universe:
        assert (universe.rule, universe.grid()) == (rule, saved)


@pytest.mark.parametrize("name", ["soup.cells", "soup.lif"])
def test_what_has_no_place_for_states_is_refused(tmp_path: Path, name: str) -> None:
    rule = Rule.parse("WireWorld")
    with closing(MemorySession(soup(rule), rule=rule)) as session:
        session.edit(Stroke(((1, 1),), 3))
        with pytest.raises(LifesimError) as error:
            session.save(str(tmp_path / name))
        assert "\n" not in str(error.value)
        assert "states" in str(error.value)
        assert session.path is None
        assert session.status().modified
    assert not list(tmp_path.iterdir())


def test_states_that_a_rule_does_not_have(tmp_path: Path) -> None:
    path = tmp_path / "soup.rle"
    path.write_text("x = 2, y = 1\nBA!\n")
    message = "a cell has state 2: rule B3/S23 has states 0 and 1"
    with pytest.raises(SessionError, match=message):
        opening.open(str(path))
    with pytest.raises(GridError, match=message):
        MemorySession(BitGrid.from_states([[2, 1]]))
    with closing(MemorySession(BitGrid(9, 9, planes=2), rule="/2/3")) as session:
        edits = Stroke(((1, 1),), 3), Paste(BitGrid.from_states([[3]]), 1, 1)
        for edit in edits:
            session.edit(edit)
            session.settle()
            assert "state" in session.status().problem
        assert session.can_undo is None
        assert not session.whole().cells.words.any()


@pytest.mark.parametrize("engine", ["tiles", "hashlife"])
def test_engines_of_two_states_refuse_others(engine: str) -> None:
    plane = MemorySession(soup(), rule=STARWARS, topology="plane", bounds=(0, 0))
    with (
        closing(plane),
        pytest.raises(LifesimError, match=f"the engine {engine} computes .*, not 345"),
    ):
        opening.moved(plane, engine, pick("auto"))


@pytest.mark.parametrize("engine", ["auto", "tiles"])
def test_a_plane_in_tiles_takes_no_rule_of_several_states(engine: str) -> None:
    plane = opening.empty_plane(Rule.parse("B3/S23"), engine, None, None, backend=pick("auto"))
    with closing(plane):
        plane.set_rule("345/2/4")
        plane.settle()
        assert "345/2/4" in plane.status().problem
        assert str(plane.rule) == "B3/S23"


def test_another_universe_can_be_put_in_its_place() -> None:
    """The timeline does this, where it goes on from a picture."""
    four = Whole(soup(), STARWARS, Topology.TORUS, 7)
    with closing(MemorySession(BitGrid(20, 10))) as session:
        session.put(four)
        session.settle()
        assert session.status().problem == ""
        assert (session.whole().cells, session.rule) == (four.cells, STARWARS)
        session.undo()
        session.settle()
        assert (session.whole().cells, str(session.rule)) == (BitGrid(20, 10), "B3/S23")
        session.redo()
        session.settle()
        assert session.whole().cells == four.cells
    plane = opening.empty_plane(Rule.parse("B3/S23"), "tiles", None, None, backend=pick("auto"))
    with closing(plane):
        plane.put(Whole(soup(), STARWARS, Topology.PLANE, 7, grows=(True, True)))
        plane.settle()
        assert plane.status().problem == "the engine tiles holds no cells of 345/2/4"


def test_edits_of_several_states() -> None:
    rule, box = STARWARS, Box(0, 0, 3, 1)
    cells = BitGrid.from_states([[0, 1, 3]], 2)
    assert Invert(box).apply(cells, box, rule).states().tolist() == [[3, 2, 0]]
    pasted = BitGrid.from_states([[2, 1, 0]], 2)
    expected = {Mode.OR: [2, 1, 3], Mode.COPY: [2, 1, 0], Mode.XOR: [2, 0, 3]}
    for mode, states in expected.items():
        assert Paste(pasted, 0, 0, mode).apply(cells, box, rule).states().tolist() == [states]
    wide = Box(0, 0, 200, 200)
    filled = RandomFill(wide, 0.5, 7).apply(BitGrid(200, 200, planes=2), wide, rule)
    assert filled == soup_of(0.5, 7)


def soup_of(density: float, seed: int) -> BitGrid:
    grid = BitGrid(200, 200, planes=2)
    Soup(density, seed).fill_grid(grid, 4)
    return grid


# --- what is recorded ----------------------------------------------------------


def stills(count: int) -> list[Whole]:
    life = Life(soup(), rule=STARWARS)
    found = []
    for _ in range(count):
        found.append(Whole(life.grid(), STARWARS, Topology.TORUS, life.generation))
        life.run(1)
    return found


def test_a_recording_of_several_states(tmp_path: Path) -> None:
    folder = str(tmp_path / "film")
    taken = stills(5)
    two = Whole(BitGrid(90, 90), Rule.parse("B3/S23"), Topology.TORUS, 5)
    with closing(Recording(folder)) as recording:
        assert all(recording.add(some) for some in (*taken, two))
    with closing(Recording(folder)) as recording:
        assert len(recording) == 6
        for number, some in enumerate((*taken, two)):
            found = recording.whole(recording.shot(number))
            assert (found.cells, found.rule) == (some.cells, some.rule)
        source = recording.source(recording.shot(3))
        expected = source_of(taken[3].cells, STARWARS)
        region = Box(0, 0, 90, 90)
        assert np.array_equal(source.coloured(region, 2), expected.coloured(region, 2))


def test_a_recording_by_a_rule_that_is_not_found_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    (tmp_path / "Rust.rule").write_text(TABLE)
    rule = Rule.parse("Rust", [str(tmp_path)])
    folder = tmp_path / "film"
    with closing(Recording(str(folder))) as recording:
        recording.add(Whole(BitGrid.from_states([[0, 2, 1]], 2), rule, Topology.PLANE, 0))
    reels = {path: path.read_bytes() for path in folder.glob("*.reel")}
    assert reels
    with pytest.raises(RecordingError, match="unknown rule 'Rust'"):
        Recording(str(folder))
    assert {path: path.read_bytes() for path in folder.glob("*.reel")} == reels
    rules = tmp_path / ".golly" / "Rules"
    rules.mkdir(parents=True)
    (rules / "Rust.rule").write_text(TABLE)
    with closing(Recording(str(folder))) as recording:
        assert recording.whole(recording.shot(0)).cells.states().tolist() == [[0, 2, 1]]


def test_films_are_in_colours(tmp_path: Path) -> None:
    colours = state_colours(STARWARS)
    assert colours is not None
    look, taken = ExportLook(Box(-5, 3, 60, 41), -1), stills(3)
    path = str(tmp_path / "a.png")
    export.save_png(path, source_of(taken[0].cells, STARWARS), look)
    with Image.open(path) as image:
        expected = pixels_of(taken[0].cells, look.region, look.scale, colours)
        assert np.array_equal(np.asarray(image), expected)
    two = Whole(soup(Rule.parse("B3/S23")), Rule.parse("B3/S23"), Topology.TORUS, 9)
    with closing(Recording(str(tmp_path / "film"))) as recording:
        for some in (*taken, two):
            recording.add(some)
        films = RunExport(taken[0], 2, 1), FilmClip(recording, recording.shots)
        for film in films:
            path = str(tmp_path / f"{film.count}.gif")
            export.save_gif(path, film, look, 10.0)
            table = GifColours(colours)
            with Image.open(path) as image:
                for number, some in enumerate((*taken, two)[: film.count]):
                    image.seek(number)
                    shown = look.painted(look.levels(source_of(some.cells, some.rule), None))
                    expected = table.table[table.indices(shown)]
                    assert np.array_equal(np.asarray(image.convert("RGB")), expected)
