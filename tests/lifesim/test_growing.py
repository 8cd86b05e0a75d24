"""Planes without bounds: exact wherever what lives in them goes."""

from __future__ import annotations

import itertools
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.life import ref
from lifesim import growing, patterns
from lifesim.engine import Life
from lifesim.grid import BitGrid, Box, GridError
from lifesim.growing import OutgrownError
from lifesim.pattern_of import pattern_of
from lifesim.patterns import Pattern
from lifesim.rule import Rule
from lifesim.soup import random_grid
from tests.kernels.life.test_cuda import EmulatedBackend
from tests.kernels.life.test_several import several

DATA = Path(__file__).parents[2] / "data" / "patterns"
GLIDER = BitGrid.from_cells(3, 3, [(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)])
BLINKER = BitGrid.from_cells(3, 1, [(0, 0), (1, 0), (2, 0)])
LIDKA = "bo$obo$bo8$8bo$6bobo$5b2obo2$4b3o!"
GOLLY = shutil.which("bgolly")
needs_golly = pytest.mark.skipif(GOLLY is None, reason="bgolly is not installed")
EXTENSIONS = [".rle", ".cells", ".lif", ".life", ".mc", ".rle.gz", ".mc.gz", ".lif.gz"]


def life_of(pattern: Pattern | Path, **options) -> Life:
    return Life.from_pattern(pattern, **{"backend": "cpu", "engine": "dense", **options})


def reference(grid: BitGrid, rule: Rule, generations: int) -> tuple[BitGrid, int, int]:
    """Return what lives of a pattern after so many generations, and where, on a plane that is large
    enough for it."""
    margin = generations + 1
    cells = np.pad(grid.to_bool(), margin)
    cells = ref.run(cells, rule.life_like.birth, rule.life_like.survival, False, generations)
    whole = BitGrid.from_bool(cells)
    box = whole.bounding_box() or Box(margin, margin, 1, 1)
    return whole.crop(box), box.x - margin, box.y - margin


@given(
    st.tuples(st.integers(1, 70), st.integers(1, 9)),
    st.sampled_from(["B3/S23", "B36/S23", "B2/S", "B1/S1", "B234/S", "B3678/S34678"]),
    st.lists(st.integers(0, 25), max_size=4),
    st.integers(0, 2**32),
)
def test_it_is_what_a_plane_that_is_large_enough_becomes(size, rule, runs, seed):
    grid = random_grid(*size, 0.4, seed)
    life = life_of(Pattern(grid, 7, -9, Rule.parse(rule)))
    done = 0
    for generations in runs:
        life.run(generations)
        done += generations
        wanted, x, y = reference(grid, life.rule, done)
        assert life.generation == done
        assert life.grid() == wanted
        if wanted.population():
            assert (
                life.bounding_box()
                == life.frame()
                == Box(x + 7, y - 9, *wanted.to_bool().shape[::-1])
            )
        else:
            assert life.bounding_box() is None


@pytest.mark.sample(2)
@pytest.mark.parametrize("turn", range(4))
def test_a_glider_goes_as_far_as_it_goes(turn, monkeypatch):
    """It does so however often it must move to another universe."""
    monkeypatch.setattr(growing, "_ROOM", 70)
    glider = BitGrid.from_bool(np.rot90(GLIDER.to_bool(), turn))
    life = life_of(Pattern(glider))
    life.run(4 * 5000)
    across, down = [(1, 1), (1, -1), (-1, -1), (-1, 1)][turn]
    assert life.frame() == Box(5000 * across, 5000 * down, 3, 3)
    assert life.grid() == glider
    assert life._held.cells.width < 1000


@pytest.mark.parametrize("backend", ["reference", "cuda", "several"])
def test_every_backend_grows(backend, monkeypatch):
    monkeypatch.setattr(growing, "_ROOM", 30)
    monkeypatch.setattr(growing, "_DEVICE_ROOM", 30)
    runner = {
        "reference": lambda: "reference",
        "cuda": EmulatedBackend,
        "several": lambda: several(2),
    }
    ours = life_of(DATA / "r-pentomino.rle", backend=runner[backend]())
    theirs = life_of(DATA / "r-pentomino.rle")
    for one in (ours, theirs):
        one.run(150)
    assert (ours.grid(), ours.frame()) == (theirs.grid(), theirs.frame())


def test_what_stands_still_costs_no_more_room():
    life = life_of(Pattern(BitGrid.from_cells(2, 2, [(0, 0), (1, 0), (0, 1), (1, 1)])))
    life.run(20_000)
    assert (life.generation, life.population()) == (20_000, 4)
    assert life._held.cells.width * life._held.cells.height < 300 * 300


