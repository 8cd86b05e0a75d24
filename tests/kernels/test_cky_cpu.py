from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.cky import Batch, Cky, Rules, engine_for
from kernels.cky.cpu.engine import CpuCky
from kernels.cky.cpu.plan import BLOCK, COUNTS, SCALE, HostPlan, Matrix, host_plan, renumber
from kernels.cky.plan import groups
from kernels.cky.ref import ReferenceCky
from kernels.targets.cpu import CpuTarget, levels
from kernels.targets.reference import ReferenceTarget
from tests import quick
from tests.cky_contract import CkyContract, Make, Oracle, random_rules, random_strings
from tests.interrupts import interrupted_after

built = pytest.mark.skipif(not levels(), reason="the extension is not built")
BRACKETS = Rules.make(4, 2, [(0, 0, 0), (0, 1, 3), (3, 0, 2), (0, 1, 2)], [(1, 0), (2, 1)])


class TestReference(CkyContract):
    examples = 10
    counts = (1, 40)
    symbols = (1, 9)
    lengths = (1, 8)

    @pytest.fixture
    def make(self) -> Make:
        def make(rules: Rules, memory: int = 1 << 30) -> Cky:
            return ReferenceCky(rules, memory)

        return make


@built
class TestCpu(CkyContract):
    @pytest.fixture(params=[(level, dense) for level in levels() for dense in (False, True)])
    def make(self, request: pytest.FixtureRequest) -> Make:
        level, dense = request.param

        def make(rules: Rules, memory: int = 1 << 28) -> Cky:
            return CpuCky(CpuTarget(2, level), rules, memory, host_plan(rules, dense))

        return make


# --- the engine --------------------------------------------------------------


@built
def test_engine_of_a_backend() -> None:
    engine = engine_for(CpuTarget(), BRACKETS)
    assert isinstance(engine, CpuCky)
    assert engine.max_length > 1000
    assert engine_for(CpuTarget(), BRACKETS, 12345).memory == 12345
    with pytest.raises(TypeError, match="reference is not the CPU's"):
        CpuCky.of(ReferenceTarget(), BRACKETS)


@built
@pytest.mark.parametrize("level", levels())
@pytest.mark.parametrize("count", [40, 1300])
def test_fewer_threads_and_narrower_words(count: int, level: str) -> None:
    """Longer strings are parsed in other ways than the others where memory is short."""
    draw = random.Random(count)
    rules = random_rules(draw, 5, 2, 15, 2, 4)
    roomy = CpuCky(CpuTarget(2, level), rules, 1 << 30)
    one = roomy._parser.scratch_bytes(False, 9)
    ways = []
    for memory in (one - 1, one, 2 * one - 1, 2 * one):
        engine = CpuCky(CpuTarget(2, level), rules, memory)
        assert engine.max_length > 9  # by words of 32 strings, the further the wider others are
        batch = Batch.of(random_strings(draw, rules, count, min(24, engine.max_length)))
        ways.append([(run.threads, bool(run.narrow.all())) for run in engine.runs(batch, 0)])
        for name in ("accept", "longest"):
            expected = getattr(roomy, name)(batch, 1)
            np.testing.assert_array_equal(getattr(engine, name)(batch, 1), expected)
    assert all(len(runs) > 1 for runs in ways)
    assert {threads for runs in ways for threads, _ in runs} == {1, 2}
    assert all(narrow for runs in ways for _, narrow in runs[-1:])


@built
@pytest.mark.parametrize("dense", [False, True])
def test_long_strings(dense: bool) -> None:
    """S → S S | a: every span, of more than one page of charts."""
    rules = Rules.make(3, 1, [(1, 1, 1), (2, 1, 2)], [(1, 0)], [(0, 1)])
    engine = CpuCky(CpuTarget(2), rules, 1 << 30, host_plan(rules, dense))
    batch = Batch.of([[0] * n for n in (300, 257, 1)] + [[0] * 150 + [1] + [0] * 149])
    assert engine.longest(batch, 0).tolist() == [300, 257, 1, 150]
    assert engine.accept(batch, 0).tolist() == [True, True, True, False]
    assert not engine.accept(batch, 2).any()


@built
def test_interrupted() -> None:
    rules = Rules.make(1, 1, [(0, 0, 0)], [(0, 0)])
    engine = CpuCky(CpuTarget(2), rules, 1 << 30)
    with interrupted_after(0.1), pytest.raises(KeyboardInterrupt):
        engine.accept(Batch.of([[0] * 9000] * 3), 0)
    with interrupted_after(0.1), pytest.raises(KeyboardInterrupt):
        next(engine.charts(Batch.of([[0] * 9000])))
    assert engine.longest(Batch.of([[0] * 9]), 0).tolist() == [9]


