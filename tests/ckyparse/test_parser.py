"""CKYParser beside nltk's ChartParser, and batches beside languages written down."""

from __future__ import annotations

import copy
import doctest
import pickle
import subprocess
import sys
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk import CFG, ChartParser, Tree
from nltk.parse.api import ParserI

import ckyparse
from ckyparse import CKYParser, Grammar, GrammarError, Nonterminal, TooLongError, UnknownTokenError
from ckyparse.analysis import cycle
from kernels.cky import Batch
from tests.ckyparse.backends import ALL, HERE
from tests.ckyparse.oracle import Sentence, grammars, language, languages
from tests.quick import examples

ENGLISH = """
S -> NP VP
NP -> Det N | NP PP | 'I'
VP -> V NP | VP PP | V
PP -> P NP
Det -> 'the' | 'a'
N -> 'man' | 'telescope' | 'park'
V -> 'saw' | 'walked'
P -> 'with' | 'in'
"""
EMPTIES = """
S -> A 'b' B C | S S
A -> 'a' A |
B -> C | 'b'
C -> 'c' |
"""
MIXED = "S -> '(' S ')' S | 'if' E 'then' S 'else' S | 'x' | E\nE -> S '+' S | 'y'"
SENTENCES = {
    ENGLISH: [
        "I saw the man",
        "I saw the man with the telescope in the park",
        "the the",
        "",
        "I",
        "I walked in a park with the man with a telescope",
    ],
    EMPTIES: ["b", "a b", "b b", "a a b b c", "c", "", "b c b", "b b b", "a b c a b"],
    MIXED: ["x", "( x ) y", "if y then x else x + y + x", "if x", "", "( ) x", "x + x + y + x"],
}
LETTERS = "ab"
STRINGS = [s for n in range(5) for s in product(LETTERS, repeat=n)]


def texts(trees: Iterable[Tree]) -> list[str]:
    return sorted(tree.pformat(margin=10**6) for tree in trees)


# --- as nltk's parsers -------------------------------------------------------------


@pytest.mark.parametrize("backend", ALL)
@pytest.mark.parametrize("text", SENTENCES)
def test_the_same_trees_as_chart_parser(text: str, backend: str) -> None:
    grammar = CFG.fromstring(text)
    theirs, ours = ChartParser(grammar), CKYParser(grammar, backend=backend)
    sentences = [line.split() for line in SENTENCES[text]]
    for tokens in sentences:
        expected = texts(theirs.parse(tokens))
        assert texts(ours.parse(tokens)) == texts(ours.parse_all(tokens)) == expected
        one = ours.parse_one(tokens)
        assert one is None if not expected else texts([one])[0] in expected
    several = ours.parse_sents(iter(sentences))
    assert isinstance(several, Iterator)
    assert [texts(trees) for trees in several] == [texts(theirs.parse(t)) for t in sentences]


@settings(max_examples=examples(100))
@given(grammars(), st.lists(st.sampled_from(STRINGS), max_size=6))
def test_any_grammar_has_the_trees_of_chart_parser(
    grammar: Grammar, strings: list[Sentence]
) -> None:
    """But for cyclic ones, of which nltk loses trees."""
    parser = CKYParser(grammar)
    known = [s for s in strings if set(s) <= set(grammar.terminals)]
    if cycle(grammar) is not None:
        found = [next(trees, None) is not None for trees in parser.parse_sents(known)]
        assert found == parser.accepts(known).tolist()
        return
    theirs = ChartParser(grammar.to_nltk())
    for tokens, trees in zip(known, parser.parse_sents(known), strict=True):
        assert texts(trees) == texts(theirs.parse(tokens))


def test_of_infinitely_many_trees_those_without_an_equal_node_above() -> None:
    parser = CKYParser("S -> S | A | 'a'\nA -> S")
    assert texts(parser.parse("a")) == texts(
        map(
            Tree.fromstring,
            ["(S a)", "(S (S a))", "(S (A (S a)))", "(S (S (A (S a))))", "(S (A (S (S a))))"],
        )
    )


