"""Charts for grammars with many rules per pair: plans by themselves, and charts, emulated."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.cky import Rules, cell, cells
from kernels.cky.costs import CHART_COSTS
from kernels.cky.cuda.circuit import MOST, circuit
from kernels.cky.cuda.dense import SOURCE, DenseColumns
from kernels.cky.cuda.dense_plan import DensePlan, TooManySymbolsError, plan, shared_bytes
from kernels.cky.cuda.lists import LAST, LISTED, LISTERS, RESULT, SHORT
from kernels.cky.cuda.plan import dense_cost
from kernels.cky.cuda.scatter import ScatterColumns
from kernels.cky.cuda.tiles import TILE
from kernels.cky.ref import table
from kernels.targets.cuda.device import Device, Slice
from tests.emulation import EmulatedDevice
from tests.quick import examples

Words = npt.NDArray[np.uint32]
Bits = npt.NDArray[np.bool_]


def grammar(symbols: int, rules: int, units: int = 0, terminals: int = 3, seed: int = 0) -> Rules:
    """Random; rules without repetition. Half of the symbols are above each terminal."""
    random = np.random.default_rng(seed)
    codes = random.choice(symbols**3, min(rules, symbols**3), replace=False)
    binary = np.stack([codes // symbols**2, codes // symbols % symbols, codes % symbols], axis=1)
    lexical = np.argwhere(random.random((symbols, terminals)) < 0.5)
    return Rules.make(symbols, terminals, binary, lexical, random.integers(0, symbols, (units, 2)))


# --- plans -------------------------------------------------------------------


def run_lists(p: DensePlan, rows: Bits, which: int) -> dict[int, bool]:
    """Return what the lists of this number give, by the row or symbol that they are for."""
    zero = p.published + p.buckets
    heads = p.heads[p.passes * (p.warps + p.runs) :].reshape(-1, LISTERS + p.warps, 2)
    found: dict[int, bool] = {}
    for start, vectors in heads[which].tolist():
        value = np.zeros(4, np.bool_)
        for vector in p.program[start : start + vectors].astype(np.int64):
            head = vector[:, 0]
            assert len(set((head & (LAST | SHORT)).tolist())) == 1
            taken = vector[:, 1:4] if head[0] & SHORT else vector[:, 1:]
            assert (vector[:, 1 + taken.shape[1] :] == zero).all()
            value |= rows[taken].any(1)
            if not head[0] & LAST:
                continue
            for result, bit in zip((head & RESULT).tolist(), value.tolist(), strict=True):
                if result == zero:
                    assert not bit
                else:
                    assert result not in found, "two lists for one result"
                    found[result] = bit
            value[:] = False
        assert not value.any()
    return found


def run_wires(p: DensePlan, warp: int, tile: Bits) -> Bits:
    """The rows that a warp makes of its pairs."""
    case = p.wires.split(f"case {warp}:")[1].split("break;")[0]
    found = []
    for symbol, line in enumerate(case.rstrip(";").split(";")):
        to, terms = line.split("=")
        assert to == f"to[{symbol}*ROW]"
        found.append(any(tile[int(q)] for q in re.findall(r"p\[(\d+)\]", terms)))
    return np.array(found)


def carry_out(p: DensePlan, pairs: Bits) -> Bits:
    """Symbols of a span, from its pairs (symbols, symbols), as the kernel goes about it."""
    first = p.published
    rows = np.random.default_rng(1).random(first + p.buckets + 1) < 0.5  # what was there before
    rows[-1] = False
    tiles = p.heads[: p.passes * p.warps].reshape(p.passes, p.warps).astype(np.int64)
    runs = p.heads[p.passes * p.warps :][: p.passes * p.runs].reshape(p.passes, p.runs)
    padded = np.zeros((p.symbols, p.symbols), np.bool_)
    padded[: len(pairs), : len(pairs)] = pairs
    for number in range(p.passes):
        slots: dict[int, tuple[bool, int]] = {}
        for run in runs[number].tolist():
            for q in range(run >> 16):
                slots[(run >> 8 & 0xFF) + q] = bool(run & 0x80), ((run & 0x7F) + q) * TILE
        assert sorted(slots) == list(range(len(slots)))
        assert len(slots) <= p.slots
        for warp, code in enumerate(tiles[number].tolist()):
            (on_the_left, b), (on_the_right, c) = slots[code & 0xFFFF], slots[code >> 16]
            assert not on_the_left
            assert on_the_right
            tile = padded[b : b + TILE, c : c + TILE].reshape(-1)
            made = run_wires(p, warp, tile) if p.wires else tile
            rows[np.arange(made.size) * p.warps + warp] = made
        if p.wires:
            continue
        found = run_lists(p, rows, number)
        for row, value in found.items():
            assert row >= first
            rows[row] = value
    symbols = run_lists(p, rows, 0 if p.wires else p.passes)
    assert sorted(set(symbols) & set(range(p.symbols))) == list(range(p.symbols))
    return np.array([symbols[a] for a in range(p.symbols)])


def obvious(rules: Rules, pairs: Bits) -> Bits:
    found = np.zeros(rules.symbols, np.bool_)
    for a, b, c in rules.binary.tolist():
        found[a] |= pairs[b, c]
    closed = found.copy()
    for a, b in rules.units.tolist():
        closed[a] |= found[b]
    return closed


@st.composite
def grammars(draw: st.DrawFn) -> Rules:
    symbols = draw(st.sampled_from([1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 40, 65]))
    full = draw(st.sampled_from([0.0, 0.001, 0.02, 0.25, 1.0]))
    rules = min(int(full * symbols**3), 30_000)
    return grammar(symbols, rules, draw(st.integers(0, 5)), seed=draw(st.integers(0, 99)))


@settings(max_examples=examples(40), deadline=None)
@given(grammars(), st.sampled_from([64, 99, 227]), st.floats(0.001, 0.5))
def test_plans_do_what_the_rules_say(rules: Rules, shared: int, density: float) -> None:
    lists = plan(rules, shared * 1024)
    assert not lists.wires
    check_plan(lists, rules, shared, density)
    generated = circuit(rules, shared * 1024)
    if rules.symbols > 32 or len(rules.binary) > MOST:
        assert generated is None
    elif rules.symbols <= 24 or shared > 64:
        assert generated is not None
    if generated is not None:
        assert max(map(len, (f"{k}={v}" for k, v in generated.defines.items()))) < 100_000
        check_plan(generated, rules, shared, density)


def check_plan(p: DensePlan, rules: Rules, shared: int, density: float) -> None:
    assert p.shared <= shared * 1024
    n = rules.symbols
    assert n <= p.symbols < n + TILE
    pairs = np.random.default_rng(2).random((rules.symbols, rules.symbols)) < density
    result = carry_out(p, pairs)
    np.testing.assert_array_equal(result[:n], obvious(rules, pairs))
    assert not result[n:].any()
    # A single token's: its own, and those above.
    rows = pairs[0]
    closed = rows.copy()
    for a, b in rules.units.tolist():
        closed[a] |= rows[b]
    found = run_lists(p, np.append(rows, np.zeros(5000, np.bool_)), 1 if p.wires else p.passes + 1)
    np.testing.assert_array_equal([found[a] for a in range(n)], closed)
    assert not any(found[a] for a in range(n, p.symbols))


def test_plan_deals_work_out_evenly() -> None:
    p = plan(grammar(48, 8192))
    loads = p.heads[p.passes * (p.warps + p.runs) :].reshape(-1, LISTERS + p.warps, 2)[0, :, 1]
    assert loads.min() > 0
    assert 4 * LISTED * loads.sum() < 6500


@pytest.mark.parametrize("rules", [0, 2000])
def test_plan_of_the_greatest(rules: int) -> None:
    p = plan(grammar(1024, rules, 3))
    assert p.shared <= 227 * 1024
    assert p.passes * p.warps >= min(rules, 1)
    with pytest.raises(TooManySymbolsError, match="1024 symbols"):
        plan(grammar(1024, 1), 99 * 1024)
    with pytest.raises(TooManySymbolsError, match="1025 symbols"):
        plan(grammar(1025, 1))


def test_cost() -> None:
    small, large = grammar(32, 1000), grammar(64, 1000)
    assert dense_cost(small, 10) < dense_cost(small, 11) < dense_cost(large, 11) < 1e9
    assert dense_cost(large, 1) == 0
    assert dense_cost(grammar(1025, 1), 10) == float("inf")
    assert dense_cost(grammar(750, 1), 10, shared_bytes((8, 6))) == float("inf")
    assert dense_cost(grammar(750, 1), 10, shared_bytes((9, 0))) < 1e9


# --- charts --------------------------------------------------------------------


@cache
def emulated(order: str, capability: tuple[int, int] = (9, 0)) -> EmulatedDevice:
    return EmulatedDevice(order=order, capability=capability)


def check_charts(
    device: Device,
    rules: Rules,
    length: int,
    groups: int = 1,
    different: int = 6,
    circuit: bool | None = None,
) -> DensePlan:
    columns = DenseColumns(device, rules, circuit)
    check_columns(columns, device, rules, length, groups, different)
    return columns.plan


def check_columns(
    columns: DenseColumns | ScatterColumns,
    device: Device,
    rules: Rules,
    length: int,
    groups: int = 1,
    different: int = 6,
) -> None:
    """The charts of random strings, of which so many are different, in random order.

    What is not theirs in the buffer must stay as it is.
    """
    random = np.random.default_rng(length)
    strings = random.integers(0, rules.terminals + 1, (different, length))  # one is unknown
    which = random.integers(0, different, (groups, 1024))
    lexical = np.zeros((rules.symbols, rules.terminals + 1), np.bool_)
    lexical[tuple(rules.lexical.T)] = True
    assert (columns.lanes, columns.side) == (32, 4)
    shape = groups, cells(length), columns.symbols // 4, 32, 4
    chart = random.integers(0, 2**32, shape, np.uint32)
    for j in range(1, length + 1):
        bits = np.zeros((groups, columns.symbols, 1024), np.bool_)
        bits[:, : rules.symbols] = lexical[:, strings[which, j - 1]].transpose(1, 0, 2)
        chart[:, cell(j - 1, j)] = pack(bits)
    before = random.integers(0, 2**32, 64, np.uint32)
    memory = device.alloc(chart.nbytes + 2 * before.nbytes)
    device.upload(memory, before)
    device.upload(memory, chart, before.nbytes)
    device.upload(memory, before, before.nbytes + chart.nbytes)

    columns.run(Slice(memory, before.nbytes), groups, length)
    device.synchronize()

    expected = np.zeros((different, cells(length), columns.symbols), np.bool_)
    for s, string in enumerate(strings.tolist()):
        for (i, j), symbols in table(rules, string).items():
            expected[s, cell(i, j), sorted(symbols)] = True
    device.download(chart, memory, before.nbytes)
    np.testing.assert_array_equal(chart, pack(expected[which].transpose(0, 2, 3, 1)))
    for at in (0, before.nbytes + chart.nbytes):
        after = np.empty_like(before)
        device.download(after, memory, at)
        np.testing.assert_array_equal(after, before)


def pack(bits: Bits) -> Words:
    """(..., symbols, 1024) to (..., symbols / 4, 32, 4): bit p % 32 of word p // 32."""
    packed = np.ascontiguousarray(np.packbits(bits, axis=-1, bitorder="little"))
    words = packed.view(np.uint32)
    words = words.reshape(*words.shape[:-2], words.shape[-2] // 4, 4, 32)
    return np.ascontiguousarray(words.swapaxes(-1, -2))


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("symbols", "rules", "units", "length", "order", "circuit"),
    [
        (1, 1, 0, 6, "reverse", False),
        (1, 1, 2, 6, "forward", True),
        (3, 5, 2, 6, "shuffled:1", False),
        (9, 60, 3, 6, "shuffled:2", False),
        (9, 60, 3, 6, "shuffled:3", True),
        (32, 1000, 0, 5, "shuffled:4", True),
        (32, 8192, 3, 5, "shuffled:5", False),
        (33, 300, 0, 6, "forward", None),
        (64, 0, 9, 3, "shuffled:6", None),
        (130, 4000, 5, 4, "shuffled:7", None),
    ],
)
def test_emulated_charts(
    symbols: int, rules: int, units: int, length: int, order: str, circuit: bool | None
) -> None:
    used = grammar(symbols, rules, units)
    for groups, n in ((1, length), (2, 2), (1, 1), (1, 3)):
        p = check_charts(emulated(order), used, n, groups, circuit=circuit)
    # The cases between them have all that a kernel can be.
    assert (p.passes > 1) == (symbols in (33, 130))
    assert p.units == bool(len(used.units))
    assert bool(p.wires) == bool(circuit)


