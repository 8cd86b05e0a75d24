"""Numbers of parses, exact however long."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk import CFG, ChartParser

from arith import IntArray
from ckyparse import CKYParser, Counts, Grammar
from ckyparse.values import integers
from kernels.cky import Batch, Rules, cell
from kernels.cky.weighted import WeightedCky, Weights, weighted_for
from kernels.cky.weighted.cuda.engine import CudaWeighted
from kernels.cky.weighted.ref import ReferenceWeighted, values
from kernels.cky.weighted.semirings import WRAPPING
from kernels.targets.choose import pick
from kernels.targets.cuda.device import Device
from tests.ckyparse.backends import ALL
from tests.ckyparse.oracle import Sentence, grammars
from tests.ckyparse.test_parser import ENGLISH, STRINGS
from tests.emulation import EmulatedDevice
from tests.quick import examples

CATALAN = "S -> S S | 'a'"
COMPILED = [name for name in ALL if name != "reference"]


def catalan(n: int) -> int:
    return math.comb(2 * n, n) // (n + 1)


@pytest.mark.parametrize("backend", ALL)
def test_catalan_numbers(backend: str) -> None:
    lengths = [*range(26), 3, 0, 45]
    counts = CKYParser(CATALAN, backend=backend).counts("a" * n for n in lengths)
    assert list(counts) == [catalan(n - 1) if n else 0 for n in lengths]


@pytest.mark.slow
@pytest.mark.parametrize("backend", COMPILED)
def test_catalan_numbers_up_to_length_200(backend: str) -> None:
    counts = CKYParser(CATALAN, backend=backend).counts(["a" * n for n in range(1, 201)])
    assert counts.finite.to_ints() == [catalan(n - 1) for n in range(1, 201)]


@pytest.mark.parametrize("backend", COMPILED)
def test_a_catalan_number_of_length_200(backend: str) -> None:
    counts = CKYParser(CATALAN, backend=backend).counts(["a" * 200, "a", "a" * 199])
    assert list(counts) == [catalan(199), 1, catalan(198)]


@pytest.mark.parametrize("backend", ALL)
def test_an_ambiguous_grammar_has_as_many_as_nltk_finds(backend: str) -> None:
    grammar = CFG.fromstring(ENGLISH)
    sentences = ["I saw the man" + " with a telescope in the park" * n for n in range(4)]
    found = CKYParser(grammar, backend=backend).counts(sentences, tokens="space")
    assert list(found) == [len(list(ChartParser(grammar).parse(s.split()))) for s in sentences]


@pytest.mark.parametrize("backend", ALL)
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # A cycle, but only above 'b'.
        ("S -> A | 'a' S\nA -> B | 'a'\nB -> C\nC -> B | 'b'", {"a": 1, "aa": 1, "b": math.inf}),
        ("S -> S | 'a'", {"a": math.inf, "": 0, "aa": 0}),
        ("S -> S S | 'a' |", {"": math.inf, "a": math.inf, "aa": math.inf}),
        # Empty strings in finitely many ways.
        (
            "S -> A A B\nA -> 'a' |\nB -> C C\nC -> 'c' | D\nD ->",
            {"": 1, "a": 2, "ac": 4, "aac": 2},
        ),
        ("S -> A | B\nA ->\nB ->", {"": 2}),
        ("S -> A 'x'\nA -> A |", {"x": math.inf, "": 0}),
        ("S -> X X X X\nX -> Y | Z | 'a'\nY -> 'a'\nZ -> 'a'", {"aaaa": 81, "aaa": 0}),
        ("S -> S 'a'", {"": 0, "a": 0}),
        ("S ->", {"": 1, "a": 0}),
    ],
)
def test_cycles_and_empty_productions(text: str, expected: dict[str, float], backend: str) -> None:
    parser = CKYParser(text, backend=backend, unknown="reject")
    counts = parser.counts(expected)
    assert dict(zip(expected, counts, strict=True)) == expected
    assert all(isinstance(n, int) or n == math.inf for n in counts)


@pytest.mark.parametrize("backend", ALL)
@settings(max_examples=examples(50))
@given(grammar=grammars(), strings=st.lists(st.sampled_from(STRINGS), max_size=40))
def test_batches_count_what_forests_do(
    backend: str, grammar: Grammar, strings: list[Sentence]
) -> None:
    parser = CKYParser(grammar, backend=backend, unknown="reject")
    counts = parser.counts(strings)
    assert counts == [chart.count() for chart in parser.charts(strings)]
    assert ((counts.finite > 0) | counts.infinite).tolist() == parser.accepts(strings).tolist()


def _engine(name: str, rules: Rules) -> WeightedCky:
    if name == "emulated":
        return CudaWeighted(cast(Device, EmulatedDevice(multiprocessors=1)), rules, 1 << 25)
    return weighted_for(pick(name), rules, 1 << 25)


@pytest.mark.parametrize("name", [*ALL, "emulated"])
def test_wrapped_values_are_exact_ones_modulo_a_word(name: str) -> None:
    rules = Rules.make(
        3, 2, [(0, 0, 1), (0, 1, 1), (1, 0, 2), (2, 1, 0)], [(1, 0), (2, 1), (0, 1)], [(0, 1)]
    )
    random = Random(5)
    sizes = len(rules.binary), len(rules.units), len(rules.lexical), rules.symbols
    weights = Weights(
        *(np.array([random.choice((1, 2, 2**63, 3**90)) for _ in range(n)], object) for n in sizes)
    )
    lengths = [0, 1, 2, 5, 9, 9, 30 if name != "reference" else 8]
    batch = Batch.of([[random.randrange(2) for _ in range(n)] for n in lengths])
    engine, oracle = _engine(name, rules), integers(ReferenceWeighted(rules), batch, 0, weights)
    found = engine.values(batch, 0, weights, WRAPPING)
    assert found.dtype == np.uint64
    assert found.tolist() == [n % 2**64 for n in oracle.to_ints()]
    # Every span of one string.
    chart = engine.chart(batch[4], weights, WRAPPING)
    for (i, j), row in values(rules, weights, batch[4].tolist()).items():
        assert chart[cell(i, j)].tolist() == [row.get(a, 0) % 2**64 for a in range(3)]


@pytest.mark.parametrize("backend", ALL)
@settings(max_examples=examples(20))
@given(grammar=grammars(), strings=st.lists(st.sampled_from(STRINGS), max_size=20))
def test_wrapped_counts_are_exact_ones_modulo_a_word(
    backend: str, grammar: Grammar, strings: list[Sentence]
) -> None:
    parser = CKYParser(grammar, backend=backend, unknown="reject")
    wrapped = parser.counts(strings, wrapped=True)
    assert wrapped == [n if n == math.inf else n % 2**64 for n in parser.counts(strings)]


def test_wrapped_counts_of_long_sentences() -> None:
    lengths = [60, 1, 39, 0]
    counts = CKYParser(CATALAN).counts(("a" * n for n in lengths), wrapped=True)
    assert list(counts) == [catalan(n - 1) % 2**64 if n else 0 for n in lengths]


def test_the_command_counts_wrapped(tmp_path: Path) -> None:
    grammar = tmp_path / "g.cfg"
    # Two to the power of the number of tokens: 0 of 64, which is accepted all the same.
    grammar.write_text("S -> X S | X\nX -> A | B\nA -> 'a'\nB -> 'a'\n")
    lines = "".join(" ".join("a" * n) + "\n" for n in (64, 63)) + "b\n"
    options = ["-g", grammar, "--unknown", "reject", "--wrapped", "--format", "jsonl"]
    command = [sys.executable, "-m", "ckyparse", "count", *options]
    done = subprocess.run(command, input=lines, capture_output=True, text=True)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(line["count"], line["accepted"]) for line in found] == [
        (0, True),
        (2**63, True),
        (0, False),
    ]


def test_weights_of_any_size() -> None:
    """Beyond what a float holds, too."""
    rules = Rules.make(2, 1, [(0, 0, 1), (0, 1, 1)], [(1, 0)], [(0, 1)])
    big = 7**500
    weights = Weights(
        *(np.array(row, object) for row in ([big, 3], [5**600], [1 << 3000], [2, big]))
    )
    batch = Batch.of([[0] * n for n in (1, 0, 3, 2)])
    one = big << 3000
    single = 5**600 << 3000
    two = 2 * (big * single * one + 3 * one * one)
    three = 2 * (big * two * one)
    found = integers(ReferenceWeighted(rules), batch, 0, weights)
    assert found.to_ints() == [single, 0, three, two]


def test_counts_are_a_sequence() -> None:
    counts = Counts(IntArray([5, 0, 2**70, 1]), np.array([False, True, False, False]))
    assert list(counts) == [5, math.inf, 2**70, 1]
    assert (counts[1], counts[-1], counts[1:3]) == (math.inf, 1, [math.inf, 2**70])
    assert counts != [5]
    assert counts != 5
    assert repr(counts) == f"Counts([5, inf, {2**70}, 1])"
    assert repr(Counts(IntArray(range(9)), np.zeros(9, np.bool_))).endswith("5, ... 9 in all])")
