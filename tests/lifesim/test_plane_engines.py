"""Planes without bounds in tiles and by HashLife: the cells of a rectangle, and farther."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("kernels._cpu")

from kernels.targets.contract import BackendUnavailableError, Target
from kernels.targets.cuda.device import Device
from lifesim import patterns
from lifesim.engine import Life
from lifesim.errors import LifesimError
from lifesim.grid import BitGrid, Box, GridError
from lifesim.growing import OutgrownError
from lifesim.patterns import Pattern, PatternError
from lifesim.rule import Rule
from lifesim.soup import random_grid
from lifesim.start import place
from tests.emulation import EmulatedDevice
from tests.lifesim.far_patterns import far_gliders
from tests.quick import examples

DATA = Path(__file__).parents[2] / "data" / "patterns"
GUN, ACORN = DATA / "gosper-gun.rle", DATA / "acorn.rle"
GOLLY = shutil.which("bgolly")


engines = pytest.mark.parametrize("engine", ["tiles", "hashlife"])
# Rules that mind where neighbours are: Hensel's, hexagonal, von Neumann's, Wolfram's, a MAP string.
RULES_OF_PLACES = ("B2-a/S12", "B3/S2-i34q", "B2/S34H", "B2/S013V", "W110", "MAPHmlphg")
LEANING = "B3/S2-i34q"


def both(pattern: Pattern | Path, engine: str) -> tuple[Life, Life]:
    """Return universes of a pattern by the engine, and in a rectangle."""
    dense = Life.from_pattern(pattern, backend="cpu", engine="dense")
    return Life.from_pattern(pattern, engine=engine), dense


def assert_same(tree: Life, dense: Life) -> None:
    """Hold all that can be asked of one against the other."""
    assert tree.generation == dense.generation
    assert tree.bounding_box() == dense.bounding_box()
    assert tree.population() == dense.population()
    assert tree.grid() == dense.grid()
    assert tree.digest() == dense.digest()
    box = tree.frame()
    wide = Box(box.x - 5, box.y - 3, box.width + 9, box.height + 9)
    for scale in (-1, 0, 2):
        assert (tree.levels(wide, scale) == dense.levels(wide, scale)).all()


@engines
@settings(max_examples=examples(40), deadline=None)
@given(
    st.tuples(st.integers(1, 150), st.integers(1, 80)),
    st.sampled_from(
        ["B3/S23", "B36/S23", "B2/S", "B1/S1", "B234/S", "B3678/S34678", *RULES_OF_PLACES]
    ),
    st.lists(st.integers(0, 60), max_size=3),
    st.tuples(st.integers(-200, 200), st.integers(-200, 200)),
    st.integers(0, 2**32),
)
def test_it_is_what_a_growing_rectangle_becomes(engine, size, rule, runs, corner, seed):
    grid = random_grid(*size, 0.4, seed)
    tree, dense = both(Pattern(grid, *corner, Rule.parse(rule)), engine)
    assert_same(tree, dense)
    for generations in runs:
        tree.run(generations)
        dense.run(generations)
        assert_same(tree, dense)


@engines
def test_long_runs(engine):
    for path, generations in ((GUN, 3001), (ACORN, 5206)):
        tree, dense = both(path, engine)
        tree.run(generations)
        dense.run(generations)
        assert_same(tree, dense)


@pytest.mark.parametrize("engine", ["dense", "tiles", "hashlife"])
def test_pictures_of_far_more_than_lives(engine):
    life = Life.from_pattern(GUN, engine=engine)
    side = 1 << 24  # cells, which as a grid would take 32 TiB
    levels = life.levels(Box(-side // 2, -side // 2, side, side), 14)
    assert levels.shape == (1024, 1024)
    assert levels[512, 512] == levels.max() == levels.sum() == 1
    assert not life.levels(Box(1000, 1000, side, side), 14).any()


@engines
def test_snapshots_and_progress(engine):
    tree = Life.from_pattern(ACORN, engine=engine)
    seen, told = [], []
    tree.run(500, every=[100, 250], on_snapshot=lambda life: seen.append(life.generation),
             progress=lambda now: told.append((now.generation, now.rate)))  # fmt: skip
    assert seen == [100, 200, 250, 300, 400, 500]
    assert told[-1] == (500, 0.0)
    assert tree.rate == 0


@engines
def test_an_interrupted_run_goes_on(engine):
    tree, dense = both(ACORN, engine)

    def interrupt(now):
        if now.generation >= 60:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tree.run(5000, progress=interrupt)
    assert 60 <= tree.generation < 5000
    dense.run(tree.generation)
    assert_same(tree, dense)
    tree.run(5206 - tree.generation)
    assert tree.population() == 633


@engines
def test_memory_ends(engine):
    soup = Pattern(random_grid(16000, 12000, 0.4, 1), 0, 0)
    with pytest.raises(OutgrownError, match="generation 0: 16 MiB"):
        Life.from_pattern(soup, engine=engine, memory=1 << 24)
    grid = random_grid(4900, 4900, 0.4, 1)  # twice as many squares would be too many
    wild = Pattern(grid, 0, 0, Rule.parse("B2/S"))
    memory = 1 << 24 if engine == "hashlife" else 26 << 20
    life = Life.from_pattern(wild, engine=engine, memory=memory)
    with pytest.raises(OutgrownError, match="outgrown memory"):
        life.run(10**6)
    dense = Life(grid, rule="B2/S", topology="plane", bounds=(0, 0))
    dense.run(life.generation)
    assert life.generation > 0
    assert life.digest() == dense.digest()


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"size": (100, 100)}, GridError),
        ({"backend": "reference"}, LifesimError),
        ({"backend": "cuda", "device": 10**6}, (LifesimError, BackendUnavailableError)),
        ({"rule": "B0/S"}, GridError),
        ({"engine": "quick"}, ValueError),
    ],
)
@engines
def test_what_they_cannot_do_is_refused(engine, options, error):
    with pytest.raises(error):
        Life.from_pattern(GUN, **{"engine": engine} | options)


@pytest.mark.parametrize("level", [7, 20, 62, 66, 100, 240])
def test_macrocells_of_any_width(lifesim, level):
    Path("far.mc").write_bytes(far_gliders(level))
    done = lifesim("run", "far.mc", "--engine", "hashlife", "--steps", 4, "--json", "-o", "b.mc")
    assert (done.code, done.err) == (0, "")
    side = 2**level
    assert done.facts["population"] == 20
    # Each glider is in its corner, and has moved by one; rows begin one below the root's edge.
    assert (done.facts["x"], done.facts["y"]) == (-side // 2 + 1, -side // 2 + 2)
    assert (done.facts["digest"] is None) == (level > 62)
    told = lifesim("info", "b.mc", "--json").facts
    for name in ("generation", "population", "x", "y", "width", "height", "digest"):
        assert told[name] == done.facts[name], name
    assert ("no digest" in lifesim("info", "b.mc").out) == (level > 62)
    again = lifesim("run", "b.mc", "--engine", "hashlife", "--steps", 0, "--json")
    for name in ("generation", "population", "x", "y", "width", "height", "digest"):
        assert again.facts[name] == done.facts[name], name
    if level == 7:
        whole = Life.from_pattern("far.mc", backend="cpu")
        whole.run(4)
        assert patterns.read("b.mc").grid == whole.grid()
        assert done.facts["digest"] == whole.digest()


def test_files_go_round(lifesim):
    for name in ("a.mc", "a.mc.gz", "a.rle"):
        done = lifesim("run", GUN, "--engine", "hashlife", "--steps", 1000, "-o", name, "--json")
        assert done.facts["written"] == [name]
        more = lifesim("run", name, "--steps", 500, "--json", "--engine", "tiles")
        once = lifesim("run", GUN, "--engine", "hashlife", "--steps", 1500, "--json")
        for fact in ("generation", "population", "digest", "x", "y"):
            assert more.facts[fact] == once.facts[fact]
        assert (more.facts["engine"], once.facts["engine"]) == ("tiles", "hashlife")
    assert gzip.decompress(Path("a.mc.gz").read_bytes()) == Path("a.mc").read_bytes()


def test_a_run_by_places_of_neighbours(lifesim):
    """A rule that is not Life-like, from a soup to a macrocell file, far apart and back again."""
    patterns.write(Pattern(random_grid(90, 70, 0.4, 3), rule=Rule.parse(LEANING)), "a.rle")
    whole = lifesim("run", "a.rle", "--steps", 700, "--json", "--engine", "dense").facts
    for engine in ("tiles", "hashlife", "auto"):
        done = lifesim("run", "a.rle", "--steps", 300, "--engine", engine, "-o", "b.mc", "--json")
        assert done.code == 0
        assert patterns.read("b.mc").rule == Rule.parse(LEANING)
        more = lifesim("run", "b.mc", "--steps", 400, "--engine", engine, "--json").facts
        for fact in ("generation", "population", "digest", "x", "y", "rule"):
            assert more[fact] == whole[fact]
    far = far_gliders(100).replace(b"B3/S23", LEANING.encode())
    assert far.count(LEANING.encode()) == 1
    Path("far.mc").write_bytes(far)
    for engine in ("hashlife", "auto"):
        done = lifesim("run", "far.mc", "--steps", 400, "--engine", engine, "--json")
        assert (done.code, done.facts["population"]) == (0, 20)  # gliders fly by this rule, too
        assert done.facts["x"] == -(2**99) + 100
    done = lifesim("run", "far.mc", "--steps", 4, "--rule", "345/2/4")
    assert done.code == 2
    assert "rules of two states and nine cells, as B3/S23, not 345/2/4" in done.err


def test_an_empty_plane_is_written(lifesim):
    Path("none.rle").write_text("x = 1, y = 1\no!")
    done = lifesim("run", "none.rle", "--engine", "hashlife", "--steps", "2^99", "-o", "a.mc")
    assert done.code == 0
    assert patterns.read("a.mc").grid == BitGrid(1, 1)


def test_numbers_of_generations(lifesim):
    for text, count in (("2^200", 2**200), ("1e30", 10**30), ("1e18", 10**18)):
        done = lifesim("run", GUN, "--engine", "hashlife", "--steps", text, "--json")
        assert done.facts["generation"] == count
        assert abs(done.facts["population"] - count // 6) < 100
        assert done.facts["cell_updates_per_second"] is None
        assert done.facts["notes"][0].startswith("no digest: ")
    for text in ("2^241", "9e99", "2^999999999"):
        done = lifesim("run", GUN, "--engine", "hashlife", "--steps", text)
        assert done.code == 2
        assert "out of range" in done.err
    assert "out of range" in lifesim("run", GUN, "--engine", "tiles", "--steps", "1e19").err
    text = lifesim("run", GUN, "--engine", "hashlife", "--steps", "1e30").out
    assert "no digest: " in text
    assert "by hashlife on CPU" in text


@pytest.mark.parametrize(
    "options",
    [
        ("--steps", 1),  # a soup
        (GUN, "--steps", 1, "--size", "100x100"),
        (GUN, "--steps", 1, "--topology", "torus"),
        (GUN, "--steps", 1, "--backend", "reference"),
        (GUN, "--steps", 1, "--cluster", "local:2"),
        (".", "--steps", 1),
    ],
)
@engines
def test_what_the_command_refuses(lifesim, engine, options):
    done = lifesim("run", *options, "--engine", engine)
    assert done.code == 2
    assert len(done.err.strip().splitlines()[-1:]) == 1
    assert "Traceback" not in done.err


class EmulatedGpu(Target):
    """A target of emulated devices, which are none of the CPU's."""

    name = "cuda"

    def __init__(self, count: int) -> None:
        self._devices = [cast(Device, EmulatedDevice(multiprocessors=1)) for _ in range(count)]

    def describe(self) -> str:
        return "emulated"

    def free_device_memory(self) -> int | None:
        return self._devices[0].free_memory()

    @property
    def devices(self) -> Sequence[Device]:
        return self._devices


