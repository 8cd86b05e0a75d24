"""Cells through text and back."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifesim.grid import BitGrid
from lifesim.rule import LIFE, Rule
from tests.quick import examples
from tests.strategies import grids, rules
from ui.cells.clipboard import parse, text_of
from ui.session import SessionError

GLIDER = BitGrid.from_cells(3, 3, [(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)])


@given(grids(), st.none() | rules)
def test_cells_come_back_with_their_margins(grid: BitGrid, rule: Rule | None) -> None:
    text = text_of(grid, rule)
    clip = parse(text)
    assert clip.cells == grid
    assert clip.rule == rule
    assert all(len(line) <= 70 for line in text.splitlines()[1:])


def test_what_golly_writes_and_reads() -> None:
    assert text_of(GLIDER, LIFE) == "x = 3, y = 3, rule = B3/S23\nbo$2bo$3o!\n"
    assert parse("x = 3, y = 3, rule = B3/S23\nbo$2bo$3o!").cells == GLIDER


@pytest.mark.parametrize(
    "text",
    [
        "#CXRLE Pos=-1,-1\nx = 3, y = 3, rule = B3/S23:T80,80\nbo$2bo$3o!",
        "bob$2bo$3o!",
        "!Name: Glider\n.O.\n..O\nOOO\n",
        "#Life 1.06\r\n1 0\r\n2 1\r\n0 2\r\n1 2\r\n2 2\r\n",
    ],
)
def test_other_formats(text: str) -> None:
    assert parse(text).cells == GLIDER


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t ",
        "Dear Sir or Madam,\nthank you for your letter of the 3rd.",
        "x = 3, y = 3\nbo$2bo",
        "99999999999999999o!",
        "99999999999o99999999999$o!",
        "\ud800 half a character",
        "\x00\x01\x02",
        "#C only a comment",
        "[M2] (golly 2.0)\n4 1 2 3 4\n",
    ],
)
def test_what_is_no_pattern_is_said_in_one_line(text: str) -> None:
    with pytest.raises(SessionError) as error:
        parse(text)
    assert "\n" not in str(error.value)
    assert "clipboard" in str(error.value)


@given(st.text(max_size=200))
@settings(max_examples=examples(50))
def test_any_text_is_cells_or_one_line(text: str) -> None:
    said = ""
    try:
        parse(text)
    except SessionError as error:
        said = str(error)
    assert "\n" not in said
