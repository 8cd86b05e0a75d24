"""Universes of several states and of far-reaching rules, against one generation after the other."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.life.contract import LifeShape
from kernels.life.rules import AgeingRule, MapRule
from kernels.ranges.rules import RangeRule, square
from kernels.tables.diagram import Transition, of_transitions
from kernels.tables.rules import CELLS
from kernels.targets.choose import pick
from kernels.targets.contract import BackendUnavailableError
from lifesim import joined as module
from lifesim.cli import group
from lifesim.digests import digest
from lifesim.engine import Life
from lifesim.engines import engine_of
from lifesim.errors import LifesimError
from lifesim.grid import BitGrid, GridError
from lifesim.mirrors import is_symmetric
from lifesim.patterns import Pattern, read, write
from lifesim.rule import LIFE, Rule
from lifesim.search import find
from lifesim.soup import Soup, random_grid, random_words
from lifesim.start import soup, start_of_pattern
from lifesim.topology import JoinedEdges, TopologyError
from tests.kernels.life.test_several import several
from tests.lifesim.test_joined import KINDS, held_at
from tests.quick import examples
from tests.strategies import joined_edges

BRAIN, STAR_WARS = Rule.parse("/2/3"), Rule.parse("345/2/4")
HISTORY = Rule.parse("LifeHistory")  # a table
# A rule that reaches three cells, whose cells age.
FAR = Rule(RangeRule(square(3, middle=True), ((9, 14),), ((8, 18),), 5), "far")
RULES = [BRAIN, STAR_WARS, FAR, HISTORY]


def some_states(rule, width, height, seed, density=0.4):
    draw = np.random.default_rng([seed, width, height])
    cells = draw.integers(1, rule.states, (height, width))
    cells[draw.random((height, width)) >= density] = 0
    return cells.astype(np.uint8)


def next_of(rule, cells):
    """Return the next generation of cells with dead ones around them, by the rule's reference."""
    target = pick("reference")
    grid = BitGrid.from_states(cells, rule.planes)
    shape = LifeShape(grid.width, grid.height, torus=False, planes=rule.planes)
    universe = engine_of(rule, target).universe(grid.words, shape, rule.cells)
    universe.step(1)
    return BitGrid(grid.width, grid.height, universe.words()).states()


def on_plane(rule, cells, generations):
    """Return cells after some generations, and how much was added on each side for that."""
    room = generations * rule.cells.reach
    cells = np.pad(cells, room)
    for _ in range(generations):
        cells = next_of(rule, cells)
    return cells, room


@settings(max_examples=examples(60))
@given(
    st.sampled_from(RULES),
    st.integers(1, 70),
    st.integers(1, 9),
    st.lists(st.integers(0, 6), min_size=1, max_size=3),
    st.integers(0, 2**32),
)
def test_planes_without_bounds(rule, width, height, steps, seed):
    cells = some_states(rule, width, height, seed)
    life = Life(
        BitGrid.from_states(cells), rule=rule, topology="unbounded", at=(-5, 7), backend="reference"
    )
    for count in steps:
        life.run(count)
    made, room = on_plane(rule, cells, sum(steps))
    frame, grid = life.frame(), life.grid()
    assert life.engine == "dense"
    assert life.population() == np.count_nonzero(made)
    if life.population():
        x, y = frame.x + 5 + room, frame.y - 7 + room
        found = made[y : y + frame.height, x : x + frame.width]
        np.testing.assert_array_equal(grid.states(), found)
        counts = np.bincount(found.reshape(-1), minlength=rule.states)
        assert life.populations() == counts.tolist()
    assert life.digest() == digest(grid)


class Definition:
    """A universe with joined edges: every generation sees the cells around it as they are."""

    def __init__(self, cells, edges, rule):
        reach, (height, width) = rule.cells.reach, cells.shape
        self.cells, self.rule, self.reach = cells, rule, reach
        places = [
            [held_at(edges, x, y) for x in range(-reach, width + reach)]
            for y in range(-reach, height + reach)
        ]
        self.seen = np.array([[y * width + x for x, y in row] for row in places])

    def step(self, generations):
        reach, (height, width) = self.reach, self.cells.shape
        for _ in range(generations):
            padded = next_of(self.rule, self.cells.reshape(-1)[self.seen])
            self.cells = padded[reach : reach + height, reach : reach + width]
        return self.cells


