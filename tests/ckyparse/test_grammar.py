"""Grammars: what they are made from and turned into."""

from __future__ import annotations

import hashlib
import pickle
import subprocess
import sys
from fractions import Fraction
from typing import Any

import nltk
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.grammar import ProbabilisticProduction

from ckyparse.grammar import Grammar, GrammarError, Nonterminal, Production, decimal
from tests.ckyparse.oracle import grammars

S, A, B = (Nonterminal(name) for name in "SAB")
HALF = Fraction(1, 2)


def test_says_what_it_has() -> None:
    grammar = Grammar(
        S,
        [
            Production(A, ("b", B)),
            Production(S, (A, "a")),
            Production(B, ("a",)),
            Production(A, ()),
        ],
    )
    assert grammar.nonterminals == (S, A, B)
    assert grammar.terminals == ("b", "a")
    assert grammar.productions_of(A) == (Production(A, ("b", B)), Production(A, ()))
    assert grammar.productions_of(Nonterminal("X")) == ()
    assert not grammar.is_probabilistic
    assert repr(grammar) == "<Grammar of 4 productions, 3 nonterminals, start symbol S>"
    assert str(grammar) == "%start S\nA -> 'b' B\nS -> A 'a'\nB -> 'a'\nA ->\n"


def test_a_production_is_one_line() -> None:
    rhs = ("it's", A, '"', "'\"", "a\nb")
    assert str(Production(S, rhs, HALF)) == """S -> "it's" A '"' '\\'"' 'a\\nb' [0.5]"""


def test_a_nonterminal_is_no_terminal_of_the_same_name() -> None:
    grammar = Grammar(S, [Production(S, ("S", S)), Production(S, (S, S))])
    assert len(grammar.productions) == 2
    assert (grammar.nonterminals, grammar.terminals) == ((S,), ("S",))


def test_equal_productions_become_one() -> None:
    rows = [("a", 1), ("b", 2), ("a", 3)]
    grammar = Grammar(
        S, [Production(S, (s,), Fraction(n, 6), line) for line, (s, n) in enumerate(rows)]
    )
    assert [(p.rhs, p.probability, p.line) for p in grammar.productions] == [
        (("a",), Fraction(2, 3), 0),
        (("b",), Fraction(1, 3), 1),
    ]
    assert len(Grammar(S, [Production(S, ())] * 3).productions) == 1


def test_equality_is_of_start_symbol_and_productions_in_order() -> None:
    a, b = Production(S, ("a",)), Production(S, ("b",))
    assert Grammar(S, [a, b]) == Grammar(S, [a, Production(S, ("b",), None, 7, 2), a])
    assert hash(Grammar(S, [a, b])) == hash(Grammar(S, [a, b]))
    different = [Grammar(A, [a, b]), Grammar(S, [b, a]), Grammar(S, [a]), "S -> 'a'", None]
    assert all(Grammar(S, [a, b]) != other for other in different)
    assert Grammar(S, [Production(S, (), HALF)]) != Grammar(S, [Production(S, ())])


@pytest.mark.parametrize("order", [slice(None), slice(None, None, -1)])
def test_all_productions_have_probabilities_or_none(order: slice) -> None:
    rows = [Production(S, ("a",), HALF), Production(S, (), line=3, column=4)]
    with pytest.raises(GrammarError, match="S -> has no probability, though other") as caught:
        Grammar(S, rows[order])
    assert (caught.value.line, caught.value.column) == (3, 4)


def test_no_probability_is_negative() -> None:
    with pytest.raises(GrammarError, match="the probability -1/2 is negative") as caught:
        Grammar(S, [Production(S, ("a",), -HALF, 2, 3)])
    assert (caught.value.line, caught.value.column) == (2, 3)


@settings(deadline=None)
@given(st.booleans().flatmap(lambda p: grammars(probabilities=p)))
def test_text_reads_back(grammar: Grammar) -> None:
    again = Grammar.fromstring(str(grammar))
    assert again == grammar
    assert again.is_probabilistic == grammar.is_probabilistic


@given(st.fractions(0, 10**30))
def test_decimals_are_exact(number: Fraction) -> None:
    for value in (number, Fraction(int(number), 2**7 * 5**3), Fraction(int(number))):
        text = decimal(value)
        assert Fraction(text) == value
        assert ("/" in text) == bool((10**200 * value) % 1)
        assert text.count(".") + text.count("/") == 1 or value.denominator == 1


