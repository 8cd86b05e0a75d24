"""Which sentences a list shows and in which order, and what is known of probabilities."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ckyparse import CKYParser
from tests.quick import examples
from ui.parsing.model import SentenceLook, look, probability_of, read
from ui.parsing.order import Arrangement, Key, Shown
from ui.parsing.sentences import ACCEPTED, BROKEN, REJECTED, TOO_LONG, Findings, SentenceLines

CATALAN = "S -> S S [0.5] | 'a' [0.3] | 'b' [0.2]"
LANGUAGES = read(CATALAN, "reference"), read("S -> S | S S | 'a' | 'b'", "reference")


def judged(language: Any, lines: list[str]) -> Findings:
    findings = Findings(language, "chars", SentenceLines.of("".join(f"{s}\n" for s in lines)))
    for _ in findings.judge(lambda: (0, 0)):
        pass
    return findings


def obvious(found: Findings, arrangement: Arrangement) -> list[int]:
    """Return the lines that are to be shown, one by one."""

    def is_shown(line: int) -> bool:
        verdict, count = found.verdicts[line], found.count(line)
        return {
            "all": True, "accepted": verdict == ACCEPTED, "rejected": verdict == REJECTED,
            "unanswered": verdict in (TOO_LONG, BROKEN),
            "ambiguous": count is not None and count > 1,
        }[arrangement.shown]  # fmt: skip

    def key(line: int) -> Any:
        if arrangement.key == "verdict":
            return int(found.verdicts[line])
        if arrangement.key == "parses":
            count = found.count(line)
            return -1 if count is None else count
        log = found.log(line)
        return -1e308 if log is None else log

    lines = [line for line in range(len(found.lines)) if is_shown(line)]
    if arrangement.key is not None:
        lines.sort(key=key, reverse=arrangement.descending)
    return lines


arrangements = st.builds(
    Arrangement,
    st.sampled_from(get_args(Shown)),
    st.one_of(st.none(), st.sampled_from(get_args(Key))),
    st.booleans(),
)


@settings(max_examples=examples(40), deadline=None)
@given(
    st.sampled_from(LANGUAGES),
    st.lists(st.text("abx\ud800", max_size=5), max_size=12),
    arrangements,
)
@example(LANGUAGES[0], ["a" * 37, "a", "a" * 38, "b" * 37, "x"], Arrangement("all", "parses", True))
def test_lines_are_arranged_as_one_by_one(
    language: Any, lines: list[str], arrangement: Arrangement
) -> None:
    found = judged(language, lines)
    order = arrangement.of(found)
    assert (order is None) == arrangement.is_plain
    plain = np.arange(len(found.lines)) if order is None else order
    assert plain.tolist() == obvious(found, arrangement)


def test_probabilities_are_those_of_the_parser() -> None:
    lines = ["a", "ab", "aab", "x", ""]
    found = judged(LANGUAGES[0], lines)
    expected = CKYParser(CATALAN, backend="reference", unknown="reject").log_probabilities(lines)
    for line, log in enumerate(expected.tolist()):
        assert found.log(line) == log
    looks = [one for one in look(LANGUAGES[0], "chars", "aab") if isinstance(one, SentenceLook)]
    assert looks[-1].log == expected[2]
    assert looks[-1].verdict == f"accepted, 2 parses, probability {2 * 0.5**2 * 0.3**2 * 0.2:.6g}"
    assert judged(LANGUAGES[1], lines).log(0) is None


def test_weights_without_a_sum_are_no_probabilities() -> None:
    language = read("S -> S [1.0] | 'a' [0.005]", "reference")
    found = judged(language, ["a", "b"])
    assert found.no_sum
    assert not found.is_weighted
    assert found.log(0) is None
    assert [one for one in look(language, "chars", "a") if isinstance(one, SentenceLook)][
        -1
    ].verdict == "accepted, infinitely many parses"


@pytest.mark.parametrize(
    ("log", "text"),
    [
        (0.0, "1"), (-math.inf, "0"), (math.log(0.25), "0.25"),
        (math.log(2.5e-300), "2.5 × 10⁻³⁰⁰"),
        (-1000 * math.log(10) + math.log(1.5), "1.50000 × 10⁻¹⁰⁰⁰"),
        (-800.0, f"{Decimal(-800).exp():.5e}".replace("e-348", " × 10⁻³⁴⁸")),
    ],
)  # fmt: skip
def test_probabilities_are_written_however_small(log: float, text: str) -> None:
    assert probability_of(log) == text
