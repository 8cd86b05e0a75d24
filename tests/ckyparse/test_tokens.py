"""Sentences to numbers, beside a dictionary."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ckyparse.tokens import UNKNOWN, UnknownTokenError, Vocabulary

# Also what no table of codes would think of: beyond 16 bits, and half of a pair.
CHARACTERS = st.sampled_from(["a", "b", "\x7f", "\x80", "é", "☃", "\U0001f600", "\ud800", " "])
WORDS = st.text(CHARACTERS, max_size=2)


@given(
    st.lists(WORDS, unique=True),
    st.lists(st.one_of(st.text(CHARACTERS), st.lists(WORDS))),
    st.booleans(),
    st.booleans(),
)
def test_encoding(
    words: list[str], sentences: list[str | list[str]], space: bool, replace: bool
) -> None:
    words = [w for w in words if w not in ("error", "reject")]
    numbers = {word: 3 * k for k, word in enumerate(words)}
    unknown = words[-1] if replace and words else "reject"
    other = numbers.get(unknown, UNKNOWN)
    coded = Vocabulary(numbers, unknown).encode(sentences, "space" if space else "chars")
    assert len(coded) == len(sentences)
    for s, sentence in enumerate(sentences):
        split = space and isinstance(sentence, str)
        row = sentence.split() if split else list(sentence)  # type: ignore[union-attr]
        assert coded.batch[s].tolist() == [numbers.get(token, other) for token in row]
        assert coded.tokens(s) == tuple(row)


def test_kinds_of_sentences() -> None:
    vocabulary = Vocabulary({"a": 0, "bc": 1})
    sentences = ["aa", ("bc",), iter(["a", "bc"]), np.array(["bc", "a"]), np.str_("a"), {"a": 1}]
    coded = vocabulary.encode(sentences)
    assert [coded.batch[s].tolist() for s in range(6)] == [[0, 0], [1], [0, 1], [1, 0], [0], [0]]
    with pytest.raises(TypeError):
        vocabulary.encode([None])  # type: ignore[list-item]
    with pytest.raises(UnknownTokenError, match=r"sentence 2: .* input words: 'b', 'c'$"):
        Vocabulary({"a": 0}).encode(iter([["a"], iter("bac")]))


def test_what_is_known_by_numbers_only() -> None:
    vocabulary = Vocabulary({"a": 0, "b": 1}, "reject")
    coded = vocabulary.encode(["abx"])
    assert type(coded)(coded.batch, vocabulary).tokens(0) == ("a", "b", "")
