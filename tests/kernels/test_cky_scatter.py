"""Charts whose pairs are ORed to rows at once: tables by themselves, and charts, emulated."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.cky import Rules
from kernels.cky.cuda.dense_plan import TooManySymbolsError, shared_bytes
from kernels.cky.cuda.scatter import ScatterColumns
from kernels.cky.cuda.scatter_plan import (
    PAIRS,
    RulesByTile,
    ScatterPlan,
    fits,
    plan,
    scatter_cost,
    tables,
)
from kernels.cky.cuda.tiles import TILE, tiles
from kernels.targets.cuda.device import Device
from tests.emulation import EmulatedDevice
from tests.kernels.test_cky_dense import check_columns, grammar, grammars
from tests.quick import examples

Triples = set[tuple[int, int, int]]


def rules_of(table: npt.NDArray[np.uint32], ranks: int, nothing: int) -> list[tuple[int, int]]:
    """Return symbol and pair of each rule in a table, as the kernel goes through it."""
    found = []
    for rank in table[: 32 * ranks].view(np.uint16).reshape(ranks, PAIRS):
        found += [(row, pair) for pair, row in enumerate(rank.tolist()) if row != nothing]
    at, rest = 32 * ranks + 1, int(table[32 * ranks])
    assert at + rest + 1 <= table.size  # one is read in vain
    return found + [(entry & 0xFFFF, entry >> 16) for entry in table[at : at + rest].tolist()]


def all_rules(p: ScatterPlan, rules: Rules) -> list[tuple[int, int, int]]:
    places, _ = tiles(rules)
    found = []
    for (b, c), table in zip(places.tolist(), p.tables, strict=False):
        found += [
            (a, b + pair // TILE, c + pair % TILE)
            for a, pair in rules_of(table, p.ranks, p.symbols)
        ]
    for table in p.tables[len(places) :]:
        assert rules_of(table, p.ranks, p.symbols) == []
    return found


@settings(max_examples=examples(40), deadline=None)
@given(grammars(), st.sampled_from([64, 99, 227]))
def test_tables_have_every_rule_once(rules: Rules, shared: int) -> None:
    p = plan(rules, shared * 1024)
    assert p.shared <= shared * 1024
    assert rules.symbols <= p.symbols < rules.symbols + TILE
    assert len(p.tables) == p.passes * p.warps
    assert sorted(all_rules(p, rules)) == sorted(map(tuple, rules.binary.tolist()))
    assert p.units == bool(len(rules.units))
    if p.units:
        below = p.heads[p.passes * (p.warps + p.runs) :].tolist()
        found = [[a, b] for a in range(p.symbols) for b in below[below[a] : below[a + 1]]]
        assert sorted(found) == sorted(rules.units.tolist())


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_all_ways_have_every_rule(ranks: int) -> None:
    rules = grammar(16, 2000)  # some eight for each pair
    _, tile_of = tiles(rules)
    made = tables(RulesByTile.of(rules, tile_of), ranks, 4, 16)
    assert sum(len(rules_of(table, ranks, 16)) for table in made) == 2000


def test_ranks_follow_the_grammar() -> None:
    few, many = grammar(128, 4000), grammar(128, 40_000)
    assert plan(few).ranks == 1
    assert plan(many).ranks > 1
    assert scatter_cost(few, 10) < scatter_cost(few, 11)
    assert scatter_cost(few, 10) < scatter_cost(many, 10) < 1e9


def test_what_does_not_fit() -> None:
    assert plan(grammar(1024, 2000, 3)).shared <= 227 * 1024
    assert fits(1024, shared_bytes((9, 0)))
    for symbols, shared in ((1025, 227 * 1024), (1024, 99 * 1024)):
        assert not fits(symbols, shared)
        assert scatter_cost(grammar(symbols, 1), 10, shared) == float("inf")
        with pytest.raises(TooManySymbolsError, match=f"{symbols} symbols"):
            plan(grammar(symbols, 1), shared)


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("symbols", "rules", "units", "length", "order"),
    [
        (1, 1, 2, 6, "reverse"),
        (9, 60, 3, 6, "shuffled:1"),
        (32, 8192, 3, 4, "shuffled:2"),
        (33, 300, 0, 6, "forward"),
        (64, 0, 9, 3, "shuffled:3"),
        (130, 4000, 5, 4, "shuffled:4"),
    ],
)
def test_emulated_charts(symbols: int, rules: int, units: int, length: int, order: str) -> None:
    used, device = grammar(symbols, rules, units), EmulatedDevice(order=order)
    columns = ScatterColumns(device, used)
    for groups, n in ((1, length), (2, 2), (1, 1), (1, 3)):
        check_columns(columns, device, used, n, groups)
    # The cases between them have all that a kernel can be.
    assert (columns.plan.passes > 1) == (symbols in (33, 130))
    assert columns.plan.units == bool(len(used.units))


def test_emulated_charts_where_shared_memory_is_small() -> None:
    device, used = EmulatedDevice(capability=(8, 6)), grammar(64, 3000)
    columns = ScatterColumns(device, used)
    assert columns.plan.depth * columns.plan.step < 16
    check_columns(columns, device, used, 5)


@pytest.fixture(scope="module")
def gpu() -> Device:
    from kernels.targets.cuda.target import CudaDevice

    return CudaDevice()


@pytest.mark.gpu
@pytest.mark.parametrize("length", [1, 2, 3, 4, 7, 12, 31, 32, 33, 48])
@pytest.mark.parametrize(
    ("symbols", "rules", "units"),
    [(1, 1, 0), (9, 60, 3), (32, 8192, 3), (33, 300, 5), (64, 0, 9), (64, 4096, 0), (130, 4000, 5)],
)
def test_charts_on_a_gpu(gpu: Device, symbols: int, rules: int, units: int, length: int) -> None:
    used = grammar(symbols, rules, units)
    check_columns(ScatterColumns(gpu, used), gpu, used, length, groups=3)


@pytest.mark.gpu
def test_many_groups_on_a_gpu(gpu: Device) -> None:
    for used, length, groups in (
        (grammar(64, 8000), 20, 300),
        (grammar(512, 20_000), 9, 200),
        (grammar(1024, 50_000, 3), 6, 150),
    ):
        check_columns(ScatterColumns(gpu, used), gpu, used, length, groups, different=12)
