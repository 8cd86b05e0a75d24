"""What every backend must do for Life, as tests.

A test class that inherits LifeContract gives a fixture `backend`, a kernels.backend.Backend.
"""

from __future__ import annotations

import random
import threading
import tracemalloc
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import accumulate, pairwise, product
from typing import ClassVar, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.backend import PAGE, Backend, ChainShape, LifeArena, LifeUniverse, Shape, Words
from kernels.life import ref
from kernels.life.ref import Cells
from tests.interrupts import interrupted_after

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
GLIDER = (".#.", "..#", "###")  # moves down and to the right
SPACESHIP = ("#..#.", "....#", "#...#", ".####")  # the lightweight one; moves to the right
R_PENTOMINO = (".##", "##.", ".#.")

Size = tuple[int, int]  # width, height


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


def assert_holds(universe: LifeUniverse, expected: Words, note: object = "") -> None:
    """The very words: padding bits, which must be zero, included."""
    words = universe.words()
    assert words.dtype == np.uint64
    assert words.shape == expected.shape
    if not np.array_equal(words, expected):
        y, word = (int(i[0]) for i in np.nonzero(words != expected))
        wrong = int(np.bitwise_count(words ^ expected).sum())
        pytest.fail(
            f"{wrong} cells of {universe.width}x{universe.height} are wrong, first in row {y}, "
            f"word {word}: {words[y, word]:#x}, not {expected[y, word]:#x} {note}"
        )


def make(
    backend: Backend, cells: Cells, rule: tuple[int, int] = (8, 12), torus: bool = True
) -> LifeUniverse:
    height, width = cells.shape
    birth, survival = rule
    return backend.life(pack(cells), width, height, torus=torus, birth=birth, survival=survival)


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
    backend: Backend,
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
    width, t, torus, _ = shape
    chain = arena.chain if arena else backend.life_chain(shape)
    assert chain
    heights = [chain.least_height(first=False) + extra for extra in more]
    if arena is None:
        shapes = [(width, heights[0] + 2 * t, torus), *((width, h, torus) for h in heights[1:])]
        arena = backend.life_arena(shapes, slots, birth=rule[0], survival=rule[1], chain=shape)
    height = sum(heights) + (0 if torus else 2 * t)
    start = torus_start % height if torus else t
    cells = soup(width, height, seed)
    expected = pack(ref.run(cells, *rule, torus, t))
    cuts = list(accumulate(heights, initial=start))
    for y, found in run_chain(arena, pack(cells), cuts, random.Random(height)):
        rows = expected[np.arange(y, y + len(found)) % height]
        wrong = np.flatnonzero((found != rows).any(axis=1))
        assert not wrong.size, f"row {wrong[0]} of the {len(found)} from {y} on: {chain} {heights}"


