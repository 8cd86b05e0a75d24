"""Reading and writing of rules."""

from __future__ import annotations

import pickle
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifesim.errors import LifesimError
from lifesim.rule import LIFE, Rule, RuleError
from lifesim.rules import named
from lifesim.rules.named import NAMED

SETS = st.integers(0, 511)


def digits(neighbours):
    return [str(n) for n in range(9) if neighbours >> n & 1]


def test_every_set_round_trips():
    """Each of the 512 sets is taken on either side; any rule is a pair of them."""
    for value in range(512):
        for rule in (
            Rule.life_like_of(value, 511 - value),
            Rule.life_like_of(511 - value, value),
            Rule.life_like_of(value, value),
        ):
            assert Rule.parse(str(rule)) == rule


@pytest.mark.slow
def test_every_rule_round_trips():
    for value in range(1 << 18):
        rule = Rule.life_like_of(value >> 9, value & 511)
        assert Rule.parse(str(rule)) == rule


@given(SETS, SETS, st.integers(0, 2**32))
def test_every_spelling(birth, survival, seed):
    """The order of digits, the case and the slash are free."""
    born, kept = digits(birth), digits(survival)
    shuffle = random.Random(seed).shuffle
    shuffle(born)
    shuffle(kept)
    b, s = "".join(born), "".join(kept)
    rule = Rule.life_like_of(birth, survival)
    for text in (
        f"B{b}/S{s}", f"B{b}S{s}", f"b{b}/s{s}", f"b{b}s{s}", f"S{s}/B{b}", f"s{s}b{b}",
        f"{s}/{b}", f"  B{b}/s{s}\n",
    ):  # fmt: skip
        assert Rule.parse(text) == rule, text


def test_survival_comes_first_without_letters():
    assert Rule.parse("23/3") == LIFE
    assert Rule.parse("3/23") == Rule.parse("B23/S3")
    assert Rule.parse("23/") == Rule.parse("B/S23")
    assert Rule.parse("/") == Rule.parse("B/S") == Rule.life_like_of(0, 0)


def test_the_bits_of_a_rule():
    assert Rule.parse("B0/S8") == Rule.life_like_of(1, 256)
    assert (LIFE.life_like.birth, LIFE.life_like.survival) == (1 << 3, 1 << 2 | 1 << 3)
    assert str(LIFE) == "B3/S23"
    assert str(Rule.life_like_of(511, 0)) == "B012345678/S"


@pytest.mark.parametrize("known", NAMED, ids=lambda known: known.name)
def test_names(known):
    rule = Rule.parse(known.rule)
    assert str(rule) == known.rule
    for name in (known.name, *known.others):
        assert Rule.parse(f" {name.upper()} ") == rule
    assert known.known_for.endswith(".")


