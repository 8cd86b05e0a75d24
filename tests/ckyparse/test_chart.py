"""Charts beside what symbols derive, written down."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk import CFG
from nltk import Nonterminal as Theirs

from ckyparse import Chart, CKYParser, Grammar, Nonterminal
from ckyparse import chart as module
from ckyparse.analysis import trimmed
from kernels.cky import cells
from tests.ckyparse.backends import ALL
from tests.ckyparse.oracle import Sentence, grammars, languages
from tests.ckyparse.test_parser import ENGLISH, STRINGS
from tests.quick import examples

S = Nonterminal("S")


@pytest.mark.parametrize("backend", ALL)
@settings(max_examples=examples(40))
@given(grammar=grammars(), strings=st.lists(st.sampled_from(STRINGS), max_size=5))
def test_symbols_and_spans(backend: str, grammar: Grammar, strings: list[Sentence]) -> None:
    derived = languages(trimmed(grammar)[0], 4)  # useless symbols are in no chart
    charts = CKYParser(grammar, backend=backend, unknown="reject").charts(strings)
    assert len(charts) == len(strings)
    for string, chart in zip(strings, charts, strict=True):
        n = len(string)
        assert chart.tokens == string
        assert chart.accepted == (string in derived.get(grammar.start, ()))
        assert chart.bits.shape == (cells(n), chart.normal_form.rules.symbols)
        spans = [(i, j) for i in range(n) for j in range(i + 1, n + 1)]
        for i, j in spans:
            expected = {s for s, strings in derived.items() if string[i:j] in strings}
            assert chart.symbols(i, j) == expected
        for symbol in grammar.nonterminals:
            expected_spans = [s for s in spans if string[slice(*s)] in derived.get(symbol, ())]
            assert chart.spans(symbol) == chart.spans(symbol.name) == expected_spans


def test_a_triangle() -> None:
    chart = CKYParser(ENGLISH).charts(["I saw the man"], tokens="space")[0]
    assert repr(chart) == "<Chart of 4 tokens, accepted>"
    assert str(chart).splitlines() == [
        "S",
        ".   VP",
        "S   .      NP",
        "NP  V, VP  Det  N",
        "I   saw    the  man",
    ]


def test_what_is_too_wide_is_not_drawn() -> None:
    parser = CKYParser("S -> S S | 'a'")
    assert str(parser.charts(["a" * 100])[0]) == "<Chart of 100 tokens, accepted>"
    assert str(parser.charts([""])[0]) == "<Chart of 0 tokens, not accepted>"


def test_counts_and_trees() -> None:
    chart = CKYParser("S -> S S | 'a'").charts(["aaaa", "b"[:0]])[0]
    assert isinstance(chart, Chart)
    assert chart.count() == len(list(chart.trees())) == 5
    assert chart.forest is chart.forest
    assert chart.symbols(1, 3) == {S}
    best = CKYParser("S -> S S [0.25] | 'a' [0.75]").charts(["aa"])[0].best()
    assert best is not None
    assert best.prob() == pytest.approx(0.25 * 0.75**2)
    assert CKYParser("S -> S S [0.25] | 'a' [0.75]").charts([""])[0].best() is None


def test_bad_spans_and_symbols() -> None:
    chart = CKYParser(CFG.fromstring("S -> A 'x'\nA -> 'a' |\nB -> 'x'")).charts(["ax"])[0]
    assert chart.spans(Theirs("A")) == [(0, 1)]
    assert chart.spans("B") == []  # S does not lead to it
    for start, end in ((0, 0), (1, 1), (1, 0), (-1, 1), (0, 3)):
        with pytest.raises(IndexError, match=f"no span {start} .. {end} in 2 tokens"):
            chart.symbols(start, end)
    with pytest.raises(KeyError, match="C is no nonterminal"):
        chart.spans("C")
    with pytest.raises(ValueError, match="read-only"):
        chart.bits[0, 0] = True


@pytest.mark.parametrize("backend", ALL)
@pytest.mark.parametrize("block", [1, 100, 1 << 26])
def test_charts_come_in_blocks_in_order(
    backend: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_BLOCK", block)
    monkeypatch.setattr(module, "_STRINGS", 40)
    parser = CKYParser("S -> S S | 'a' | 'b'", backend=backend)
    strings = ["".join(s) for n in (2, 0, 4, 1, 3) for s in product("ab", repeat=n)] * 3
    charts = parser.charts(strings)
    assert ["".join(chart.tokens) for chart in charts] == strings
    assert [chart.count() for chart in charts] == parser.counts(strings)
    assert [charts[i].tokens for i in (-1, 0, 50, 3)] == [tuple(strings[i]) for i in (-1, 0, 50, 3)]
    assert [c.tokens for c in charts[5:9]] == [tuple(s) for s in strings[5:9]]
    with pytest.raises(IndexError):
        charts[len(strings)]


def test_no_more_is_computed_than_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_STRINGS", 2)
    parser = CKYParser("S -> S S | 'a'", backend="reference")
    charts = parser.charts(["a"] * 6)
    sizes = []
    compute = charts._engine.charts

    def counted(batch):  # type: ignore[no-untyped-def]
        sizes.append(len(batch))
        return compute(batch)

    monkeypatch.setattr(charts._engine, "charts", counted)
    assert charts[3].accepted
    assert charts[2].accepted
    assert sizes == [2]
    assert np.all([chart.accepted for chart in charts])
    assert sizes == [2, 2, 2, 2]
