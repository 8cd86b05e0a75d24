"""Unit rules by the thousand: chains, cycles and right-hand sides that can be empty."""

from __future__ import annotations

import math
import time
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckyparse import CKYParser, Grammar, NotRationalError
from ckyparse import binary as binary_module
from ckyparse import normal as normal_module
from ckyparse.normal import NormalForm
from ckyparse.sums import closure
from ckyparse.units import between
from kernels.cky.weighted.semirings import Best, Counting, Semiring
from tests.ckyparse.oracle import grammars
from tests.ckyparse.trees import strings
from tests.quick import examples


def chain(n: int, last: str = "'a'", each: str = "", share: str = "") -> str:
    """A0 → A1 → A2 …; each: another right-hand side of all."""
    rows = [f"A{i} -> A{i + 1}{share}{each.replace('#', str(i))}\n" for i in range(n - 1)]
    return "".join(rows) + f"A{n - 1} -> {last}\n"


entries = st.dictionaries(
    st.tuples(st.integers(0, 6), st.integers(0, 6)), st.fractions(0, Fraction(1, 3)), max_size=14
)
some = st.sets(st.integers(0, 6))


@given(entries, some, some)
def test_between_is_a_part_of_the_closure(
    given: dict[tuple[int, int], Fraction], above: set[int], below: set[int]
) -> None:
    matrix: dict[int, dict[int, Any]] = {}
    for (a, b), weight in given.items():
        matrix.setdefault(a, {})[b] = weight
    for ring in (Semiring(Fraction(1)), Best(Fraction(1))):
        whole = closure(matrix, ring)
        expected = {
            a: {b: x for b, x in whole[a].items() if b in below} for a in above & set(whole)
        }
        found = between(matrix, above, below, ring)
        assert found == expected
    counts = {a: dict.fromkeys(row, 1) for a, row in matrix.items()}
    whole = closure(counts, Counting(1))
    found = between(counts, above, below, Counting(1))
    for a in above & set(whole):
        assert found[a] == {b: x for b, x in whole[a].items() if b in below}


def answers(parser: CKYParser, probable: bool) -> list[Any]:
    batch = list(strings(2))
    found: list[Any] = [parser.accepts(batch).tolist(), list(parser.counts(batch))]
    found.append(parser.prefixes(batch).tolist())
    charts = parser.charts(batch)
    for each in charts:
        trees = list(islice(each.trees(), 9))
        # Equally probable ones may come in any order.
        said = [f"{t.prob():.9g}" for t in trees] if probable else list(map(str, trees))
        found.append([each.bits.tolist(), said])
    if probable:
        try:
            found.append(list(parser.probabilities(batch)))
        except (NotRationalError, ValueError) as error:
            found.append(str(error))
    return found


@pytest.mark.parametrize("probable", [False, True])
def test_only_what_matters_is_enough(monkeypatch: pytest.MonkeyPatch, probable: bool) -> None:
    @settings(max_examples=examples(25))
    @given(grammars(probabilities=probable))
    def check(grammar: Grammar) -> None:
        options = {"backend": "reference", "unknown": "reject"}
        expected = answers(CKYParser(grammar, **options), probable)  # type: ignore[arg-type]
        with monkeypatch.context() as few:
            few.setattr(normal_module, "MANY", -1)
            parser = CKYParser(grammar, **options)  # type: ignore[arg-type]
            assert answers(parser, probable) == expected
            form = NormalForm(grammar)
        assert form.cyclic == NormalForm(grammar).cyclic
        if probable:
            batch = list(strings(2))
            try:
                logs = CKYParser(grammar, **options).log_probabilities(batch)  # type: ignore[arg-type]
            except ValueError:
                return
            np.testing.assert_allclose(parser.log_probabilities(batch), logs, rtol=1e-9, atol=1e-12)

    check()