def test_tiles_on_a_gpu():
    gpu = Life.from_pattern(GUN, engine="tiles", backend=EmulatedGpu(1))
    dense = Life.from_pattern(GUN, backend="cpu")
    for life in (gpu, dense):
        life.run(200)
    assert_same(gpu, dense)


def test_gpus_that_an_engine_cannot_use():
    for engine, count in (("tiles", 2), ("hashlife", 1)):
        with pytest.raises(LifesimError, match=f"{engine} runs on the CPU"):
            Life.from_pattern(GUN, engine=engine, backend=EmulatedGpu(count))


def test_auto_takes_a_gpu_for_much(monkeypatch):
    """Auto takes the CPU for little, and where there is no GPU."""
    asked = []

    def pick(name, *, device):
        asked.append(name)
        raise BackendUnavailableError("no GPU")

    monkeypatch.setattr("lifesim.planes.pick", pick)
    few, many = BitGrid(1000, 1000), BitGrid(1100, 1100)
    for grid in (few, many):
        life = Life(grid, topology="plane", bounds=(0, 0), engine="tiles")
        assert life.backend.name == "cpu"
    assert asked == ["cuda"]
    with pytest.raises(BackendUnavailableError):
        Life(few, topology="plane", bounds=(0, 0), engine="tiles", backend="cuda")


