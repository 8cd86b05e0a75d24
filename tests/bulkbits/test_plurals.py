"""Numbers of things in words, and where they are said."""

from __future__ import annotations

import numpy as np

from bulkbits.plurals import many
from ckyparse import CKYParser, draw
from semigroups import Semigroup


def test_one_and_several() -> None:
    said = [many(number, "picture") for number in (0, 1, 1200, 1.0, 0.5, np.int64(12_345_678))]
    assert said == [
        "0 pictures", "1 picture", "1,200 pictures", "1 picture", "0.5 pictures",
        "12,345,678 pictures",
    ]  # fmt: skip
    assert [many(number, "box", "boxes") for number in (0, 1, 2)] == ["0 boxes", "1 box", "2 boxes"]


def test_what_there_is_one_of() -> None:
    charts = CKYParser("S -> 'a'", backend="reference").charts(["a"])
    (chart,) = charts
    assert repr(charts) == "<Charts of 1 sentence>"
    assert repr(chart) == "<Chart of 1 token, accepted>"
    assert repr(chart.forest) == "<Forest of trees over 1 token>"
    assert repr(draw(chart)) == "<Drawing of a chart of 1 token>"
    grammar = chart.normal_form.grammar
    assert repr(grammar) == "<Grammar of 1 production, 1 nonterminal, start symbol S>"
    S = Semigroup([[0]], backend="reference")
    S.run()
    assert repr(S.words()) == "<words of 1 element>"
    assert repr(S.rules) == "<1 rule>"
    assert repr(S.green("R")) == "<1 R-class, 1 regular>"
    assert repr(S.egg_boxes()) == "<1 egg box>"
    assert repr(S.egg_boxes()[0]) == "<EggBox 0: 1 x 1 H-classes of 1, 1 group>"
