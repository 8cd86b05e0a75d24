"""Forests have the trees of the original grammars."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from nltk.parse import BottomUpLeftCornerChartParser, EarleyChartParser, ViterbiParser
from nltk.tree import Tree

from ckyparse.forest import Forest
from ckyparse.grammar import Grammar, Nonterminal, Production
from ckyparse.normal import NormalForm
from ckyparse.sums import NotRationalError
from kernels.cky.rules import cell, cells
from tests.ckyparse.oracle import grammars
from tests.ckyparse.trees import (
    TooManyError,
    flat,
    forest,
    inside,
    nltk_trees,
    probability,
    strings,
    trees,
)
from tests.quick import examples

DOUBLING = NormalForm(Grammar.fromstring("S -> S S | 'a'"))


def _of(text: str, tokens: str) -> Forest:
    return forest(NormalForm(Grammar.fromstring(text)), tokens.split())


@given(grammars(nonterminals=3, productions=6, longest=3))
def test_all_trees_and_each_once(grammar: Grammar) -> None:
    form = NormalForm(grammar)
    for tokens in strings(2):
        try:
            expected = {flat(tree) for tree in trees(grammar, tokens)}
        except TooManyError:
            continue
        parsed = forest(form, tokens)
        found = [flat(tree) for tree in parsed.trees()]
        assert len(found) == len(set(found))
        assert set(found) == expected
        assert (parsed.root is not None) == bool(expected)
        # Finitely many are all of them; and with a cycle there are always more.
        assert parsed.count() in (len(expected), math.inf)
        if not form.cyclic:
            assert parsed.count() == len(expected)


@pytest.mark.parametrize("parser", [EarleyChartParser, BottomUpLeftCornerChartParser])
@settings(max_examples=examples(40))
@given(grammar=grammars(nonterminals=3, productions=5, longest=3))
def test_trees_are_those_of_nltk(parser: type, grammar: Grammar) -> None:
    form = NormalForm(grammar)
    for tokens in strings(2):
        parsed = forest(form, tokens)
        found = [flat(tree) for tree in islice(parsed.trees(), 1000)]
        if len(found) == 1000:
            continue
        expected = nltk_trees(parser, grammar, tokens)
        if parsed.count() == math.inf:
            # It loses some where an edge has its trees asked for twice.
            assert set(found) >= set(expected)
            assert bool(found) == bool(expected)
        else:
            assert sorted(found) == sorted(expected)


def test_trees_of_a_cycle() -> None:
    parsed = _of("S -> A | 'a'\nA -> S | 'b' S", "a")
    assert parsed.count() == math.inf
    assert [flat(tree) for tree in parsed.trees()] == ["(S a)", "(S (A (S a)))"]


def test_the_lowest_tree_of_a_knot_is_first() -> None:
    # 12 symbols that derive each other: a walk without looking ahead would be lost.
    names = [Nonterminal(f"N{k}") for k in range(12)]
    productions = [Production(a, (b,)) for a in names for b in names]
    form = NormalForm(Grammar(names[0], [*productions, Production(names[-1], ("a",))]))
    parsed = forest(form, ["a"])
    assert parsed.count() == math.inf
    found = [flat(tree) for tree in islice(parsed.trees(), 50)]
    assert len(set(found)) == 50
    assert found[0] == "(N0 (N11 a))"


def test_empty_sentences() -> None:
    parsed = _of("S -> A B | 'a'\nA -> | B\nB -> | 'b'", "")
    assert parsed.count() == 2
    assert {flat(t) for t in parsed.trees()} == {"(S (A ) (B ))", "(S (A (B )) (B ))"}
    assert parsed.spans() == {}
    parsed = _of("S -> 'a'", "")
    assert (parsed.count(), list(parsed.trees()), parsed.root) == (0, [], None)
    assert _of("S -> S S |", "").count() == math.inf
    assert _of("S -> S 'a'", "").count() == 0


def test_unknown_tokens() -> None:
    parsed = _of("S -> 'a' S | 'a'", "a b a")
    assert parsed.count() == 0
    assert list(parsed.trees()) == []
    assert parsed.spans() == {(0, 1): ["S"], (2, 3): ["S"]}


def test_terminals_in_place_of_tokens() -> None:
    form = NormalForm(Grammar.fromstring("S -> 'a' S | 'unk'"))
    bits = forest(form, ["a", "unk"]).chart
    (tree,) = Forest(form, ["a", "cat"], bits, terminals=[0, 1]).trees()
    assert flat(tree) == "(S a (S cat))"


def test_charts_of_another_size_are_refused() -> None:
    with pytest.raises(ValueError, match=r"a chart of shape \(3, 1\) for 3 tokens"):
        Forest(DOUBLING, ["a"] * 3, np.ones((3, 1), np.bool_))


def test_labels_are_those_of_nltk() -> None:
    from nltk import CFG

    grammar = CFG.fromstring("S -> NP 'runs'\nNP -> 'she'")
    (expected,) = BottomUpLeftCornerChartParser(grammar).parse(["she", "runs"])
    (found,) = forest(NormalForm(Grammar.of(grammar)), ["she", "runs"]).trees()
    assert found == expected
    assert found.label() == "S"


def test_long_right_hand_sides() -> None:
    word = " ".join("abcdefghij" * 8)
    rhs = " ".join(f"'{letter}'" for letter in word.split())
    (tree,) = _of(f"S -> {rhs}", word).trees()
    assert tree == Tree("S", word.split())


def test_catalan_numbers() -> None:
    for n in range(1, 31):
        assert forest(DOUBLING, ["a"] * n).count() == math.comb(2 * n - 2, n - 1) // n


def test_more_trees_than_could_be_written_down() -> None:
    n = 120
    parsed = Forest(DOUBLING, ["a"] * n, np.ones((cells(n), 1), np.bool_))
    found = list(islice(parsed.trees(), 3))
    assert len({flat(tree) for tree in found}) == 3
    assert all(tree.leaves() == ["a"] * n for tree in found[:1])
    assert parsed.count() == math.comb(2 * n - 2, n - 1) // n > 10**60


@pytest.mark.parametrize(
    "text", ["S -> 'a' S [0.5] | 'a' [0.5]", "S -> A S [0.5] | A [0.5]\nA -> 'a' [1.0]"]
)
def test_trees_deeper_than_the_stack(text: str) -> None:
    n = 3000
    form = NormalForm(Grammar.fromstring(text))
    bits = np.zeros((cells(n), form.rules.symbols), np.bool_)
    bits[[cell(i, i + 1) for i in range(n)]] = True
    bits[[cell(i, n) for i in range(n)], 0] = True
    parsed = Forest(form, ["a"] * n, bits)
    (tree,) = parsed.trees()
    assert parsed.count() == 1
    best = parsed.best()
    assert best is not None
    for found in (tree, best[0]):
        depth = 1
        while len(found) == 2:
            found, depth = found[1], depth + 1
        assert depth == n
    assert best[1] == parsed.probability() == Fraction(1, 2**n)


# Probabilities


@settings(max_examples=examples(150))
@given(grammars(nonterminals=3, productions=6, longest=3, probabilities=True))
def test_probabilities_and_best_trees(grammar: Grammar) -> None:
    form = NormalForm(grammar)
    for tokens in strings(2):
        parsed = forest(form, tokens)
        count, best = parsed.count(), parsed.best()
        assert (best is None) == (count == 0)
        try:
            total = parsed.probability()
        except NotRationalError:
            continue
        if best is not None:
            assert probability(grammar, best[0]) == best[1] <= total
            some = [probability(grammar, tree) for tree in islice(parsed.trees(), 300)]
            assert max(some) <= best[1]
            if len(some) < 300:
                assert max(some) == best[1]
            if len(some) == count:
                assert sum(some) == total
        expected = inside(grammar, tokens)
        if expected is not None:
            assert float(total) == pytest.approx(expected, rel=1e-9)


def test_best_trees_are_those_of_nltk() -> None:
    grammar = Grammar.fromstring(
        """
        S -> NP VP [1.0]
        NP -> Det N [0.5] | NP PP [0.25] | 'John' [0.125] | 'I' [0.125]
        Det -> 'the' [0.75] | 'my' [0.25]
        N -> 'man' [0.5] | 'telescope' [0.5]
        VP -> VP PP [0.125] | V NP [0.75] | V [0.125]
        V -> 'saw' [0.5] | 'ate' [0.5]
        PP -> P NP [1.0]
        P -> 'with' [0.625] | 'under' [0.375]
        """
    )
    form, viterbi = NormalForm(grammar), ViterbiParser(grammar.to_nltk())
    for text in ("I saw the man with my telescope", "John saw", "I ate the man under the man"):
        (expected,) = viterbi.parse(text.split())
        best = forest(form, text.split()).best()
        assert best is not None
        assert flat(best[0]) == flat(Tree.convert(expected))
        assert float(best[1]) == pytest.approx(expected.prob(), rel=1e-12)


def test_cycles_with_probabilities() -> None:
    parsed = _of("S -> A [0.5] | 'a' [0.5]\nA -> S [0.5] | 'b' [0.5]", "a")
    assert parsed.probability() == Fraction(1, 2) / (1 - Fraction(1, 4))
    best = parsed.best()
    assert best is not None
    assert (flat(best[0]), best[1]) == ("(S a)", Fraction(1, 2))


def test_weights_above_one() -> None:
    s = Nonterminal("S")
    rules = [Production(s, (s,), Fraction(2)), Production(s, ("a",), Fraction(1))]
    parsed = forest(NormalForm(Grammar(s, rules)), ["a"])
    assert parsed.probability() == math.inf
    with pytest.raises(ValueError, match="no best parse"):
        parsed.best()


def test_what_needs_probabilities() -> None:
    parsed = _of("S -> 'a'", "a")
    for method in (parsed.best, parsed.probability):
        with pytest.raises(ValueError, match="the grammar has no probabilities"):
            method()


def test_roots_of_polynomials() -> None:
    text = "S -> S S [0.25] | [0.5] | 'a' [0.25]"
    for tokens in ("", "a"):
        with pytest.raises(NotRationalError, match="no exact values"):
            _of(text, tokens).probability()
    best = _of(text, "a").best()
    assert best is not None
    assert best[1] == Fraction(1, 4)


def test_spans() -> None:
    parsed = _of("S -> NP VP\nVP -> V | V NP\nV -> 'saw'\nNP -> 'I' | 'him' 'too'", "I saw him too")
    assert parsed.spans() == {
        (0, 1): ["NP"],
        (0, 2): ["S"],
        (0, 4): ["S"],
        (1, 2): ["VP", "V"],
        (1, 4): ["VP"],
        (2, 4): ["NP"],
    }
