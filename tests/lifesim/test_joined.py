"""Golly's bounded grids, against a mapping of each neighbour, and against Golly."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.life import engine_for
from kernels.life.contract import LifeUniverse
from kernels.targets.choose import pick
from lifesim import joined as module
from lifesim import patterns
from lifesim.digests import digest
from lifesim.edge import EdgeWatch
from lifesim.engine import Life
from lifesim.grid import BitGrid
from lifesim.joined import HaloUniverse, RepeatedUniverse, TurnedUniverse, open_joined
from lifesim.pattern_of import pattern_of
from lifesim.rule import LIFE, Rule
from lifesim.soup import random_grid
from lifesim.topology import JoinedEdges, TopologyError, parse_bounds
from tests.kernels.life.test_cuda import EmulatedBackend
from tests.kernels.life.test_several import several
from tests.quick import examples
from tests.strategies import joined_edges, rules

Cells = npt.NDArray[np.bool_]
BGOLLY = shutil.which("bgolly")
KINDS = ["T{}+5,{}", "T{},{}-3", "K{}*,{}", "K{}*+1,{}", "K{},{}*", "K{},{}*+1", "C{},{}", "S{}"]


def held_at(edges: JoinedEdges, x: int, y: int) -> tuple[int, int]:
    """Return which cell of the universe is seen at a place outside of it, as Golly says it."""
    width, height = edges.width, edges.height
    (twist_x, twist_y), (shift_x, shift_y) = edges.twist, edges.shift
    while not (0 <= x < width and 0 <= y < height):
        if edges.is_sphere:
            if y < 0:
                x, y = -1 - y, x
            elif x < 0:
                x, y = y, -1 - x
            elif x >= width:
                x, y = y, 2 * width - 1 - x
            else:
                x, y = 2 * width - 1 - y, x
        elif not 0 <= y < height:
            above = y < 0
            y += height if above else -height
            x = width - 1 - x - shift_x if twist_x else x + (-shift_x if above else shift_x)
        else:
            before = x < 0
            x += width if before else -width
            y = height - 1 - y - shift_y if twist_y else y + (-shift_y if before else shift_y)
    return x, y


class Definition:
    """A universe by the definition: each generation every cell looks at its neighbours."""

    def __init__(self, cells: Cells, edges: JoinedEdges, rule: Rule) -> None:
        width, height = edges.width, edges.height
        self.cells, self._rule = cells, rule.life_like
        self._seen = np.zeros((height + 2, width + 2), np.int64)
        self._seen[1:-1, 1:-1] = np.arange(width * height).reshape(height, width)
        around = [(x, y) for x in range(-1, width + 1) for y in (-1, height)]
        around += [(x, y) for y in range(height) for x in (-1, width)]
        for x, y in around:
            column, row = held_at(edges, x, y)
            self._seen[y + 1, x + 1] = row * width + column

    def step(self, generations: int) -> Cells:
        height, width = self.cells.shape
        for _ in range(generations):
            padded = self.cells.reshape(-1)[self._seen]
            count = np.zeros(self.cells.shape, np.uint8)
            for dy in range(3):
                for dx in range(3):
                    if (dx, dy) != (1, 1):
                        count += padded[dy : dy + height, dx : dx + width]
            chosen = np.where(self.cells, self._rule.survival, self._rule.birth)
            self.cells = (chosen >> count & 1).astype(np.bool_)
        return self.cells


def opened(cells: Cells, edges: JoinedEdges, rule: Rule = LIFE) -> LifeUniverse:
    engine = engine_for(pick("auto", threads=1))
    return open_joined(engine, BitGrid.from_bool(cells).words, edges, rule.cells)


def cells_of(universe: LifeUniverse) -> Cells:
    return BitGrid(universe.width, universe.height, universe.words()).to_bool()


def soup(edges: JoinedEdges, seed: int) -> Cells:
    return np.random.default_rng(seed).random((edges.height, edges.width)) < 0.4


@settings(max_examples=examples(400))
@given(
    joined_edges(st.integers(1, 12) | st.sampled_from([31, 63, 64, 65, 130])),
    rules,
    st.lists(st.integers(0, 60), min_size=1, max_size=3),
    st.integers(0, 2**32),
)
def test_small_ones_are_the_definition_s(
    edges: JoinedEdges, rule: Rule, runs: list[int], seed: int
) -> None:
    cells = soup(edges, seed)
    wanted, universe = Definition(cells, edges, rule), opened(cells, edges, rule)
    assert (cells_of(universe) == cells).all()
    for generations in runs:
        universe.step(generations)
        assert (cells_of(universe) == wanted.step(generations)).all()
    assert universe.generation == sum(runs)


@settings(max_examples=examples(60))
@given(
    joined_edges(st.integers(128, 200) | st.sampled_from([128, 192])),
    rules,
    st.lists(st.sampled_from([1, 63, 64, 65]), min_size=1, max_size=2),
    st.integers(0, 2**32),
)
def test_halos_are_the_definition_s(
    edges: JoinedEdges, rule: Rule, runs: list[int], seed: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_LEAST", 64)
        patch.setattr(module, "_SMALL", 0)
        cells = soup(edges, seed)
        universe = opened(cells, edges, rule)
    assert isinstance(universe, (HaloUniverse, TurnedUniverse))
    wanted = Definition(cells, edges, rule)
    for generations in runs:
        universe.step(generations)
        assert (cells_of(universe) == wanted.step(generations)).all()


@pytest.mark.parametrize("bounds", KINDS)
def test_rows_are_put_and_got_between_steps(bounds: str) -> None:
    for side, least in ((150, 64), (9, 128), (70, 128)):
        edges, _ = parse_bounds(bounds.format(side, side + 2))
        assert isinstance(edges, JoinedEdges)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "_LEAST", least)
            patch.setattr(module, "_SMALL", 0)
            universe = opened(soup(edges, 1), edges)
        wanted = Definition(soup(edges, 1), edges, LIFE)
        universe.step(5)
        new = soup(edges, 2)[:4]
        universe.put(3, BitGrid.from_bool(new).words)
        wanted.cells = wanted.step(5).copy()
        wanted.cells[3:7] = new
        assert (cells_of(universe) == wanted.cells).all()
        view = universe.view()
        assert view is None or (view == universe.words()).all()
        universe.step(30)
        wanted.step(30)
        some = np.full((5, -(-edges.width // 64)), 2**64 - 1, np.uint64)
        universe.get(2, some)
        assert (BitGrid(edges.width, 5, some).to_bool() == wanted.cells[2:7]).all()
        with pytest.raises(ValueError, match="rows"):
            universe.get(edges.height - 1, some)


@pytest.mark.parametrize("bounds", KINDS)
def test_several_threads_put_rows(bounds: str) -> None:
    edges, _ = parse_bounds(bounds.format(40, 42))
    assert isinstance(edges, JoinedEdges)
    universe = opened(np.zeros((edges.height, 40), np.bool_), edges)
    wanted = BitGrid.from_bool(soup(edges, 7)).words
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda y: universe.put(y, wanted[y : y + 1]), range(edges.height)))
    assert (universe.words() == wanted).all()


def test_what_is_held() -> None:
    """Hold which of the ways is taken for which size: each is in use."""
    for bounds, kind in {
        "T600+1,600": HaloUniverse,
        "T600,600+1": TurnedUniverse,
        "K600*,600": HaloUniverse,
        "C600": HaloUniverse,
        "S600": HaloUniverse,
        "K600*,3": RepeatedUniverse,
        "C600,3": RepeatedUniverse,
        "S30": RepeatedUniverse,
        "T5000+1,3": RepeatedUniverse,
        "T100+50,90": RepeatedUniverse,
    }.items():
        edges, _ = parse_bounds(bounds)
        assert isinstance(edges, JoinedEdges)
        assert type(opened(soup(edges, 1), edges)) is kind, bounds


@pytest.mark.parametrize("bounds", KINDS)
def test_an_interrupted_step_goes_on(bounds: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LEAST", 64)
    monkeypatch.setattr(module, "_SMALL", 0)
    edges, _ = parse_bounds(bounds.format(150, 152))
    assert isinstance(edges, JoinedEdges)
    universe = opened(soup(edges, 3), edges)
    inner = universe
    while isinstance(inner, (HaloUniverse, TurnedUniverse)):
        inner = inner._cells
    whole = type(inner).step

    def broken_off(generations: int) -> None:
        whole(inner, generations // 2)
        raise KeyboardInterrupt

    universe.step(10)
    monkeypatch.setattr(inner, "step", broken_off)
    with pytest.raises(KeyboardInterrupt):
        universe.step(100)
    assert universe.generation == 37
    monkeypatch.undo()
    universe.step(63)
    assert (cells_of(universe) == Definition(soup(edges, 3), edges, LIFE).step(100)).all()


@pytest.mark.sample(4)
@pytest.mark.parametrize("bounds", ["T9+2,7", "K9,7*", "C9,7", "S70", "T70+3,70", "K70*+1,70"])
def test_emulated_and_reference(bounds: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SMALL", 0)
    monkeypatch.setattr(module, "_LEAST", 64)
    edges, size = parse_bounds(bounds)
    assert isinstance(edges, JoinedEdges)
    grid = random_grid(*size, 0.4, 5)
    wanted = BitGrid.from_bool(Definition(grid.to_bool(), edges, LIFE).step(9))
    for backend in (EmulatedBackend(), pick("reference")):
        life = Life(grid, topology=edges, backend=backend)
        life.run(9)
        assert life.grid() == wanted


@pytest.mark.sample(2)
@pytest.mark.parametrize("bounds", ["T150+7,140", "C140,150", "S140"])
def test_emulated_halos(bounds: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SMALL", 0)
    monkeypatch.setattr(module, "_LEAST", 64)
    edges, size = parse_bounds(bounds)
    assert isinstance(edges, JoinedEdges)
    grid = random_grid(*size, 0.4, 5)
    life = Life(grid, topology=edges, backend=EmulatedBackend())
    life.run(66)
    assert life.grid().to_bool().tolist() == (
        Definition(grid.to_bool(), edges, LIFE).step(66).tolist()
    )


# As a universe


def test_a_life_says_what_it_is() -> None:
    grid = random_grid(30, 20, 0.4, 1)
    life = Life(grid, topology="klein", backend="reference", watch=True)
    assert (str(life.topology), life.bounds, life.edge) == ("K30*,20", (30, 20), 0)
    life.run(3)
    pattern = pattern_of(life)
    out = io.BytesIO()
    patterns.write(pattern, out)
    assert b", rule = B3/S23:K30*,20\n" in out.getvalue()
    again = Life.from_pattern(patterns.read(io.BytesIO(out.getvalue())), backend="reference")
    assert (again.topology, again.grid(), again.generation) == (life.topology, life.grid(), 3)
    assert life.digest() == digest(life.grid())
    unbounded = Life(grid, topology="unbounded", backend="reference")
    assert unbounded.bounds == (0, 0)
    with pytest.raises(TopologyError, match="a Klein bottle is computed by one device"):
        Life(grid, topology="klein", backend=several(2))
    with pytest.raises(ValueError, match="all of it"):
        Life(grid, topology="T31+1,20")


@given(joined_edges(st.integers(5, 60)), st.integers(0, 2**32), st.integers(0, 60))
def test_edges_are_met_as_on_a_torus(edges: JoinedEdges, seed: int, generations: int) -> None:
    """Up to the generation in which a cell lives at an edge, all of them are the same plane."""
    grid = BitGrid(edges.width, edges.height)
    grid.paste(random_grid(3, 3, 0.5, seed), edges.width // 2 - 1, edges.height // 2 - 1)
    found = []
    for topology in (edges, "torus"):
        life = Life(grid, topology=topology, watch=True, backend="reference")
        life.run(generations)
        found.append(life.edge)
    assert found[0] == found[1]
    assert isinstance(life._watch, EdgeWatch)


def test_commands(lifesim) -> None:  # type: ignore[no-untyped-def]
    Path("a.rle").write_text("x = 3, y = 3, rule = B3/S23:K30*+1,20\nbo$2bo$3o!\n")
    facts = lifesim("run", "a.rle", "--steps", 100, "--json", "--out", "b.rle").facts
    assert (facts["topology"], facts["bounds"]) == ("K30*+1,20", [30, 20])
    assert facts["edge"]["reached"]
    again = lifesim("run", "b.rle", "--steps", 0, "--json").facts
    assert (again["topology"], again["digest"]) == (facts["topology"], facts["digest"])
    options = ["--size", "30x20", "--topology", facts["topology"]]
    lifesim("random", "--size", "30x20", "--topology", facts["topology"], "--out", "c.mc")
    same = [
        lifesim("run", *more, "--steps", 70, "--json").facts
        for more in (["c.mc"], [*options, "--random", "1/2"], ["--rule", "b3s23:k30*-1,20"])
    ]
    assert len({facts["digest"] for facts in same}) == 1
    torus = lifesim("run", "--steps", 70, "--json", "--size", "30x20").facts
    assert torus["digest"] != same[0]["digest"]
    assert "Klein bottle K30*+1,20 30x20" in lifesim("info", "b.rle").out
    assert "(B3/S23, Klein bottle K30*+1,20)" in lifesim("run", "b.rle", "--steps", 1).out
    free = lifesim("run", "a.rle", "--steps", 100, "--topology", "unbounded", "--json").facts
    assert (free["bounds"], free["population"]) == (None, 5)


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("run a.rle --steps 5 --out folder", "on disk is a torus or a plane, not a sphere"),
        ("run a.rle --steps 5 --cluster local:1", "on disk is a torus or a plane, not a sphere"),
        ("run a.rle --steps 5 --memory 1", "on disk is a torus or a plane, not a sphere"),
        ("convert a.rle folder", "on disk is a torus or a plane, not a sphere"),
        ("random --size 9 --topology sphere --out folder", "is a torus or a plane"),
        ("run a.rle --steps 5 --engine tiles", "for planes without bounds"),
        ("run a.rle --steps 5 --engine hashlife --topology klein", "knows no bounds: not klein"),
        ("run a.rle --steps 5 --size 9x8", "a sphere is as high as wide, not 9x8"),
        ("run a.rle --steps 5 --topology unbounded --size 9", "has no size"),
        ("run a.rle --steps 5 --topology T9,9 --size 8", "T9,9 says its size"),
        ("run a.rle --steps 5 --topology T9+1,9+1", "one pair of edges is shifted"),
        ("run a.rle --steps 5 --rule B3/S23:T9,9 --topology torus", "--topology says them too"),
        ("run a.rle --steps 5 --rule B3/S23:Q9,9", "'Q9,9' are no bounds"),
        ("run --steps 5 --topology unbounded", "bounds both ways"),
        ("run --steps 5 --topology P9,0", "bounds both ways"),
    ],
)
def test_refusals_are_one_line(lifesim, command: str, says: str) -> None:  # type: ignore[no-untyped-def]
    Path("a.rle").write_text("x = 3, y = 3, rule = B3/S23:S20\nbo$2bo$3o!\n")
    done = lifesim(*command.split())
    assert done.code == 2
    assert says in done.err
    assert len(done.err.splitlines()) == 1
    assert not Path("folder").exists()


# Golly


@pytest.mark.skipif(BGOLLY is None, reason="bgolly is not installed")
@settings(max_examples=examples(120))
@given(
    joined_edges(st.integers(1, 9) | st.integers(40, 90)),
    rules,
    st.integers(0, 9),
    st.integers(0, 2**32),
)
def test_golly_makes_the_same(edges: JoinedEdges, rule: Rule, steps: int, seed: int) -> None:
    if not rule.stays_empty:
        # Golly swaps the states of every other generation, and with S8 runs another rule.
        rule, steps = (
            Rule.life_like_of(rule.life_like.birth, rule.life_like.survival & 255),
            steps - steps % 2,
        )
    life = Life(random_grid(edges.width, edges.height, 0.4, seed), rule=rule, topology=edges)
    # Its HashLife has no B0, its RLE files do not say where cells lie.
    algorithm, end = ("QuickLife", "rle") if not rule.stays_empty else ("HashLife", "mc")
    with tempfile.TemporaryDirectory() as folder:
        source, target = f"{folder}/in.{end}", f"{folder}/out.{end}"
        patterns.write(pattern_of(life), source)
        command = [str(BGOLLY), "-q", "-q", "-a", algorithm, "-m", str(steps), "-o", target]
        subprocess.run([*command, source], check=True, capture_output=True, timeout=60)
        theirs = patterns.read(target)
    life.run(steps)
    assert (theirs.topology, theirs.rule) == (edges, rule)
    if end == "mc":
        assert Life.from_pattern(theirs, backend="reference").grid() == life.grid()
    assert theirs.trimmed().grid == pattern_of(life).grid


FOLDER = Path(os.environ.get("GOLLY_PATTERNS", "/usr/share/golly/Patterns"), "Life/Bounded-Grids")


@pytest.mark.skipif(BGOLLY is None or not FOLDER.is_dir(), reason="Golly is not installed")
def test_golly_s_own_patterns(tmp_path: Path) -> None:
    kinds = set()
    for path in sorted(FOLDER.glob("*.rle")):
        source, target = tmp_path / path.name, tmp_path / "out.mc"
        source.write_bytes(path.read_bytes().replace(b"LifeHistory", b"B3/S23"))
        life = Life.from_pattern(source)
        life.run(200)
        command = [str(BGOLLY), "-q", "-q", "-a", "HashLife", "-m", "200", "-o", str(target)]
        subprocess.run([*command, source], check=True, capture_output=True, timeout=60)
        theirs = Life.from_pattern(target, backend="reference")
        assert (theirs.frame(), theirs.grid()) == (life.frame(), life.grid()), path.name
        kinds.add(str(life.topology)[0])
    assert kinds >= set("tTKCS")