def test_nothing_at_all_lives_for_ever():
    life = life_of(Pattern(BitGrid(5, 5)))
    life.run(10**18)
    assert (life.generation, life.frame(), life.grid()) == (10**18, Box(0, 0, 1, 1), BitGrid(1, 1))


def test_blinkers_far_apart():
    wide = BitGrid(9000, 3)
    wide.paste(BLINKER, 0, 1)
    wide.paste(BLINKER, 8997, 1)
    life = life_of(Pattern(wide))
    life.run(2)
    assert (life.population(), life.frame()) == (6, Box(0, 1, 9000, 1))
    life.run(1)
    assert (life.population(), life.frame()) == (6, Box(1, 0, 8998, 3))


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("name", "runs", "population"),
    [("acorn", (1000, 4206), 633), ("gosper-gun", (300, 3000), 586)],
)
@pytest.mark.parametrize("extension", [".rle", ".mc.gz", ".lif"])
def test_runs_through_files_are_one_run(tmp_path, name, runs, population, extension):
    path = DATA / f"{name}.rle"
    for number, generations in enumerate(runs):
        life = life_of(path)
        life.run(generations)
        path = tmp_path / f"{number}{extension}"
        patterns.write(pattern_of(life), path)
    assert life.population() == population
    assert patterns.read(path).size is None


@pytest.mark.parametrize("bounds", ["T40,0", "P40,0", "T0,40", "P0,40"])
def test_bounds_one_way_only(bounds):
    """The cells are those of a universe that is long enough the other way."""
    text = f"#CXRLE Pos=-3,5\nx = 3, y = 3, rule = B3/S23:{bounds}\nbo$2bo$3o!"
    (life,) = (life_of(patterns.read(_stream(text))) for _ in range(1))
    life.run(500)
    width, height = life.bounds
    long = Life.from_pattern(
        patterns.read(_stream(text)),
        size=(width or 2000, height or 2000),
        at=(17 if width else 1000, 25 if height else 1000),
        topology=life.topology,
        backend="cpu",
    )
    long.run(500)
    box = long.bounding_box()
    assert life.population() == long.population() > 0
    wanted = Box(box.x - (0 if width else 1003), box.y - (0 if height else 995), *box[2:])
    assert life.bounding_box() == wanted
    saved = pattern_of(life)
    assert (saved.size, saved.topology) == (life.bounds, life.topology)
    again = life_of(saved)
    for one in (again, life):
        one.run(30)
    assert (again.grid(), again.frame()) == (life.grid(), life.frame())


def _stream(text: str):
    import io

    return io.BytesIO(text.encode())


def test_what_memory_does_not_hold_stops_at_a_whole_generation(tmp_path):
    grid = BitGrid(400, 400)
    grid.paste(GLIDER, 390, 390)
    grid.paste(BitGrid.from_bool(np.rot90(GLIDER.to_bool(), 2)), 5, 5)
    life = life_of(Pattern(grid), memory=300_000)
    with pytest.raises(OutgrownError, match="outgrown memory at generation"):
        life.run(10**6)
    assert 400 < life.generation < 4000
    free = life_of(Pattern(grid))
    free.run(life.generation)
    assert (free.grid(), free.frame()) == (life.grid(), life.frame())


def test_empty_space_that_comes_alive_for_ever_is_refused():
    life = life_of(Pattern(GLIDER, rule=Rule.parse("AntiLife")))
    life.run(0)
    for generations in (1, 2):
        with pytest.raises(GridError, match=r"empty space.*or run B3/S23, which does the same"):
            life.run(generations)
    named = Rule.parse("B3678/S34678")  # which does the same with its states exchanged
    assert named.exchanged == named
    assert Rule.parse("B2-a/S").exchanged is None


# --- empty space that blinks ---------------------------------------------------

BLINKING = ["B02/S", "B0/S", "B03/S23", "B0123/S4567", "B02ak4i/S1e"]


def blinked(grid: BitGrid, rule: Rule, generations: int) -> tuple[BitGrid, int, int]:
    """Return what reference() does after an even number of generations, from a torus on which
    nothing goes all the way round."""
    margin = generations + 2
    cells = np.pad(grid.to_bool(), margin).astype(np.uint8)
    assert rule.nine_cells
    for _ in range(generations):
        square = sum(
            (np.roll(cells, (dy, dx), (0, 1)).astype(np.uint16) << (4 + 3 * dy + dx))
            for dy in (-1, 0, 1)
            for dx in (-1, 0, 1)
        )
        table = np.array([rule.nine_cells.table >> i & 1 for i in range(512)], np.uint8)
        cells = table[square]
    whole = BitGrid.from_bool(cells.astype(bool))
    box = whole.bounding_box() or Box(margin, margin, 1, 1)
    return whole.crop(box), box.x - margin, box.y - margin


