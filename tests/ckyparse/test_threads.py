"""Several threads at once: what the classes say of it is so."""

from __future__ import annotations

import pytest

from ckyparse import CKYParser, Grammar
from tests.at_once import at_once

GRAMMAR = "S -> S S [0.4] | 'a' [0.5] | 'b' [0.1]"
SENTENCES = ["a" * n + "b" * (n % 3) for n in range(1, 10)]


@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_a_parser_is_used_by_several_threads(backend: str) -> None:
    def facts(parser: CKYParser) -> tuple[object, ...]:
        trees = [str(parser.parse_one(sentence)) for sentence in SENTENCES[:4]]
        counts = [chart.count() for chart in parser.charts(SENTENCES)]
        return trees, counts, list(parser.accepts(SENTENCES)), list(parser.counts(SENTENCES))

    right = facts(CKYParser(GRAMMAR, backend=backend))
    parser = CKYParser(GRAMMAR, backend=backend)  # nothing of it is made yet
    for found in at_once(lambda number: [facts(parser) for _ in range(3)]):
        assert found == [right] * 3


def test_each_thread_has_a_chart_of_its_own() -> None:
    parser = CKYParser(GRAMMAR)
    sentences = ["aaaa", "aab", "abab", "bbbb"]
    right = [[str(tree) for tree in chart.trees()] for chart in parser.charts(sentences)]
    charts = parser.charts(sentences)
    assert at_once(lambda number: [str(tree) for tree in charts[number].trees()]) == right


def test_a_grammar_is_used_by_several_threads() -> None:
    for _ in range(20):
        grammar = Grammar.fromstring(GRAMMAR)

        def work(number: int, grammar: Grammar = grammar) -> tuple[object, ...]:
            return grammar.nonterminals, grammar.terminals, grammar.productions_of(grammar.start)

        assert len(set(at_once(work))) == 1
