"""Random sentences and the numbers of trees, beside what is enumerated."""

from __future__ import annotations

import random
from collections import Counter
from itertools import islice
from math import comb

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ckyparse.analysis import cycle
from ckyparse.derivations import Derivations
from ckyparse.grammar import Grammar
from ckyparse.sample import Rejected, SampleError, sentences
from tests.ckyparse.oracle import grammars, language, trees
from tests.quick import examples

CATALAN = Grammar.fromstring("S -> S S | 'a'")
DYCK = Grammar.fromstring("S -> '(' S ')' S |")
TWICE = Grammar.fromstring("S -> 'a' 'b' 'c' S | 'a' 'b' 'c'")


def test_counts_are_catalan_numbers() -> None:
    derivations = Derivations(CATALAN)
    for n in (200, 1, 7, 33):
        assert derivations.count(n) == comb(2 * n - 2, n - 1) // n
    assert derivations.count(0) == 0
    assert [Derivations(DYCK).count(n) for n in range(9)] == [1, 0, 1, 0, 2, 0, 5, 0, 14]


@settings(deadline=None, max_examples=examples(150))
@given(grammars(productions=6, longest=3))
def test_counts_are_those_of_all_trees(grammar: Grammar) -> None:
    assume(cycle(grammar) is None)
    numbers: Counter[int] = Counter()
    for sentence, number in trees(grammar, 4).items():
        numbers[len(sentence)] += number
    derivations = Derivations(grammar)
    assert [derivations.count(n) for n in range(5)] == [numbers[n] for n in range(5)]


@settings(deadline=None, max_examples=examples(150))
@given(grammars(), st.randoms(use_true_random=False))
def test_every_sentence_has_a_tree_and_every_tree_a_sentence(
    grammar: Grammar, source: random.Random
) -> None:
    derivations, known = Derivations(grammar), language(grammar, 4)
    for n in range(5):
        wanted = {sentence for sentence in known if len(sentence) == n}
        count = derivations.count(n)
        assert bool(count) == bool(wanted)
        assert count >= len(wanted)
        if count:
            drawn = {derivations.draw(n, source) for _ in range(10)}
            assert drawn <= wanted


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "text",
    [
        "S -> '(' S ')' S |",
        "S -> S S | '(' S ')' | '(' ')'",
        "S -> A S A | 'a' | \nA -> S | 'b'",
        "S -> A | B 'a'\nA -> B C | 'a' 'b'\nB -> A | 'b' |\nC -> 'b' C | ",
    ],
)
def test_trees_are_drawn_uniformly(text: str) -> None:
    grammar = Grammar.fromstring(text)
    n, draws = 4, 20_000
    if cycle(grammar) is None:
        expected = {s: k for s, k in trees(grammar, n).items() if len(s) == n}
    else:
        expected = {s: 0 for s in language(grammar, n) if len(s) == n}
    drawn = Counter(sentences(grammar, draws, 5, length=n))
    assert set(drawn) == set(expected)
    for sentence, k in expected.items():
        if k:
            share = k / sum(expected.values())
            assert abs(drawn[sentence] - draws * share) < 5 * (draws * share) ** 0.5


def test_steps_that_lead_back_are_left_out() -> None:
    # With S → S S where one is empty there would be infinitely many trees.
    cyclic = Grammar.fromstring("S -> S S | 'a' | 'b' 'b' | T\nT -> S | 'c' S |")
    plain = Grammar.fromstring("S -> S S | 'a' | 'b' 'b' | 'c' S | 'c'")
    derivations, other = Derivations(cyclic), Derivations(plain)
    assert [derivations.count(n) for n in range(9)] == [1] + [other.count(n) for n in range(1, 9)]
    draws = 20_000
    drawn = Counter(sentences(cyclic, draws, 5, length=3))
    expected = {s: n for s, n in trees(plain, 3).items() if len(s) == 3}
    assert set(drawn) == set(expected)
    for sentence, number in expected.items():
        share = draws * number / sum(expected.values())
        assert abs(drawn[sentence] - share) < 5 * share**0.5


def test_lengths_are_drawn_uniformly() -> None:
    drawn = Counter(map(len, sentences(DYCK, 8_000, 3, minimum=1, maximum=9)))
    assert set(drawn) == {2, 4, 6, 8}
    assert all(abs(number - 2_000) < 200 for number in drawn.values())
    assert {len(s) for s in sentences(TWICE, 200, 3)} == set(range(3, 24, 3))
    assert {len(s) for s in sentences(TWICE, 200, 3, minimum=10)} == set(range(12, 31, 3))


def test_a_seed_gives_the_same_sentences() -> None:
    for grammar in (DYCK, Grammar.fromstring("S -> 'a' S [0.9] | 'b' S [0.05] | [0.05]")):
        first = list(sentences(grammar, 20, 7))
        assert first == list(sentences(grammar, 20, 7))
        assert first == list(islice(sentences(grammar, 100, 7), 20))
        assert first != list(sentences(grammar, 20, 8))
    assert list(sentences(DYCK, 0, 1)) == []