def test_code_is_generated_once_it_pays() -> None:
    costs = replace(CHART_COSTS, circuit_spans=2 * cells(4))
    of = grammar(7, 200)
    device = emulated("shuffled:8")
    columns, never = DenseColumns(device, of, costs=costs), DenseColumns(device, of, circuit=False)
    charts = np.zeros((2, cells(4), 2, 32, 4), np.uint32)
    charts[:, [cell(i, i + 1) for i in range(4)]] = np.random.default_rng(3).integers(
        0, 2**32, (2, 4, 2, 32, 4), np.uint32
    )
    charts[..., 1, :, 3] = 0  # there is no symbol 7
    found = []
    for turn in range(3):
        both = []
        for engine in (columns, never):
            memory = device.alloc(charts.nbytes)
            device.upload(memory, charts)
            engine.run(memory, 2 if turn else 1, 4)
            device.synchronize()
            both.append(np.empty_like(charts))
            device.download(both[-1], memory)
        np.testing.assert_array_equal(both[0], both[1])
        found.append(bool(columns.plan.wires))
    assert found == [False, True, True]
    assert not never.plan.wires
    few = DenseColumns(device, grammar(7, 10))
    few.run(memory, 2, 4)
    assert not few.plan.wires


def test_code_that_cannot_be_generated() -> None:
    device = emulated("forward")
    with pytest.raises(ValueError, match="no code"):
        DenseColumns(device, grammar(33, 10), circuit=True)
    with pytest.raises(ValueError, match="no code"):
        DenseColumns(device, grammar(32, MOST + 1), circuit=True)


