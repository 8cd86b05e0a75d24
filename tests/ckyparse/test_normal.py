"""Normal forms derive what their grammars derive, as often and as probably."""

from __future__ import annotations

import math
import subprocess
import sys
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings

from ckyparse import sums
from ckyparse.analysis import filling, nullable, trimmed
from ckyparse.grammar import Grammar, GrammarError, Nonterminal, Production
from ckyparse.normal import NormalForm
from ckyparse.sums import NotRationalError
from kernels.cky import Rules, ref
from kernels.cky.weighted import INSIDE, VITERBI, Weights
from kernels.cky.weighted.ref import values
from kernels.cky.weighted.semirings import log
from tests.ckyparse.oracle import grammars, languages
from tests.ckyparse.trees import begins_sentence, forest, inside, numbers, strings
from tests.quick import examples

S = Nonterminal("S")


def _value(
    form: NormalForm, weights: Weights, tokens: tuple[str, ...], best: bool = False
) -> object:
    spans = values(form.rules, weights, numbers(form, tokens), VITERBI if best else INSIDE)
    return spans[0, len(tokens)].get(form.start, 0)


def _derives(rules: Rules, symbol: int, terminals: list[int]) -> bool:
    return symbol in ref.table(rules, terminals)[0, len(terminals)]


@settings(max_examples=examples(150))
@given(grammars(nonterminals=4, productions=8))
def test_symbols_derive_the_same_strings(grammar: Grammar) -> None:
    form = NormalForm(grammar)
    found = languages(trimmed(grammar)[0], 4)
    for tokens in strings(4):
        if tokens:
            derived = ref.table(form.rules, numbers(form, tokens))[0, len(tokens)]
            names = {form.symbol_of(number) for number in derived} - {None}
            assert names == {symbol for symbol, own in found.items() if tokens in own}


@given(grammars(nonterminals=4))
def test_numbers_and_names(grammar: Grammar) -> None:
    form = NormalForm(grammar)
    useful = trimmed(grammar)[0]
    full = filling(useful)
    assert form.id_of(grammar.start) == form.start == 0
    assert list(form.vocabulary) == list(grammar.terminals)
    assert list(form.vocabulary.values()) == list(range(len(grammar.terminals)))
    for symbol in grammar.nonterminals:
        assert form.nullable(symbol) == (symbol in nullable(useful) and bool(useful.productions))
        number = form.id_of(symbol)
        assert (number is not None) == (symbol in full or symbol == grammar.start)
        if number is not None:
            assert number < form.rules.symbols
            assert form.symbol_of(number) == symbol
    assert form.id_of(Nonterminal("elsewhere")) is None
    assert not form.nullable(Nonterminal("elsewhere"))


@given(grammars())
def test_rules_are_as_make_would_have_them(grammar: Grammar) -> None:
    form = NormalForm(grammar)
    for rules, _ in ((form.rules, 0), form.prefixes(), form.infinite() or form.prefixes()):
        made = Rules.make(rules.symbols, rules.terminals, rules.binary, rules.lexical, rules.units)
        for name in ("binary", "units", "lexical"):
            array = getattr(rules, name)
            np.testing.assert_array_equal(array, getattr(made, name))
            assert array.dtype == np.int32
            assert not array.flags.writeable
            assert array.flags.c_contiguous


def test_what_long_rules_become() -> None:
    form = NormalForm(Grammar.fromstring("S -> 'a' S 'b' S | 'b' S 'b' S | 'c' | S 'a'"))
    # S; 'a' and 'b' wrapped; the rests 'b' S and S 'b' S, shared by two productions.
    assert form.rules.symbols == 5
    assert form.rules.binary.tolist() == [[0, 0, 1], [0, 1, 4], [0, 2, 4], [3, 2, 0], [4, 0, 3]]
    assert form.rules.lexical.tolist() == [[0, 2], [1, 0], [2, 1]]
    assert form.rules.units.size == 0
    assert [form.symbol_of(k) for k in range(5)] == [S, None, None, None, None]


@pytest.mark.parametrize("text", ["S -> S 'a'", "S -> S | A\nA -> A A"])
def test_nothing_to_derive(text: str) -> None:
    form = NormalForm(Grammar.fromstring(text))
    assert form.rules.symbols == 1
    assert form.rules.binary.size + form.rules.units.size + form.rules.lexical.size == 0
    assert not form.nullable(S)
    assert form.empty_count() == 0
    assert form.infinite() is None
    rules, symbol = form.prefixes()
    assert not _derives(rules, symbol, [0])


def test_only_the_empty_string() -> None:
    form = NormalForm(Grammar.fromstring("S -> A A | A\nA ->"))
    assert form.rules.symbols == 1
    assert form.rules.lexical.size == 0
    assert form.nullable(S)
    assert form.id_of(Nonterminal("A")) is None
    assert form.empty_count() == 2
    assert form.counting()[0].loops.tolist() == [1]


