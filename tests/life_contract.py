"""What every backend must do for Life, as tests.

A test class that inherits LifeContract gives a fixture `backend`, a Target.
"""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import accumulate, pairwise, product
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.life import engine_for, ref
from kernels.life.contract import ChainShape, LifeArena, LifeEngine, LifeShape, LifeUniverse, Words
from kernels.life.ref import Cells
from kernels.life.rules import LifeRule, MapRule, NineCellRule
from kernels.targets.contract import PAGE, Target
from tests.interrupts import interrupted_after
from tests.life_cells_contract import CellsContract, Size, assert_holds
from tests.quick import examples

SIDES = (1, 2, 3, 31, 32, 33, 63, 64, 65, 127, 128, 129, 131, 200)
PRIMES = ((127, 131), (131, 127), (257, 19), (1021, 7), (521, 64))
# Words and vectors that are full, or full but for a column.
FULL = ((64, 64), (128, 3), (512, 20), (513, 3), (511, 5), (1024, 9), (2048, 4))
NARROW = (
    tuple((n, 1) for n in SIDES) + tuple((1, n) for n in SIDES[1:]) + ((2, 2), (2, 65), (65, 2))
)
# Wider than one panel, whatever the vectors.
WIDE = ((16400, 5), (16384, 3), (33000, 2))

RULES = {
    "Conway": "B3/S23",
    "HighLife": "B36/S23",
    "Day & Night": "B3678/S34678",
    "Seeds": "B2/S",
    "inverted Day & Night": "B0123478/S34678",
    "corners only": "B0/S8",
    "born always": "B012345678/S",
    "never dies": "B/S012345678",
    "all ones": "B012345678/S012345678",
    "survival only": "B/S23",
    "birth only": "B1357/S1357",
    "empty": "B/S",
}


def table_of(next_state: Callable[[Sequence[int]], object]) -> int:
    """Return the table of a MapRule. Nine cells are given as 0 and 1, from the top left on."""
    squares = ([square >> 8 - i & 1 for i in range(9)] for square in range(512))
    return sum(bool(next_state(cells)) << i for i, cells in enumerate(squares))


TABLES = {
    "each copies the cell to the top left": table_of(lambda cells: cells[0]),
    "each copies the cell to the right": table_of(lambda cells: cells[5]),
    "parity of four neighbours": table_of(
        lambda cells: (cells[1] + cells[3] + cells[5] + cells[7]) % 2
    ),
    "Life on hexagons": table_of(
        lambda cells: sum(cells[i] for i in (0, 1, 3, 5, 7, 8)) + cells[4] in (3, 4)
    ),
    "HighLife": LifeRule(72, 12).table,
    "anything": random.Random(1).getrandbits(512),
    "anything without birth of nothing": random.Random(2).getrandbits(512) & ~1,
}
GLIDER = (".#.", "..#", "###")  # moves down and to the right
SPACESHIP = ("#..#.", "....#", "#...#", ".####")  # the lightweight one; moves to the right
R_PENTOMINO = (".##", "##.", ".#.")


def rule_of(text: str) -> tuple[int, int]:
    """birth and survival of "B3/S23"."""
    birth, survival = (sum(1 << int(digit) for digit in part[1:]) for part in text.split("/"))
    return birth, survival


def cells_of(pattern: tuple[str, ...], width: int, height: int, x: int = 0, y: int = 0) -> Cells:
    """A universe that holds the pattern, its corner at (x, y), modulo the size."""
    cells = np.zeros((height, width), np.bool_)
    for dy, line in enumerate(pattern):
        for dx, cell in enumerate(line):
            cells[(y + dy) % height, (x + dx) % width] = cell == "#"
    return cells


