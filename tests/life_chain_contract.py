"""What every backend must do for chains of universes, as tests, beside all of LifeContract."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.life import engine_for, ref
from kernels.life.contract import ChainShape, LifeShape, LifeUniverse
from kernels.life.rules import LifeRule
from kernels.targets.contract import Target
from tests.life_contract import (
    SIDES,
    LifeContract,
    assert_holds,
    check_chain,
    make,
    pack,
    soup,
)
from tests.quick import examples


class ChainContract(LifeContract):
    """Asks what LifeContract asks, and what chains promise."""

    @pytest.mark.sample(5)
    def test_chains(self, backend: Target, torus: bool) -> None:
        """Chains are right of widths of no whole word, of many, of several panels; of one pass and
        of several."""
        for width in self.chain_widths:
            for t, typical in ((1, 2), (3, 30), (7, 30), (15, 20), (29, 16)):
                check_chain(backend, ChainShape(width, t, torus, typical), (3, 0, 9, 1), 5)

    def test_chains_of_rules(self, backend: Target, rule: tuple[int, int], torus: bool) -> None:
        check_chain(backend, ChainShape(65, 17, torus, 18), (0, 5, 2), 11, rule=rule)

    def test_any_chain(self, backend: Target) -> None:
        most, high = (300, [200]) if self.patient else (130, [70])
        side = st.one_of(st.integers(1, 5), st.sampled_from(SIDES), st.integers(1, most))

        @settings(max_examples=examples(self.examples), deadline=None)
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
            shape = ChainShape(width, t, torus, typical)
            check_chain(backend, shape, more, start, rule=rule, slots=slots)

        check()

    def test_passes_of_a_chain(self, backend: Target) -> None:
        for width, t, torus, typical in product(
            (1, 63, 700, 5000), (1, 2, 7, 50, 1000), (True, False), (2, 3, 17, 4000)
        ):
            chain = engine_for(backend).chain(ChainShape(width, t, torus, typical))
            assert (chain.width, chain.torus, chain.generations) == (width, torus, t)
            assert sum(chain.passes) == t
            assert min(chain.passes) >= 1
            assert chain.longest == max(chain.passes)
            assert chain.least_height(first=False) == 2 * chain.longest <= typical
            assert chain.least_height(first=True) == 2 * chain.longest + 2 * t
            assert chain.starts == tuple(sum(chain.passes[:i]) for i in range(len(chain.starts)))
            assert chain.starts[-1] == t
        for sizes in ((0, 5, True, 9), (9, 0, True, 9), (9, 5, True, 1), (9, -1, True, 9)):
            shape = ChainShape(*sizes)
            with pytest.raises(ValueError, match="no chain"):
                engine_for(backend).chain(shape)
            with pytest.raises(ValueError, match="no chain"):
                engine_for(backend).arena([LifeShape(9, 9, True)], 1, LifeRule(8, 12), shape)

    def test_whole_passes_are_next(self, backend: Target) -> None:
        universe = make(backend, soup(65, 33))
        for at_most in (1, 2, universe.stride, universe.stride + 1, 10 * universe.stride - 1):
            some = universe.next_steps(at_most)
            assert 1 <= some <= at_most
            assert some % universe.stride == 0 or some == at_most < universe.stride
        shape = ChainShape(65, 20, True, 12)
        chain = engine_for(backend).chain(shape)
        least = chain.least_height(first=True)
        arena = engine_for(backend).arena([LifeShape(65, least, True)], 1, LifeRule(8, 12), shape)
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

    def test_chains_one_after_the_other(self, backend: Target) -> None:
        """Chains share an arena: what one has left behind, through or not, is nothing to the next.
        Universes that are in no chain step in between."""
        shape = ChainShape(131, 11, True, 14)
        shapes = [LifeShape(131, 70, True), LifeShape(131, 40, True), LifeShape(64, 21, False)]
        arena = engine_for(backend).arena(shapes, 2, LifeRule(8, 12), shape)
        check_chain(backend, shape, (5, 0, 3), arena=arena)
        check_chain(backend, shape, (2, 9), arena=arena, seed=1)
        other = arena.open(0, LifeShape(64, 21, False))
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

    def test_others_step_between_passes_of_a_chain(self, backend: Target, torus: bool) -> None:
        shape = ChainShape(65, 20, torus, 12)
        chain = engine_for(backend).chain(shape)
        low = chain.least_height(first=False)
        height = 2 * low + 40
        cells = soup(65, height)
        words, expected = pack(cells), pack(ref.run(cells, 8, 12, torus, 20))
        shapes = [LifeShape(65, low + 40, torus), LifeShape(65, low, torus), LifeShape(63, 7, True)]
        arena = engine_for(backend).arena(shapes, 3, LifeRule(8, 12), shape)
        first = arena.open_chained(0, low + 40, first=True)
        other = arena.open(1, LifeShape(63, 7, True))
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

    def test_misuse_of_a_chain(self, backend: Target) -> None:
        shape = ChainShape(65, 20, True, 12)
        chain = engine_for(backend).chain(shape)
        least, low = chain.least_height(first=True), chain.least_height(first=False)
        assert len(chain.passes) > 1
        plain = engine_for(backend).arena([LifeShape(65, least, True)], 1, LifeRule(8, 12))
        assert plain.chain is None
        with pytest.raises(ValueError, match="no chain"):
            plain.open_chained(0, least, first=True)
        arena = engine_for(backend).arena([LifeShape(65, least, True)], 2, LifeRule(8, 12), shape)
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
        self, backend: Target, where: str, after: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Once in every pass, as by Ctrl-C; step() again, and nothing is lost."""
        shape = ChainShape(65, 20, True, 12)
        chain = engine_for(backend).chain(shape)
        low = chain.least_height(first=False)
        cells = soup(65, 3 * low)
        words, expected = pack(cells), pack(ref.run(cells, 8, 12, True, 20))
        shapes = [LifeShape(65, low + 40, True), LifeShape(65, low, True)]
        arena = engine_for(backend).arena(shapes, 2, LifeRule(8, 12), shape)
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

    def test_memory_of_a_chain(self, backend: Target) -> None:
        shape = ChainShape(4096, 50, True, 70)
        shapes = [LifeShape(4096, 170, True), LifeShape(4096, 70, True)]
        host, device = engine_for(backend).arena_bytes(shapes, 2, shape)
        plain_host, plain_device = engine_for(backend).arena_bytes(shapes, 2)
        assert host + device >= plain_host + plain_device + 100 * 4096 // 8
        if backend.free_device_memory() is not None:
            assert host == 0
            return
        words = pack(soup(4096, 170))
        tracemalloc.start()
        try:
            arena = engine_for(backend).arena(shapes, 2, LifeRule(8, 12), shape)
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
