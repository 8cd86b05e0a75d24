"""What is said about ambiguity is true: all trees of short sentences, enumerated."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import assume, given, settings

from ckyparse.ambiguity import ambiguous_sentence, hints
from ckyparse.analysis import cycle, trimmed
from ckyparse.grammar import Grammar
from tests.ckyparse.oracle import Sentence, grammars, trees
from tests.quick import examples


@settings(deadline=None, max_examples=examples(200))
@given(grammars(productions=6, longest=3, terminals=3))
def test_the_sentence_found_is_a_shortest_one(grammar: Grammar) -> None:
    assume(cycle(grammar) is None)
    up_to = 5
    several = {s: n for s, n in trees(grammar, up_to).items() if n > 1}
    sentence, number, length = ambiguous_sentence(grammar)
    if not several:
        assert length > up_to or length == 32
    else:
        assert sentence is not None
        assert len(sentence) == length == min(map(len, several))
        assert several[sentence] == number


@settings(deadline=None)
@given(grammars(productions=7, longest=3))
def test_hints_are_true(grammar: Grammar) -> None:
    found = hints(grammar)
    if cycle(grammar) is not None:
        assert found[0].startswith("cyclic: ")
        return
    numbers: Counter[Sentence] = trees(grammar, 6)
    several = [len(s) for s, n in numbers.items() if n > 1]
    claims = [hint for hint in found if hint.startswith("ambiguous: ")]
    if claims:
        # It takes a longer one only where a symbol's shortest strings are long.
        assert several or ambiguous_sentence(grammar)[0] is not None
    elif found:
        assert not several
    assert bool(found) == bool(trimmed(grammar)[0].productions)


SHORT = "no shorter sentence has two"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("S -> 'a' S", []),
        ("S -> '(' S ')' S |", ["no sentence of up to 21 tokens has two parses"]),
        (
            "S -> S S [0.5] | 'a' [0.5]",
            ["ambiguous: S -> S S begins and ends with S",
             f"ambiguous: 'a a a' has 2 parses; {SHORT}"],
        ),
        (
            "S -> A\nA -> A '+' A | 'a'",
            ["ambiguous: A -> A '+' A begins and ends with A",
             f"ambiguous: 'a + a + a' has 2 parses; {SHORT}"],
        ),
        (
            "S -> 'a' S | S 'b' | 'c'",
            ["ambiguous: S -> S 'b' and S -> 'a' S can be applied in either order",
             f"ambiguous: 'a c b' has 2 parses; {SHORT}"],
        ),
        (
            "S -> A A 'x'\nA -> 'a' |",
            ["ambiguous: S -> A A 'x' comes to A 'x' in two ways, as symbols can be empty",
             f"ambiguous: 'a x' has 2 parses; {SHORT}"],
        ),
        (
            "S -> A 'x' | 'x' B\nA -> 'a' |\nB -> 'b' |",
            ["ambiguous: S -> A 'x' and S -> 'x' B both come to 'x', as symbols can be empty",
             f"ambiguous: 'x' has 2 parses; {SHORT}"],
        ),
        (
            "S -> A | B\nA -> 'a' |\nB -> 'b' |",
            ["ambiguous: S -> A and S -> B both come to nothing, as symbols can be empty",
             f"ambiguous: '' has 2 parses; {SHORT}"],
        ),
        ("S -> A A 'x'\nA ->", ["no sentence of up to 32 tokens has two parses"]),
        ("S -> 'i' S | 'i' S 'e' S | 'x'", [f"ambiguous: 'i i x e x' has 2 parses; {SHORT}"]),
        ("S -> N 'x' | 'b' 'x'\nN -> 'a' | 'b'", [f"ambiguous: 'b x' has 2 parses; {SHORT}"]),
        (
            "S -> A 'c' | 'b'\nA -> B\nB -> A | 'a'",
            ["cyclic: A ⇒ B ⇒ A, so that some sentences have infinitely many parses"],
        ),
        (
            "S -> S S |",
            ["cyclic: S ⇒ S, so that some sentences have infinitely many parses",
             "ambiguous: S -> S S begins and ends with S",
             "ambiguous: S -> S S and S -> both come to nothing, as symbols can be empty"],
        ),
    ],
)  # fmt: skip
def test_hints(text: str, says: list[str]) -> None:
    assert hints(Grammar.fromstring(text)) == says


def test_many_hints_are_cut_short() -> None:
    names = "ABCDEFGH"
    text = f"S -> {' '.join(names)}\n" + "\n".join(f"{x} -> {x} {x} | '{x}'" for x in names)
    found = hints(Grammar.fromstring(text))
    assert [hint.split()[-1] for hint in found[:5]] == list("ABCDE")
    assert found[5] == "ambiguous: so are 3 more symbols"
    assert found[6].startswith("ambiguous: 'A A A B C")
    assert len(found) == 7


def test_words_of_one_kind_are_tried_once() -> None:
    nouns = " | ".join(f"'n{i}'" for i in range(3000))
    grammar = Grammar.fromstring(
        "S -> NP VP\nNP -> Det N | NP PP\nVP -> V NP | VP PP\nPP -> P NP\n"
        f"Det -> 'the' | 'a'\nV -> 'saw' | 'ate'\nP -> 'with' | 'of'\nN -> 'saw' | {nouns}"
    )
    sentence = ("the", "n0", "ate", "the", "n0", "with", "the", "n0")
    assert ambiguous_sentence(grammar) == (sentence, 2, 8)


def test_a_search_that_takes_too_long_ends() -> None:
    letters = " | ".join(f"S S '{letter}' 'x'" for letter in "abcdefgh")
    grammar = Grammar.fromstring(f"S -> {letters} | 'y'")
    sentence, number, length = ambiguous_sentence(grammar)
    assert (sentence, number) == (None, 0)
    assert 4 < length < 32
    assert hints(grammar) == [f"no sentence of up to {length} tokens has two parses"]