@settings(max_examples=examples(60))
@given(
    st.sampled_from(RULES),
    joined_edges(st.integers(4, 20) | st.sampled_from([63, 64, 65])),
    st.integers(0, 12),
    st.integers(0, 2**32),
)
def test_small_joined_universes(rule, edges, steps, seed):
    cells = some_states(rule, edges.width, edges.height, seed)
    life = Life(BitGrid.from_states(cells), rule=rule, topology=edges, backend="reference")
    life.run(steps)
    wanted = Definition(cells, edges, rule).step(steps)
    np.testing.assert_array_equal(life.grid().states(), wanted)


@pytest.mark.sample(4)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rule", [STAR_WARS, FAR], ids=["near", "far"])
def test_halos(monkeypatch, kind, rule):
    """Halos are copied anew before what they do not know comes in."""
    from lifesim.topology import parse_bounds

    monkeypatch.setattr(module, "_SMALL", 0)
    monkeypatch.setattr(module, "_LEAST", 64)
    edges, _ = parse_bounds(kind.format(130, 130) if "S" not in kind else "S130")
    cells = some_states(rule, 130, 130, 5)
    life = Life(BitGrid.from_states(cells), rule=rule, topology=edges, backend="reference")
    steps = 64 // rule.cells.reach + 3
    life.run(steps)
    np.testing.assert_array_equal(life.grid().states(), Definition(cells, edges, rule).step(steps))


def test_mirrored_rules_have_no_twisted_universes():
    table = 1 << 0b100_000_000  # what is born depends on one corner
    for rule in (AgeingRule(table, 3), MapRule(table), RangeRule(((0, 1, 2),), (), ())):
        assert not is_symmetric(rule)
    for rule in (LIFE.cells, MapRule(LIFE.cells.table), *(rule.cells for rule in RULES)):
        assert is_symmetric(rule)
    one = Rule(AgeingRule(table, 3), "one corner")
    with pytest.raises(TopologyError, match="one corner is not the same in a mirror"):
        Life(BitGrid(5, 5, planes=2), rule=one, topology="klein", backend="reference")


def live_together(pairs):
    """Return a table of three states: a cell becomes 2 where both cells of a pair live."""
    transitions = []
    for pair in sorted(pairs):
        allowed = [0b110 if cell in pair else 0b111 for cell in CELLS]
        transitions.append(Transition(tuple(allowed), 2))
    return of_transitions(transitions, 3)


@given(st.sampled_from(CELLS), st.sampled_from(CELLS))
def test_a_table_is_symmetric_where_no_mirror_changes_it(first, second):
    def seen(mirror):
        return {tuple(sorted((mirror(*first), mirror(*second))))}

    mirrors = [
        lambda y, x: (y, x), lambda y, x: (-y, x), lambda y, x: (y, -x), lambda y, x: (-y, -x),
        lambda y, x: (x, y), lambda y, x: (-x, y), lambda y, x: (x, -y), lambda y, x: (-x, -y),
    ]  # fmt: skip
    images = [seen(mirror) for mirror in mirrors]
    same = all(image == images[0] for image in images)
    assert is_symmetric(live_together(images[0])) == same
    assert is_symmetric(live_together(set.union(*images)))
    assert not is_symmetric(Rule.parse("JvN29").cells)


def test_the_edge_is_met_when_it_is_met():
    """The first generation with a live cell at an edge is told, whatever the rule's reach."""
    for rule, seed in ((BRAIN, 3), (FAR, 1)):
        cells = np.zeros((60, 60), np.uint8)
        cells[26:33, 26:33] = some_states(rule, 7, 7, seed, density=0.6)
        life = Life(
            BitGrid.from_states(cells), rule=rule, topology="plane", watch=True, backend="reference"
        )
        first = None
        for generation in range(40):
            rim = cells[[0, -1]].any() or cells[:, [0, -1]].any()
            if first is None and rim:
                first = generation
            cells = next_of(rule, cells)
        life.run(39)
        assert life.edge == first


