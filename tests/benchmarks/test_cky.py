"""The benchmarks of CKY parsing, run small under emulation."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks import cky_device, cky_weighted, natural
from benchmarks.cky_tables import TABLE, random_rules, random_strings, splits
from kernels.cky.weighted.ref import ReferenceWeighted
from tests.emulation import EmulatedDevice


@pytest.mark.parametrize(("rules", "direct"), [(32, False), (2048, True)])
def test_rows_of_the_table(monkeypatch: pytest.MonkeyPatch, rules: int, direct: bool) -> None:
    monkeypatch.setattr(cky_device, "LENGTH", 4)
    monkeypatch.setattr(cky_device, "RUNS", 1)
    row = cky_device.measure(EmulatedDevice(), 32, rules, 40, direct=direct)
    assert row.us > 0
    assert (row.direct is not None) == direct
    assert row.direct is None or row.direct > 0
    assert (row.fujita, row.reach) == (TABLE[32, rules][1], None)
    assert row.columns == ("SparseColumns" if rules == 32 else "DenseColumns")
    assert (row.generated is None) == (rules == 32)


def test_wrong_answers_are_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cky_device, "DirectColumns", lambda device, of: _Nothing(device, of))
    device, of = EmulatedDevice(), random_rules(4, 60)
    engine = cky_device.CudaCky(device, of)
    with pytest.raises(AssertionError, match="does not agree"):
        cky_device.check(engine, random_strings(of, 40, 4))


class _Nothing(cky_device.DirectColumns):
    """Leaves all charts as they are, which emulated memory is not by chance."""

    def run(self, *_: object) -> None:
        pass


def test_his_table_is_whole() -> None:
    assert len(TABLE) == 53
    assert TABLE[32, 8192] == (626, 1.84)
    assert TABLE[512, 131072] == (16900, 736)


def test_random_strings_and_splits() -> None:
    batch = random_strings(random_rules(32, 64), 100, range(2, 5))
    assert set(batch.lengths.tolist()) == {2, 3, 4}
    assert splits(batch.lengths) == sum({2: 1, 3: 4, 4: 10}[n] for n in batch.lengths.tolist())


def test_the_natural_grammar_is_what_it_says() -> None:
    grammar = natural.grammar()
    assert len(grammar.productions) == natural.PRODUCTIONS
    assert len(grammar.nonterminals) == sum(natural.LAYERS)
    sentences = natural.sentences(grammar, 200)
    assert sentences == natural.sentences(grammar, 200)
    assert 10 < sum(map(len, sentences)) / 200 < 12
    assert max(map(len, sentences)) <= natural.LONGEST


def test_weighted_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cky_weighted, "RUNS", 1)
    case = next(cky_weighted.cases(1))
    assert len(case.batch) == 500
    one = replace(case, batch=random_strings(case.rules, 1, 3))
    times = cky_weighted.measure(ReferenceWeighted(case.rules), one)
    assert len(times) == 4
    assert min(times) > 0
