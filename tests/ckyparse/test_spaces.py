"""What "space" and blanks mean: the same to Python, to the command, compiled or not."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ckyparse import CKYParser
from ckyparse.cli.tokenise import JsonTokenizer, PlainTokenizer, RegexTokenizer, Tokenizer
from kernels.cky.text import ABSENT, TextEncoder
from ui.parsing.model import split

# All that Python, C or Unicode takes for white space, beside letters.
SPACES = "\t\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2028\u2029\u202f\u205f\u3000\ufeff"
WORDS = ["a", "b", "é", *SPACES, "a\xa0b", "\x1ca", "a\x85"]
NUMBERS = {word: number for number, word in enumerate(WORDS)}
LINES = st.text(st.sampled_from(["a", "b", "é", *SPACES]))


def array(data: bytes) -> np.ndarray:
    return np.frombuffer(data, np.uint8)


def terminals(tokenizer: Tokenizer, line: str) -> list[int]:
    return tokenizer.encode(array(line.encode() + b"\n")).batch.terminals.tolist()


@given(LINES)
def test_one_meaning_of_space(line: str) -> None:
    line = line.removesuffix("\r")  # which ends a line with the newline
    expected = [word for word in re.split("[ \t\n\v\f\r]", line) if word]
    found = [NUMBERS.get(word, ABSENT) for word in expected]
    vocabulary = TextEncoder(WORDS, "space")
    data = array(line.encode() + b"\n")
    assert vocabulary.encode(data).batch.terminals.tolist() == found
    assert vocabulary.encode_plainly(data).batch.terminals.tolist() == found
    tokenizer = PlainTokenizer(NUMBERS, ABSENT, chars=False, threads=1)
    assert terminals(tokenizer, line) == found
    assert tokenizer.words(line.encode()) == split(line, "space") == expected
    parser = CKYParser("S -> S S | 'a' | 'b' | 'é'", unknown="reject")
    assert list(parser.encode([line], tokens="space").tokens(0)) == expected


@pytest.mark.parametrize(
    ("sentence", "tokens"),
    [
        ("a\xa0b", ["a\xa0b"]),
        ("a\x1cb\x1db\x1eb\x1fb", ["a\x1cb\x1db\x1eb\x1fb"]),
        ("a\x85b\u2028b", ["a\x85b\u2028b"]),
        ("\ta\t\tb\v\f\r\na ", ["a", "b", "a"]),
        ("", []),
        (" \t", []),
    ],
)
def test_what_separates_tokens(sentence: str, tokens: list[str]) -> None:
    parser = CKYParser("S -> 'a'", unknown="reject")
    assert list(parser.encode([sentence], tokens="space").tokens(0)) == tokens


@given(LINES)
def test_only_blanks_are_passed_over_between_matches(line: str) -> None:
    line = line.removesuffix("\r")
    tokenizer = RegexTokenizer(NUMBERS, ABSENT, re.compile("[ab]"))
    words = tokenizer.words(line.encode())
    assert "".join(words).translate(dict.fromkeys(b" \t\v\f\r")) == line.translate(
        dict.fromkeys(b" \t\v\f\r")
    )
    assert not any(word[0] in " \t\v\f\r" or word[-1] in " \t\v\f\r" for word in words)


@pytest.mark.parametrize("line", ["é", "!", "!a", "é a", "!!"])
def test_one_unmatched_character_at_a_lines_start(line: str) -> None:
    tokenizer = RegexTokenizer({"a": 0}, ABSENT, re.compile("a"))
    encoded = tokenizer.encode(array(f"a\n{line}\n".encode()))
    assert tokenizer.words(line.encode())[0] == line.split()[0].removesuffix("a")
    assert encoded.bad.tolist() == [[1, 1, 2]]  # UNKNOWN, at the line's first byte


@pytest.mark.parametrize("way", ["space", "chars", "regex", "json"])
def test_what_ends_a_line(way: str) -> None:
    """A \\r belongs to a line that no newline ends, for every way to cut it."""
    numbers = {"a": 0, "\r": 1}
    tokenizer: Tokenizer
    if way == "regex":
        tokenizer = RegexTokenizer(numbers, ABSENT, re.compile(r"a|\r"))
    elif way == "json":
        tokenizer = JsonTokenizer(numbers, ABSENT)
    else:
        tokenizer = PlainTokenizer(numbers, ABSENT, chars=way == "chars", threads=1)
    line = json.dumps(["a"]) if way == "json" else "a"
    encoded = tokenizer.encode(array(f"{line}\r\n{line}\r".encode()))
    last = [0, 1] if way in ("chars", "regex") else [0]
    assert [encoded.batch[s].tolist() for s in range(2)] == [[0], last]
    assert encoded.starts.tolist() == [0, len(line) + 2, 2 * len(line) + 3]