def test_states_and_engines_that_a_rule_does_not_have():
    grid = BitGrid.from_states([[0, 1, 3]])
    with pytest.raises(GridError, match="a cell has state 3: rule /2/3 has states 0 to 2"):
        Life(grid, rule=BRAIN)
    with pytest.raises(GridError, match="a cell has state 3: rule B3/S23 has states 0 and 1"):
        Life(grid)
    for engine in ("tiles", "hashlife"):
        with pytest.raises(GridError, match=f"the engine {engine} computes rules of two states"):
            Life(grid, rule=STAR_WARS, topology="unbounded", engine=engine, backend="cpu")
    assert Life(BitGrid(3, 1), rule=STAR_WARS).grid().planes == 2
    assert Life(BitGrid(3, 1, planes=8)).grid().planes == 1


@pytest.mark.parametrize("rule", [BRAIN, FAR, Rule.parse("WireWorld")], ids=str)
def test_several_gpus_are_refused(rule):
    """One line says so, as long as nobody cuts universes of these rules into strips."""
    with pytest.raises(BackendUnavailableError, match="computed on one GPU, not on several"):
        Life(BitGrid(9, 9), rule=rule, backend=several(2))
    assert Life(BitGrid(9, 9), backend=several(2)).generation == 0


@given(st.integers(1, 200), st.integers(1, 8), st.integers(0, 2**32))
def test_digests_are_of_the_cells(width, height, seed):
    """Planes that hold no cell make no difference, and others do."""
    cells = some_states(STAR_WARS, width, height, seed)
    grid = BitGrid.from_states(cells, 2)
    assert digest(grid) == digest(grid.in_planes(8))
    ones = BitGrid.from_bool(cells == 1)
    assert digest(BitGrid.from_states(cells == 1)) == digest(ones.in_planes(3)) == digest(ones)
    turned = BitGrid.from_states(np.where(cells > 1, 5 - cells, cells), 2)  # 2 for 3
    assert (digest(turned) == digest(grid)) == (turned == grid)


def test_soups_of_several_states():
    """The cells that live are those of the soup of two states, their states are shared alike."""
    states, density = 7, 0.3
    grid = BitGrid(300, 200, planes=3)
    Soup(density, 5).fill_grid(grid, states)
    assert BitGrid.from_bool(grid.to_bool()) == random_grid(300, 200, density, 5)
    counts = grid.populations()
    assert counts[7] == 0
    live = grid.population()
    for count in counts[1:states]:
        assert abs(count - live / 6) < 6 * (live / 6) ** 0.5
    # By the definition: 16 soups of density 1/2 are the digits of the number that chooses.
    digits = [
        random_grid(300, 200, 0.5, (5 + 0xD1342543DE82EF95 * (k + 1)) % 2**64).to_bool()
        for k in range(16)
    ]
    number = sum(bits.astype(np.int64) << k for k, bits in enumerate(digits))
    wanted = (1 + (number * (states - 1) >> 16)) * grid.to_bool()
    np.testing.assert_array_equal(grid.states(), wanted)
    part = BitGrid(100, 40, planes=3)
    Soup(density, 5).fill_grid(part, states)
    np.testing.assert_array_equal(part.states(), wanted[:40, :100])