def test_it_is_a_parser_of_nltk() -> None:
    parser = CKYParser("S -> 'a'")
    assert isinstance(parser, ParserI)
    assert isinstance(parser, CKYParser)
    assert type(parser) is CKYParser
    assert not isinstance(3, type(parser))


def test_copies_and_pickles() -> None:
    parser = CKYParser(CFG.fromstring(ENGLISH), backend="reference", unknown="man")
    for other in (pickle.loads(pickle.dumps(parser)), copy.copy(parser)):
        assert type(other) is CKYParser
        assert other.grammar().productions() == parser.grammar().productions()
        assert other.accepts(["I saw the woman"], tokens="space").tolist() == [True]


def test_errors_are_pickled() -> None:
    """Errors are the same after pickling, which is how they go between processes."""
    for error in (UnknownTokenError(2, ["a", "b"]), TooLongError(2, 9, 4)):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert vars(again) == vars(error)


LAZY = """
import sys
from ckyparse import CKYParser
parser = CKYParser("S -> 'a' S | 'a'", backend="reference")
assert parser.accepts(["aa", ""]).tolist() == [True, False]
assert parser.prefixes(["aa"]).tolist() == [2]
assert parser.counts(["aa"]) == [1]
assert "S" in str(parser.charts(["aa"])[0])
assert isinstance(parser, CKYParser)
assert "nltk" not in sys.modules
from nltk.parse.api import ParserI
assert isinstance(parser, ParserI) and isinstance(parser, CKYParser)
"""


def test_nltk_is_loaded_for_trees_only() -> None:
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", LAZY], capture_output=True, text=True, cwd=root)
    assert done.returncode == 0, done.stderr


def test_trees_come_when_asked_for() -> None:
    parser = CKYParser("S -> S S | 'a'")
    trees = parser.parse("a" * 60)  # 10**33 of them
    assert isinstance(next(trees), Tree)
    assert next(trees) != next(trees)


def test_trees_are_of_symbols_and_tokens_as_given() -> None:
    grammar = CFG.fromstring("S -> NP\nNP -> 'x' 'y'")
    tree = CKYParser(grammar).parse_one(["x", "y"])
    assert tree.productions() == grammar.productions()
    assert CKYParser("S -> 'x' S | 'x'", unknown="x").parse_one(["x", "p", "q"]).leaves() == [
        "x",
        "p",
        "q",
    ]


def test_long_sentences_do_not_recurse() -> None:
    parser = CKYParser("S -> 'a' S | 'a'", backend=HERE[-1])
    tokens = ["a"] * 200 if HERE[-1] == "cpu" else ["a"] * 60
    assert parser.parse_one(tokens).leaves() == tokens


# --- what a parser is made of ---------------------------------------------------------


def test_grammar_is_what_was_given(tmp_path: Path) -> None:
    theirs = CFG.fromstring(ENGLISH)
    assert CKYParser(theirs).grammar() is theirs
    ours = Grammar.fromstring(ENGLISH)
    assert CKYParser(ours).grammar() is ours
    assert CKYParser(ENGLISH).grammar() == ours
    path = tmp_path / "english.cfg"
    path.write_text(ENGLISH)
    assert CKYParser(path).grammar() == CKYParser(str(path)).grammar() == ours
    with pytest.raises(GrammarError, match="cannot be read"):
        CKYParser(tmp_path / "missing.cfg")
    with pytest.raises(GrammarError):
        CKYParser("S -> 'T")
    with pytest.raises(TypeError, match="not an nltk CFG"):
        CKYParser(3)  # type: ignore[arg-type]


def test_bad_arguments_are_errors() -> None:
    with pytest.raises(ValueError, match="'UNK' is to stand for unknown tokens"):
        CKYParser("S -> 'a'", unknown="UNK")
    with pytest.raises(ValueError, match="unknown backend 'tpu'"):
        CKYParser("S -> 'a'", backend="tpu").accepts(["a"])
    parser = CKYParser("S -> 'a'")
    with pytest.raises(TypeError, match="not a str"):
        parser.accepts("a")
    with pytest.raises(ValueError, match="'chars' or 'space', not 'words'"):
        parser.accepts(["a"], tokens="words")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="encoded by another parser"):
        parser.accepts(CKYParser("S -> 'a'").encode(["a"]))
    with pytest.raises(AttributeError, match="has no attribute 'Forest'"):
        ckyparse.Forest  # noqa: B018