def test_names_are_of_one_rule_each():
    assert len(named.names()) == sum(1 + len(known.others) for known in NAMED)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "unknown rule"),
        ("   ", "unknown rule"),
        ("B", "unknown rule"),
        ("3", "column 1: one set of neighbours"),
        ("B3//S23", "column 5: a rule has two sets of neighbours"),
        ("B3/S23/", "column 8: the number of states, 2 to 256, is missing"),
        ("B3 S23", "column 3: ' ' is neither"),
        ("B3/B3", "column 4: B stands twice"),
        ("B-3/S23", "column 2: '-' is neither a count"),
        ("Lief", "unknown rule 'Lief': is 'life' meant"),
        ("HihgLife", "unknown rule 'HihgLife': is 'highlife' meant"),
        ("Primer", "unknown rule 'Primer': write it as B3/S23, or have a file Primer.rule"),
        ("LifeSuper", "one with states that mark cells: a rule file is needed"),
        ("B1a/S", "column 3: no letter 'a' behind 1, but ce"),
        ("B3/S2x3", "column 6: 'x' is neither a count of neighbours nor a letter behind one"),
        ("B8c/S", "column 3: 8 neighbours lie in one way only"),
        ("B2aa/S", "column 4: 2a stands twice"),
        ("B2a3S2a2a", "column 8: 2a stands twice"),
        ("B2c-a/S", "column 4: '-' is neither"),
        ("B5/SV", "column 2: a cell has at most 4 neighbours in the von Neumann neighbourhood"),
        ("B2a/S3V", "column 3: letters as 'a' are for the Moore neighbourhood only"),
        ("B7/S3H", "column 2: a cell has at most 6 neighbours in the hexagonal neighbourhood"),
        ("0B", "column 2: a slash is missing before B"),
        ("B3/S23/1", "column 8: a rule has 2 to 256 states"),
        ("345/2/257", "column 7: a rule has 2 to 256 states"),
        ("G4/B2/S3/G5", "column 10: the number of states stands twice"),
        ("W21", "column 3: an odd number fills empty rows"),
        ("W256", "column 2: one of Wolfram's rules has a number of 0 to 255"),
        ("MAPARYXf", "a MAP string has 6, 22 or 86 characters behind MAP, not 5"),
        ("MAPARY-XfhZofugWaH7oaIDogBZo", "column 7: '-' is no character of base64"),
        ("MAPARYXfg/1", "column 11: a rule has 2 to 256 states"),
        ("R501,C0,M1,S1..2,B1..2,NM", "column 2: '501' is more than 500"),
        ("R1,C0,M0,S2..10,B3..3,NM", "column 11: '10' is more than 8"),
        ("R1,C0,M0,S3..2,B3..3,NM", "column 11: '3..2' begins with the larger number"),
        ("R1,C0,M0,S2..3,B3..3,NQ", "column 23: no neighbourhood 'Q'"),
        ("R300,C0,M0,S2..3,B3..3,N#", "column 25: N# is for radii up to 200"),
        ("R1,C0,S1,B2,N@A", "column 15: with a radius of 1 2 hexadecimal digits stand behind N@"),
        ("R1,C0,S1,2,B3,S4", "column 15: S stands twice"),
        ("R1,C0,S1", "B is missing"),
        ("1,3,30,3,4", "column 17: '30' is more than 9"),
        ("345/2/4History", "only a rule of two states has a History"),
        ("B0/S2History", "a rule in which empty space is born has no History"),
        ("B1" * 40_000, "column 5: a rule has two sets"),
        ("0-" * 400 + "!", "one set of neighbours"),
        ("B3/S2,3", "column 6: ',' is neither"),
        ("B3/S23\n5", r"column 7: '\\n' is neither"),
        ("B³/S23", "unknown rule"),
        ("B٣/S23", "unknown rule"),
        ("B٩/S23", "unknown rule"),
        ("nosuchlife", "unknown rule 'nosuchlife': write it as B3/S23"),
        ("B9/S23", "column 2: a cell has at most 8 neighbours"),
        ("B3/S239", "rule 'B3/S239', column 7: a cell has at most 8 neighbours"),
        ("B33/S23", "rule 'B33/S23', column 3: 3 stands twice"),
        ("232/3", "2 stands twice"),
    ],
)
def test_bad_rules(text, says):
    with pytest.raises(RuleError, match=says) as caught:
        Rule.parse(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["x" * 10**6, "B" + "3" * 10**6 + "/S", "B9" * 10**5])
def test_bad_rules_are_cut_short(text):
    with pytest.raises(RuleError) as caught:
        Rule.parse(text)
    assert len(str(caught.value)) < 120


@given(st.text(alphabet="BbSs/0123456789 ", max_size=12))
def test_parse_reads_or_says_why(text):
    try:
        rule = Rule.parse(text)
    except RuleError:
        return  # anything but this is a fault
    assert Rule.parse(str(rule)) == rule
    assert set(str(rule)) <= set(text.upper()) | set("BS/")


@pytest.mark.parametrize("sets", [(-1, 0), (0, -1), (512, 0), (0, 512)])
def test_sets_have_nine_bits(sets):
    with pytest.raises(ValueError, match="0 to 511"):
        Rule.life_like_of(*sets)
    assert issubclass(RuleError, LifesimError)


def test_rules_are_values():
    assert len({Rule.parse("B3/S23"), LIFE, Rule.parse("23/3")}) == 1
    assert pickle.loads(pickle.dumps(LIFE)) == LIFE
    with pytest.raises(AttributeError):
        LIFE.name = "Life"


def test_b_without_s_means_that_nothing_survives():
    assert (
        Rule.parse("B234")
        == Rule.parse("b234/")
        == Rule.parse("B234/S")
        == Rule.life_like_of(0b11100, 0)
    )