def test_terminals_of_useless_productions_are_known() -> None:
    form = NormalForm(Grammar.fromstring("S -> 'a' | S B\nB -> B 'b'"))
    assert form.vocabulary == {"a": 0, "b": 1}
    assert form.rules.terminals == 2


# Numbers of trees


@settings(max_examples=examples(150))
@given(grammars(nonterminals=4, productions=8))
def test_trees_are_counted(grammar: Grammar) -> None:
    form = NormalForm(grammar)
    weights, masks = form.counting()
    assert not masks.binary.any()
    assert not masks.lexical.any()
    endless = form.infinite()
    found = set()
    for tokens in strings(3):
        count = forest(form, tokens).count()
        found.add(count)
        if not tokens:
            assert form.empty_count() == count
            continue
        value = _value(form, weights, tokens)
        assert type(value) is int
        assert count in (value, math.inf)
        infinite = endless is not None and _derives(*endless, numbers(form, tokens))
        assert infinite == (count == math.inf)
    if math.inf in found:
        assert form.cyclic


def test_cycles_and_chains() -> None:
    text = "S -> A | B | A S E\nA -> B | 'a'\nB -> 'a' | C | A E\nC -> 'c'\nE -> | F\nF ->"
    form = NormalForm(Grammar.fromstring(text))
    # A → B → A E with two ways to be empty: a cycle. C is outside of it.
    weights, masks = form.counting()
    names = [str(form.symbol_of(k)) for k in range(form.rules.symbols)]
    loops = dict(zip(names, masks.loops.tolist(), strict=True))
    assert loops == {"S": False, "A": True, "B": True, "C": False, "None": False}
    assert weights.loops[names.index("C")] == 1
    assert weights.loops[names.index("A")] == 0
    assert form.cyclic
    assert form.infinite() is not None
    assert not NormalForm(Grammar.fromstring("S -> S S | 'a'")).cyclic
    assert NormalForm(Grammar.fromstring("S -> S S | 'a' |")).empty_count() == math.inf


def test_weights_count_empty_trees() -> None:
    form = NormalForm(Grammar.fromstring("S -> A S A 'b' | 'b'\nA -> | B\nB -> | 'a'"))
    weights, masks = form.counting()
    assert not any(array.any() for array in (masks.units, masks.loops))
    # A has two empty trees, so that S is S A 'b' and A 'b' is 'b' in two ways; A is B in one.
    assert sorted(weights.units.tolist()) == [1, 2, 2]


# Probabilities


@settings(max_examples=examples(150))
@given(grammars(nonterminals=3, productions=6, longest=3, probabilities=True))
def test_probabilities_are_those_of_all_trees(grammar: Grammar) -> None:
    form = NormalForm(grammar)
    near = form.probabilities()
    try:
        exact = form.exact()
    except NotRationalError:
        exact = None
    best = form.best()
    for tokens in strings(2):
        expected = inside(grammar, tokens)
        if expected is None:
            continue
        if not tokens:
            assert form.empty_probability() == pytest.approx(expected, rel=1e-9)
            continue
        assert _value(form, near, tokens) == pytest.approx(expected, rel=1e-9)
        if exact is not None:
            assert float(_value(form, exact, tokens)) == pytest.approx(expected, rel=1e-9)
        found = forest(form, tokens).best()
        value = _value(form, best, tokens, best=True)
        assert value == pytest.approx(float(found[1]) if found else 0, rel=1e-12)


def test_exact_weights() -> None:
    text = "S -> A [0.25] | S A [0.75]\nA -> B [0.5] | 'a' [0.5]\nB -> A [0.25] | 'b' [0.75]"
    form = NormalForm(Grammar.fromstring(text))
    weights = form.exact()
    # A → B → A with 1/8: loops are 8/7.
    assert weights.loops.tolist() == [1, Fraction(8, 7), Fraction(8, 7)]
    assert weights.units.tolist() == [
        Fraction(2, 7),  # S A
        Fraction(1, 7),  # S B
        Fraction(4, 7),  # A B
        Fraction(2, 7),  # B A
    ]
    assert form.probabilities().units.tolist() == pytest.approx([2 / 7, 1 / 7, 4 / 7, 2 / 7])
    assert form.best().units.tolist() == [0.25, 0.125, 0.5, 0.25]
    assert form.best().loops.tolist() == [1, 1, 1]
    assert form.probabilities().loops.dtype == form.best().binary.dtype == np.float64


def test_roots_have_floats_only() -> None:
    form = NormalForm(Grammar.fromstring("S -> S S [0.25] | [0.5] | 'a' [0.25]"))
    root = 2 - math.sqrt(2)
    assert form.empty_probability() == pytest.approx(root, rel=1e-15)
    # S → S S with either side empty.
    assert form.probabilities().loops.tolist() == pytest.approx([1 / (1 - root / 2)], rel=1e-14)
    with pytest.raises(NotRationalError, match="irrational"):
        form.exact()


