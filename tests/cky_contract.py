"""What every engine of CKY parsing must do, as tests: kernels.cky.ref.table() is the oracle.

A test class that inherits CkyContract gives a fixture `make`: make(rules) or
make(rules, memory) is a kernels.cky.Cky.
"""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernels.cky import Batch, Cky, Rules, TooLongError, cell, cells
from kernels.cky.ref import table
from tests.quick import examples

Make = Callable[..., Cky]
String = list[int]
UNKNOWN = 2**32 - 1


class Oracle:
    """The charts of strings, each prefix of which is known with it."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self._charts: dict[tuple[int, ...], np.ndarray[Any, Any]] = {}

    @classmethod
    def of(cls, rules: Rules) -> Oracle:
        """The one of these rules: engines are asked the same, one after the other."""
        arrays = (rules.binary, rules.units, rules.lexical)
        key = (rules.symbols, rules.terminals, *[array.tobytes() for array in arrays])
        if len(_oracles) > 200:
            _oracles.clear()
        return _oracles.setdefault(key, cls(rules))

    def chart(self, string: Sequence[int]) -> np.ndarray[Any, Any]:
        """bool (cells, symbols)."""
        key = tuple(string)
        if key not in self._charts:
            chart = np.zeros((cells(len(key)), self.rules.symbols), np.bool_)
            for (i, j), symbols in table(self.rules, list(key)).items():
                chart[cell(i, j), sorted(symbols)] = True
            for n in range(len(key), 0, -1):
                self._charts.setdefault(key[:n], chart[: cells(n)])
        return self._charts.get(key, np.zeros((0, self.rules.symbols), np.bool_))

    def longest(self, string: Sequence[int], symbol: int) -> int:
        chart = self.chart(string)
        ends = [j for j in range(1, len(string) + 1) if chart[cell(0, j), symbol]]
        return max(ends, default=0)


_oracles: dict[tuple[Any, ...], Oracle] = {}


def random_rules(
    draw: random.Random, symbols: int, terminals: int, binary: int, units: int, lexical: int
) -> Rules:
    source = np.random.default_rng(draw.randrange(1 << 32))

    def rows(count: int, *below: int) -> Any:
        return source.integers(0, below, (count, len(below)))

    return Rules.make(
        symbols,
        terminals,
        rows(binary, symbols, symbols, symbols),
        rows(lexical if terminals else 0, symbols, max(terminals, 1)),
        rows(units, symbols, symbols),
    )


def random_strings(
    draw: random.Random, rules: Rules, count: int, length: int, different: int = 5
) -> list[String]:
    """Prefixes of a few strings of that length, which are among them; some tokens unknown."""
    known = list(range(rules.terminals)) or [0]
    strange = [rules.terminals, UNKNOWN, 2**31]
    whole = [
        [draw.choice(known if draw.random() < 0.98 else strange) for _ in range(length)]
        for _ in range(different)
    ]
    whole[0] = [draw.choice(known) for _ in range(length)]
    strings = [draw.choice(whole)[: draw.randint(0, length)] for _ in range(count)]
    return [*whole, *strings][:count]


@st.composite
def small_cases(draw: st.DrawFn, strings: int, length: int) -> tuple[Rules, list[String]]:
    symbols, terminals = draw(st.integers(1, 7)), draw(st.integers(0, 3))

    def rows(*below: int, most: int) -> Any:
        return draw(st.lists(st.tuples(*[st.integers(0, b - 1) for b in below]), max_size=most))

    rules = Rules.make(
        symbols,
        terminals,
        rows(symbols, symbols, symbols, most=12),
        rows(symbols, terminals, most=8) if terminals else [],
        rows(symbols, symbols, most=5),
    )
    token = st.integers(0, terminals) | st.just(UNKNOWN)
    return rules, draw(st.lists(st.lists(token, max_size=length), max_size=strings))


# --- the contract ------------------------------------------------------------


class CkyContract:
    examples: ClassVar[int] = 30  # of each property
    length: ClassVar[int] = 12  # of the longest strings of small cases
    counts: ClassVar[Sequence[int]] = (1, 2, 31, 32, 33, 63, 64, 65, 511, 512, 513, 1100)
    symbols: ClassVar[Sequence[int]] = (1, 2, 3, 5, 8, 9, 16, 17, 31, 32, 33, 65)
    lengths: ClassVar[Sequence[int]] = (1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 32, 33)

    def check(
        self,
        engine: Cky,
        strings: list[String],
        symbols: Sequence[int] | None = None,
    ) -> None:
        """Check all that the engine says about these strings."""
        oracle = Oracle.of(engine.rules)
        batch = Batch.of(strings)
        for symbol in range(engine.rules.symbols) if symbols is None else symbols:
            longest = engine.longest(batch, symbol)
            assert longest.dtype == np.int32
            wanted = [oracle.longest(string, symbol) for string in strings]
            assert longest.tolist() == wanted, f"longest of symbol {symbol}"
            accepted = engine.accept(batch, symbol)
            assert accepted.dtype == np.bool_
            assert accepted.tolist() == [
                0 < found == len(string) for found, string in zip(wanted, strings, strict=True)
            ], f"accept of symbol {symbol}"
        self.check_charts(engine, strings)

    def check_charts(self, engine: Cky, strings: list[String]) -> None:
        oracle = Oracle.of(engine.rules)
        seen: list[int] = []
        for group in engine.charts(Batch.of(strings)):
            assert (group.indices.dtype, group.lengths.dtype) == (np.int64, np.int64)
            assert group.indices.size
            assert group.lengths.tolist() == [len(strings[s]) for s in group.indices]
            words, most = group.words, int(group.lengths.max())
            assert words.dtype == np.uint32
            assert words.shape[:2] == (cells(most), engine.rules.symbols)
            assert words.shape[2] * 32 >= group.indices.size
            for p, s in enumerate(group.indices.tolist()):
                found, wanted = group.chart(p), oracle.chart(strings[s])
                assert found.dtype == np.bool_
                assert np.array_equal(found, wanted), f"{strings[s]}, bit {p}"
            seen += group.indices.tolist()
        assert sorted(seen) == [s for s, string in enumerate(strings) if string]

    def run_property(self, strategy: st.SearchStrategy[Any], body: Callable[[Any], None]) -> None:
        @settings(
            max_examples=examples(self.examples),
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        )
        @given(strategy)
        def run(drawn: Any) -> None:
            body(drawn)

        run()

    @pytest.mark.sample(3)
    def test_small_grammars(self, make: Make) -> None:
        def body(drawn: tuple[Rules, list[String]]) -> None:
            rules, strings = drawn
            self.check(make(rules), strings)

        self.run_property(small_cases(40, self.length), body)

    def test_numbers_of_strings(self, make: Make) -> None:
        """Up to and beyond whole words; nothing of one string is seen in another."""
        draw = random.Random(1)
        rules = random_rules(draw, 6, 2, 20, 3, 5)
        engine = make(rules)
        for count in self.counts:
            strings = random_strings(draw, rules, count, min(self.length, 9))
            draw.shuffle(strings)
            self.check(engine, strings, [0, 5])

    @pytest.mark.sample(2)
    def test_numbers_of_symbols(self, make: Make) -> None:
        """Few pairs, and all there are."""
        for symbols in self.symbols:
            draw = random.Random(symbols)
            for binary in (symbols, symbols * symbols * 2):
                rules = random_rules(draw, symbols, 3, binary, symbols // 2, symbols + 1)
                strings = random_strings(draw, rules, 40, 7)
                self.check(make(rules), strings, symbols=[0, symbols // 2, symbols - 1])

    def test_lengths(self, make: Make) -> None:
        draw = random.Random(2)
        rules = random_rules(draw, 9, 3, 30, 2, 9)
        engine = make(rules)
        for length in self.lengths:
            strings = random_strings(draw, rules, 35, length, 2)
            self.check(engine, strings, [draw.randrange(9)])

    @pytest.mark.sample(2)
    def test_many_rights_of_a_pair(self, make: Make) -> None:
        """Nearly every rule there is, so that a pair has many right-hand symbols."""
        for symbols in (3, 8, 20, min(40, max(self.symbols))):
            draw = random.Random(symbols)
            rules = random_rules(draw, symbols, 6, symbols**3 // 2, 0, 3)
            strings = random_strings(draw, rules, 33, 6)
            self.check(make(rules), strings, symbols=[0])

    def test_one_symbol_and_one_terminal(self, make: Make) -> None:
        strings = [[0] * n for n in range(min(20, max(self.lengths)))] + [[1], [0, 1, 0]]
        self.check(make(Rules.make(1, 1, [(0, 0, 0)], [(0, 0)])), strings)
        self.check(make(Rules.make(1, 1, [], [(0, 0)])), strings)

    def test_no_rules(self, make: Make) -> None:
        for rules in (Rules.make(1, 0, [], []), Rules.make(3, 1, [(0, 1, 2)], [], [(0, 1)])):
            self.check(make(rules), [[], [0], [0, 0, 0], [UNKNOWN] * 4])

    def test_cycles_of_units(self, make: Make) -> None:
        units = [(0, 1), (1, 2), (2, 0), (3, 3), (3, 2)]
        rules = Rules.make(4, 2, [(1, 0, 3), (3, 2, 2)], [(1, 0), (3, 1)], units)
        strings = [[0, 1] * n for n in range(5)] + [[1], [1, 0, 0], [0, 0, 0, 1, 1]]
        self.check(make(rules), strings)

    def test_brackets(self, make: Make) -> None:
        """S → S S | ( S ) | ( ), and every string of brackets up to a length."""
        rules = Rules.make(4, 2, [(0, 0, 0), (0, 1, 3), (3, 0, 2), (0, 1, 2)], [(1, 0), (2, 1)])
        strings = [
            [s >> i & 1 for i in range(n)]
            for n in range(min(self.length, 10))
            for s in range(1 << n)
        ]

        def balanced(string: String) -> bool:
            depth = np.cumsum(1 - 2 * np.array(string, np.int64))
            return bool(string) and depth[-1] == 0 and bool((depth >= 0).all())

        accepted = make(rules).accept(Batch.of(strings), 0)
        assert accepted.tolist() == [balanced(string) for string in strings]

    def test_nothing_to_parse(self, make: Make) -> None:
        engine = make(Rules.make(2, 1, [(0, 1, 1)], [(1, 0)]))
        for strings in ([], [[]], [[], [], []]):
            self.check(engine, strings)

    def test_progress(self, make: Make) -> None:
        draw = random.Random(3)
        rules = random_rules(draw, 3, 2, 6, 0, 3)
        engine = make(rules)
        batch = Batch.of(random_strings(draw, rules, max(self.counts), 5))
        for method in (engine.accept, engine.longest):
            done: list[int] = []
            method(batch, 0, done.append)
            assert done
            assert done == sorted(done)
            assert done[-1] == len(batch)

    def limited(self, make: Make, rules: Rules) -> Cky:
        """An engine with so little memory that strings of a few tokens are too long."""
        memory, engine = 64, make(rules, 64)
        while engine.max_length < 3:
            memory += memory // 4
            engine = make(rules, memory)
            assert engine.memory == memory
        assert engine.max_length <= 40
        return engine

    def test_little_memory(self, make: Make) -> None:
        draw = random.Random(4)
        rules = random_rules(draw, 5, 2, 15, 2, 4)
        engine = self.limited(make, rules)
        for count in (5, max(self.counts)):
            strings = random_strings(draw, rules, count, engine.max_length)
            self.check(engine, strings, [1, 4])

    def test_too_long(self, make: Make) -> None:
        engine = self.limited(make, Rules.make(2, 1, [(0, 0, 0)], [(0, 0)], [(1, 0)]))
        most = engine.max_length
        batch = Batch.of([[0] * n for n in (1, most, 0, most + 1, most + 9, 2)])
        for method in (engine.accept, engine.longest, lambda b, _: next(iter(engine.charts(b)))):
            with pytest.raises(TooLongError, match=r"^string 4 has") as raised:
                method(batch, 0)
            error = raised.value
            assert (error.index, error.length, error.longest) == (3, most + 1, most)
            again = pickle.loads(pickle.dumps(error))  # as between processes
            assert (str(again), again.index) == (str(error), 3)
        rest = batch.take(np.array([0, 1, 2, 5]))
        assert engine.longest(rest, 0).tolist() == rest.lengths.tolist()

    @pytest.mark.parametrize("symbol", [-1, 3])
    def test_no_such_symbol(self, make: Make, symbol: int) -> None:
        engine = make(Rules.make(3, 1, [], [(0, 0)]))
        for question in (engine.accept, engine.longest):
            with pytest.raises(ValueError, match=f"no symbol {symbol}"):
                question(Batch.of([[0]]), symbol)

    def test_charts_left_unread(self, make: Make) -> None:
        """A generator may be dropped, or wait while the engine does something else."""
        draw = random.Random(5)
        rules = random_rules(draw, 4, 2, 10, 1, 4)
        engine, oracle = make(rules), Oracle.of(rules)
        strings = random_strings(draw, rules, max(self.counts), 6)
        waiting = engine.charts(Batch.of(strings))
        first = next(waiting)
        self.check(engine, strings[::-1], [0])
        for group in (first, next(waiting, first)):
            for p, s in enumerate(group.indices.tolist()):
                np.testing.assert_array_equal(group.chart(p), oracle.chart(strings[s]))

    def test_batches_are_not_changed(self, make: Make) -> None:
        batch = Batch.of([[0, 1, 7], [], [1]])
        for array in (batch.terminals, batch.offsets):
            array.setflags(write=False)
        engine = make(Rules.make(2, 2, [(0, 1, 1)], [(1, 0), (1, 1)]))
        assert engine.accept(batch, 0).tolist() == [False, False, False]
        assert engine.longest(batch, 0).tolist() == [2, 0, 0]
        assert [group.indices.size for group in engine.charts(batch)] != []
