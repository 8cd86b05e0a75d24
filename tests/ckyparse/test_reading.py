"""The reader of nltk's syntax, beside nltk's own."""

from __future__ import annotations

import contextlib
import re
import warnings
from fractions import Fraction
from pathlib import Path

import nltk
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ckyparse import CKYParser
from ckyparse.grammar import Grammar, GrammarError, GrammarWarning, Nonterminal, Production, parse
from tests.quick import examples

S, A, B = (Nonterminal(name) for name in "SAB")

NAMES = ["S", "A", "NP/VP", "N^<2>", "VP-x", "/", "_", "1a", "Å"]
SHARES = {1: ["[1.0]"], 2: ["[0.5]", "[.5]"], 3: ["[0.25]", "[٠.٥]", "[0.250]"], 4: ["[.25]"] * 4}
names = st.sampled_from(NAMES)
terminals = st.sampled_from(
    ["'a'", '"b"', "''", "'it\"s'", '"it\'s"', "'two words'", "'#'", "'|'", "'\\'", "'->'", "'[1]'"]
)
spaces = st.sampled_from([" ", " ", " ", "\t", "  ", " \\\n ", "\\\n", " \r", "\x0b"])
junk = st.sampled_from(
    [*"#%|[]'\"\\\n->^. 1aS", "[1.5]", "[1.2.3]", "[1]", "[x]", "%start ", "\ufeff", "", "", "", ""]
)
others = st.sampled_from(["", "", "# x", " # y \\", "%start S", "% start  A ", "\\", "A -> S B"])