def test_the_example_of_the_package() -> None:
    results = doctest.testmod(ckyparse)
    assert results.attempted == 5
    assert results.failed == 0


def test_everything_exported_is_there() -> None:
    for name in ckyparse.__all__:
        assert getattr(ckyparse, name).__name__ == name


@pytest.mark.parametrize("backend", ALL)
def test_a_sentence_too_long_is_named(backend: str) -> None:
    parser = CKYParser("S -> S S | 'a'", backend=backend, memory=1 << 16)
    with pytest.raises(TooLongError, match="string 2 has 100000 tokens") as caught:
        parser.accepts(["a", "a" * 100_000])
    assert (caught.value.index, caught.value.length) == (1, 100_000)
    with pytest.raises(TooLongError):
        parser.charts(["a", "a" * 100_000])


# --- unknown tokens ----------------------------------------------------------------------


def test_unknown_tokens_are_errors_as_in_nltk() -> None:
    grammar = CFG.fromstring(ENGLISH)
    parser = CKYParser(grammar)
    words = ["I", "saw", "Kim", "with", "Lee"]
    with pytest.raises(ValueError, match="Grammar does not cover some of the input words"):
        ChartParser(grammar).parse(words)
    with pytest.raises(UnknownTokenError, match="Grammar does not cover some of") as caught:
        parser.parse(words)
    assert isinstance(caught.value, ValueError)
    assert str(caught.value).endswith(" words: 'Kim', 'Lee'")
    assert (caught.value.index, caught.value.tokens) == (0, ("Kim", "Lee"))
    with pytest.raises(UnknownTokenError) as caught:
        parser.accepts(["I saw", "", "I saw Kim", "Lee"], tokens="space")
    assert (caught.value.index, caught.value.tokens) == (2, ("Kim",))
    assert str(caught.value).startswith("sentence 3: ")
    with pytest.raises(UnknownTokenError) as caught:
        CKYParser("S -> 'a'").accepts(["a", "xa☃"])
    assert (caught.value.index, caught.value.tokens) == (1, ("x", "☃"))


def test_parse_sents_yields_what_comes_before_an_unknown_token() -> None:
    parser = CKYParser("S -> 'a' S | 'a'")
    found = parser.parse_sents(["a"] * 5 + ["b"] + ["a"])
    for _ in range(5):
        assert len(list(next(found))) == 1
    with pytest.raises(UnknownTokenError) as caught:
        next(found)
    assert (caught.value.index, caught.value.tokens) == (5, ("b",))


@pytest.mark.parametrize("backend", ALL)
def test_unknown_tokens_reject_or_are_replaced(backend: str) -> None:
    text = "S -> 'a' S 'b' | 'a' 'b'"
    sentences = ["ab", "axb", "", "aabb", "a☃bb", "x", "axbb"]
    reject = CKYParser(text, backend=backend, unknown="reject")
    assert reject.accepts(sentences).tolist() == [True, False, False, True, False, False, False]
    assert reject.prefixes(sentences).tolist() == [2, 1, 0, 4, 1, 0, 1]
    assert reject.counts(sentences) == [1, 0, 0, 1, 0, 0, 0]
    assert [list(trees) for trees in reject.parse_sents(["x", "ax"])] == [[], []]
    replace = CKYParser(text, backend=backend, unknown="a")
    assert replace.accepts(sentences).tolist() == [True, False, False, True, True, False, True]
    assert replace.accepts([["a", "word", "b", "b"], ["word"]]).tolist() == [True, False]


