"""Notations of rules beside B3/S23: what they mean, and their usual form."""

from __future__ import annotations

import base64
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.life.rules import AgeingRule, LifeRule, MapRule
from kernels.ranges.rules import RangeRule
from lifesim.rule import LIFE, Rule, RuleError
from lifesim.rules import neighbours, ranges
from lifesim.rules.neighbours import Neighbourhood
from tests.quick import examples

PLACES = st.sampled_from(list(Neighbourhood))
NOTATION = "BbSsGgCcVvHhRMNW0123456789/_-.,cekainyqjrtwz+#*@"


def all_kinds(place):
    return sorted(
        kind for count in range(place.most + 1) for kind in neighbours.kinds(count, place)
    )


@st.composite
def sets(draw, place):
    return set(draw(st.lists(st.sampled_from(all_kinds(place)), unique=True)))


@given(st.data(), PLACES, st.integers(2, 256))
@settings(max_examples=examples(60))
def test_any_sets_are_written_and_read_again(data, place, states):
    born, kept = data.draw(sets(place)), data.draw(sets(place))
    birth, survival = neighbours.written(born, place), neighbours.written(kept, place)
    rule = Rule.parse(f"B{birth}/S{survival}{place}")
    assert Rule.parse(str(rule)) == rule
    table = neighbours.table(born, kept, place)
    assert table == sum(
        (kind in (kept if cells & neighbours.CENTRE else born)) << cells
        for cells, kind in enumerate(neighbours.kinds_of_cells(place))
    )
    assert (rule.life_like if isinstance(rule.cells, LifeRule) else rule.cells).table == table
    aged = Rule.parse(f"{survival}/{birth}/{states}{place}")
    assert Rule.parse(str(aged)) == aged
    assert aged.cells == AgeingRule(table, states) if states > 2 else aged == rule


@given(st.data())
@settings(max_examples=examples(60))
def test_the_other_way_to_say_a_count_is_never_shorter(data):
    place = Neighbourhood.MOORE
    chosen = data.draw(sets(place))
    for count in range(1, 8):
        letters = neighbours.letters(count, place)
        having = [letter for letter in letters if f"{count}{letter}" in chosen]
        if 0 < len(having) < len(letters):
            missing = "".join(letter for letter in letters if letter not in having)
            text = neighbours.written({f"{count}{letter}" for letter in having}, place)
            assert len(text) <= min(1 + len(having), 2 + len(missing))
            assert neighbours.read(text, 0, len(text), place) == {
                f"{count}{letter}" for letter in having
            }


def test_kinds_are_the_squares_that_turning_and_mirroring_make_equal():
    kinds = neighbours.kinds_of_cells(Neighbourhood.MOORE)
    assert len(set(kinds)) == 51
    for cells, kind in enumerate(kinds):
        rows = [[cells >> (8 - 3 * y - x) & 1 for x in range(3)] for y in range(3)]
        turned = [list(row) for row in zip(*rows[::-1], strict=True)]
        mirrored = [row[::-1] for row in rows]
        for image in (turned, mirrored):
            other = int("".join(str(cell) for row in image for cell in row), 2)
            assert kinds[other] == kind
        assert kind[0] == str((cells & ~neighbours.CENTRE).bit_count())


@pytest.mark.parametrize(
    ("text", "usual"),
    [
        ("b2-a/s12", "B2-a/S12"),
        ("B2CEIKN/S", "B2-a/S"),
        ("B4-qjrtwz/S", "B4aceikny/S"),
        ("B2aceikn3/S", "B23/S"),
        ("B2-3/S", "B23/S"),
        ("B2-aceikn3/S", "B3/S"),
        ("B2nic/S", "B2cin/S"),
        ("S2-i34q/B3", "B3/S2-i34q"),
        ("s2-i34qb3", "B3/S2-i34q"),
        ("B3_S23-a4ei6", "B3/S23-a4ei6"),
        ("2a34/3", "B3/S2a34"),
        ("B3/2a34", "B3/S2a34"),
        ("B2a2c/S", "B2ac/S"),
        ("S23", "B/S23"),
        ("23/S3", "B23/S3"),
        ("2/34h", "B34/S2H"),
        ("B3V", "B3/SV"),
        ("345/2/4", "345/2/4"),
        ("B2/S345/C4", "345/2/4"),
        ("B2/S345/4", "345/2/4"),
        ("S345/B2/4", "345/2/4"),
        ("2/345/G4", "2/345/4"),
        ("g4b2s345", "345/2/4"),
        ("G4/B2/S345", "345/2/4"),
        ("C4B2S345", "345/2/4"),
        ("34/2/4v", "34/2/4V"),
        ("B3k/S2a/4", "2a/3k/4"),
        ("3/23/08", "3/23/8"),
        ("23/3/2", "B3/S23"),
        ("w022", "W22"),
        ("MAPARYXfg==", "MAPARYXfg"),
        ("MAPARYXfg==/3", "MAPARYXfg/3"),
        ("MAPARYXfh", "MAPARYXfg"),
        ("5,34,45,34,58", "R5,C0,M1,S34..58,B34..45,NM"),
        ("r5,c1,m1,s34..58,b34..45,nm", "R5,C0,M1,S34..58,B34..45,NM"),
        ("R2,C2,S6-9,B7-8", "R2,C0,M0,S6..9,B7..8,NM"),
        ("R2,C3,S1,3-5,6,B7,NN", "R2,C3,M0,S1,3-6,B7,NN"),
        ("R1,C0,B3,S2-3,Nx", "R1,C0,M0,S2-3,B3,NX"),
        ("R1,C0,S1,B2,N@a5", "R1,C0,M0,S1,B2,N@A5"),
        ("lifehistory", "LifeHistory"),
        ("b36s23History", "B36/S23History"),
        ("wireworld", "WireWorld"),
        ("jvn29", "JvN29"),
    ],
)
def test_the_usual_form(text, usual):
    rule = Rule.parse(text)
    assert str(rule) == usual
    assert Rule.parse(usual) == rule


