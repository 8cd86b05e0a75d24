"""Reading and writing of rules."""

from __future__ import annotations

import pickle
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifesim.errors import LifesimError
from lifesim.rule import LIFE, Rule, RuleError

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


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("life", "B3/S23"),
        ("Conway", "B3/S23"),
        ("HighLife", "B36/S23"),
        ("Day & Night", "B3678/S34678"),
        ("daynight", "B3678/S34678"),
        ("Seeds", "B2/S"),
        ("Replicator", "B1357/S1357"),
        ("Life without Death", "B3/S012345678"),
        ("Maze", "B3/S12345"),
        ("2x2", "B36/S125"),
        ("DiAmoeba", "B35678/S5678"),
        ("Morley", "B368/S245"),
        ("Anneal", "B4678/S35678"),
        ("34 Life", "B34/S34"),
    ],
)
def test_names(name, rule):
    assert str(Rule.parse(name)) == rule
    assert Rule.parse(f" {name.upper()} ") == Rule.parse(rule)


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
        ("R5,C0,M1,S34..58,B34..45,NM", "of the Larger than Life family"),
        ("LifeHistory", "of several states"),
        ("WireWorld", "a rule table of several states: not supported yet"),
        ("TMGasMargolus_emulated", "Margolus"),
        ("Turmite_181181121010", "a turmite"),
        ("Lief", "unknown rule 'Lief': is 'life' meant"),
        ("HihgLife", "unknown rule 'HihgLife': is 'highlife' meant"),
        ("Primer", "unknown rule 'Primer': write it as B3/S23; no rule table can be run"),
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