class LifeContract:
    """The attributes are for backends that are slow, or slow to compile for a rule."""

    sizes: ClassVar[tuple[Size, ...]] = NARROW + FULL + PRIMES + WIDE
    times: ClassVar[tuple[int, ...]] = (1, 2, 3, 5, 8, 17, 64, 100, 300)
    few_times: ClassVar[tuple[int, ...]] = (1, 2, 9, 50)  # of wide universes, and of each rule
    rules: ClassVar[Mapping[str, str]] = RULES
    rule_sizes: ClassVar[tuple[Size, ...]] = ((65, 33), (131, 20), (512, 8))
    examples: ClassVar[int] = 60  # universes that Hypothesis makes
    any_rule: ClassVar[st.SearchStrategy[tuple[int, int]]] = st.tuples(
        st.integers(0, 511), st.integers(0, 511)
    )
    padded: ClassVar[tuple[int, ...]] = (1, 63, 65, 100, 131)  # widths of no whole words
    ship_times: ClassVar[tuple[int, ...]] = (4, 40, 400)
    arena_shapes: ClassVar[tuple[Shape, ...]] = (
        (65, 33, True),
        (131, 20, False),
        (63, 7, True),
        (1, 41, False),
        (577, 5, False),
        (200, 1, True),
    )
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

    # --- cells ---------------------------------------------------------------

    def test_sizes(self, backend: Backend, size: Size, torus: bool) -> None:
        times = self.few_times if size[0] * size[1] > 40_000 else self.times
        for t, expected in zip(times, history(size, (8, 12), torus, times), strict=True):
            universe = make(backend, soup(*size), torus=torus)
            universe.step(t)
            assert_holds(universe, expected, f"after {t} generations")

    def test_rules(self, backend: Backend, rule: tuple[int, int], torus: bool) -> None:
        for size in self.rule_sizes:
            times = self.few_times
            universe = make(backend, soup(*size), rule, torus)
            for t, expected in zip(times, history(size, rule, torus, times), strict=True):
                universe.step(t - universe.generation)
                assert_holds(universe, expected, f"after {t} generations")

    def test_any_universe(self, backend: Backend) -> None:
        """A fast path for some size, rule or number of steps gives what the definition does."""
        side = st.one_of(st.integers(1, 5), st.sampled_from(SIDES), st.integers(1, 300))

        @settings(max_examples=self.examples, deadline=None)
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

    def test_steps_add_up(self, backend: Backend, torus: bool) -> None:
        size, top = (131, 37), max(self.few_times)
        once = make(backend, soup(*size), torus=torus)
        once.step(top)
        for first in {0, 1, once.stride, top // 3, top - 1}:
            twice = make(backend, soup(*size), torus=torus)
            twice.step(min(first, top))
            twice.step(top - min(first, top))
            assert twice.generation == once.generation == top
            assert_holds(twice, once.words(), f"after {first} and the others")

    # --- patterns whose fate is known ----------------------------------------

    @pytest.mark.parametrize("quarter_turns", range(4))
    @pytest.mark.parametrize("shape", [(66, 70), (67, 130), (128, 64)], ids=str)
    def test_spaceship_crosses_the_seams(
        self, backend: Backend, shape: Size, quarter_turns: int
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
        self, backend: Backend, quarter_turns: int
    ) -> None:
        start = np.rot90(cells_of(GLIDER, 65, 70, 60, 2), quarter_turns)
        dx, dy = ((1, 1), (1, -1), (-1, -1), (-1, 1))[quarter_turns]
        universe = make(backend, start)
        for t in self.ship_times:
            universe.step(t - universe.generation)
            moved = np.roll(start, (t // 4 * dy, t // 4 * dx), (0, 1))
            assert_holds(universe, pack(moved), f"after {t} generations")

    def test_glider_becomes_a_block_at_the_edge_of_the_plane(self, backend: Backend) -> None:
        universe = make(backend, cells_of(GLIDER, 70, 20, 60, 2), torus=False)
        universe.step(60)
        still = universe.words()
        assert np.bitwise_count(still).sum() == 4
        universe.step(1)
        assert_holds(universe, still)

    def test_r_pentomino(self, backend: Backend, torus: bool) -> None:
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

    def test_generation_counts(self, backend: Backend) -> None:
        universe = make(backend, soup(65, 33))
        assert (universe.width, universe.height, universe.generation) == (65, 33, 0)
        assert universe.stride >= 1
        assert_holds(universe, pack(soup(65, 33)), "at the start")
        passed = 0
        for t in (0, 1, universe.stride, 0, 3):
            universe.step(t)
            passed += t
            assert universe.generation == passed

    def test_words_are_the_callers(self, backend: Backend) -> None:
        """In both directions, before and after steps."""
        given = pack(soup(65, 33))
        universe = backend.life(given, 65, 33, torus=True, birth=8, survival=12)
        given[:] = 0
        first = universe.words()
        assert_holds(universe, pack(soup(65, 33)))
        for steps in (0, 1, universe.stride):
            universe.step(steps)
            before = universe.words()
            kept = before.copy()
            universe.words()[:] = 0
            assert_holds(universe, kept, "after the caller's array was cleared")
            universe.step(1)
            universe.step(1)
            np.testing.assert_array_equal(before, kept)
        np.testing.assert_array_equal(first, pack(soup(65, 33)))

    def test_words_that_nobody_may_write(self, backend: Backend) -> None:
        given = pack(soup(65, 33))
        given.flags.writeable = False
        universe = backend.life(given, 65, 33, torus=True, birth=8, survival=12)
        universe.step(3)
        assert_holds(universe, pack(ref.run(soup(65, 33), 8, 12, True, 3)))
        universe.words()[:] = 0

    def test_padding_stays_zero(self, backend: Backend, torus: bool) -> None:
        """Where everything is born, and at every step."""
        for width in self.padded:
            cells = np.zeros((5, width), np.bool_)
            universe = make(backend, cells, (511, 0), torus)
            for t in range(1, 5):
                universe.step(1)
                assert_holds(universe, pack(cells | bool(t % 2)), f"after {t} generations")

    def test_universes_are_apart(self, backend: Backend) -> None:
        one, other = make(backend, soup(65, 33)), make(backend, soup(65, 33), (68, 12))
        for _ in range(3):
            one.step(2)
            other.step(3)
        assert_holds(one, pack(ref.run(soup(65, 33), 8, 12, True, 6)))
        assert_holds(other, pack(ref.run(soup(65, 33), 68, 12, True, 9)))

    # --- rows ----------------------------------------------------------------

    @pytest.mark.parametrize("shape", [(1, 1), (63, 5), (65, 33), (131, 20), (257, 19)], ids=str)
    def test_rows_are_put_and_got_anywhere(self, backend: Backend, shape: Size) -> None:
        """In bands of any height and order; those beside them stay."""
        width, height = shape
        draw = random.Random(width)
        expected, other = pack(soup(*shape)), pack(soup(*shape, seed=1))
        arena = backend.life_arena([(*shape, True)], 1, birth=8, survival=12)
        universe = arena.open(0, width, height, torus=True)
        cuts = sorted({0, height, *(draw.randrange(height + 1) for _ in range(4))})
        bands = list(pairwise(cuts))
        draw.shuffle(bands)
        for low, high in bands:
            given = expected[low:high].copy()
            universe.put(low, given)
            given[:] = 0
        assert_holds(universe, expected, bands)
        for _ in range(10):
            low, high = sorted(draw.randrange(height + 1) for _ in range(2))
            universe.put(low, other[low:high])
            expected[low:high] = other[low:high]
            low, high = sorted(draw.randrange(height + 1) for _ in range(2))
            found = np.full_like(expected[low:high], 2**64 - 1)
            universe.get(low, found)
            np.testing.assert_array_equal(found, expected[low:high])
        assert_holds(universe, expected)
        assert universe.generation == 0
        t = self.few_times[0]
        universe.step(t)
        assert_holds(universe, pack(ref.run(unpack(expected, width), 8, 12, True, t)))

    def test_rows_that_are_refused(self, backend: Backend) -> None:
        universe = make(backend, soup(65, 33))
        rows = np.zeros((4, 2), np.uint64)
        wrong: list[tuple[int, Words]] = [
            (-1, rows),
            (30, rows),
            (33, rows),
            (0, np.zeros((4, 1), np.uint64)),
            (0, np.zeros((4, 3), np.uint64)),
            (0, np.zeros(8, np.uint64)),
            (0, np.zeros((4, 4), np.uint64)[:, ::2]),
            (0, np.asfortranarray(rows)),
            (0, cast(Words, np.zeros((4, 2), np.int64))),
            (0, cast(Words, np.zeros((4, 2), np.dtype(">u8")))),
        ]
        for y, words in wrong:
            with pytest.raises(ValueError, match="rows"):
                universe.put(y, words)
            with pytest.raises(ValueError, match="rows"):
                universe.get(y, words)
        rows.flags.writeable = False
        with pytest.raises(ValueError, match="writable"):
            universe.get(0, rows)
        assert_holds(universe, pack(soup(65, 33)))
        universe.put(29, rows)
        assert not universe.words()[29:].any()

    def test_rows_in_staging_memory(self, backend: Backend) -> None:
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

    @pytest.mark.parametrize("slots", [1, 2, 3])
    def test_universes_take_turns(self, backend: Backend, slots: int) -> None:
        """Of all shapes, in all slots; what steps leaves the others as they are."""
        draw, t = random.Random(slots), self.few_times[0]
        arena = backend.life_arena(self.arena_shapes, slots, birth=8, survival=12)
        assert arena.slots == slots
        held: list[tuple[LifeUniverse, Cells, bool]] = []
        for turn, shape in enumerate(self.arena_shapes * 2):
            width, height, torus = shape
            cells = soup(width, height, turn)
            universe = arena.open(turn % slots, width, height, torus=torus)
            assert (universe.width, universe.height, universe.generation) == (width, height, 0)
            middle = draw.randrange(height + 1)
            universe.put(middle, pack(cells)[middle:])
            if held and slots > 1:  # the turn of another, half way through
                stepped, before, on_torus = held[-1]
                stepped.step(t)
                held[-1] = stepped, ref.run(before, 8, 12, on_torus, t), on_torus
            universe.put(0, pack(cells)[:middle])
            held = [*held, (universe, cells, torus)][-slots:]
            for i, (one, before, on_torus) in enumerate(held):
                one.step(t)
                held[i] = one, ref.run(before, 8, 12, on_torus, t), on_torus
            for one, now, _ in held:
                assert_holds(one, pack(now), (turn, shape))
        arena.close()

    def test_threads_put_and_get_while_one_steps(self, backend: Backend) -> None:
        shapes = self.arena_shapes[:3]
        arena = backend.life_arena(shapes, 3, birth=8, survival=12)
        stepped, filled, drained = (
            arena.open(i, width, height, torus=torus)
            for i, (width, height, torus) in enumerate(shapes)
        )
        for universe in (stepped, filled, drained):
            universe.put(0, pack(soup(universe.width, universe.height)))
        expected = drained.words()
        done = threading.Event()
        last = [pack(soup(filled.width, filled.height, seed)) for seed in range(2)]

        def fill(first: int) -> int:
            """Every other row; ends with those of last[1]."""
            rounds = 0
            while rounds < 2 or rounds % 2 or not done.is_set():
                for y in range(first, filled.height, 2):
                    filled.put(y, last[rounds % 2][y : y + 1])
                rounds += 1
            return rounds

        def drain() -> int:
            rounds = 0
            while rounds < 2 or not done.is_set():
                found = np.empty_like(expected)
                for y in range(0, drained.height, 3):
                    drained.get(y, found[y : y + 3])
                np.testing.assert_array_equal(found, expected)
                rounds += 1
            return rounds

        t = self.few_times[0]
        with ThreadPoolExecutor(3) as pool:
            threads = [pool.submit(fill, 0), pool.submit(fill, 1), pool.submit(drain)]
            try:
                for _ in range(12):
                    stepped.step(t)
            finally:
                done.set()
            assert all(thread.result(60) >= 2 for thread in threads)
        width, height, torus = shapes[0]
        assert_holds(stepped, pack(ref.run(soup(width, height), 8, 12, torus, 12 * t)))
        assert_holds(filled, last[1])
        assert_holds(drained, expected)
        width, height, torus = shapes[1]
        filled.step(t)
        assert_holds(filled, pack(ref.run(soup(width, height, 1), 8, 12, torus, t)))

    def test_what_does_not_fit_an_arena(self, backend: Backend) -> None:
        arena = backend.life_arena([(128, 64, True), (64, 100, False)], 2, birth=8, survival=12)
        for slot in (-1, 2):
            with pytest.raises(ValueError, match="slot"):
                arena.open(slot, 64, 100, torus=False)
        for width, height in ((0, 5), (5, 0), (128, 4000), (100_000, 64), (1 << 40, 1 << 40)):
            with pytest.raises(ValueError, match="cells"):
                arena.open(0, width, height, torus=False)
        arena.open(1, 64, 100, torus=False)

    def test_memory_of_an_arena(self, backend: Backend) -> None:
        """As arena_bytes() tells: so that what is planned for it is neither more nor less."""
        shapes: list[Shape] = [(2048, 400, True), (700, 1100, False)]
        host, device = backend.arena_bytes(shapes, 3)
        if backend.free_device_memory() is not None:
            assert host == 0
            assert device >= 4 * 2048 * 400 // 8
            return
        assert device == 0
        words = [pack(soup(width, height)) for width, height, _ in shapes]
        tracemalloc.start()
        try:
            arena = backend.life_arena(shapes, 3, birth=8, survival=12)
            for slot in range(3):
                width, height, torus = shapes[slot % 2]
                universe = arena.open(slot, width, height, torus=torus)
                universe.put(0, words[slot % 2])
                universe.step(1)
            del universe
            peak = tracemalloc.get_traced_memory()[1]
            assert 0.9 * host < peak < host + (1 << 16)
            arena.close()
            assert tracemalloc.get_traced_memory()[0] < 1 << 16
        finally:
            tracemalloc.stop()

    # --- chains --------------------------------------------------------------

    def test_chains(self, backend: Backend, torus: bool) -> None:
        """Of widths of no whole word, of many, of several panels; of one pass and of several."""
        for width in self.chain_widths:
            for t, typical in ((1, 2), (3, 30), (7, 30), (15, 20), (29, 16)):
                check_chain(backend, (width, t, torus, typical), (3, 0, 9, 1), 5)

    def test_chains_of_rules(self, backend: Backend, rule: tuple[int, int], torus: bool) -> None:
        check_chain(backend, (65, 17, torus, 18), (0, 5, 2), 11, rule=rule)

    def test_any_chain(self, backend: Backend) -> None:
        most, high = (300, [200]) if self.patient else (130, [70])
        side = st.one_of(st.integers(1, 5), st.sampled_from(SIDES), st.integers(1, most))

        @settings(max_examples=self.examples, deadline=None)
        @given(
            side,
            st.integers(1, 50),
            st.booleans(),
            st.one_of(st.integers(2, 40), st.sampled_from(high)),
            st.lists(st.integers(0, 30), min_size=1, max_size=5),
            st.integers(0, 200),
            self.any_rule,
            st.integers(1, 3),
        )
        def check(
            width: int,
            t: int,
            torus: bool,
            typical: int,
            more: list[int],
            start: int,
            rule: tuple[int, int],
            slots: int,
        ) -> None:
            shape = (width, t, torus, typical)
            check_chain(backend, shape, more, start, rule=rule, slots=slots)

        check()

    def test_passes_of_a_chain(self, backend: Backend) -> None:
        for width, t, torus, typical in product(
            (1, 63, 700, 5000), (1, 2, 7, 50, 1000), (True, False), (2, 3, 17, 4000)
        ):
            chain = backend.life_chain((width, t, torus, typical))
            assert (chain.width, chain.torus, chain.generations) == (width, torus, t)
            assert sum(chain.passes) == t
            assert min(chain.passes) >= 1
            assert chain.longest == max(chain.passes)
            assert chain.least_height(first=False) == 2 * chain.longest <= typical
            assert chain.least_height(first=True) == 2 * chain.longest + 2 * t
            assert chain.starts == tuple(sum(chain.passes[:i]) for i in range(len(chain.starts)))
            assert chain.starts[-1] == t
        for shape in ((0, 5, True, 9), (9, 0, True, 9), (9, 5, True, 1), (9, -1, True, 9)):
            with pytest.raises(ValueError, match="no chain"):
                backend.life_chain(shape)
            with pytest.raises(ValueError, match="no chain"):
                backend.life_arena([(9, 9, True)], 1, birth=8, survival=12, chain=shape)

    def test_whole_passes_are_next(self, backend: Backend) -> None:
        universe = make(backend, soup(65, 33))
        for at_most in (1, 2, universe.stride, universe.stride + 1, 10 * universe.stride - 1):
            some = universe.next_steps(at_most)
            assert 1 <= some <= at_most
            assert some % universe.stride == 0 or some == at_most < universe.stride
        shape = (65, 20, True, 12)
        chain = backend.life_chain(shape)
        least = chain.least_height(first=True)
        arena = backend.life_arena([(65, least, True)], 1, birth=8, survival=12, chain=shape)
        first = arena.open_chained(0, least, first=True)
        first.put(0, pack(soup(65, least)))
        assert first.stride == chain.longest
        for i, t in enumerate(chain.passes):
            ends = [end - chain.starts[i] for end in chain.starts[i + 1 :]]
            assert first.next_steps(1) == ends[0] == t
            assert first.next_steps(10**9) == ends[-1]
            for end in ends:
                assert first.next_steps(end) == end
                assert first.next_steps(end + 1) in (end, end + 1)
            first.step(t)
        assert first.next_steps(1) == 0

    def test_chains_one_after_the_other(self, backend: Backend) -> None:
        """In one arena: what one has left behind, through or not, is nothing to the next.
        Universes that are in no chain step in between."""
        shape = (131, 11, True, 14)
        shapes = [(131, 70, True), (131, 40, True), (64, 21, False)]
        arena = backend.life_arena(shapes, 2, birth=8, survival=12, chain=shape)
        check_chain(backend, shape, (5, 0, 3), arena=arena)
        check_chain(backend, shape, (2, 9), arena=arena, seed=1)
        other = arena.open(0, 64, 21, torus=False)
        other.put(0, pack(soup(64, 21)))
        other.step(5)
        assert_holds(other, pack(ref.run(soup(64, 21), 8, 12, False, 5)))
        chain = arena.chain
        assert chain
        first = arena.open_chained(0, 50, first=True)
        first.put(0, pack(soup(131, 50)))
        first.step(first.next_steps(1))
        follower = arena.open_chained(1, 20, first=False)
        follower.put(0, pack(soup(131, 20)))
        check_chain(backend, shape, (4, 1, 0), 60, arena=arena, seed=2)
        arena.close()

    def test_others_step_between_passes_of_a_chain(self, backend: Backend, torus: bool) -> None:
        shape = (65, 20, torus, 12)
        chain = backend.life_chain(shape)
        low = chain.least_height(first=False)
        height = 2 * low + 40
        cells = soup(65, height)
        words, expected = pack(cells), pack(ref.run(cells, 8, 12, torus, 20))
        shapes = [(65, low + 40, torus), (65, low, torus), (63, 7, True)]
        arena = backend.life_arena(shapes, 3, birth=8, survival=12, chain=shape)
        first = arena.open_chained(0, low + 40, first=True)
        other = arena.open(1, 63, 7, torus=True)
        follower = arena.open_chained(2, low, first=False)
        for universe, rows in ((first, words), (follower, words[low + 40 :])):
            universe.put(0, np.ascontiguousarray(rows[: universe.height]))
        other.put(0, pack(soup(63, 7)))
        for universe in (first, follower):
            for t in chain.passes:
                universe.step(t)
                other.step(1)
        np.testing.assert_array_equal(first.words()[20:-20], expected[20 : 20 + low])
        np.testing.assert_array_equal(follower.words(), expected[20 + low : 20 + 2 * low])
        t = other.generation
        assert t == 2 * len(chain.passes)
        assert_holds(other, pack(ref.run(soup(63, 7), 8, 12, True, t)))

    def test_misuse_of_a_chain(self, backend: Backend) -> None:
        shape = (65, 20, True, 12)
        chain = backend.life_chain(shape)
        least, low = chain.least_height(first=True), chain.least_height(first=False)
        assert len(chain.passes) > 1
        plain = backend.life_arena([(65, least, True)], 1, birth=8, survival=12)
        assert plain.chain is None
        with pytest.raises(ValueError, match="no chain"):
            plain.open_chained(0, least, first=True)
        arena = backend.life_arena([(65, least, True)], 2, birth=8, survival=12, chain=shape)
        assert arena.chain == chain
        for height, first in ((least - 1, True), (low - 1, False), (0, False), (-5, False)):
            with pytest.raises(ValueError, match="least"):
                arena.open_chained(0, height, first=first)
        for slot in (-1, 2):
            with pytest.raises(ValueError, match="slot"):
                arena.open_chained(slot, least, first=True)
        for first in (True, False):
            with pytest.raises(ValueError, match="cells"):
                arena.open_chained(0, 100_000, first=first)

        def opened(slot: int, height: int, *, first: bool) -> LifeUniverse:
            universe = arena.open_chained(slot, height, first=first)
            universe.put(0, pack(soup(65, height)))
            return universe

        lost = opened(0, low, first=False)
        with pytest.raises(ValueError, match="before"):  # there is none
            lost.step(20)
        head = opened(0, least, first=True)
        for t in (-1, 1 if chain.passes[0] > 1 else 21, 19 if chain.passes[-1] > 1 else 21, 21):
            with pytest.raises(ValueError, match="passes"):
                head.step(t)
        follower = opened(1, low, first=False)
        follower.step(0)
        with pytest.raises(ValueError, match="before"):
            follower.step(20)
        head.step(chain.passes[0])
        with pytest.raises(ValueError, match="before"):
            follower.step(chain.passes[0])
        head.step(20 - chain.passes[0])
        for t in (-1, 1, 20):
            with pytest.raises(ValueError, match="passes"):
                head.step(t)
        follower.step(chain.passes[0])
        second = opened(0, low, first=False)
        third = opened(0, low, first=False)
        follower.step(20 - chain.passes[0])
        with pytest.raises(ValueError, match="before"):  # the second was left out
            third.step(20)
        assert second.generation == third.generation == 0
        head = opened(0, least, first=True)
        head.step(chain.passes[0])
        opened(1, least, first=True).step(20)
        with pytest.raises(ValueError, match="since"):
            head.step(20 - chain.passes[0])
        assert head.generation == chain.passes[0]

    @pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
    @pytest.mark.parametrize("where", ["_take", "_leave", "_make"])
    def test_chain_interrupted_anywhere(
        self, backend: Backend, where: str, after: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Once in every pass, as by Ctrl-C; step() again, and nothing is lost."""
        shape = (65, 20, True, 12)
        chain = backend.life_chain(shape)
        low = chain.least_height(first=False)
        cells = soup(65, 3 * low)
        words, expected = pack(cells), pack(ref.run(cells, 8, 12, True, 20))
        shapes = [(65, low + 40, True), (65, low, True)]
        arena = backend.life_arena(shapes, 2, birth=8, survival=12, chain=shape)
        interrupts = 0
        for i in range(3):
            rows = words[np.arange(-20 if i == 0 else i * low + 20, (i + 1) * low + 20) % (3 * low)]
            universe = arena.open_chained(i % 2, len(rows), first=i == 0)
            universe.put(0, rows)
            hook, done = getattr(universe, where), set()

            def interrupt(
                n: int, hook: Callable[[int], None] = hook, done: set[int] = done
            ) -> None:
                if n in done:
                    hook(n)
                    return
                done.add(n)
                if after:
                    hook(n)
                raise KeyboardInterrupt

            monkeypatch.setattr(universe, where, interrupt)
            while universe.generation < 20:
                try:
                    universe.step(20 - universe.generation)
                except KeyboardInterrupt:
                    interrupts += 1
                assert universe.generation in chain.starts
            found = universe.words()[20:-20] if i == 0 else universe.words()
            np.testing.assert_array_equal(found, expected[i * low : (i + 1) * low])
        assert interrupts == len(chain.passes) * (2 if where == "_take" else 3)

    def test_memory_of_a_chain(self, backend: Backend) -> None:
        shape, shapes = (4096, 50, True, 70), [(4096, 170, True), (4096, 70, True)]
        host, device = backend.arena_bytes(shapes, 2, shape)
        plain_host, plain_device = backend.arena_bytes(shapes, 2)
        assert host + device >= plain_host + plain_device + 100 * 4096 // 8
        if backend.free_device_memory() is not None:
            assert host == 0
            return
        words = pack(soup(4096, 170))
        tracemalloc.start()
        try:
            arena = backend.life_arena(shapes, 2, birth=8, survival=12, chain=shape)
            for slot, height in ((0, 170), (1, 70)):
                universe = arena.open_chained(slot, height, first=slot == 0)
                universe.put(0, words[:height])
                universe.step(50)
            del universe
            peak = tracemalloc.get_traced_memory()[1]
            assert 0.9 * host < peak < host + (1 << 16)
            arena.close()
            assert tracemalloc.get_traced_memory()[0] < 1 << 16
        finally:
            tracemalloc.stop()

    # --- interrupts ----------------------------------------------------------

    def test_interrupted_at_a_whole_generation(self, backend: Backend) -> None:
        """Whenever it comes: the cells are those of the generation that is told."""
        universe, witness = make(backend, soup(131, 67)), make(backend, soup(131, 67))
        universe.step(1)  # so that what is compiled at the first step is there
        delays = random.Random(1)
        for _ in range(6):
            before = universe.generation
            with interrupted_after(delays.uniform(0.005, 0.08)), pytest.raises(KeyboardInterrupt):
                universe.step(10**9)
            assert before <= universe.generation < 10**9
            witness.step(universe.generation - witness.generation)
            assert_holds(universe, witness.words(), f"after {universe.generation} generations")
        universe.step(5)
        witness.step(5)
        assert_holds(universe, witness.words(), "going on")
        assert universe.generation > 6, "no pass was ever made"
