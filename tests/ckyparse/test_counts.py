"""Numbers of parses, exact however long."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk import CFG, ChartParser

from arith import IntArray
from ckyparse import CKYParser, Counts, Grammar
from ckyparse.values import integers
from kernels.cky import Batch, Rules
from kernels.cky.weighted import Weights
from kernels.cky.weighted.ref import ReferenceWeighted
from tests.ckyparse.backends import ALL
from tests.ckyparse.oracle import Sentence, grammars
from tests.ckyparse.test_parser import ENGLISH, STRINGS

CATALAN = "S -> S S | 'a'"
COMPILED = [name for name in ALL if name != "reference"]


def catalan(n: int) -> int:
    return math.comb(2 * n, n) // (n + 1)


@pytest.mark.parametrize("backend", ALL)
def test_catalan_numbers(backend: str) -> None:
    lengths = [*range(26), 3, 0, 45]
    counts = CKYParser(CATALAN, backend=backend).counts("a" * n for n in lengths)
    assert list(counts) == [catalan(n - 1) if n else 0 for n in lengths]


@pytest.mark.slow
@pytest.mark.parametrize("backend", COMPILED)
def test_catalan_numbers_up_to_length_200(backend: str) -> None:
    counts = CKYParser(CATALAN, backend=backend).counts(["a" * n for n in range(1, 201)])
    assert counts.finite.to_ints() == [catalan(n - 1) for n in range(1, 201)]


@pytest.mark.parametrize("backend", COMPILED)
def test_a_catalan_number_of_length_200(backend: str) -> None:
    counts = CKYParser(CATALAN, backend=backend).counts(["a" * 200, "a", "a" * 199])
    assert list(counts) == [catalan(199), 1, catalan(198)]


@pytest.mark.parametrize("backend", ALL)
def test_an_ambiguous_grammar_has_as_many_as_nltk_finds(backend: str) -> None:
    grammar = CFG.fromstring(ENGLISH)
    sentences = ["I saw the man" + " with a telescope in the park" * n for n in range(4)]
    found = CKYParser(grammar, backend=backend).counts(sentences, tokens="space")
    assert list(found) == [len(list(ChartParser(grammar).parse(s.split()))) for s in sentences]


@pytest.mark.parametrize("backend", ALL)
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # A cycle, but only above 'b'.
        ("S -> A | 'a' S\nA -> B | 'a'\nB -> C\nC -> B | 'b'", {"a": 1, "aa": 1, "b": math.inf}),
        ("S -> S | 'a'", {"a": math.inf, "": 0, "aa": 0}),
        ("S -> S S | 'a' |", {"": math.inf, "a": math.inf, "aa": math.inf}),
        # Empty strings in finitely many ways.
        (
            "S -> A A B\nA -> 'a' |\nB -> C C\nC -> 'c' | D\nD ->",
            {"": 1, "a": 2, "ac": 4, "aac": 2},
        ),
        ("S -> A | B\nA ->\nB ->", {"": 2}),
        ("S -> A 'x'\nA -> A |", {"x": math.inf, "": 0}),
        ("S -> X X X X\nX -> Y | Z | 'a'\nY -> 'a'\nZ -> 'a'", {"aaaa": 81, "aaa": 0}),
        ("S -> S 'a'", {"": 0, "a": 0}),
        ("S ->", {"": 1, "a": 0}),
    ],
)
def test_cycles_and_empty_productions(text: str, expected: dict[str, float], backend: str) -> None:
    parser = CKYParser(text, backend=backend, unknown="reject")
    counts = parser.counts(expected)
    assert dict(zip(expected, counts, strict=True)) == expected
    assert all(isinstance(n, int) or n == math.inf for n in counts)


@pytest.mark.parametrize("backend", ALL)
@settings(max_examples=50)
@given(grammar=grammars(), strings=st.lists(st.sampled_from(STRINGS), max_size=40))
def test_batches_count_what_forests_do(
    backend: str, grammar: Grammar, strings: list[Sentence]
) -> None:
    parser = CKYParser(grammar, backend=backend, unknown="reject")
    counts = parser.counts(strings)
    assert counts == [chart.count() for chart in parser.charts(strings)]
    assert ((counts.finite > 0) | counts.infinite).tolist() == parser.accepts(strings).tolist()


def test_weights_of_any_size() -> None:
    """Beyond what a float holds, too."""
    rules = Rules.make(2, 1, [(0, 0, 1), (0, 1, 1)], [(1, 0)], [(0, 1)])
    big = 7**500
    weights = Weights(
        *(np.array(row, object) for row in ([big, 3], [5**600], [1 << 3000], [2, big]))
    )
    batch = Batch.of([[0] * n for n in (1, 0, 3, 2)])
    one = big << 3000
    single = 5**600 << 3000
    two = 2 * (big * single * one + 3 * one * one)
    three = 2 * (big * two * one)
    found = integers(ReferenceWeighted(rules), batch, 0, weights)
    assert found.to_ints() == [single, 0, three, two]


def test_counts_are_a_sequence() -> None:
    counts = Counts(IntArray([5, 0, 2**70, 1]), np.array([False, True, False, False]))
    assert list(counts) == [5, math.inf, 2**70, 1]
    assert (counts[1], counts[-1], counts[1:3]) == (math.inf, 1, [math.inf, 2**70])
    assert counts != [5]
    assert counts != 5
    assert repr(counts) == f"Counts([5, inf, {2**70}, 1])"
    assert repr(Counts(IntArray(range(9)), np.zeros(9, np.bool_))).endswith("5, ... 9 in all])")