def test_two_neighbourhoods_are_parts_of_moores():
    assert Rule.parse("B1/SV").cells == Rule.parse("MAP" + _map(_von_neumann, 512)).cells
    assert isinstance(Rule.parse("B2/S34H").cells, MapRule)


def _von_neumann(cells):
    return (cells & 0o252).bit_count() == 1 and not cells & neighbours.CENTRE


def _map(function, size):
    bits = int("".join(str(int(function(index))) for index in range(size)), 2)
    return base64.b64encode(bits.to_bytes(size // 8, "big")).decode().rstrip("=")


def test_life_as_a_map_string():
    text = (
        "MAPARYXfhZofugWaH7oaIDogBZofuhogOiAaIDogIAAgAAWaH7oaIDogGiA6ICAAIAAaIDogIAAgACAAIAAAAAAAA"
    )
    assert Rule.parse(text).cells == MapRule(LIFE.life_like.table)


@given(st.sampled_from([32, 128, 512]), st.integers(0, 2**512 - 1))
@settings(max_examples=examples(30))
def test_map_strings_round_trip(size, bits):
    text = base64.b64encode((bits % (1 << size)).to_bytes(size // 8, "big")).decode()
    rule = Rule.parse("MAP" + text)
    assert str(rule) == "MAP" + text.rstrip("=")
    assert Rule.parse(str(rule)) == rule


@pytest.mark.parametrize("kind", [kind for kind in ranges.KINDS if kind != "@"])
@pytest.mark.parametrize("radius", [1, 2, 5])
@pytest.mark.parametrize("middle", [0, 1])
def test_neighbourhoods_as_they_are_defined(kind, radius, middle):
    """Each cell near the middle is in a neighbourhood where its definition says so."""
    defined = {
        "M": lambda x, y: True,
        "N": lambda x, y: abs(x) + abs(y) <= radius,
        "C": lambda x, y: 4 * (x * x + y * y) < (2 * radius + 1) ** 2,
        "2": lambda x, y: x * x + y * y <= radius**2,
        "H": lambda x, y: max(abs(x), abs(y), abs(x - y)) <= radius,
        "B": lambda x, y: (x ^ y) & 1 == 1,
        "D": lambda x, y: (x ^ y) & 1 == 0,
        "#": lambda x, y: 1 in (abs(x), abs(y)),
        "+": lambda x, y: x * y == 0,
        "X": lambda x, y: x * x == y * y,
        "*": lambda x, y: x * y * (x * x - y * y) == 0,
        "A": lambda x, y: x * y * (x - y) == 0,
    }[kind]
    rule = Rule.parse(f"R{radius},C0,M{middle},S1,B1,N{kind}").cells
    assert isinstance(rule, RangeRule)
    cells = {(x, row) for row, first, last in rule.runs for x in range(first, last + 1)}
    span = range(-radius, radius + 1)
    expected = {(x, y) for x in span for y in span if defined(x, y) and (x or y)}
    assert cells == expected | ({(0, 0)} if middle else set())


def test_a_neighbourhood_by_digits_is_that_of_the_letter_where_it_is_symmetric():
    assert Rule.parse("R1,C0,S1,B1,N@FF").cells == Rule.parse("R1,C0,S1,B1,NM").cells
    assert Rule.parse("R1,C0,S1,B1,N@5A").cells == Rule.parse("R1,C0,S1,B1,N+").cells
    first = Rule.parse("R1,C0,S1,B1,N@80").cells
    assert isinstance(first, RangeRule)
    assert first.runs == ((1, 1, 1),)


@given(st.text(alphabet=NOTATION, max_size=24))
@settings(max_examples=examples(200))
def test_parse_reads_or_says_why(text):
    assert _fault(text) is None or len(str(_fault(text)).splitlines()) == 1


def _fault(text):
    """Return what is said of a text that is no rule; hold that others are read from their name."""
    try:
        rule = Rule.parse(text, [])
    except RuleError as error:
        return error
    assert Rule.parse(str(rule), []) == rule
    return None


@given(st.integers(0, 2**32))
@settings(max_examples=examples(100))
def test_damaged_rules_are_read_or_said(seed):
    """One character of a good rule is another, is left out or stands twice."""
    chance = random.Random(seed)
    good = chance.choice(
        ["B2-a/S12", "345/2/4", "R5,C0,M1,S34..58,B34..45,NM", "MAPARYXfg/3", "W22", "B2/S34H",
         "R2,C3,S1,3-5,6,B7,N@FFFFFF", "5,34,45,34,58", "G4/B2/S345", "B36/S23History"]
    )  # fmt: skip
    at = chance.randrange(len(good))
    text = good[:at] + chance.choice(["", good[at] * 2, chance.choice(NOTATION)]) + good[at + 1 :]
    assert _fault(text) is None or len(str(_fault(text))) < 300