@pytest.mark.parametrize(
    "terminal", ["", " ", "a b", "'", '"', "\\", "a\\", "#", "|", "[1.0]", "\r", "ä", "\x00"]
)
def test_terminals_that_can_be_written(terminal: str) -> None:
    grammar = Grammar(S, [Production(S, (terminal, S)), Production(S, (terminal,))])
    assert Grammar.fromstring(str(grammar)) == grammar


@pytest.mark.parametrize(
    ("grammar", "says"),
    [
        (Grammar(S, []), "a grammar without productions cannot be written"),
        (Grammar(S, [Production(S, ("'\"",))]), "terminal '\\'\"' cannot be written"),
        (Grammar(S, [Production(S, ("a\nb",))]), "terminal 'a\\nb' cannot be written"),
        (Grammar(S, [Production(S, (Nonterminal("a b"),))]), "nonterminal 'a b' cannot be"),
        (Grammar(S, [Production(S, (Nonterminal("A "),))]), "nonterminal 'A ' cannot be"),
        (Grammar(Nonterminal(""), [Production(S, ())]), "nonterminal '' cannot be written"),
    ],
)
def test_says_what_cannot_be_written(grammar: Grammar, says: str) -> None:
    with pytest.raises(GrammarError) as caught:
        str(grammar)
    assert str(caught.value).startswith(says)
    assert repr(grammar)


@settings(deadline=None)
@given(st.booleans().flatmap(lambda p: grammars(probabilities=p)))
def test_there_and_back_through_nltk(grammar: Grammar) -> None:
    theirs = grammar.to_nltk()
    assert isinstance(theirs, nltk.PCFG) == grammar.is_probabilistic
    again = Grammar.of(theirs)
    assert again.start == grammar.start
    assert [(p.lhs, p.rhs) for p in again.productions] == [
        (p.lhs, p.rhs) for p in grammar.productions
    ]
    for ours, exact in zip(again.productions, grammar.productions, strict=True):
        assert (ours.probability is None) == (exact.probability is None)
        if ours.probability is not None and exact.probability is not None:
            assert float(ours.probability) == float(exact.probability)
    assert again == Grammar.of(again.to_nltk())


def test_probabilities_from_nltk_are_short_decimals() -> None:
    text = "S -> 'a' [0.1] | 'b' [0.7] | 'c' [0.2]"
    assert Grammar.of(nltk.PCFG.fromstring(text)) == Grammar.fromstring(text)


def made(start: Any, *rows: tuple[Any, list[Any]]) -> nltk.CFG:
    return nltk.CFG(start, [nltk.Production(lhs, rhs) for lhs, rhs in rows])


def test_any_symbols_of_nltk() -> None:
    pair, number = nltk.Nonterminal(("NP", 3)), nltk.Nonterminal(7)
    theirs = made(pair, (pair, ["a", number]), (number, []))
    grammar = Grammar.of(theirs)
    assert [s.name for s in grammar.nonterminals] == ["('NP', 3)", "7"]
    assert [grammar.label(s) for s in grammar.nonterminals] == [("NP", 3), 7]
    assert grammar.label(S) == "S"
    back = grammar.to_nltk()
    assert (back.start(), back.productions()) == (pair, theirs.productions())