@built
def test_arrays_that_contradict_each_other() -> None:
    parser = CpuCky(CpuTarget(1), BRACKETS, 1 << 20)._parser
    batch = Batch.of([[0, 1], [0]])
    order, bounds, narrow = (np.array(x, np.int64) for x in ([1, 0], [0, 2], [1]))

    def recognise(
        order: object = order,
        bounds: object = bounds,
        narrow: object = narrow,
        symbol: int = 0,
        size: int = 2,
        threads: int = 1,
    ) -> None:
        found = np.zeros(size, np.int32)
        parser.recognise(
            batch.terminals, batch.offsets, order, bounds, narrow, symbol, found, None, threads
        )

    recognise()
    for wrong in (
        {"order": np.array([1, 2])},
        {"order": np.array([-1, 0])},
        {"order": np.array([0, 1])},  # not in order of length
        {"bounds": np.array([0, 3])},
        {"bounds": np.array([1, 1])},
        {"bounds": np.array([0, 1, 2])},
        {"symbol": 4},
        {"size": 1},
        {"threads": 0},
    ):
        with pytest.raises(ValueError, match="contradict"):
            recognise(**wrong)  # type: ignore[arg-type]
    many = np.zeros(33, np.int64)
    with pytest.raises(ValueError, match="contradict"):
        recognise(order=many, bounds=np.array([0, 33]))
    for words in ([], [np.zeros((2, 4, 1), np.uint32)], [np.zeros((3, 4, 2), np.uint32)]):
        with pytest.raises(ValueError, match="contradict"):
            parser.charts(batch.terminals, batch.offsets, order, bounds, narrow, words)


# --- groups ------------------------------------------------------------------