def test_probabilities_are_followed() -> None:
    grammar = Grammar.fromstring(
        "S -> NP 'v' NP [0.75] | NP 'v' [0.25]\n"
        "NP -> 'n' [0.5] | 'd' 'n' [0.3] | 'p' [0.2] | 'x' [0]"
    )
    nouns = {("n",): 0.5, ("d", "n"): 0.3, ("p",): 0.2}
    expected = {(*a, "v"): p * 0.25 for a, p in nouns.items()}
    for a, p in nouns.items():
        expected |= {(*a, "v", *b): p * q * 0.75 for b, q in nouns.items()}
    draws, rejected = 20_000, Rejected()
    drawn = Counter(sentences(grammar, draws, 1, rejected=rejected))
    assert len(rejected) == 0
    assert set(drawn) == set(expected)
    for sentence, share in expected.items():
        assert abs(drawn[sentence] - draws * share) < 5 * (draws * share) ** 0.5


def test_what_is_not_wanted_is_counted() -> None:
    grammar = Grammar.fromstring("S -> 'a' S [0.5] | 'a' [0.25] | A [0.25]\nA -> 'b' A [1.0]")
    rejected = Rejected()
    drawn = list(sentences(grammar, 2_000, 1, minimum=2, maximum=3, rejected=rejected))
    assert set(map(len, drawn)) == {2, 3}
    assert set(rejected.short) == {1}
    # Of 16 drawn, 4 lead to A from the start, 4 have one token, 2 two, 1 three.
    total = len(rejected) + len(drawn)
    for number, share in [(len(drawn), 3 / 16), (rejected.short[1], 4 / 16)]:
        assert abs(number - total * share) < 5 * (total * share) ** 0.5
    assert rejected.long > 0
    assert rejected.lost > 0
    text = f"{rejected.short[1]} with only 1 tokens, {rejected.long} too long, {rejected.lost}"
    assert str(rejected) == f"{len(rejected)} rejected: {text} without an end"
    assert str(Rejected()) == "0 rejected"
    assert str(Rejected(Counter([1, 3, 2]))) == "3 rejected: 3 with only 1 to 3 tokens"


def test_a_grammar_that_grows_without_end_is_cut_off() -> None:
    grammar = Grammar.fromstring("S -> S S [0.9] | 'a' [0.1]")
    rejected = Rejected()
    drawn = list(sentences(grammar, 50, 1, maximum=5, rejected=rejected))
    assert {len(s) for s in drawn} <= {1, 2, 3, 4, 5}
    assert rejected.long > 50
    grammar = Grammar.fromstring("S -> S [1.0] | 'a' [0.0001]")
    assert list(sentences(grammar, 1, 1)) == [("a",)]


def test_gives_up_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ckyparse.sample.EFFORT", 1_000)
    grammar = Grammar.fromstring("S -> 'a' S [0.0001] | 'b' [0.9999]")
    says = r"^no sentence of 5 to 9 tokens was found; \d+ rejected: \d+ with only 1 tokens$"
    with pytest.raises(SampleError, match=says):
        next(sentences(grammar, 1, 1, minimum=5, maximum=9))
    grammar = Grammar.fromstring("S -> S [1.0] | 'a' [0.000000001]")
    with pytest.raises(SampleError, match=r"1 rejected: 1 without an end$"):
        next(sentences(grammar, 1, 1))


NEARBY = "no sentence has 5 tokens; lengths nearby: "


@pytest.mark.parametrize(
    ("text", "bounds", "says"),
    [
        ("S -> 'a' S", {}, "the language of S is empty: there are no sentences"),
        ("S -> 'a' S [1.0] | 'a' [0]", {}, "the language of S is empty: there are no sentences"),
        ("S -> 'a' 'a' S |", {"length": 5}, NEARBY + "0, 2, 4, 6, 8, 10"),
        ("S -> 'a' 'a' S |", {"minimum": 5, "maximum": 5}, "no sentence has 5 tokens; lengths n"),
        ("S -> 'a' | 'a' 'b'", {"minimum": 3}, "no sentence has 3 or more tokens; lengths near"),
        ("S -> 'a' | 'a' 'b'", {"minimum": 3, "maximum": 7}, "no sentence has 3 to 7 tokens; l"),
        ("S -> 'a' [1.0] | 'b' 'b' [0]", {"length": 2}, "no sentence has 2 tokens; lengths n"),
        ("S -> S S 'a' | 'b'", {"length": 100_000}, "counting the trees of 100000 tokens would"),
        ("S -> " + "'a' " * 99, {"maximum": 9}, "no sentence has 0 to 9 tokens; lengths nearby: 9"),
    ],
)  # fmt: skip
def test_says_why_there_are_none(text: str, bounds: dict[str, int], says: str) -> None:
    with pytest.raises(SampleError) as caught:
        sentences(Grammar.fromstring(text), 1, 1, **bounds)
    assert str(caught.value).startswith(says)


def test_bounds_that_mean_nothing() -> None:
    for bounds in [(-1, 1), (1, 1, None, -1), (1, 1, None, 3, 2), (1, 1, -2)]:
        with pytest.raises(ValueError, match="tokens"):
            sentences(DYCK, *bounds)
    with pytest.raises(ValueError, match="not both"):
        sentences(DYCK, 1, 1, length=2, minimum=1)


def test_sparse_lengths_are_found() -> None:
    grammar = Grammar.fromstring("S -> T S |\nT -> " + "'a' " * 64)
    assert {len(s) for s in sentences(grammar, 30, 1, minimum=70)} == {128}