X, ONE = nltk.Nonterminal("X"), nltk.Nonterminal(1)
REFUSED = [
    (made(ONE, (ONE, [nltk.Nonterminal("1")])), "nonterminals 1 and '1' have the same name, '1'"),
    (made(X, (X, ["a", 5])), "terminal 5 is no string but int"),
    (
        nltk.grammar.FeatureGrammar.fromstring("S -> NP[NUM=?n]\nNP[NUM=sg] -> 'a'"),
        "a grammar with features is not context-free: expand them first",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("grammar", "says"), REFUSED, ids=range(len(REFUSED)))
def test_says_why_nltks_grammar_will_not_do(grammar: nltk.CFG, says: str) -> None:
    with pytest.raises(GrammarError) as caught:
        Grammar.of(grammar)
    assert str(caught.value) == says


def test_probabilities_of_nltk_are_checked() -> None:
    row = ProbabilisticProduction(X, ["a"], prob=1.0)
    grammar = nltk.PCFG(X, [row])
    for value, says in [
        (float("nan"), "nan is no probability, that of X -> a"),
        (-1.0, "-1.0 is no probability, that of X -> a"),
        (0.9, "the probabilities of X sum to 0.9, not to 1"),
    ]:
        grammar._productions = [ProbabilisticProduction(X, ["a"], prob=value)]
        with pytest.raises(GrammarError) as caught:
            Grammar.of(grammar)
        assert str(caught.value) == says
    grammar._productions = [row, nltk.Production(X, [])]
    with pytest.raises(GrammarError, match="has no probability"):
        Grammar.of(grammar)
    with pytest.raises(GrammarError, match=r"^the probabilities of S sum to 0\.5, not to 1$"):
        Grammar(S, [Production(S, (), HALF)]).to_nltk()


def test_only_grammars_come_from_nltk() -> None:
    with pytest.raises(TypeError, match="not an nltk CFG or PCFG: str"):
        Grammar.of("S -> 'a'")


@given(st.integers(1, 5), st.integers(0, 125), st.integers(0, 3), st.integers(1, 8) | st.none())
def test_random_grammars(symbols: int, rules: int, seed: int, terminals: int | None) -> None:
    if rules > symbols**3:
        with pytest.raises(ValueError, match=f"{rules} rules: {symbols} nonterminals make"):
            Grammar.random(symbols, rules, seed, terminals)
        return
    grammar = Grammar.random(symbols, rules, seed, terminals)
    assert grammar == Grammar.random(symbols, rules, seed, terminals)
    assert grammar == Grammar(grammar.start, grammar.productions)
    names = tuple(Nonterminal(f"A{i}") for i in range(symbols))
    assert grammar.start == names[0]
    assert set(grammar.nonterminals) == set(names)
    count = symbols if terminals is None else terminals
    assert set(grammar.terminals) == {f"t{i}" for i in range(count)}
    binary, lexical = grammar.productions[:rules], grammar.productions[rules:]
    assert all(len(p.rhs) == 2 and set(p.rhs) <= set(names) for p in binary)
    assert len(lexical) == max(symbols, count)
    if count == symbols:
        assert [(p.lhs.name, p.rhs) for p in lexical] == [
            (f"A{i}", (f"t{i}",)) for i in range(symbols)
        ]


def test_random_grammars_are_the_same_everywhere() -> None:
    def digest(grammar: Grammar) -> str:
        return hashlib.sha256(str(grammar).encode()).hexdigest()[:16]

    assert str(Grammar.random(2, 3, 0)) == (
        "%start A0\nA0 -> A1 A0\nA0 -> A1 A1\nA1 -> A1 A0\nA0 -> 't0'\nA1 -> 't1'\n"
    )
    assert digest(Grammar.random(32, 8192, 1)) == "2a32a5d3f5442f9b"
    assert digest(Grammar.random(64, 8192, 1)) == "78e83b9723b44ec3"


def test_random_grammars_of_no_size() -> None:
    for numbers in [(0, 0, 1), (3, 3, 1, 0), (1 << 17, 1, 1), (-1, 0, 1)]:
        with pytest.raises(ValueError, match="nonterminals and"):
            Grammar.random(*numbers)
    with pytest.raises(ValueError, match="-1 rules: 2 nonterminals make 8 binary rules"):
        Grammar.random(2, -1, 1)


def test_errors_survive_pickling() -> None:
    error = GrammarError("no", "G.cfg", 3, 14)
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) == "G.cfg:3:14: no"
    assert (again.message, again.source, again.line, again.column) == ("no", "G.cfg", 3, 14)


def test_grammars_survive_pickling() -> None:
    grammar = Grammar.fromstring("S -> 'a' S [0.5] | [0.5]")
    assert pickle.loads(pickle.dumps(grammar)) == grammar


def test_reading_loads_neither_numpy_nor_nltk() -> None:
    code = (
        "import sys, ckyparse.analysis, ckyparse.reading\n"
        "from ckyparse.grammar import Grammar\n"
        "print(Grammar.fromstring(\"S -> 'a'\"))\n"
        "sys.exit(any(name in sys.modules for name in ('numpy', 'nltk')))"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