def test_what_diverges() -> None:
    productions = [
        Production(S, (S,), Fraction(1)),
        Production(S, ("a",), Fraction(1, 2)),
    ]
    form = NormalForm(Grammar(S, productions))
    assert form.exact().loops.tolist() == [math.inf]
    assert form.probabilities().loops.tolist() == [math.inf]
    assert form.best().loops.tolist() == [1.0]
    # What has probability zero is not multiplied by infinity.
    never = [productions[0], Production(S, ("a",), Fraction(0))]
    assert NormalForm(Grammar(S, never)).exact().loops.tolist() == [0]


def test_no_probabilities() -> None:
    form = NormalForm(Grammar.fromstring("S -> 'a'"))
    for method in (form.exact, form.probabilities, form.best, form.empty_probability):
        with pytest.raises(ValueError, match="the grammar has no probabilities"):
            method()


# Prefixes


@settings(max_examples=examples(150))
@given(grammars(nonterminals=4, productions=8))
def test_prefixes_are_of_sentences(grammar: Grammar) -> None:
    form = NormalForm(grammar)
    rules, symbol = form.prefixes()
    assert rules.terminals == form.rules.terminals
    for tokens in strings(3):
        if tokens:
            expected = begins_sentence(trimmed(grammar)[0], tokens)
            assert _derives(rules, symbol, numbers(form, tokens)) == expected


def test_prefixes_of_brackets() -> None:
    form = NormalForm(Grammar.fromstring("S -> '(' S ')' S |"))
    rules, symbol = form.prefixes()
    for tokens in strings(7, "()"):
        if tokens:
            depths = np.cumsum([1 if token == "(" else -1 for token in tokens])
            assert _derives(rules, symbol, numbers(form, tokens)) == (depths.min() >= 0)


def test_symbols_with_the_same_prefixes_are_one() -> None:
    # Each of the symbols begins with the next.
    names = [Nonterminal(f"N{k}") for k in range(30)]
    productions = [Production(a, (b, a)) for a, b in pairwise([*names, names[0]])] + [
        Production(a, ("a",)) for a in names
    ]
    form = NormalForm(Grammar(names[0], productions))
    rules, _ = form.prefixes()
    assert rules.symbols == 31
    assert rules.units.size == 0


# The same everywhere

_DIGEST = """
import hashlib
from ckyparse.cnf import chomsky_normal_form
from ckyparse.grammar import Grammar
from ckyparse.normal import NormalForm
text = '''S -> A B 'c' D [0.5] | S [0.1] | X [0.2] | [0.2]
A -> 'a' [0.3] | [0.7]
B -> A [0.3] | S [0.1] | 'b' 'b' 'b' [0.6]
D -> A A A [0.5] | 'd' [0.5]
X -> Y [0.5] | 'x' [0.5]
Y -> X [0.5] | 'y' [0.5]'''
form = NormalForm(Grammar.fromstring(text))
seen = [a.tolist() for r in (form.rules, form.prefixes()[0], form.infinite()[0])
        for a in (r.binary, r.units, r.lexical)]
for weights in (form.exact(), form.probabilities(), form.best(), form.counting()[0]):
    seen += [weights.binary.tolist(), weights.units.tolist(), weights.loops.tolist()]
print(hashlib.sha256((repr(seen) + str(chomsky_normal_form(form.grammar))).encode()).hexdigest())
"""


def test_the_same_for_every_hash_seed() -> None:
    found = set()
    for seed in "123":
        done = subprocess.run(
            [sys.executable, "-c", _DIGEST],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        found.add(done.stdout)
    assert len(found) == 1


def test_catalan_numbers() -> None:
    form = NormalForm(Grammar.fromstring("S -> S S | 'a'"))
    catalan = math.comb(58, 29) // 30
    assert _value(form, form.counting()[0], ("a",) * 30) == catalan
    assert log(catalan) == pytest.approx(math.log(catalan))


@pytest.mark.parametrize("last", ["'a'", "A0 | 'a'"])
def test_chains_that_are_too_long(monkeypatch: pytest.MonkeyPatch, last: str) -> None:
    """Their closure grows with the square: it ends with one line, not with all memory."""
    chain = "".join(f"A{i} -> A{i + 1}\n" for i in range(40)) + f"A40 -> {last}"
    assert len(NormalForm(Grammar.fromstring(chain)).rules.units) >= 40 * 41 // 2
    monkeypatch.setattr(sums, "MOST_PAIRS", 41 * 42 // 2 - 1)
    with pytest.raises(GrammarError, match="more than 860 pairs of symbols"):
        _ = NormalForm(Grammar.fromstring(chain)).rules