@settings(max_examples=examples(30), deadline=None)
@given(
    st.integers(3, 9) | st.integers(3, 256),
    st.tuples(st.integers(1, 300), st.integers(1, 20)),
    st.tuples(st.integers(0, 4), st.integers(0, 2**40)),
    st.integers(0, 2**64 - 1),
    st.sampled_from([64, 256, 1 << 19]),
)
def test_any_block_of_a_soup(states, size, at, seed, chunk):
    """A block of any states, wherever it lies, is what its 16 soups of two states choose."""
    across, rows = -(-size[0] // 64), size[1]
    width = 64 * at[0] + size[0]
    planes = (states - 1).bit_length()
    words = np.empty((rows, planes, across), np.uint64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lifesim.soup._CHUNK", chunk)
        Soup(0.6, seed).source(states)(words, at[1], at[0], width)

    def drawn(density, of):
        part = random_words(at[1], rows, width, density, of)[:, at[0] :].copy()
        return BitGrid(size[0], rows, part).to_bool()

    digits = [drawn(0.5, (seed + 0xD1342543DE82EF95 * (k + 1)) % 2**64) for k in range(16)]
    number = sum(bits.astype(np.int64) << k for k, bits in enumerate(digits))
    wanted = (1 + (number * (states - 1) >> 16)) * drawn(0.6, seed)
    np.testing.assert_array_equal(BitGrid(size[0], rows, words).states(), wanted)


def test_until_by_several_states():
    """A glider of Brian's Brain is a spaceship, and populations count all that live."""
    ship = BitGrid.from_states([[2, 2], [1, 1]])
    life = Life(ship, rule=BRAIN, topology="unbounded", backend="reference")
    found = life.run_until("stable", 100)
    assert (found.kind, found.period, found.displacement) == ("spaceship", 1, (0, 1))
    life = Life(
        BitGrid.from_states([[1, 1, 2]]), rule=BRAIN, topology="unbounded", backend="reference"
    )
    assert life.run_until("population:>5", 100).met
    dying = Life(
        BitGrid.from_states([[3]]), rule=STAR_WARS, topology="unbounded", backend="reference"
    )
    assert dying.run_until("empty", 100).generation == 1


# --- commands --------------------------------------------------------------------------


def lifesim(*arguments):
    result = CliRunner().invoke(group, [str(argument) for argument in arguments])
    if result.exception and not isinstance(result.exception, SystemExit | LifesimError):
        raise result.exception
    return result


def test_commands(tmp_path):
    soup_file, end = tmp_path / "soup.rle", tmp_path / "end.rle"
    lifesim("random", "--rule", "345/2/4", "--size", "60x50", "--seed", 7, "-o", soup_file)
    told = json.loads(lifesim("info", "--json", soup_file).stdout)
    start = soup((60, 50), 0.5, 7, STAR_WARS)
    assert told["states"] == 4
    assert told["populations"] == start.grid.populations()
    assert told["digest"] == digest(start.grid)
    ran = lifesim("run", soup_file, "--steps", 9, "--json", "-o", end, "--force")
    life = Life.from_start(start)
    life.run(9)
    facts = json.loads(ran.stdout)
    assert facts["digest"] == life.digest()
    assert (facts["states"], facts["populations"]) == (4, life.populations())
    again = Life.from_start(start_of_pattern(end, None, None, None, None, None, wide=False))
    assert (again.grid(), again.generation) == (life.grid(), 9)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["convert", "{soup}", "{out}.cells"], "the format cells has two states"),
        (["run", "{soup}", "--steps", "1", "--rule", "B3/S23"], "rule B3/S23 has states 0 and 1"),
    ],
)
def test_commands_refuse(tmp_path, arguments, message):
    source = tmp_path / "soup.rle"
    write(Pattern(BitGrid.from_states([[1, 2, 3]]), rule=STAR_WARS), source)
    words = [word.format(soup=source, out=tmp_path / "out") for word in arguments]
    result = lifesim(*words)
    assert isinstance(result.exception, LifesimError)
    assert message in str(result.exception)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["soup.rle"]
    assert read(source).grid.largest_state() == 3


def test_shifted_tori_take_every_rule():
    """A rule that mirrors change runs where only the horizontal edges are shifted."""
    one = Rule(AgeingRule(1 << 0b100_000_000 | 1 << 0b101_000_000, 3), "corners")
    edges = JoinedEdges(20, 12, shift=(3, 0))
    cells = some_states(one, 20, 12, 4)
    life = Life(BitGrid.from_states(cells), rule=one, topology=edges, backend="reference")
    life.run(30)
    wanted = Definition(cells, edges, one).step(30)
    np.testing.assert_array_equal(life.grid().states(), wanted)


def test_what_looks_at_two_states_only():
    with pytest.raises(ValueError, match="cells of several states are not looked for"):
        find(BitGrid(9, 9, planes=2), BitGrid.from_cells(1, 1, [(0, 0)]))
    ran = lifesim("bench", "--rule", "/2/3", "--size", 64, "--seconds", 0.01)
    assert ran.exit_code == 0
    assert "torus /2/3" in ran.output
