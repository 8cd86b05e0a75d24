"""What every backend must do, as tests.

A test class that inherits LifeContract gives a fixture `backend`, a kernels.backend.Backend.
"""

from __future__ import annotations

import random
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from types import FrameType
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.backend import Backend, LifeUniverse, Words
from kernels.life import ref
from kernels.life.ref import Cells

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


@contextmanager
def interrupted_after(seconds: float) -> Iterator[None]:
    """KeyboardInterrupt, as from Ctrl-C, unless the block is done before."""

    def interrupt(signum: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


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