@st.composite
def rules(draw: st.DrawFn, name: str, probable: bool) -> str:
    alternatives = []
    for share in SHARES[draw(st.integers(1, 4))]:
        symbols = draw(st.lists(names | terminals, max_size=3))
        if probable:
            symbols.insert(draw(st.sampled_from([len(symbols), len(symbols), 0])), share)
        alternatives.append("".join(s + draw(spaces) for s in symbols))
    arrow = draw(st.sampled_from([" -> ", " -> ", " ->", "\t->  ", "->", " -> \\\n"]))
    return name + arrow + draw(st.sampled_from(["|", "| "])).join(alternatives)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Grammars as nltk writes them, more or less."""
    probable = draw(st.booleans())
    chosen = draw(st.lists(names, min_size=1, max_size=4, unique=draw(st.booleans())))
    lines = [draw(rules(name, probable)) for name in chosen]
    if draw(st.integers(0, 3)):
        lines += [f"{name} -> 'z'{' [1.0]' * probable}" for name in NAMES if name not in chosen]
    for _ in range(draw(st.integers(0, 2))):
        lines.insert(draw(st.integers(0, len(lines))), draw(others))
    text = "\n".join(lines)
    for _ in range(draw(st.sampled_from([0, 0, 1, 2]))):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(junk) + text[at + draw(st.integers(0, 2)) :]
    return text


def nltk_reads(text: str) -> tuple[nltk.CFG | None, bool]:
    """Return what nltk makes of the text, and whether that has probabilities."""
    for kind in (nltk.CFG, nltk.PCFG):
        try:
            return kind.fromstring(text), kind is nltk.PCFG
        except ValueError:
            pass
    return None, False


def undefined(grammar: nltk.CFG) -> set[str]:
    defined = {p.lhs() for p in grammar.productions()}
    used = {s for p in grammar.productions() for s in p.rhs() if isinstance(s, nltk.Nonterminal)}
    return {str(s) for s in used | {grammar.start()} if s not in defined}


@settings(max_examples=examples(600))
@given(texts())
@example("S -> 'a' \\")
@example("S -> 'a \\\n b'")
@example("\\\nS -> 'a'")
@example("# c \\\nS -> 'a'")
@example("S -> 'a' | \\\n# c\n")
@example("S->'a'")
@example("% start S\nS -> 'a'")
@example("%start S\n%start A\nS -> 'a'\nA -> 'b' S")
@example("S -> [1.0] 'a'")
@example("S -> 'a' [0.3] [1.0]")
@example("S -> 'a' [1.0] | 'b'")
def test_reads_what_nltk_reads(text: str) -> None:
    theirs, probable = nltk_reads(text)
    try:
        ours: Grammar | None = parse(text, source="t")
        message = ""
    except GrammarError as error:
        ours, message, line, column = None, error.message, error.line, error.column
    if ours is None and line:
        assert 1 <= column <= len(text.split("\n")[line - 1]) + 1
    assert "\n" not in message
    if text.split("\n")[-1].strip().endswith("\\"):
        return  # which nltk forgets
    if ours is not None:
        assert theirs is not None
        assert {s.name for s in ours.undefined} == undefined(theirs)
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            assert ours == Grammar.of(theirs)
        assert [w.category for w in found] == [GrammarWarning] * bool(ours.undefined)
    elif theirs is not None:
        if "no probability, though" in message:
            assert probable
            assert any(p.prob() == 0 for p in theirs.productions())
        elif "a second probability" in message:
            assert probable
            assert re.search(r"\][^|]*\[", text)
        else:
            raise AssertionError(message)


def read(text: str) -> Grammar:
    return Grammar.fromstring(text)


def test_reads_all_of_the_syntax() -> None:
    text = """
        # The start symbol is not the first one.
        %start S
        A -> 'a' "it's" [1/4] | [0.25] | \\
             S A [5e-1]
        S -> A [1.0]
        """
    grammar = read(text)
    assert grammar.start == S
    assert grammar.productions == (
        Production(A, ("a", "it's"), Fraction(1, 4)),
        Production(A, (), Fraction(1, 4)),
        Production(A, (S, A), Fraction(1, 2)),
        Production(S, (A,), Fraction(1)),
    )
    assert [(p.line, p.column) for p in grammar.productions] == [(4, 9), (4, 33), (5, 14), (6, 9)]


def test_equal_productions_become_one() -> None:
    grammar = read("S -> 'a' [0.5] | 'b' [0.2]\nS -> 'a' [0.3]")
    assert grammar.productions == (
        Production(S, ("a",), Fraction(4, 5)),
        Production(S, ("b",), Fraction(1, 5)),
    )


REFUSED = [
    ("", "t: no productions: not a grammar"),
    ("# S -> 'a'\n\n", "t: no productions: not a grammar"),
    ("%start S", "t: no productions: not a grammar"),
    ("S -> 'a'\n  Hello, world", "t:2:8: '->' was expected after 'Hello', not ', world'"),
    ("S", "t:1:2: '->' was expected after 'S', not the end of the line"),
    ("S->'a'", "t:1:4: '->' was expected after 'S->', with a space before it, not \"'a'\""),
    ("'a' -> S", "t:1:1: a nonterminal was expected, not \"'a' -> S\""),
    ("S -> 'a", "t:1:6: no ' ends the string \"'a\""),
    ("S -> 'a' \"b", "t:1:10: no \" ends the string '\"b'"),
    ("S -> 'a' | \\\n  S ] 'b'", "t:2:5: a symbol was expected, not \"] 'b'\""),
    ("S -> 'a' -> 'b'", "t:1:10: a symbol was expected, not \"-> 'b'\""),
    ("S -> 'a' [0.5", "t:1:10: '[0.5' is no probability"),
    ("S -> 'a' [half]", "t:1:10: '[half]' is no probability"),
    ("S -> 'a' [1.2.3]", "t:1:10: '[1.2.3]' is no probability"),
    ("S -> 'a' [1/0]", "t:1:10: '[1/0]' is no probability"),
    ("S -> 'a' [-1]", "t:1:10: '[-1]' is no probability"),
    ("S -> 'a' [1e-9999]", "t:1:10: '[1e-9999]' is no probability"),
    ("S -> 'a' [3/2]", "t:1:10: the probability 3/2 is greater than 1"),
    ("S -> 'a' [0.5] [0.5]", "t:1:16: a second probability, [0.5]"),
    ("S -> 'a' [0.5] | 'b'", "t:1:18: no probability, though line 1 has one"),
    ("S -> 'a'\nS -> 'b' [1.0]", "t:1:1: no probability, though line 2 has one"),
    (
        "S -> A [1.0]\nA -> 'a' [.5] | 'b' [.4]",
        "t:2:1: the probabilities of A sum to 0.9, not to 1",
    ),
    ("S -> 'a' [0.99]", "t:1:1: the probabilities of S sum to 0.99, not to 1"),
    ("S -> 'a' [1.0] | 'b' [0.01]", "t:1:1: the probabilities of S sum to 1.01, not to 1"),
    ("%start", "t:1:1: %start names no symbol"),
    ("%start 'a'", "t:1:8: a nonterminal was expected, not \"'a'\""),
    ("%start S A", "t:1:10: %start names one symbol, then comes 'A'"),
    ("%begin S", "t:1:1: '%begin S' is no directive; %start is the one there is"),
    ("%", "t:1:1: '%' is no directive; %start is the one there is"),
    ("S \x00-> 'a'", "t:1:3: '->' was expected after 'S', not \"\\x00-> 'a'\""),
    ("S -> " + "?" * 80, "t:1:6: a symbol was expected, not '" + "?" * 29 + "…'"),
]


@pytest.mark.parametrize(("text", "says"), REFUSED, ids=range(len(REFUSED)))
def test_an_error_says_where_and_what(text: str, says: str) -> None:
    with pytest.raises(GrammarError) as caught:
        Grammar.fromstring(text, source="t")
    assert str(caught.value) == says


ONE = "the nonterminal {} has no productions, so that it derives nothing"
MORE = "these nonterminals have no productions, so that they derive nothing: {}"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("%start X\nS -> 'a'", "t: " + ONE.format("'X'")),
        ("S -> 'a' | S A 'b' | A", "t:1: " + ONE.format("'A'")),
        ("S -> 'a' \\\n  'b' A\nS -> B", "t:1: " + MORE.format("'A', 'B'")),
        ("S -> 'a'\nS -> B S C | C | 'b' B", "t:2: " + MORE.format("'B', 'C'")),
        ("S -> 'a' [0.25] | B [0.75]", "t:1: " + ONE.format("'B'")),
    ],
)
def test_nonterminals_without_productions_are_warned_of_once(text: str, says: str) -> None:
    with pytest.warns(GrammarWarning) as found:
        grammar = Grammar.fromstring(text, source="t")
    (warning,) = found
    assert str(warning.message) == says
    assert warning.filename == __file__
    theirs = grammar.to_nltk()
    with pytest.warns(GrammarWarning):
        parser = CKYParser(theirs)
    for sentence in (["a"], ["b"], ["a", "b"], ["b", "a"]):
        if set(sentence) <= set(grammar.terminals):
            trees = nltk.ChartParser(theirs).parse(sentence)
            found_trees = [tree.pformat() for tree in parser.parse(sentence)]
            assert found_trees == [tree.pformat() for tree in trees]


def test_sums_may_be_off_by_less_than_a_hundredth() -> None:
    assert read("S -> 'a' [0.991]").is_probabilistic
    assert read("S -> 'a' [1.0] | 'b' [0.0099]").is_probabilistic


def test_another_start_symbol() -> None:
    text = "S -> A\nA -> 'a'"
    assert Grammar.fromstring(text, start="A").start == A
    assert Grammar.fromstring(text, start=A).start == A
    with pytest.raises(GrammarError, match=r"^t: the start symbol 'X' has no productions$"):
        Grammar.fromstring(text, start="X", source="t")


def test_reads_files(tmp_path: Path) -> None:
    path = tmp_path / "G.cfg"
    path.write_bytes("\ufeffS -> 'ä' |\r\n".encode())
    assert Grammar.read(path).productions == (Production(S, ("ä",)), Production(S, ()))
    assert Grammar.read(str(path), start="S").start == S
    path.write_bytes(b"S -> 'a'\nA -> ?")
    with pytest.raises(GrammarError) as caught:
        Grammar.read(path)
    assert str(caught.value) == f"{path}:2:6: a symbol was expected, not '?'"


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_says_where_a_file_is_not_utf8(tmp_path: Path, mark: bytes) -> None:
    path = tmp_path / "G.cfg"
    path.write_bytes(mark + "S -> 'ä'\nA -> 'ää".encode() + b"\xff'\n")
    with pytest.raises(GrammarError) as caught:
        Grammar.read(path)
    assert str(caught.value) == f"{path}:2:9: byte 0xff is not UTF-8"


def test_says_why_a_file_cannot_be_read(tmp_path: Path) -> None:
    for path, why in [
        (tmp_path / "none", "No such file or directory"),
        (tmp_path, "Is a directory"),
        ("a\0b", "embedded null byte"),
    ]:
        with pytest.raises(GrammarError) as caught:
            Grammar.read(path)
        assert str(caught.value).endswith(f": cannot be read: {why}")


@given(st.binary(max_size=40))
def test_any_bytes_are_a_grammar_or_an_error(data: bytes) -> None:
    with contextlib.suppress(GrammarError):
        Grammar.fromstring(data.decode("latin-1"))
