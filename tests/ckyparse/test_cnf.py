"""Chomsky normal form keeps sentences and their probabilities."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from nltk.parse import BottomUpLeftCornerChartParser

from ckyparse.analysis import filling, is_empty, nullable, trimmed
from ckyparse.cnf import chomsky_normal_form
from ckyparse.grammar import Grammar, GrammarError, Nonterminal, Production
from ckyparse.normal import NormalForm
from ckyparse.sums import NotRationalError
from tests.ckyparse.oracle import grammars, language
from tests.ckyparse.trees import forest, inside, nltk_trees, strings
from tests.quick import examples

S = Nonterminal("S")


def _check_form(original: Grammar, found: Grammar) -> None:
    empty = False
    used = {symbol for production in found.productions for symbol in production.rhs}
    for production in found.productions:
        kinds = tuple(type(symbol) for symbol in production.rhs)
        assert kinds in ((str,), (Nonterminal, Nonterminal), ())
        if not kinds:
            assert production.lhs == found.start
            assert found.start not in used
            empty = True
    assert empty == (original.start in nullable(original))
    sides = [(production.lhs, production.rhs) for production in found.productions]
    assert len(set(sides)) == len(sides)
    useful, notes = trimmed(found)
    assert useful == found
    assert bool(notes) == is_empty(original)


@settings(max_examples=examples(200))
@given(grammars(nonterminals=4, productions=8))
def test_the_language_stays(grammar: Grammar) -> None:
    found = chomsky_normal_form(grammar)
    _check_form(grammar, found)
    assert language(found, 4) == language(grammar, 4)
    if found.productions:
        assert Grammar.fromstring(str(found)) == found
    # What is in normal form already stays what it is.
    assert set(chomsky_normal_form(found).productions) == set(found.productions)


@settings(max_examples=examples(60))
@given(grammars(nonterminals=3, productions=6))
def test_nltk_parses_with_it(grammar: Grammar) -> None:
    found = chomsky_normal_form(grammar)
    if not found.productions:
        return
    for tokens in strings(2):
        expected = bool(nltk_trees(BottomUpLeftCornerChartParser, found, tokens))
        assert expected == (tokens in language(grammar, 2))


@settings(max_examples=examples(150))
@given(grammars(nonterminals=3, productions=6, longest=3, probabilities=True))
def test_probabilities_stay(grammar: Grammar) -> None:
    found = chomsky_normal_form(grammar)
    _check_form(grammar, found)
    form, new = NormalForm(grammar), NormalForm(found)
    try:
        form.exact()
        exact = True
    except NotRationalError:
        exact = False
    for tokens in strings(3):
        value = forest(new, tokens).probability() if found.productions else 0
        if exact:
            assert value == forest(form, tokens).probability()
        elif (expected := inside(grammar, tokens)) is not None:
            assert float(value) == pytest.approx(expected, rel=1e-9)
    whole = len(trimmed(grammar)[0].productions) == len(grammar.productions)
    if whole and all(
        a in filling(grammar) or inside(grammar.with_start(a), ()) == pytest.approx(1)
        for a in grammar.nonterminals
    ):
        for symbol in found.nonterminals:
            total = sum(p.probability or 0 for p in found.productions_of(symbol))
            assert float(total) == pytest.approx(1, rel=1e-9)


def test_an_example() -> None:
    found = chomsky_normal_form(Grammar.fromstring("S -> 'a' S 'b' | 'a' 'b' | S S"))
    assert str(found) == (
        "%start S\nS -> T_a S-T_b\nS -> T_a T_b\nS -> S S\nT_a -> 'a'\nT_b -> 'b'\nS-T_b -> S T_b\n"
    )


def test_the_start_symbol_on_the_right() -> None:
    found = chomsky_normal_form(Grammar.fromstring("S -> '(' S ')' S [0.25] | [0.75]"))
    assert found.start == Nonterminal("S0")
    assert [p.probability for p in found.productions_of(found.start)] == [
        Fraction(3, 4),
        Fraction(1, 4),
    ]
    assert Production(found.start, (), Fraction(3, 4)) in found.productions
    found.to_nltk()  # all sums are one
    kept = chomsky_normal_form(Grammar.fromstring("S -> 'a' B |\nB -> 'b' B | 'b'"))
    assert kept.start == S
    assert Production(S, ()) in kept.productions


def test_names_in_use() -> None:
    text = "S -> '(' S0 'a' B | S0 S |\nS0 -> 'b' | T_a T_1\nT_a -> 'a'\nT_1 -> 'c'\nB -> 'b'"
    grammar = Grammar.fromstring(text)
    found = chomsky_normal_form(grammar)
    assert language(found, 5) == language(grammar, 5)
    names = {symbol.name for symbol in found.nonterminals}
    # S_1 for the start, T_2 and T_3 for ( and a, whose names are taken.
    assert names >= {"S", "S0", "S_1", "T_a", "T_1", "T_2", "T_3", "B"}
    assert Grammar.fromstring(str(found)) == found


def test_long_names_are_numbers() -> None:
    rhs = " ".join(f"'{letter * 9}'" for letter in "abcdefgh")
    found = chomsky_normal_form(Grammar.fromstring(f"S -> {rhs} | 'i'"))
    assert max(len(symbol.name) for symbol in found.nonterminals) <= 40
    assert {"H_1", "H_2", "T_aaaaaaaaa", "T_ggggggggg-T_hhhhhhhhh"} <= {
        symbol.name for symbol in found.nonterminals
    }


@pytest.mark.parametrize("text", ["S -> S 'a'", "S -> A 'a'\nA -> A A"])
def test_no_sentences(text: str) -> None:
    found = chomsky_normal_form(Grammar.fromstring(text))
    assert found.productions == ()
    assert found.start == S


def test_only_the_empty_sentence() -> None:
    found = chomsky_normal_form(Grammar.fromstring("S -> A A [0.5] | [0.5]\nA -> [1.0]"))
    assert found.productions == (Production(S, (), Fraction(1)),)


def test_unit_cycles() -> None:
    text = "S -> A [0.5] | 'a' [0.5]\nA -> S [0.5] | 'b' [0.5]"
    found = chomsky_normal_form(Grammar.fromstring(text))
    assert found.productions == (
        Production(S, ("a",), Fraction(2, 3)),
        Production(S, ("b",), Fraction(1, 3)),
    )


def test_roots_of_polynomials_become_decimals() -> None:
    grammar = Grammar.fromstring("S -> S S [0.25] | [0.5] | 'a' [0.25]")
    found = chomsky_normal_form(grammar)
    assert float(found.productions_of(found.start)[0].probability or 0) == pytest.approx(
        2 - 2**0.5, rel=1e-15
    )
    assert Grammar.fromstring(str(found)) == found


def test_sums_without_end() -> None:
    rules = [Production(S, (S,), Fraction(1)), Production(S, ("a",), Fraction(1))]
    with pytest.raises(GrammarError, match="without end"):
        chomsky_normal_form(Grammar(S, rules))