def test_halved_right_hand_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    @settings(max_examples=examples(25))
    @given(grammars(longest=7, productions=4))
    def check(grammar: Grammar) -> None:
        options = {"backend": "reference", "unknown": "reject"}
        batch = list(strings(4))
        expected = CKYParser(grammar, **options)  # type: ignore[arg-type]
        with monkeypatch.context() as short:
            short.setattr(binary_module, "LONG", 2)
            parser = CKYParser(grammar, **options)  # type: ignore[arg-type]
        assert parser.accepts(batch).tolist() == expected.accepts(batch).tolist()
        assert parser.counts(batch) == expected.counts(batch)
        assert parser.prefixes(batch).tolist() == expected.prefixes(batch).tolist()
        for sentence in batch[:8]:
            if parser.counts([sentence])[0] < 50:
                ours, theirs = parser.parse(sentence), expected.parse(sentence)
                assert sorted(map(str, ours)) == sorted(map(str, theirs))

    check()


CASES = {
    "chain": chain(1500),
    "chain with words": chain(1500, each=" | 'w#'"),
    "cycle": chain(1500, "A0 | 'a'"),
    "cycle with words": chain(1500, "A0 | 'a'", each=" | 'w#'"),
}


@pytest.mark.parametrize("name", CASES)
def test_thousands_of_unit_rules(name: str) -> None:
    parser = CKYParser(CASES[name])
    batch = [["a"], ["a", "a"]]
    assert parser.accepts(batch).tolist() == [True, False]
    assert list(parser.counts(batch)) == [math.inf if "cycle" in name else 1, 0]
    assert parser.prefixes(batch).tolist() == [1, 1]
    assert len(parser.normal_form.rules.units) < 20_000
    (tree_chart,) = parser.charts([["a"]])
    assert len(tree_chart.symbols(0, 1)) == 1500
    if "cycle" not in name:
        tree = next(tree_chart.trees())
        depth = 0
        while not isinstance(tree, str):
            depth, tree = depth + 1, tree[0]
        assert depth == 1500


def test_probabilities_of_a_long_cycle() -> None:
    text = chain(1500, "A0 [0.5] | 'a' [0.5]", share=" [1.0]")
    parser = CKYParser(text)
    assert list(parser.probabilities([["a"]])) == [Fraction(1)]
    assert parser.log_probabilities([["a"]])[0] == pytest.approx(0, abs=1e-12)
    assert parser.best_log_probabilities([["a"]])[0] == pytest.approx(math.log(0.5))


def test_the_trees_of_a_cycle_of_hundreds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(normal_module, "MANY", 100)
    parser = CKYParser(chain(150, "A0 [0.5] | 'a' [0.5]", share=" [1.0]"))
    assert not parser.normal_form.is_whole
    (tree,) = parser.parse(["a"])
    assert tree.prob() == 0.5
    assert tree.height() == 151


@pytest.mark.parametrize("same", [True, False])
def test_long_right_hand_sides_of_which_all_can_be_empty(same: bool) -> None:
    n = 2000
    symbols = ["A" if same else f"A{i}" for i in range(n)]
    rows = "".join(f"{name} -> 'a' |\n" for name in dict.fromkeys(symbols))
    parser = CKYParser(f"S -> {' '.join(symbols)}\n{rows}")
    assert list(parser.counts([[], ["a"], ["a", "a"]])) == [1, n, n * (n - 1) // 2]
    assert len(parser.normal_form.rules.units) < 50 * n
    tree = parser.parse_one(["a"])
    assert tree is not None
    assert [child.label() for child in tree] == symbols
    assert tree.leaves() == ["a"]


@pytest.mark.slow
def test_time_is_linear() -> None:
    def seconds(text: str) -> float:
        start = time.process_time()
        CKYParser(text).counts([["a"]])
        return time.process_time() - start

    for last in ("'a'", "A0 | 'a'"):
        seconds(chain(100, last))
        assert seconds(chain(40_000, last)) < 40 * seconds(chain(2000, last)) + 1
