"""Speeds, short numbers and the search by letters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bulkbits.fuzzy import ranked, score
from ui.numbers import percent, short, ticks, time_left
from ui.speed import BASES, MOST, RunSpeed, top


@given(st.sampled_from(BASES), st.lists(st.integers(-30, 30)))
def test_speeds_stay_in_range(base: int, changes: list[int]) -> None:
    speed = RunSpeed(base)
    for change in changes:
        speed = speed.changed(change)
        assert 1 <= speed.generations <= MOST
        assert speed.with_base(base).generations <= speed.generations
    assert speed.changed(99).generations == MOST
    assert speed.changed(-99).generations == 1


@given(st.sampled_from(BASES), st.sampled_from(BASES), st.integers(0, 20))
def test_another_base_is_no_faster(base: int, other: int, exponent: int) -> None:
    speed = RunSpeed(base, min(exponent, top(base)))
    changed = speed.with_base(other)
    assert changed.generations <= speed.generations < changed.generations * other or (
        changed.exponent == top(other)
    )


def test_speeds_as_text() -> None:
    assert [str(RunSpeed(10, n)) for n in (0, 1, 6, 7)] == ["1", "10^1", "10^6", "1,048,576"]
    for bad in ((3, 0), (2, -1), (2, 21)):
        with pytest.raises(ValueError, match="no speed"):
            RunSpeed(*bad)


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


@pytest.mark.parametrize(
    ("values", "between", "texts"),
    [
        ([34, 35, 36], 1, ["34", "35", "36"]),
        ([0, 200_000, 400_000], 200_000, ["0", "200 k", "400 k"]),
        ([0, 500, 1000], 500, ["0", "500", "1,000"]),
        ([12_000, 12_500], 500, ["12.0 k", "12.5 k"]),
        ([12_340, 12_341], 1, ["12,340", "12,341"]),
        ([0, 1e6, 2e6], 1e6, ["0", "1 M", "2 M"]),
        ([1_234_000, 1_235_000], 1000, ["1.234 M", "1.235 M"]),
        ([10**15, 10**15 + 1], 1, ["1,000,000,000,000,000", "1,000,000,000,000,001"]),
        ([0, 0.05, 0.1], 0.05, ["0", "0.05", "0.10"]),
        ([0, 0.000002, 0.000004], 0.000002, ["0", "2 × 10⁻⁶", "4 × 10⁻⁶"]),
        ([0, 1e21, 2e21], 1e21, ["0", "1 × 10²¹", "2 × 10²¹"]),
        ([0.0001234, 0.0001235], 0.0000001, ["0.0001234", "0.0001235"]),
        ([0, 0], 1, ["0", "0"]),
        ([], 1, []),
    ],
)
def test_numbers_beside_an_axis(values: list[float], between: float, texts: list[str]) -> None:
    assert ticks(values, between) == texts


@given(st.integers(0, 10**17), st.sampled_from([1, 2, 5]), st.integers(-9, 12), st.integers(2, 12))
def test_numbers_beside_an_axis_differ(first: int, step: int, power: int, count: int) -> None:
    between = step * 10.0**power
    values = [(first + k) * between for k in range(count) if (first + k) * between < 10**15]
    if len(set(values)) == len(values) and (not values or values[-1] / between < 10**12):
        assert len(set(ticks(values, between))) == len(values)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "1 s left"), (12.4, "12 s left"), (89, "89 s left"), (90, "2 min left"),
     (5300, "88 min left"), (5400, "1.5 h left"), (40_000, "11 h left"), (200_000, "2.3 days left"),
     (9e6, "104 days left")],
)  # fmt: skip
def test_how_long_it_will_take(seconds: float, text: str) -> None:
    assert time_left(seconds) == text
