"""Rules written as a number or as bits: Wolfram's W110, and MAP strings."""

from __future__ import annotations

import base64
import re

from kernels.life.rules import AgeingRule, CellRule, MapRule
from lifesim.rules.errors import RuleError, error_at, shown
from lifesim.rules.neighbours import CENTRE, Neighbourhood

# How many characters a MAP string has, and the neighbourhood that it is of: 2^5, 2^7, 2^9 bits.
_PLACES = {
    6: Neighbourhood.VON_NEUMANN,
    22: Neighbourhood.HEXAGONAL,
    86: Neighbourhood.MOORE,
}
_BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def looks_like_wolfram(text: str) -> bool:
    """Tell whether a text is meant as one of Wolfram's rules."""
    return re.fullmatch("[Ww][0-9]+", text, re.A) is not None


def read_wolfram(text: str) -> tuple[CellRule, str]:
    """Read W and an even number, 0 to 254. Raises RuleError.

    As in Golly, a row is computed from the row above it, and what lives stays.
    """
    number = int(text[1:]) if len(text) < 10 else 256
    if number > 255:
        raise error_at(text, 1, "one of Wolfram's rules has a number of 0 to 255")
    if number & 1:
        raise error_at(text, len(text) - 1, "an odd number fills empty rows: only even ones run")
    table = 0
    for cells in range(512):
        above = cells >> 6
        table |= (number >> above & 1 | (cells & CENTRE != 0)) << cells
    return MapRule(table), f"W{number}"


def looks_like_map(text: str) -> bool:
    """Tell whether a text is meant as a MAP string."""
    return re.fullmatch(r"MAP[A-Za-z0-9+/=].*", text, re.DOTALL) is not None


def read_map(text: str) -> tuple[CellRule, str]:
    """Read a MAP string: base64 of the next states, of all squares of five, seven or nine cells; a
    slash and a number of states may follow. Raises RuleError, with the column."""
    body, states = text[3:], 2
    if (match := re.search("/([0-9]+)$", body, re.A)) and len(body) not in _PLACES:
        body = body[: match.start()]
        digits = match[1]
        states = int(digits) if len(digits) < 9 else 0
        if not 2 <= states <= 256:
            raise error_at(text, 4 + len(body), "a rule has 2 to 256 states")
    for offset, character in enumerate(body.removesuffix("=="), 3):
        if character not in _BASE64:
            raise error_at(text, offset, f"{character!r} is no character of base64")
    body = body.removesuffix("==")
    place = _PLACES.get(len(body))
    if place is None:
        wanted = f"6, 22 or 86 characters behind MAP, not {len(body)}"
        raise RuleError(f"rule {shown(text)}: a MAP string has {wanted}")
    bits = 2 ** (place.most + 1)
    value = int.from_bytes(base64.b64decode(body + "=="), "big")
    table = _spread(value, bits, place, states)
    name = "MAP" + base64.b64encode(value.to_bytes(bits // 8, "big")).decode().rstrip("=")
    if states > 2:
        return AgeingRule(table, states), f"{name}/{states}"
    return MapRule(table), name


def _spread(value: int, bits: int, place: Neighbourhood, states: int) -> int:
    """Return the table of nine cells that a string of fewer cells means: the first bit of the
    string is for all cells dead, the last for all alive.

    The cells of an index are in rows from the top, but hexagonal ones of two states in rows from
    the bottom: Golly 3.3 computes it so.
    """
    is_upside_down = place is Neighbourhood.HEXAGONAL and states == 2
    rows = (0o700, 0o070, 0o007) if is_upside_down else (0o007, 0o070, 0o700)
    squares = [1 << bit for bit in range(9) if (place.mask | CENTRE) >> bit & 1]
    counted = [cell for row in rows for cell in squares if cell & row]
    table = 0
    for cells in range(512):
        index = sum(1 << i for i, cell in enumerate(counted) if cells & cell)
        table |= (value >> (bits - 1 - index) & 1) << cells
    return table