@given(
    st.tuples(st.integers(1, 70), st.integers(1, 9)),
    st.sampled_from(BLINKING),
    st.lists(st.integers(0, 12).map(lambda n: 2 * n), max_size=3),
    st.integers(0, 2**32),
    st.sampled_from(["dense", "auto"]),
)
def test_space_that_blinks(size, rule, runs, seed, engine):
    grid = random_grid(*size, 0.4, seed)
    life = life_of(Pattern(grid, 7, -9, Rule.parse(rule)), engine=engine)
    done = 0
    for generations in runs:
        life.run(generations)
        done += generations
        cells, x, y = blinked(grid, life.rule, done)
        assert (life.generation, life.population()) == (done, cells.population())
        if cells.population():
            assert life.bounding_box() == Box(7 + x, y - 9, cells.width, cells.height)
            assert life.grid() == cells


def test_long_runs_where_space_blinks():
    """The universe grows and is moved again and again, with looks between."""
    grid, rule = random_grid(9, 9, 0.5, 3), Rule.parse("B0123/S4567")
    lives = [life_of(Pattern(grid, rule=rule), backend=name) for name in ("cpu", "reference")]
    seen = []
    lives[0].run(300, every=60, on_snapshot=lambda now: seen.append(now.population()))
    lives[1].run(300)
    assert len(seen) == 5
    assert (lives[0].grid(), lives[0].frame()) == (lives[1].grid(), lives[1].frame())
    assert lives[0].grid() == blinked(grid, rule, 300)[0]


def test_a_cylinder_whose_space_blinks():
    grid, rule = random_grid(20, 20, 0.5, 3), Rule.parse("B03/S23")
    options = {"rule": rule, "backend": "cpu"}
    life = Life(grid, topology="torus", bounds=(20, 0), **options)
    life.run(40)
    tall = BitGrid(20, 200)
    tall.paste(grid, 0, 90)
    torus = Life(tall, topology="torus", **options)
    torus.run(40)
    assert life.grid() == torus.grid().crop(life.frame()._replace(y=life.frame().y + 90))
    assert life.population() == torus.population() > 0
    plane = Life(grid, topology="plane", bounds=(20, 0), **options)
    with pytest.raises(GridError, match="brings empty space to life"):
        plane.run(40)


def test_odd_generations_are_refused_where_space_blinks():
    life = life_of(Pattern(GLIDER, rule=Rule.parse("B02/S")))
    for wrong in (
        lambda: life.run(3),
        lambda: life.run(4, every=1, on_snapshot=lambda now: None),
        lambda: life.run_until("stable"),
        lambda: life.run_until("population:>3", 8),
    ):
        with pytest.raises(GridError, match=r"odd generations.*ask for an even number"):
            wrong()
    assert life.generation == 0
    life.run(4, every=1)  # without anybody who looks
    assert life.generation == 4


def test_interrupts_leave_an_even_generation_where_space_blinks():
    """Whatever pass is broken off, and whoever looks next."""
    life = life_of(Pattern(random_grid(30, 30, 0.5, 1), rule=Rule.parse("B03/S23")))
    life.run(2)
    universe = life._held._unbounded
    real = type(universe.cells).step
    calls = []

    def step(cells, generations):
        calls.append(generations)
        if generations == 1:
            return real(cells, 1)
        real(cells, 1)
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(universe.cells), "step", step)
        with pytest.raises(KeyboardInterrupt):
            life.run(8)
    assert calls[-1] == 1
    assert life.generation == 4
    universe.cells.step(1)  # as where it comes between the two
    cells, _, _ = blinked(random_grid(30, 30, 0.5, 1), life.rule, 6)
    assert universe.box()[2:] == (cells.width, cells.height)
    assert (life.generation, life.grid()) == (6, cells)


@needs_golly
@pytest.mark.parametrize("rule", BLINKING)
def test_golly_says_the_same_where_space_blinks(rule, tmp_path):
    soup, theirs = tmp_path / "soup.rle", tmp_path / "theirs.rle"
    patterns.write(Pattern(random_grid(40, 30, 0.4, 1), 0, 0, Rule.parse(rule)), soup)
    command = [GOLLY, "-q", "-q", "-a", "QuickLife", "-m", "100", "-o", str(theirs), str(soup)]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    life = life_of(soup)
    life.run(100)
    # Its files do not say where cells lie.
    assert patterns.read(theirs).grid.population() == life.population()
    if life.population():
        assert patterns.read(theirs).grid == life.grid()


