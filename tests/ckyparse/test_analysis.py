"""What is said of grammars, beside what their languages show."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckyparse.analysis import (
    cycle,
    filling,
    is_empty,
    is_finite,
    lengths,
    nullable,
    productive,
    reachable,
    shortest,
    trimmed,
)
from ckyparse.grammar import Grammar, Nonterminal, Production
from ckyparse.graphs import components
from tests.ckyparse.oracle import grammars, language, languages

# Trees of three symbols without repetitions on a path have at most 8 tokens.
small = grammars(nonterminals=3, terminals=1, longest=2)
SHORT, LONG = 8, 16


@settings(deadline=None)
@given(small)
def test_symbols_are_what_their_strings_show(grammar: Grammar) -> None:
    found = languages(grammar, SHORT)
    assert productive(grammar) == {symbol for symbol, strings in found.items() if strings}
    assert nullable(grammar) == {symbol for symbol, strings in found.items() if () in strings}
    assert shortest(grammar) == {
        s: min(map(len, strings)) for s, strings in found.items() if strings
    }
    assert is_empty(grammar) == (not found[grammar.start])
    assert filling(trimmed(grammar)[0]) == {
        s for s in trimmed(grammar)[0].nonterminals if any(found[s] - {()})
    }


@settings(deadline=None)
@given(small)
def test_a_language_is_infinite_if_it_has_long_sentences(grammar: Grammar) -> None:
    found = {len(sentence) for sentence in language(grammar, LONG)}
    assert is_finite(grammar) == all(n <= SHORT for n in found)
    assert lengths(grammar, LONG) == sorted(found)
    assert lengths(grammar, 5) == [n for n in sorted(found) if n <= 5]


def reached(grammar: Grammar) -> set[Nonterminal]:
    found, before = {grammar.start}, set[Nonterminal]()
    while found != before:
        before = set(found)
        for p in grammar.productions:
            if p.lhs in before:
                found |= {s for s in p.rhs if isinstance(s, Nonterminal)}
    return found


@settings(deadline=None)
@given(grammars(nonterminals=6, productions=10))
def test_trimming_keeps_the_language_and_leaves_nothing_useless(grammar: Grammar) -> None:
    assert reachable(grammar) == reached(grammar)
    found, notes = trimmed(grammar)
    assert language(found, 4) == language(grammar, 4)
    assert [p for p in grammar.productions if p in found.productions] == list(found.productions)
    assert bool(notes) == (found != grammar)
    if is_empty(grammar):
        assert found.productions == ()
        assert notes[0].startswith("the language is empty: S derives")
        assert language(found, 4) == set()
    else:
        assert productive(found) == reached(found) == set(found.nonterminals)
        assert trimmed(found) == (found, [])
        dropped = set(grammar.nonterminals) - set(found.nonterminals)
        assert {
            note.split()[0] for note in notes if " dropped: it d" in note or " S does" in note
        } == {str(symbol) for symbol in dropped}


def steps(grammar: Grammar) -> set[tuple[Nonterminal, Nonterminal]]:
    """A, B where A derives B with nothing beside it, in one step and those to nothing."""
    empty = {s for s, strings in languages(grammar, 0).items() if strings}
    return {
        (p.lhs, s)
        for p in grammar.productions
        for i, s in enumerate(p.rhs)
        if isinstance(s, Nonterminal) and set(p.rhs[:i] + p.rhs[i + 1 :]) <= empty
    }


def closed(pairs: set[tuple[Nonterminal, Nonterminal]]) -> set[tuple[Nonterminal, Nonterminal]]:
    closure = set(pairs)
    while more := {(a, d) for (a, b), (c, d) in product(closure, closure) if b == c} - closure:
        closure |= more
    return closure


@settings(deadline=None)
@given(grammars())
def test_cycles_are_found(grammar: Grammar) -> None:
    useful = trimmed(grammar)[0]
    found, pairs = cycle(grammar), steps(useful)
    assert (found is not None) == any(a == b for a, b in closed(pairs))
    if found is not None:
        assert found[0] == found[-1]
        assert len(set(found)) == len(found) - 1
        assert set(pairwise(found)) <= pairs


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=20))
def test_components(edges: list[tuple[int, int]]) -> None:
    graph: dict[int, list[int]] = {node: [b for a, b in edges if a == node] for node in range(8)}
    ways = {(n, n) for n in graph} | set(edges)
    while more := {(a, d) for (a, b), (c, d) in product(ways, ways) if b == c} - ways:
        ways |= more
    found = list(components(graph, graph.__getitem__))
    assert sorted(node for component in found for node in component) == list(graph)
    place = {node: i for i, component in enumerate(found) for node in component}
    for a, b in product(graph, graph):
        assert (place[a] == place[b]) == ((a, b) in ways and (b, a) in ways)
        if (a, b) in ways:
            assert place[b] <= place[a]


def test_long_chains_are_no_matter() -> None:
    symbols = [Nonterminal(f"A{i}") for i in range(20_000)]
    chain = [Production(a, (b,)) for a, b in pairwise(symbols)]
    grammar = Grammar(symbols[0], [*chain, Production(symbols[-1], ("a",))])
    assert trimmed(grammar) == (grammar, [])
    assert cycle(grammar) is None
    assert is_finite(grammar)
    assert shortest(grammar)[symbols[0]] == 1
    ring = Grammar(symbols[0], [*grammar.productions, Production(symbols[-1], (symbols[0],))])
    assert len(cycle(ring) or ()) == 20_001


def test_notes_say_what_was_dropped_and_where() -> None:
    grammar = Grammar.fromstring(
        """
        S -> A 'a' [0.5] | 'b' [0.25] |
             [0.25]
        A -> A B [1.0]
        B -> 'b' [1.0]
        C -> 'c' [0.5] | A [0.5]
        """.replace("|\n", "| \\\n")
    )
    found, notes = trimmed(grammar)
    assert found == Grammar(grammar.start, grammar.productions[1:3])
    assert notes == [
        "line 4: A dropped: it derives no string of terminals",
        "line 5: B dropped: S does not lead to it",
        "line 6: C dropped: S does not lead to it",
        "line 2: S -> A 'a' [0.5] dropped: A derives no string of terminals",
        "the probabilities of S lose 0.5 with what was dropped",
    ]
    without = Grammar(Nonterminal("S"), [Production(Nonterminal("S"), (Nonterminal("X"),))])
    assert trimmed(without)[1] == [
        "the language is empty: S derives no string of terminals",
        "X dropped: it derives no string of terminals",
    ]


@pytest.mark.parametrize(
    ("text", "finite"),
    [
        ("S -> S S | 'a'", False),
        ("S -> S S |", True),
        ("S -> S | 'a'", True),
        ("S -> A S | 'a'\nA -> ", True),
        ("S -> A S | 'a'\nA -> | 'b'", False),
        ("S -> 'a' S", True),
        ("S -> 'a' | A\nA -> 'b' A", True),
        ("S -> 'a'\nA -> 'b' A | 'b'", True),
    ],
)
def test_finite_languages(text: str, finite: bool) -> None:
    assert is_finite(Grammar.fromstring(text)) == finite


def test_nothing_depends_on_hash_values() -> None:
    code = """
from ckyparse.ambiguity import hints
from ckyparse.analysis import cycle, trimmed, unit_graph
from ckyparse.grammar import Grammar
from ckyparse.graphs import components
from ckyparse.sample import sentences
text = "S -> A B | B C | X 'x' | Y\\nA -> B | 'a' | 'b' |\\nB -> C A | 'c' |\\nC -> A | 'd'\\n"
grammar = Grammar.fromstring(text + "X -> Y X\\nY -> X | 'y' Y\\nZ -> 'z'")
graph = unit_graph(grammar, ())
print(trimmed(grammar)[1], cycle(grammar), hints(grammar))
print(list(components(graph, graph.__getitem__)))
print(list(sentences(grammar, 20, 1)), Grammar.random(5, 9, 1))
"""
    runs = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
        ).stdout
        for seed in "12"
    ]
    assert len(runs[0]) > 1000
    assert runs[0] == runs[1]