def pack(cells: Cells) -> Words:
    height, width = cells.shape
    words = np.zeros((height, -(-width // 64)), np.uint64)
    packed = np.packbits(cells, axis=1, bitorder="little")
    words.view(np.uint8)[:, : packed.shape[1]] = packed
    return words


def unpack(words: Words, width: int) -> Cells:
    bits = np.unpackbits(words.view(np.uint8), axis=1, count=width, bitorder="little")
    return bits.view(np.bool_)


@cache
def soup(width: int, height: int, seed: int = 0, density: float = 0.4) -> Cells:
    cells = np.random.default_rng([width, height, seed]).random((height, width)) < density
    cells.flags.writeable = False
    return cells


@cache
def history(size: Size, rule: tuple[int, int], torus: bool, times: tuple[int, ...]) -> list[Words]:
    """soup(*size) after each of the ascending times, by the definition."""
    cells, now, found = soup(*size), 0, []
    for t in times:
        cells, now = ref.run(cells, *rule, torus, t - now), t
        found.append(pack(cells))
    return found


def make(
    backend: Target, cells: Cells, rule: tuple[int, int] = (8, 12), torus: bool = True
) -> LifeUniverse:
    height, width = cells.shape
    return engine_for(backend).universe(
        pack(cells), LifeShape(width, height, torus), LifeRule(*rule)
    )


def run_chain(
    arena: LifeArena, words: Words, cuts: Sequence[int], draw: random.Random
) -> Iterator[tuple[int, Words]]:
    """The rows from each cut to the next, moved on by all passes of the arena's chain.

    words: the universe, whose rows are taken modulo its height. Where there is more than
    one slot a thread loads the next block while one steps.
    """
    chain = arena.chain
    assert chain
    t = chain.generations

    def load(i: int) -> LifeUniverse:
        first, low, high = i == 0, cuts[i], cuts[i + 1]
        rows = words[np.arange(low - t if first else low + t, high + t) % len(words)]
        universe = arena.open_chained(i % arena.slots, len(rows), first=first)
        assert (universe.width, universe.height) == (chain.width, len(rows))
        assert universe.generation == 0
        middle = draw.randrange(len(rows) + 1)
        universe.put(middle, rows[middle:])
        universe.put(0, rows[:middle])
        return universe

    with ThreadPoolExecutor(1) as pool:
        loaded = pool.submit(load, 0)
        for i, (low, high) in enumerate(pairwise(cuts)):
            universe, more = loaded.result(60), i + 2 < len(cuts)
            if more and arena.slots > 1:
                loaded = pool.submit(load, i + 1)
            while universe.generation < t:
                at_most = draw.randrange(1, 2 * t + 1)
                some = universe.next_steps(at_most)
                assert some == at_most or universe.generation + some in chain.starts
                assert some <= max(at_most, chain.longest)
                universe.step(some)
            assert universe.next_steps(1) == universe.next_steps(10**9) == 0
            universe.step(0)
            found = universe.words()
            yield low, found[t : t + high - low] if i == 0 else found
            if more and arena.slots == 1:
                loaded = pool.submit(load, i + 1)


def check_chain(
    backend: Target,
    shape: ChainShape,
    more: Sequence[int],
    torus_start: int = 0,
    *,
    rule: tuple[int, int] = (8, 12),
    slots: int = 2,
    arena: LifeArena | None = None,
    seed: int = 0,
) -> None:
    """Blocks as low as can be and `more` rows higher, against the definition.

    On a torus they are all of it, from row torus_start on; in the plane they are inside.
    """
    width, t, torus = shape.width, shape.generations, shape.torus
    chain = arena.chain if arena else engine_for(backend).chain(shape)
    assert chain
    heights = [chain.least_height(first=False) + extra for extra in more]
    if arena is None:
        shapes = [
            LifeShape(width, heights[0] + 2 * t, torus),
            *(LifeShape(width, h, torus) for h in heights[1:]),
        ]
        arena = engine_for(backend).arena(shapes, slots, LifeRule(*rule), shape)
    height = sum(heights) + (0 if torus else 2 * t)
    start = torus_start % height if torus else t
    cells = soup(width, height, seed)
    expected = pack(ref.run(cells, *rule, torus, t))
    cuts = list(accumulate(heights, initial=start))
    for y, found in run_chain(arena, pack(cells), cuts, random.Random(height)):
        rows = expected[np.arange(y, y + len(found)) % height]
        wrong = np.flatnonzero((found != rows).any(axis=1))
        assert not wrong.size, f"row {wrong[0]} of the {len(found)} from {y} on: {chain} {heights}"


class LifeContract(CellsContract):
    """The attributes are for backends that are slow, or slow to compile for a rule."""

    a_rule, another_rule = LifeRule(8, 12), LifeRule(68, 12)  # B3/S23, B26/S23

    sizes: ClassVar[tuple[Size, ...]] = NARROW + FULL + PRIMES + WIDE
    times: ClassVar[tuple[int, ...]] = (1, 2, 3, 5, 8, 17, 64, 100, 300)
    rules: ClassVar[Mapping[str, str]] = RULES
    tables: ClassVar[Mapping[str, int]] = TABLES
    rule_sizes: ClassVar[tuple[Size, ...]] = ((65, 33), (131, 20), (512, 8))
    examples: ClassVar[int] = 60  # universes that Hypothesis makes
    any_rule: ClassVar[st.SearchStrategy[tuple[int, int]]] = st.tuples(
        st.integers(0, 511), st.integers(0, 511)
    )
    padded: ClassVar[tuple[int, ...]] = (1, 63, 65, 100, 131)  # widths of no whole words
    ship_times: ClassVar[tuple[int, ...]] = (4, 40, 400)
    chain_widths: ClassVar[tuple[int, ...]] = (1, 63, 64, 131, 512, 577, 4100)
    patient: ClassVar[bool] = True  # enough for a thousand generations of 360,000 cells

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        names = metafunc.fixturenames
        if "size" in names:
            ids = [f"{width}x{height}" for width, height in self.sizes]
            metafunc.parametrize("size", self.sizes, ids=ids)
        if "rule" in names:
            rules = [rule_of(text) for text in self.rules.values()]
            metafunc.parametrize("rule", rules, ids=list(self.rules))
        if "torus" in names:
            metafunc.parametrize("torus", [True, False], ids=["torus", "plane"])

    @pytest.fixture
    def engine(self, backend: Target) -> LifeEngine[NineCellRule]:
        return engine_for(backend)

    def some_rows(self, width: int, height: int, seed: int = 0) -> Words:
        """Pack a soup."""
        return pack(soup(width, height, seed))

    def moved(
        self, rows: Words, shape: LifeShape, t: int, rule: NineCellRule | None = None
    ) -> Words:
        """Move on by the definition."""
        cells = unpack(rows, shape.width)
        return pack(ref.run_by_rule(cells, rule or self.a_rule, shape.torus, t))

    # --- cells ---------------------------------------------------------------

    @pytest.mark.sample(15)
    def test_sizes(self, backend: Target, size: Size, torus: bool) -> None:
        times = self.few_times if size[0] * size[1] > 40_000 else self.times
        for t, expected in zip(times, history(size, (8, 12), torus, times), strict=True):
            universe = make(backend, soup(*size), torus=torus)
            universe.step(t)
            assert_holds(universe, expected, f"after {t} generations")

    @pytest.mark.sample(52)
    def test_rules(self, backend: Target, rule: tuple[int, int], torus: bool) -> None:
        for size in self.rule_sizes:
            times = self.few_times
            universe = make(backend, soup(*size), rule, torus)
            for t, expected in zip(times, history(size, rule, torus, times), strict=True):
                universe.step(t - universe.generation)
                assert_holds(universe, expected, f"after {t} generations")

    def test_rules_of_nine_cells(self, backend: Target) -> None:
        """Each of the nine cells counts where it stands, at the edges and inside."""
        for name, table in self.tables.items():
            rule = MapRule(table)
            for (width, height), torus in product(self.rule_sizes, (True, False)):
                shape = LifeShape(width, height, torus)
                now, t = pack(soup(width, height)), 0
                universe = engine_for(backend).universe(now, shape, rule)
                for t in self.few_times:
                    now = self.moved(now, shape, t - universe.generation, rule)
                    universe.step(t - universe.generation)
                    assert_holds(universe, now, f"after {t} generations of {name}")

    def test_any_universe(self, backend: Target) -> None:
        """A fast path for some size, rule or number of steps gives what the definition does."""
        side = st.one_of(st.integers(1, 5), st.sampled_from(SIDES), st.integers(1, 300))

        @settings(max_examples=examples(self.examples), deadline=None)
        @given(
            side,
            st.integers(1, 40),
            st.integers(0, 9),
            st.sampled_from([0.0, 0.03, 0.4, 0.97, 1.1]),
            self.any_rule,
            st.booleans(),
            st.integers(0, max(self.few_times)),
        )
        def check(
            width: int,
            height: int,
            seed: int,
            density: float,
            rule: tuple[int, int],
            torus: bool,
            t: int,
        ) -> None:
            cells = soup(width, height, seed, density)
            universe = make(backend, cells, rule, torus)
            universe.step(t)
            assert universe.generation == t
            assert_holds(universe, pack(ref.run(cells, *rule, torus, t)))

        check()

    # --- patterns whose fate is known ----------------------------------------

    @pytest.mark.sample(3)
    @pytest.mark.parametrize("quarter_turns", range(4))
    @pytest.mark.parametrize("shape", [(66, 70), (67, 130), (128, 64)], ids=str)
    def test_spaceship_crosses_the_seams(
        self, backend: Target, shape: Size, quarter_turns: int
    ) -> None:
        """Half a cell a generation, starting across the corner where four copies meet."""
        cells = np.rot90(cells_of(SPACESHIP, *shape, -3, -2), quarter_turns)
        dx, dy = ((1, 0), (0, -1), (-1, 0), (0, 1))[quarter_turns]
        for away in (0, 7):
            start = np.roll(cells, (-away * dy, -away * dx), (0, 1))
            universe = make(backend, start)
            for t in self.ship_times:
                universe.step(t - universe.generation)
                moved = np.roll(start, (t // 2 * dy, t // 2 * dx), (0, 1))
                assert_holds(universe, pack(moved), f"after {t} generations")

    @pytest.mark.parametrize("quarter_turns", range(4))
    def test_glider_moves_a_cell_in_four_generations(
        self, backend: Target, quarter_turns: int
    ) -> None:
        start = np.rot90(cells_of(GLIDER, 65, 70, 60, 2), quarter_turns)
        dx, dy = ((1, 1), (1, -1), (-1, -1), (-1, 1))[quarter_turns]
        universe = make(backend, start)
        for t in self.ship_times:
            universe.step(t - universe.generation)
            moved = np.roll(start, (t // 4 * dy, t // 4 * dx), (0, 1))
            assert_holds(universe, pack(moved), f"after {t} generations")

    def test_glider_becomes_a_block_at_the_edge_of_the_plane(self, backend: Target) -> None:
        universe = make(backend, cells_of(GLIDER, 70, 20, 60, 2), torus=False)
        universe.step(60)
        still = universe.words()
        assert np.bitwise_count(still).sum() == 4
        universe.step(1)
        assert_holds(universe, still)

    def test_r_pentomino(self, backend: Target, torus: bool) -> None:
        """It settles in generation 1103. Of 116 cells then, six gliders are furthest out:
        600 cells hold them, 512 do not."""
        if not self.patient:
            pytest.skip("too slow here")
        universe = make(backend, cells_of(R_PENTOMINO, 600, 600, 300, 300), torus=torus)
        universe.step(1102)
        before = np.bitwise_count(universe.words()).sum()
        universe.step(1)
        assert np.bitwise_count(universe.words()).sum() == 116
        assert before != 116

    # --- the manners of a universe -------------------------------------------

    def test_padding_stays_zero(self, backend: Target, torus: bool) -> None:
        """Padding stays zero where everything is born, and at every step."""
        for width in self.padded:
            cells = np.zeros((5, width), np.bool_)
            universe = make(backend, cells, (511, 0), torus)
            for t in range(1, 5):
                universe.step(1)
                assert_holds(universe, pack(cells | bool(t % 2)), f"after {t} generations")

    # --- rows ----------------------------------------------------------------

    def test_rows_are_written_where_they_lie(self, backend: Target) -> None:
        expected = pack(soup(131, 20))
        universe = make(backend, np.zeros((20, 131), np.bool_))
        for first, end in ((7, 20), (0, 3), (3, 3), (3, 7)):
            room = universe.room(first, end - first)
            if room is None:
                universe.put(first, expected[first:end])
            else:
                room[:] = expected[first:end]
        assert_holds(universe, expected)
        universe.step(1)
        assert_holds(universe, pack(ref.run(soup(131, 20), 8, 12, True, 1)))
        if universe.room(0, 20) is not None:
            for first, count in ((-1, 2), (19, 2), (21, 0)):
                with pytest.raises(ValueError, match="rows"):
                    universe.room(first, count)

    def test_rows_in_staging_memory(self, backend: Target) -> None:
        expected = pack(soup(131, 20))
        for nbytes in (0, 1, expected.nbytes, 3 * PAGE + 8):
            memory = backend.staging(nbytes)
            assert (memory.shape, memory.dtype) == ((nbytes,), np.uint8)
            assert nbytes == 0 or memory.ctypes.data % PAGE == 0
            assert memory.flags.writeable
        words = backend.staging(2 * expected.nbytes)[expected.nbytes :].view(np.uint64)
        rows = words.reshape(expected.shape)
        rows[:] = expected
        universe = make(backend, np.zeros((20, 131), np.bool_))
        universe.put(0, rows)
        rows[:] = 0
        universe.get(3, rows[3:7])
        np.testing.assert_array_equal(rows[3:7], expected[3:7])
        assert not rows[:3].any()
        assert not rows[7:].any()
        assert_holds(universe, expected)

    # --- universes that take turns -------------------------------------------

    def test_memory_of_an_arena(self, backend: Target) -> None:
        """An arena takes about what arena_bytes() tells, so that plans for it are right."""
        shapes: list[LifeShape] = [LifeShape(2048, 400, True), LifeShape(700, 1100, False)]
        host, device = engine_for(backend).arena_bytes(shapes, 3)
        if backend.free_device_memory() is not None:
            assert host == 0
            assert device >= 4 * 2048 * 400 // 8
            return
        assert device == 0
        words = [pack(soup(shape.width, shape.height)) for shape in shapes]
        tracemalloc.start()
        try:
            arena = engine_for(backend).arena(shapes, 3, LifeRule(8, 12))
            for slot in range(3):
                universe = arena.open(slot, shapes[slot % 2])
                universe.put(0, words[slot % 2])
                universe.step(1)
            del universe
            peak = tracemalloc.get_traced_memory()[1]
            assert 0.9 * host < peak < host + (1 << 16)
            arena.close()
            assert tracemalloc.get_traced_memory()[0] < 1 << 16
        finally:
            tracemalloc.stop()

    # --- what a viewer needs ---------------------------------------------------

    def test_a_step_that_nobody_stops(self, backend: Target) -> None:
        universe = make(backend, soup(131, 20))
        universe.step_until(lambda: False, 20)
        assert universe.generation == 20
        assert_holds(universe, pack(ref.run(soup(131, 20), 8, 12, True, 20)))

    def test_a_step_that_is_stopped_ends_at_a_whole_generation(self, backend: Target) -> None:
        universe = make(backend, soup(131, 20))
        universe.step_until(lambda: True, 9)
        assert 0 <= universe.generation <= 9
        assert_holds(universe, pack(ref.run(soup(131, 20), 8, 12, True, universe.generation)))

    def test_the_first_pass(self, backend: Target) -> None:
        universe = make(backend, soup(131, 20))
        for generations in (1, 2, 9, 300):
            assert 1 <= universe.first_pass(generations) <= generations

    def test_cells_in_host_memory_are_seen_where_they_lie(self, backend: Target) -> None:
        universe = make(backend, soup(131, 20))
        for _ in range(3):
            seen = universe.view()
            if seen is None:
                assert not universe.reads_beside_steps
                return
            np.testing.assert_array_equal(seen, universe.words())
            assert np.shares_memory(seen, universe.view())
            universe.step(universe.first_pass(9))

    # --- interrupts ----------------------------------------------------------

    @pytest.mark.sample(1)
    def test_interrupted_at_a_whole_generation(self, backend: Target) -> None:
        """Whenever it comes: the cells are those of the generation that is told."""
        universe, witness = make(backend, soup(131, 67)), make(backend, soup(131, 67))
        universe.step(1)  # so that what is compiled at the first step is there
        delays = random.Random(1)
        for attempt in range(16):
            if attempt >= 6 and universe.generation > 1:
                break
            before = universe.generation
            # Where no pass is made in so short a time, each further attempt takes twice as long.
            seconds = delays.uniform(0.005, 0.08) * 2 ** max(0, attempt - 5)
            with interrupted_after(seconds), pytest.raises(KeyboardInterrupt):
                universe.step(10**9)
            assert before <= universe.generation < 10**9
            witness.step(universe.generation - witness.generation)
            assert_holds(universe, witness.words(), f"after {universe.generation} generations")
        universe.step(5)
        witness.step(5)
        assert_holds(universe, witness.words(), "going on")
        assert universe.generation > 6, "no pass was ever made"