def test_bounded_macrocells_are_refused(lifesim):
    Path("a.mc").write_bytes(far_gliders(7).replace(b"S23", b"S23:T128,128"))
    done = lifesim("run", "a.mc", "--engine", "hashlife", "--steps", 1)
    assert (done.code, done.err) == (
        2,
        "lifesim: the engine hashlife is for planes without bounds\n",
    )


@pytest.mark.slow
def test_memory_that_ends_is_said_and_the_end_written(lifesim):
    grid = random_grid(4900, 4900, 0.4, 1)
    patterns.write(Pattern(grid, 0, 0, Rule.parse("B2/S")), "wild.rle")
    done = lifesim("run", "wild.rle", "--engine", "hashlife", "--steps", "1e6",
                   "--memory", "16M", "-o", "end.rle", "--json")  # fmt: skip
    assert done.code == 2
    assert "outgrown memory" in done.err
    facts = json.loads(done.out)
    assert facts["written"] == ["end.rle"]
    assert patterns.read("end.rle").grid.population() == facts["population"] > 0


def test_wrong_squares(lifesim):
    for level, what in ((241, "nodes have level 4 to 240"), (3, "nodes have level")):
        Path("a.mc").write_bytes(b"[M2]\n*$\n%d 1 0 0 0\n" % level)
        done = lifesim("run", "a.mc", "--engine", "hashlife", "--steps", 1)
        assert done.code == 2
        assert what in done.err
        with pytest.raises(PatternError):
            patterns.read("a.mc", as_squares=True)


@pytest.mark.skipif(GOLLY is None, reason="bgolly is not installed")
def test_golly_says_the_same(tmp_path):
    soup = tmp_path / "soup.rle"
    patterns.write(Pattern(random_grid(40, 40, 0.4, 1), rule=Rule.parse(LEANING)), soup)
    for path, generations in ((GUN, 123457), (ACORN, 1 << 20), (soup, 1 << 14)):
        tree = Life.from_pattern(path, engine="hashlife")
        tree.run(generations)
        kept = str(tmp_path / "a.mc")
        command = [GOLLY, "-h", "-m", str(generations), "-o", kept, str(path)]
        subprocess.run(command, check=True, capture_output=True)
        golly = Life.from_start(place(patterns.read(kept, as_squares=True)), engine="hashlife")
        assert golly.generation == generations
        assert golly.population() == tree.population()
        assert golly.bounding_box() == tree.bounding_box()
