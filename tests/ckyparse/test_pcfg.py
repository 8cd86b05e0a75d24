"""Probabilities beside exact fractions and nltk's ViterbiParser."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import islice, pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from nltk import PCFG, InsideChartParser, ViterbiParser
from nltk.tree import ProbabilisticTree, Tree

from ckyparse import CKYParser, Grammar, Nonterminal, Production
from ckyparse.ranked import Ranked
from ckyparse.sums import NotRationalError
from tests.ckyparse.backends import ALL
from tests.ckyparse.oracle import Sentence, grammars
from tests.ckyparse.test_parser import STRINGS
from tests.quick import examples

ENGLISH = """
S -> NP VP [1.0]
NP -> Det N [0.5] | NP PP [0.25] | 'John' [0.1] | 'I' [0.15]
Det -> 'the' [0.8] | 'my' [0.2]
N -> 'man' [0.5] | 'telescope' [0.5]
VP -> VP PP [0.1] | V NP [0.7] | V [0.2]
V -> 'ate' [0.35] | 'saw' [0.65]
PP -> P NP [1.0]
P -> 'with' [0.61] | 'under' [0.39]
"""
SENTENCES = [
    "I saw the man with my telescope",
    "John ate",
    "the man saw John under my telescope with the man under the man",
    "saw saw",
    "I",
]


def plain(tree: Tree) -> Tree:
    """Return the tree without probabilities."""
    return Tree.fromstring(Tree.pformat(tree, margin=10**6))


def product_of(tree: Tree, grammar: Grammar) -> Fraction:
    """The probability of a tree, straight from its productions."""
    known = {(p.lhs.name, p.rhs): p.probability for p in grammar.productions}
    result = Fraction(1)
    for p in Tree.productions(tree):
        rhs = tuple(s if isinstance(s, str) else Nonterminal(str(s)) for s in p.rhs())
        result *= known[str(p.lhs()), rhs] or 0
    return result


@pytest.mark.parametrize("backend", ALL)
def test_beside_the_parsers_of_nltk(backend: str) -> None:
    grammar = PCFG.fromstring(ENGLISH)
    parser, viterbi = CKYParser(grammar, backend=backend), ViterbiParser(grammar)
    inside = InsideChartParser(grammar)
    best = parser.best_log_probabilities(SENTENCES, tokens="space")
    for line, log in zip(SENTENCES, best, strict=True):
        tokens = line.split()
        expected, ours = next(viterbi.parse(tokens), None), parser.parse_one(tokens)
        if expected is None:
            assert (ours, log) == (None, -math.inf)
            continue
        assert isinstance(ours, ProbabilisticTree)
        assert plain(ours) == plain(expected)
        assert ours.prob() == pytest.approx(expected.prob())
        assert [t.prob() for t in ours.subtrees()] == pytest.approx(
            [t.prob() for t in expected.subtrees()]
        )
        assert log == pytest.approx(math.log(expected.prob()))
        every = parser.parse_all(tokens)
        theirs = list(inside.parse(tokens))
        assert [t.prob() for t in every] == pytest.approx([t.prob() for t in theirs])
        assert sorted(map(str, map(plain, every))) == sorted(map(str, map(plain, theirs)))


@pytest.mark.parametrize("backend", ALL)
def test_probabilities_are_sums_over_all_trees(backend: str) -> None:
    grammar = Grammar.fromstring(ENGLISH)
    parser = CKYParser(grammar, backend=backend)
    exact = parser.probabilities(SENTENCES, tokens="space")
    logs = parser.log_probabilities(SENTENCES, tokens="space")
    for line, probability, log in zip(SENTENCES, exact, logs, strict=True):
        trees = parser.parse_all(line.split())
        assert probability == sum((product_of(tree, grammar) for tree in trees), Fraction())
        assert log == (pytest.approx(math.log(probability)) if probability else -math.inf)


@pytest.mark.parametrize("backend", ALL)
@settings(max_examples=examples(40))
@given(
    grammar=grammars(probabilities=True),
    strings=st.lists(st.sampled_from(STRINGS), min_size=1, max_size=12),
)
def test_bulk_and_forest_agree(backend: str, grammar: Grammar, strings: list[Sentence]) -> None:
    parser = CKYParser(grammar, backend=backend, unknown="reject")
    forests = [chart.forest for chart in parser.charts(strings)]
    best = parser.best_log_probabilities(strings)
    for forest, log in zip(forests, best.tolist(), strict=True):
        found = forest.best()
        if found is None:
            assert log == -math.inf
            continue
        assert log == pytest.approx(math.log(found[1]), abs=1e-9)
        first = next(Ranked(forest).trees())
        assert first.prob() == pytest.approx(float(found[1]))
    try:
        exact = parser.probabilities(strings)
        logs = parser.log_probabilities(strings)
        sums = [forest.probability() for forest in forests]
    except (NotRationalError, ValueError):
        assume(False)
    assert list(exact) == sums
    assert logs == pytest.approx([math.log(p) if p else -math.inf for p in sums], abs=1e-9)


@pytest.mark.parametrize("backend", ALL)
@settings(max_examples=examples(60))
@given(grammar=grammars(probabilities=True), string=st.sampled_from(STRINGS))
def test_trees_come_in_order_of_probability(
    backend: str, grammar: Grammar, string: Sentence
) -> None:
    """Trees come in order with and without the best values of all spans to be led by."""
    chart = CKYParser(grammar, backend=backend, unknown="reject").charts([string])[0]
    trees = [str(plain(tree)) for tree in islice(chart.forest.trees(), 401)]
    chances = []
    for found in (chart.trees(), Ranked(chart.forest).trees()):
        ranked = list(islice(found, 400))
        for tree in ranked:
            assert tree.prob() == pytest.approx(float(product_of(tree, grammar)))
        chances.append([tree.prob() for tree in ranked])
        assert all(b <= a * (1 + 1e-9) for a, b in pairwise(chances[-1]))
        texts = {str(plain(tree)) for tree in ranked}
        assert len(texts) == len(ranked)
        if len(trees) <= 400:
            assert texts == set(trees)
    assert chances[0] == pytest.approx(chances[1])


@pytest.mark.parametrize("backend", ALL)
def test_parses_of_probability_zero(backend: str) -> None:
    text = "S -> A B [0.5] | 'a' [0.5]\nA -> 'a' [1.0] | 'b' [0.0]\nB -> 'b' [0.0] | [1.0]"
    parser = CKYParser(text, backend=backend)
    sentences = ["a", "ab", "b"]
    assert [len(parser.parse_all(s)) for s in sentences] == [2, 1, 1]
    assert [[t.prob() for t in trees] for trees in parser.parse_sents(sentences)] == [
        [0.5, 0.5],
        [0.0],
        [0.0],
    ]
    assert list(parser.probabilities(sentences)) == [1, 0, 0]
    assert parser.log_probabilities(sentences).tolist() == [0, -math.inf, -math.inf]
    assert parser.best_log_probabilities(sentences).tolist() == pytest.approx(
        [math.log(0.5), -math.inf, -math.inf]
    )


@pytest.mark.parametrize("backend", ALL)
def test_long_sentences_do_not_underflow(backend: str) -> None:
    parser = CKYParser("S -> 'a' S [0.001] | 'a' [0.999]", backend=backend)
    n = 120  # 10**-357
    exact = Fraction(1, 1000) ** (n - 1) * Fraction(999, 1000)
    assert parser.probabilities(["a" * n])[0] == exact
    log = pytest.approx((n - 1) * math.log(0.001) + math.log(0.999))
    assert parser.log_probabilities(["a" * n])[0] == log
    assert parser.best_log_probabilities(["a" * n])[0] == log


@pytest.mark.parametrize("backend", ALL)
def test_cycles_and_empty_productions(backend: str) -> None:
    text = "S -> A 'x' [1/2] | A [1/2]\nA -> B [1/4] | [1/2] | 'a' [1/4]\nB -> A [1.0]"
    parser = CKYParser(text, backend=backend)
    strings = ["", "a", "ax", "x", "xx"]
    third = Fraction(1, 3)
    expected = [third, third / 2, third / 2, third, 0]
    assert list(parser.probabilities(strings)) == expected
    logs = parser.log_probabilities(strings)
    assert np.exp(logs).tolist() == pytest.approx([float(p) for p in expected])
    best = [1 / 4, 1 / 8, 1 / 8, 1 / 4, 0]
    assert np.exp(parser.best_log_probabilities(strings)).tolist() == pytest.approx(best)


def test_what_has_no_sum_or_no_exact_value_is_said() -> None:
    diverges = Grammar(
        Nonterminal("S"),
        [
            Production(Nonterminal("S"), (Nonterminal("S"),), Fraction(1)),
            Production(Nonterminal("S"), ("a",), Fraction(1, 2)),
        ],
    )
    for method in ("probabilities", "log_probabilities"):
        with pytest.raises(ValueError, match="have no sum"):
            getattr(CKYParser(diverges), method)(["a"])
    with pytest.raises(NotRationalError, match="irrational"):
        CKYParser("S -> S S [0.25] | 'a' [0.5] | [0.25]").probabilities(["a"])
    parser = CKYParser("S -> 'a'")
    for method in ("probabilities", "log_probabilities", "best_log_probabilities"):
        with pytest.raises(ValueError, match="the grammar has no probabilities"):
            getattr(parser, method)(["a"])
    with pytest.raises(ValueError, match="the grammar has no probabilities"):
        parser.charts(["a"])[0].best()


def test_trees_of_long_sentences_keep_their_probabilities() -> None:
    """A product of hundreds of probabilities is no float; its logarithm is."""
    parser = CKYParser("S -> 'a' S [0.3] | 'a' [0.7]")
    (tree,) = parser.parse("a" * 700)
    assert tree.prob() == 0.0
    assert tree.logprob() == pytest.approx(699 * math.log2(0.3) + math.log2(0.7), rel=1e-12)
    assert tree[1].logprob() == pytest.approx(698 * math.log2(0.3) + math.log2(0.7), rel=1e-12)
    assert tree.logprob() * math.log(2) == pytest.approx(
        float(parser.best_log_probabilities(["a" * 700])[0])
    )
    short = parser.parse_one("aa")
    assert short is not None
    assert short.prob() == 0.3 * 0.7  # to the last digit, as nltk computes it


def test_trees_of_productions_that_are_hardly_possible() -> None:
    parser = CKYParser("S -> 'a' [1e-500] | S S [0] | 'b' [1]")
    (tree,) = parser.parse("a")
    assert tree.logprob() == pytest.approx(-500 * math.log2(10))
    (impossible,) = parser.parse("ab")
    assert (impossible.prob(), impossible.logprob()) == (0.0, -math.inf)


@pytest.mark.parametrize(
    "text",
    [
        "S -> 'a' [1e-400] | 'b' [1]",
        "S -> A [1e-200] | 'b' [1]\nA -> B [1e-200] | 'c' [1]\nB -> 'a' [1]",
        "S -> A E [1e-200] | 'b' [1]\nA -> 'a' [1]\nE -> F F [1]\nF -> [1e-100] | 'c' [1]",
    ],
)
def test_probabilities_that_are_smaller_than_floats(text: str) -> None:
    """They are said to be so, and not taken for zero."""
    parser = CKYParser(text)
    for method in ("log_probabilities", "best_log_probabilities"):
        with pytest.raises(ValueError, match="smaller here than floats can be"):
            getattr(parser, method)(["a"])
    assert list(parser.probabilities(["a"])) == [Fraction(1, 10**400)]
    tree = parser.parse_one("a")
    assert tree is not None
    assert tree.logprob() == pytest.approx(-400 * math.log2(10))
    zero = CKYParser("S -> A [0] | 'b' [1]\nA -> 'a' [1]")
    assert zero.log_probabilities(["a", "b"]).tolist() == [-math.inf, 0]