def test_margins_and_sizes():
    life = life_of(Pattern(GLIDER, 100, 100), margin=5)
    assert (life.bounds, life.bounding_box()) == ((13, 13), Box(5, 5, 3, 3))
    assert str(life.topology) == "plane"
    life = life_of(Pattern(GLIDER), size=(20, 10), at=(1, 2), watch=True)
    assert (life.bounds, life.bounding_box(), life.edge) == ((20, 10), Box(1, 2, 3, 3), None)
    for wrong in ({"margin": -1}, {"margin": 1, "size": (9, 9)}):
        with pytest.raises(ValueError, match="margin"):
            life_of(Pattern(GLIDER), **wrong)


def test_an_interrupted_run_goes_on(monkeypatch):
    life = life_of(DATA / "acorn.rle")

    def stop(now):
        if now.done > 300:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        life.run(5206, progress=stop)
    life.run(5206 - life.generation)
    assert life.population() == 633


# Golly


def golly(path: Path, generations: int, out: Path) -> Pattern:
    command = [str(GOLLY), "-q", "-q", "-m", str(generations), "-o", str(out), str(path)]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    return patterns.read(out)


def chain(folder: Path, pattern: Pattern, runs: list[int], extensions: list[str]) -> Life:
    """Return the last of several runs, each of which begins with what the one before has
    written."""
    for number, generations in enumerate(runs):
        life = life_of(pattern)
        life.run(generations)
        path = folder / f"{number}{extensions[number]}"
        patterns.write(pattern_of(life), path)
        pattern = patterns.read(path)
        assert pattern.size is None
    return life


def check(folder: Path, pattern: Pattern, runs: list[int], extensions: list[str]) -> None:
    start = folder / "start.rle"
    patterns.write(Pattern(pattern.grid, rule=pattern.rule), start)
    theirs = golly(start, sum(runs), folder / "theirs.rle")
    ours = chain(folder, pattern, runs, extensions)
    assert ours.grid() == theirs.grid


def named(name: str) -> Pattern:
    if name == "lidka":
        return patterns.read(_stream(f"x = 9, y = 15\n{LIDKA}"))
    if name != "wide":
        return patterns.read(DATA / f"{name}.rle")
    wide = BitGrid(20_000, 40)
    for x in range(0, 19_990, 307):
        wide.paste(GLIDER, x, x % 31)
    wide.paste(GLIDER, 19_997, 3)
    return Pattern(wide)


@pytest.mark.sample(6)
@needs_golly
@pytest.mark.parametrize("name", ["glider", "gosper-gun", "acorn", "lidka", "r-pentomino", "wide"])
@pytest.mark.parametrize("seed", range(2))
def test_golly_has_the_same(tmp_path, name, seed):
    draw = np.random.default_rng(seed)
    runs = draw.integers(0, 60 if name == "wide" else 500, 3).tolist()
    check(tmp_path, named(name), runs, draw.choice(EXTENSIONS, 3).tolist())


@needs_golly
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "most"),
    [("glider", 50_000), ("gosper-gun", 4000), ("acorn", 3000), ("lidka", 3000), ("wide", 1500)],
)
@pytest.mark.parametrize("seed", range(10, 14))
def test_golly_has_the_same_after_long(tmp_path, name, most, seed):
    draw = np.random.default_rng(seed)
    runs = draw.integers(0, most, 4).tolist()
    check(tmp_path, named(name), runs, draw.choice(EXTENSIONS, 4).tolist())


@needs_golly
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_golly_has_the_same_of_soups(tmp_path, seed):
    draw = np.random.default_rng(seed)
    pattern = Pattern(random_grid(*draw.integers(5, 60, 2).tolist(), 0.4, seed))
    check(tmp_path, pattern, draw.integers(0, 800, 3).tolist(), draw.choice(EXTENSIONS, 3).tolist())


@pytest.mark.slow
def test_lidka():
    life = life_of(named("lidka"))
    life.run(30_000)
    assert life.population() == 1623


def test_the_formats_all_are_in_chains():
    known = set(itertools.chain.from_iterable(patterns.formats().values()))
    assert {e.removesuffix(".gz") for e in EXTENSIONS} >= known - {".l"}


def test_to_count_cells_asks_for_no_memory(monkeypatch):
    """A run until a population is counted in each generation."""
    asked = []
    monkeypatch.setattr("lifesim.grid.available_memory", lambda: asked.append(1) or 1 << 34)
    acorn = Path(__file__).parents[2] / "data" / "patterns" / "acorn.rle"
    life = Life.from_pattern(acorn, engine="dense")
    for _ in range(40):
        life.run(5)
        before = len(asked)
        assert life.population() == life.grid().population()
        assert len(asked) == before + 1  # by grid()
    assert len(asked) < 100
