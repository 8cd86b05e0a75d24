"""Speeds, short numbers and the search by letters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui.fuzzy import ranked, score
from ui.numbers import percent, short
from ui.speed import BASES, MOST, Speed, top


@given(st.sampled_from(BASES), st.lists(st.integers(-30, 30)))
def test_speeds_stay_in_range(base: int, changes: list[int]) -> None:
    speed = Speed(base)
    for change in changes:
        speed = speed.changed(change)
        assert 1 <= speed.generations <= MOST
        assert speed.with_base(base).generations <= speed.generations
    assert speed.changed(99).generations == MOST
    assert speed.changed(-99).generations == 1


@given(st.sampled_from(BASES), st.sampled_from(BASES), st.integers(0, 20))
def test_another_base_is_no_faster(base: int, other: int, exponent: int) -> None:
    speed = Speed(base, min(exponent, top(base)))
    changed = speed.with_base(other)
    assert changed.generations <= speed.generations < changed.generations * other or (
        changed.exponent == top(other)
    )


def test_speeds_as_text() -> None:
    assert [str(Speed(10, n)) for n in (0, 1, 6, 7)] == ["1", "10^1", "10^6", "1,048,576"]
    for bad in ((3, 0), (2, -1), (2, 21)):
        with pytest.raises(ValueError, match="no speed"):
            Speed(*bad)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (7, "7"), (999, "999"), (1000, "1.00 k"), (12345, "12.3 k"), (999499, "999 k"),
     (999500, "1.00 M"), (3.14159e12, "3.14 T"), (0.5, "0.50"), (1e24, "1000000 E")],
)  # fmt: skip
def test_short_numbers(value: float, text: str) -> None:
    assert short(value) == text


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [(0, 5, "0.0 %"), (5, 5, "100.0 %"), (1, 8, "12.5 %"), (1, 19, "5.26 %"), (5, 4096, "0.122 %"),
     (1, 1 << 40, "0.0000000000909 %"), (1, 1000, "0.1 %")],
)  # fmt: skip
def test_percentages(part: int, whole: int, text: str) -> None:
    assert percent(part, whole) == text


def test_letters_that_follow_each_other_or_begin_words_count_most() -> None:
    titles = ["Undo", "Zoom out", "Save as", "Zoom in", "Select all", "Copy"]
    assert ranked("zo", titles, str) == ["Zoom in", "Zoom out"]
    assert ranked("zoom", titles, str) == ["Zoom in", "Zoom out"]
    assert ranked("zou", titles, str) == ["Zoom out"]
    assert ranked("sa", titles, str)[:2] == ["Save as", "Select all"]
    assert ranked("rand", ["Rule and edges", "Random fill"], str)[0] == "Random fill"
    assert ranked("", titles, str) == titles
    assert ranked("xyz", titles, str) == []


@given(st.text("abc ", max_size=6), st.text("abcd -", max_size=12))
def test_a_text_fits_where_the_letters_come_in_their_order(query: str, text: str) -> None:
    letters = iter(text)
    fits = all(letter in letters for letter in query.replace(" ", ""))
    assert (score(query, text) is not None) is fits
