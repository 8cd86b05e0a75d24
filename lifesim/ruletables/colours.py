"""@COLORS and @NAMES: how states look and what they are called."""

from __future__ import annotations

import re

from lifesim.ruletables.sections import Line

Colour = tuple[int, int, int]  # red, green, blue, 0 to 255

_NUMBERS = re.compile(r"\s*(\d{1,3}(?:\s+\d{1,3})*)(?!\S)", re.ASCII)
_MOST_NAME = 80


def read_colours(lines: list[Line], states: int) -> dict[int, Colour]:
    """Return the colours of the states that lines name.

    A line is a state and its colour, or two colours, between which states from 1 on are shaded.
    States that the rule does not have, and lines that say something else, are passed over, as
    Golly does.
    """
    colours: dict[int, Colour] = {}
    for line in lines:
        match = _NUMBERS.match(line.text)
        if match is None:
            continue
        numbers = [int(word) for word in match[1].split()]
        if len(numbers) >= 6:
            if max(numbers[:6]) <= 255:
                colours.update(_shades(numbers[:3], numbers[3:6], states))
        elif len(numbers) >= 4 and numbers[0] < states and max(numbers[1:4]) <= 255:
            red, green, blue = numbers[1:4]
            colours[numbers[0]] = red, green, blue
    return colours


def _shades(first: list[int], last: list[int], states: int) -> dict[int, Colour]:
    """Return colours for all states but 0, in even steps."""
    steps = max(1, states - 2)
    shades = {}
    for state in range(1, states):
        red, green, blue = (
            a + (b - a) * (state - 1) // steps for a, b in zip(first, last, strict=True)
        )
        shades[state] = red, green, blue
    return shades


def read_names(lines: list[Line], states: int) -> dict[int, str]:
    """Return the names of states: lines that begin with a state's number."""
    names: dict[int, str] = {}
    for line in lines:
        number, _, name = line.text.partition(" ")
        if re.fullmatch(r"\d{1,3}", number, re.ASCII) and int(number) < states and name.strip():
            shown = "".join(letter for letter in name.strip() if letter.isprintable())
            names[int(number)] = shown[:_MOST_NAME]
    return names
