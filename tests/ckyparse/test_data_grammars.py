"""data/grammars: nltk's chart parser holds each example on the grammar as nltk reads it."""

from __future__ import annotations

import json
from math import comb, inf
from pathlib import Path

import nltk
import pytest

from ckyparse.analysis import cycle, is_finite, trimmed
from ckyparse.derivations import Derivations
from ckyparse.grammar import Grammar
from ckyparse.sample import sentences
from tests.ckyparse.examples import FOLDER, GRAMMARS, examples


def nltk_reads(path: Path) -> nltk.CFG:
    kind = nltk.PCFG if path.suffix == ".pcfg" else nltk.CFG
    return kind.fromstring(path.read_text("utf-8"))


@pytest.mark.parametrize("path", GRAMMARS, ids=lambda path: path.name)
def test_examples(path: Path) -> None:
    grammar = nltk_reads(path)
    parser = nltk.ChartParser(grammar)
    words = {s for p in grammar.productions() for s in p.rhs() if isinstance(s, str)}
    found = examples(path)
    assert any(example.parses for example in found)
    assert any(not example.parses for example in found)
    for example in found:
        # nltk raises ValueError for a token that the grammar does not have.
        known = words.issuperset(example.tokens)
        trees = list(parser.parse(example.tokens)) if known else []
        if example.parses == inf:
            assert trees
        else:
            assert len(trees) == example.parses, example


@pytest.mark.parametrize("path", GRAMMARS, ids=lambda path: path.name)
def test_nltk_reads_the_same(path: Path) -> None:
    grammar = Grammar.read(path)
    assert grammar == Grammar.of(nltk_reads(path))
    assert grammar.is_probabilistic == (path.suffix == ".pcfg")
    for symbol in grammar.nonterminals if grammar.is_probabilistic else ():
        assert sum(p.probability or 0 for p in grammar.productions_of(symbol)) == 1
    assert trimmed(grammar)[1] == []
    assert not is_finite(grammar)
    infinite = any(example.parses == inf for example in examples(path))
    assert infinite == (cycle(grammar) is not None)


def test_each_grammar_is_described() -> None:
    readme = (FOLDER / "README.md").read_text("utf-8")
    for path in GRAMMARS:
        assert f"| {path.name} |" in readme
        assert path.read_text("utf-8").startswith("# ")
    names = {path.stem for path in GRAMMARS}
    assert {path.stem for path in FOLDER.glob("*.examples")} == names


@pytest.mark.parametrize("name", ["dyck", "dyck2", "palindromes", "arithmetic"])
def test_what_is_said_to_have_one_parse_has_as_many_trees_as_sentences(name: str) -> None:
    derivations = Derivations(Grammar.read(FOLDER / f"{name}.cfg"))
    numbers = {
        "dyck": [comb(n, n // 2) // (n // 2 + 1) * (n % 2 == 0) for n in range(12)],
        "dyck2": [
            comb(n, n // 2) // (n // 2 + 1) * 2 ** (n // 2) * (n % 2 == 0) for n in range(12)
        ],
        "palindromes": [2 ** ((n + 1) // 2) for n in range(12)],
        # A digit; two, or "-" and one; …
        "arithmetic": [0, 10, 110],
    }[name]
    numbers[0] = int(name in ("dyck", "palindromes"))
    assert [derivations.count(n) for n in range(len(numbers))] == numbers


def test_json_texts_are_json() -> None:
    grammar = Grammar.read(FOLDER / "json.cfg")
    for sentence in sentences(grammar, 300, 1, minimum=1, maximum=24):
        json.loads("".join(sentence))
    for example in examples(FOLDER / "json.cfg"):
        try:
            json.loads("".join(example.tokens))
        except json.JSONDecodeError:
            assert not example.parses
        else:
            assert example.parses == 1


def test_the_weighted_fragment_prefers_seeing_with_telescopes() -> None:
    parser = nltk.ViterbiParser(nltk_reads(FOLDER / "english-weighted.pcfg"))
    (tree,) = parser.parse(["I", "saw", "the", "man", "with", "the", "telescope"])
    assert [t.label() for t in tree[1]] == ["VP", "PP"]