@given(
    st.lists(st.integers(0, 5) | st.sampled_from([2**16 - 1, 2**16, 2**40]), max_size=40),
    st.integers(1, 9),
    st.booleans(),
)
def test_groups(lengths: list[int], strings: int, ascending: bool) -> None:
    if ascending:
        lengths.sort()
    dealt = groups(np.array(lengths, np.int64), strings)
    for array in (dealt.order, dealt.bounds, dealt.longest):
        assert array.dtype == np.int64
    wanted = [s for s in sorted(range(len(lengths)), key=lengths.__getitem__) if lengths[s]]
    assert dealt.order.tolist() == wanted
    sizes = np.diff(dealt.bounds).tolist()
    assert (dealt.bounds[0], dealt.bounds[-1]) == (0, len(wanted))
    assert len(dealt) == len(sizes) == -(-len(wanted) // strings)
    assert all(size == strings for size in sizes[1:])
    assert all(0 < size <= strings for size in sizes)
    ends = dealt.bounds.tolist()[1:]
    assert dealt.longest.tolist() == [lengths[wanted[end - 1]] for end in ends]


# --- the plan ----------------------------------------------------------------


def spans(rules: Rules, more: bool) -> set[int]:
    """Symbols that can span one token, or more than one."""
    found = set((rules.binary if more else rules.lexical)[:, 0].tolist())
    return found | {a for a, b in rules.units.tolist() if b in found}


@st.composite
def any_rules(draw: st.DrawFn) -> Rules:
    source = random.Random(draw(st.integers(0, 999)))
    symbols, terminals = draw(st.integers(1, 40)), draw(st.integers(0, 6))
    most = draw(st.sampled_from([symbols, symbols**2, 5000]))
    return random_rules(
        source,
        symbols,
        terminals,
        draw(st.integers(0, most)),
        draw(st.integers(0, 9)),
        symbols // 2,
    )


@given(any_rules())
def test_renumbering(rules: Rules) -> None:
    order = renumber(rules)
    single, more = spans(rules, False), spans(rules, True)
    assert order.new[order.old].tolist() == list(range(rules.symbols))
    assert set(order.old[: order.single].tolist()) == single
    assert set(order.old[order.first : order.first + order.wide].tolist()) == more
    assert order.first == len(single - more)


def rules_of(plan: HostPlan, right: int, left: int) -> set[tuple[int, ...]]:
    """Return the rules that rows say, in the grammar's own numbers."""
    rows, order, found = plan.rows[right][left], plan.renumbering, []
    first = (0, order.first)
    assert rows.right.shape == (rows.left.size, plan.arity)
    entries = list(zip(rows.head.tolist(), rows.left.tolist(), strict=True))
    assert entries == sorted(entries)
    for (a, b), rights in zip(entries, rows.right.tolist(), strict=True):
        for c in rights:
            new = [a + order.first, b + first[left], c + first[right]]
            found.append(tuple(order.old[new].tolist()))
    return set(found)


def rules_in(plan: HostPlan, right: int) -> set[tuple[int, ...]]:
    """Return the rules that a matrix says, its tables taken apart."""
    matrix, order = plan.matrices[right], plan.renumbering
    first = (0, order.first)[right]
    sets = operands(matrix, max(order.single, order.first + order.wide) - first)
    known = max(order.first + order.wide, order.single)
    across = -(-known // plan.chunk)
    place, operand, more = (iter(x.tolist()) for x in (matrix.place, matrix.operand, matrix.more))
    found, seen = [], set()
    for tile, counts in enumerate(matrix.counts.tolist()):
        for kind, n in enumerate(counts):
            for _ in range(n):
                at, odd = divmod(next(place), SCALE)
                assert odd == 0
                a = tile // across * BLOCK + at % BLOCK
                b = tile % across * plan.chunk + at // BLOCK
                assert at // BLOCK < plan.chunk
                seen.add((a, b))
                for _ in range(kind if kind < COUNTS - 1 else next(more)):
                    number, odd = divmod(next(operand), SCALE)
                    assert odd == 0
                    new = [[a + order.first, b, c + first] for c in sets[number]]
                    found += [tuple(row) for row in order.old[new].tolist()]
    assert seen == {(a, b) for a in range(order.wide) for b in range(known)}
    assert [list(x) for x in (place, operand, more)] == [[], [], []]
    return set(found)


def operands(matrix: Matrix, rights: int) -> list[list[int]]:
    """The right-hand symbols of each."""
    if not matrix.bits.size:
        return [[c] for c in range(rights)]
    sets: list[list[int]] = []
    first = 0
    for bits in matrix.bits.tolist():
        sets += [[first + k for k in range(bits) if m >> k & 1] for m in range(1 << bits)]
        first += bits
    assert len(sets) == matrix.words
    return sets


@settings(max_examples=quick.examples(40), deadline=None)
@given(any_rules())
def test_plans_hold_the_rules(rules: Rules) -> None:
    kinds = [spans(rules, False), spans(rules, True)]
    sparse, dense = host_plan(rules, False), host_plan(rules, True)
    assert (sparse.matrices, dense.rows) == ((), ())
    every = [tuple(rule) for rule in rules.binary.tolist()]
    for right in (0, 1):
        firing = {r for r in every if r[2] in kinds[right] and r[1] in kinds[0] | kinds[1]}
        assert rules_in(dense, right) == firing
        for left in (0, 1):
            assert rules_of(sparse, right, left) == {r for r in firing if r[1] in kinds[left]}


@given(any_rules())
def test_terminals_and_units_are_closed(rules: Rules) -> None:
    plan = host_plan(rules)
    order = plan.renumbering
    above = {b: {b} for b in range(rules.symbols)}
    for a, b in rules.units.tolist():
        above[b].add(a)
    for t in range(rules.terminals):
        symbols = plan.lexical[plan.lexical_start[t] : plan.lexical_start[t + 1]]
        below = rules.lexical[rules.lexical[:, 1] == t, 0].tolist()
        assert sorted(order.old[symbols].tolist()) == sorted(
            set().union(*[above[b] for b in below])
        )
    more, found = spans(rules, True), set()
    for k, b in enumerate(plan.unit_right.tolist()):
        for a in plan.unit_left[plan.unit_start[k] : plan.unit_start[k + 1]].tolist():
            found.add(tuple(order.old[[a + order.first, b + order.first]].tolist()))
    assert found == {tuple(row) for row in rules.units.tolist() if row[1] in more}


def test_the_cheaper_plan_is_made() -> None:
    draw = random.Random(1)
    assert host_plan(BRACKETS).matrices == ()
    assert host_plan(random_rules(draw, 100, 5, 150, 0, 100)).matrices == ()
    full = host_plan(random_rules(draw, 32, 32, 8192, 0, 500))
    assert all(matrix.bits.size for matrix in full.matrices)
    assert not any(m.bits.size for m in host_plan(random_rules(draw, 20, 5, 300, 0, 99)).matrices)


def test_the_oracle_keeps_prefixes() -> None:
    oracle = Oracle.of(BRACKETS)
    assert Oracle.of(BRACKETS) is oracle
    assert [oracle.longest(s, 0) for s in ([0, 1, 0, 1, 1], [0, 1, 0], [0], [])] == [4, 2, 0, 0]