# --- batches ----------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ALL)
def test_batches_of_every_kind(backend: str) -> None:
    parser = CKYParser("S -> S S | '(' S ')' | '(' ')'", backend=backend)
    expected = [True, False, True, False]
    strings = ["()", "", "(())()", "(("]
    coded = parser.encode(strings)
    batch = Batch.of([[parser.vocabulary.numbers[c] for c in s] for s in strings])
    for form in (strings, map(list, strings), [iter(s) for s in strings], coded, batch):
        assert parser.accepts(form).tolist() == expected
    spaced = ["( )", "  ", "\t( ( ) )  ( )\n", "( ("]
    assert parser.accepts(spaced, tokens="space").tolist() == expected
    assert parser.accepts([*spaced, ["(", ")"]], tokens="space").tolist() == [*expected, True]
    assert len(coded) == 4
    assert [parser.charts(batch)[i].tokens for i in (0, 1)] == [("(", ")"), ()]
    done: list[int] = []
    parser.accepts(strings, progress=done.append)
    assert done == sorted(done)
    assert done[-1] == 4


@pytest.mark.parametrize("backend", ALL)
def test_no_sentences(backend: str) -> None:
    parser = CKYParser("S -> 'a' [1.0]", backend=backend)
    assert parser.accepts([]).shape == (0,)
    assert parser.prefixes([]).dtype == np.int32
    assert parser.counts([]) == []
    assert parser.log_probabilities([]).shape == (0,)
    assert len(parser.probabilities([])) == 0
    assert len(parser.charts([])) == 0
    assert list(parser.parse_sents([])) == []


@pytest.mark.parametrize("backend", ALL)
@pytest.mark.parametrize("count", [1, 31, 32, 33, 600])
def test_many_ragged_sentences(backend: str, count: int) -> None:
    text = "S -> '(' S ')' S |"
    rng = np.random.default_rng(count)
    strings = ["".join(rng.choice(["(", ")"], n)) for n in rng.integers(0, 7, count)]
    inside = language(Grammar.fromstring(text), 6)
    parser = CKYParser(text, backend=backend)
    assert parser.accepts(strings).tolist() == [tuple(s) in inside for s in strings]


def all_prefixes(grammar: Grammar, up_to: int) -> set[Sentence]:
    """Return all prefixes of at most so many tokens, straight from the productions."""
    full = languages(grammar, up_to)
    derives = {s for s in grammar.nonterminals if full[s]}
    grown = True
    while grown:  # what derives longer strings only
        more = {
            p.lhs
            for p in grammar.productions
            if all(s in derives for s in p.rhs if isinstance(s, Nonterminal))
        }
        grown = not more <= derives
        derives |= more
    begun: dict[Nonterminal, set[Sentence]] = {s: set() for s in grammar.nonterminals}
    grown = True
    while grown:
        grown = False
        for p in grammar.productions:
            if any(isinstance(s, Nonterminal) and s not in derives for s in p.rhs):
                continue
            before, found = {()}, {()}
            for s in p.rhs:
                starts, whole = ({(), (s,)}, {(s,)}) if isinstance(s, str) else (begun[s], full[s])
                found |= {a + b for a in before for b in starts if len(a + b) <= up_to}
                before = {a + b for a in before for b in whole if len(a + b) <= up_to}
            grown |= not found <= begun[p.lhs]
            begun[p.lhs] |= found
    return begun[grammar.start]


@pytest.mark.parametrize("backend", ALL)
@settings(max_examples=examples(40))
@given(grammar=grammars())
def test_acceptance_and_prefixes(backend: str, grammar: Grammar) -> None:
    strings = [*STRINGS, ("a", "z"), ("z",)]
    parser = CKYParser(grammar, backend=backend, unknown="reject")
    sentences, prefixes = language(grammar, 4), all_prefixes(grammar, 4)
    accepted = parser.accepts(strings)
    assert accepted.dtype == np.bool_
    assert accepted.tolist() == [s in sentences for s in strings]
    longest = [max((k for k in range(len(s) + 1) if s[:k] in prefixes), default=0) for s in strings]
    assert parser.prefixes(strings).tolist() == longest


@pytest.mark.parametrize("memory", [0, -1, "1G", 1e9])
def test_memory_that_is_no_number_of_bytes(memory: Any) -> None:
    with pytest.raises(ValueError, match=f"memory is a number of bytes, not {memory!r}"):
        CKYParser("S -> 'a'", memory=memory)


def test_a_grammar_without_text_or_name() -> None:
    with pytest.raises(GrammarError, match=r"^'': no file is named so"):
        CKYParser("")