def test_emulated_charts_where_shared_memory_is_small() -> None:
    small = check_charts(emulated("shuffled:6", (8, 6)), grammar(64, 3000), 5)
    assert small.warps < plan(grammar(64, 3000)).warps
    assert (small.step, small.depth) == (1, 2)  # the smallest ring


def test_nothing_to_do() -> None:
    device = emulated("forward")
    columns = DenseColumns(device, grammar(1, 1))
    memory = device.alloc(0)
    columns.run(memory, 0, 5)
    columns.run(memory, 5, 0)


@pytest.fixture(scope="module")
def gpu() -> Device:
    from kernels.targets.cuda.target import CudaDevice

    return CudaDevice()


@pytest.mark.gpu
@pytest.mark.parametrize("length", [1, 2, 3, 4, 7, 12, 31, 32, 33, 48])
@pytest.mark.parametrize(
    ("symbols", "rules", "units", "circuit"),
    [
        (1, 1, 0, False),
        (7, 30, 2, False),
        (9, 60, 3, True),
        (32, 8192, 0, False),
        (32, 8192, 3, True),
        (33, 300, 5, False),
        (64, 0, 9, False),
        (130, 4000, 5, False),
    ],
)
def test_charts_on_a_gpu(
    gpu: Device, symbols: int, rules: int, units: int, circuit: bool, length: int
) -> None:
    check_charts(gpu, grammar(symbols, rules, units), length, groups=3, circuit=circuit)


@pytest.mark.gpu
def test_many_groups_on_a_gpu(gpu: Device) -> None:
    check_charts(gpu, grammar(32, 1000), 20, groups=500, different=20, circuit=True)
    check_charts(gpu, grammar(64, 8000), 20, groups=300, different=20)
    check_charts(gpu, grammar(512, 20_000), 9, groups=200)
    check_charts(gpu, grammar(1024, 50_000, 3), 6, groups=150)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc")
@pytest.mark.parametrize("arch", [75, 80, 90])
@pytest.mark.parametrize(
    ("symbols", "rules", "wired"),
    [
        (7, 300, False),
        (16, 300, True),
        (32, 8192, False),
        (32, 8192, True),
        (64, 8192, False),
        (400, 10_000, False),
        (256, 65_536, False),
    ],
)
def test_nvcc_compiles_without_local_memory(
    arch: int, symbols: int, rules: int, wired: bool, tmp_path: Path
) -> None:
    of, shared = grammar(symbols, rules, 1), shared_bytes((arch // 10, arch % 10))
    p = circuit(of, shared) if wired else plan(of, shared)
    if p is None:
        assert arch == 75  # little shared memory
        return
    defines = [f"-D{name}={value}" for name, value in p.defines.items()]
    command = ["nvcc", "-std=c++17", f"-arch=sm_{arch}", "-cubin", "-Werror=all-warnings"]
    done = subprocess.run(
        [*command, "-Xptxas=-v", *defines, str(SOURCE), "-o", str(tmp_path / "dense.cubin")],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    frame = re.search(r"(\d+) bytes stack frame", done.stderr)
    assert frame is not None
    # On older devices two words may be kept there that are read once for each item.
    assert int(frame[1]) <= (0 if arch >= 90 else 8)
