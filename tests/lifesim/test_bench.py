"""Measuring: by turns, within the time, of the right thing; and the tile loop's cells."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import benchmarks.life as record
import lifesim.bench as bench
import lifesim.cli.bench as command
from benchmarks import life_model, life_tables
from bulkbits.timing import Samples, TimedRunner, compete
from kernels.life import ref
from kernels.life.contract import LifeShape, LifeUniverse, Words
from kernels.life.plan import CudaPlan, choose_cpu, choose_cuda, cuda_layout, cuda_plan
from kernels.life.ref import ReferenceLifeEngine
from kernels.life.rules import LifeRule
from kernels.targets import cpu
from kernels.targets.cpu import Machine
from kernels.targets.cuda.target import CudaTarget
from kernels.targets.reference import ReferenceTarget
from lifesim.bench import TileLoop, TileLoopError, aligned_tile, measure_soup
from lifesim.cli import group
from lifesim.grid import GridError
from lifesim.rule import LIFE, Rule
from lifesim.topology import Topology
from tests.emulation import EmulatedDevice
from tests.interrupts import interrupted_after
from tests.quick import examples

needs_extension = pytest.mark.skipif(not cpu.levels(), reason="the extension is not built")


class Clock:
    """A clock that only the runners move."""

    def __init__(self) -> None:
        self.now = 0.0
        self.calls: list[tuple[str, int]] = []

    def __call__(self) -> float:
        return self.now

    def runner(self, name: str, seconds_a_step: float, cells: int = 100) -> TimedRunner:
        def step(count: int) -> None:
            self.now += seconds_a_step * count
            self.calls.append((name, count))

        return TimedRunner(cells, step)


def test_runners_take_turns_within_the_time() -> None:
    clock = Clock()
    runners = [clock.runner("a", 1e-5), clock.runner("b", 1e-3)]
    a, b = compete(runners, 2.0, rounds=5, clock=clock)
    assert a.best == pytest.approx(100 / 1e-5)
    assert b.median == pytest.approx(100 / 1e-3)
    assert a.ratio(b) == pytest.approx(100)
    assert [name for name, _ in clock.calls[-10:]] == ["a", "b"] * 5
    timed = sum(count * (1e-5 if name == "a" else 1e-3) for name, count in clock.calls[-10:])
    assert timed == pytest.approx(2.0, rel=0.2)


def test_a_slow_step_gets_one_round_after_its_warm_up() -> None:
    clock = Clock()
    (samples,) = compete([clock.runner("slow", 10.0)], 1.0, clock=clock)
    assert samples == Samples((10.0,), 1)
    assert clock.now == 20.0


def test_a_step_that_takes_no_time() -> None:
    clock = Clock()
    ticking = TimedRunner(1, lambda n: setattr(clock, "now", clock.now + n * 1e-12))
    (samples,) = compete([ticking], 1e-6, clock=clock)
    assert samples.best > 0


def test_the_ratio_forgives_a_machine_that_slows_down() -> None:
    ours, theirs = Samples((90.0, 45.0, 9.0), 1), Samples((100.0, 50.0, 10.0), 1)
    assert ours.ratio(theirs) == pytest.approx(0.9)


def test_a_size_too_large_is_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def check_size(width: int, height: int, copies: int = 1) -> None:
        if width > 1000:
            raise GridError("too large")

    monkeypatch.setattr(bench, "check_size", check_size)
    large, small = (
        measure_soup(ReferenceTarget(), size, seconds=0.01) for size in ((2000, 20), (30, 20))
    )
    assert (large.size, large.problem, large.ours) == ("2000×20", "too large", None)
    assert (small.size, small.problem, small.peers) == ("30×20", "", {})
    assert small.ours is not None


def test_out_of_memory_is_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def life(*args: object, **options: object) -> LifeUniverse:
        raise MemoryError

    monkeypatch.setattr(ReferenceLifeEngine, "universe", life)
    assert measure_soup(ReferenceTarget(), (8, 8)).problem == "out of memory"


@pytest.fixture(scope="module")
def loop() -> TileLoop:
    try:
        return TileLoop()
    except TileLoopError as error:
        pytest.skip(str(error))


def tori_of(tile: bench.Tile, columns: int) -> np.ndarray:
    """Return the cells (lanes * 32, rows, columns): each bit position is a torus of its own."""
    words = tile[:, :columns].transpose(2, 0, 1)
    bits = words[:, None] >> np.arange(32, dtype=np.uint32)[None, :, None, None] & np.uint32(1)
    return bits.reshape(-1, *words.shape[1:]).astype(np.bool_)


@pytest.mark.sample(4)
@pytest.mark.parametrize("bits", [128, 256, 512])
@pytest.mark.parametrize(
    ("rows", "columns", "generations"), [(60, 32, 5), (3, 3, 1), (4, 5, 2), (5, 4, 7), (6, 32, 0)]
)
def test_the_tile_loop_computes_life(
    loop: TileLoop, bits: int, rows: int, columns: int, generations: int
) -> None:
    a, b = (aligned_tile(rows, columns, bits, seed) for seed in (1, 2))
    tori = tori_of(a, columns)
    for _ in range(generations):
        tori = np.stack(
            [ref.step(t, LIFE.life_like.birth, LIFE.life_like.survival, True) for t in tori]
        )
    result = loop.advance(a, b, columns, generations)
    np.testing.assert_array_equal(tori_of(result, columns), np.roll(tori, generations, axis=1))


def test_tiles_are_aligned() -> None:
    for seed in range(5):
        tile = aligned_tile(7, 4, 512, seed)
        assert tile.ctypes.data % 64 == 0
        assert tile.shape == (7, 5, 16)


def test_threads_of_the_tile_loop_share_no_tile(loop: TileLoop) -> None:
    one, two = loop.runner(256, 1), loop.runner(256, 2)
    assert two.work == 2 * one.work
    two.step(3)


@pytest.mark.parametrize("threads", [1, 2])
def test_the_tile_loop_is_left_between_two_calls(loop: TileLoop, threads: int) -> None:
    runner = loop.runner(128, threads)
    with interrupted_after(0.05), pytest.raises(KeyboardInterrupt):
        runner.step(10**12)  # years
    runner.step(1)  # its threads are free again


def test_no_tile_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TileLoopError, match="source checkout"):
        TileLoop(tmp_path / "tile_loop.cpp")
    broken = tmp_path / "tile_loop.cpp"
    broken.write_text("int f() { return }\n")
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(TileLoopError, match="no-such-compiler: No such file"):
        TileLoop(broken)
    monkeypatch.setenv("CXX", "false")
    with pytest.raises(TileLoopError, match="false refuses"):
        TileLoop(broken)


def invoke(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(group, ["bench", "--seconds", "0.02", *arguments])
    return result.exit_code, result.output


def test_command_prints_a_table() -> None:
    code, text = invoke("--backend", "reference", "--size", "33x20", "--size", "1K")
    assert code == 0
    first, _, *table, _, said = text.splitlines()
    assert "on numpy reference, one thread; " in first
    assert said.startswith("here: ")
    assert [row.split("|")[2].strip() for row in table[2:]] == ["33×20", "1024×1024"]
    assert len({len(line) for line in table}) == 1


@pytest.fixture(autouse=True)
def no_golly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "_golly", lambda *_: None)


@needs_extension
def test_command_sets_the_cpu_beside_the_tile_loop(loop: TileLoop) -> None:
    code, text = invoke("--backend", "cpu", "--threads", "1", "--size", "256", "--json")
    assert code == 0
    facts = json.loads(text)
    assert facts["backend"] == "cpu"
    assert facts["notes"] == []
    (line,) = facts["results"]
    assert line["best"] >= line["rate"] > 0
    assert (line["width"], line["height"], line["ratio"]) == (256, 256, None)
    assert line["peers"]["tile loop"]["rate"] > 0


@needs_extension
def test_command_without_a_tile_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> TileLoop:
        raise TileLoopError("no compiler")

    monkeypatch.setattr(command, "TileLoop", missing)
    code, text = invoke("--backend", "cpu", "--size", "256", "--rule", "HighLife")
    assert code == 0
    assert "B36/S23" in text
    assert "No tile loop: no compiler." in text


def test_command_where_nothing_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    def life(*args: object, **options: object) -> LifeUniverse:
        raise MemoryError("none left")

    monkeypatch.setattr(ReferenceLifeEngine, "universe", life)
    code, text = invoke("--backend", "reference")
    assert code != 0
    assert "256×256 | cell updates | none left" in text


def test_bad_options() -> None:
    assert invoke("--size", "0x5")[0] == 2
    assert invoke("--backend", "abacus")[0] == 2
    assert invoke("--rule", "B9/S")[0] != 0


# The table of record


@given(
    width=st.integers(1, 100_000),
    height=st.integers(1, 100_000),
    torus=st.booleans(),
    bits=st.sampled_from([128, 256, 512]),
    threads=st.integers(1, 8),
)
@settings(max_examples=examples(60), deadline=None)
def test_no_cpu_plan_is_more_than_useful(
    width: int, height: int, torus: bool, bits: int, threads: int
) -> None:
    plan = choose_cpu(LifeShape(width, height, torus), 1 << 30, Machine(bits, 1 << 20, threads))
    cost = life_model.cpu_cost(plan, width, height, bits)
    assert 0 < cost.useful <= 1
    assert cost.traffic >= 2 * height * (width // 8)
    assert cost.steps == plan.steps


@given(
    width=st.integers(1, 300_000),
    height=st.integers(1, 300_000),
    torus=st.booleans(),
    multiprocessors=st.integers(1, 200),
)
@settings(max_examples=examples(60), deadline=None)
def test_no_cuda_plan_is_more_than_useful(
    width: int, height: int, torus: bool, multiprocessors: int
) -> None:
    plan = choose_cuda(width, height, torus, multiprocessors)
    cost = life_model.cuda_cost(plan, width, height)
    assert 0 < cost.useful <= 1
    assert cost.traffic >= 2 * height * (width // 8)


def test_cuda_cost_by_hand() -> None:
    layout = cuda_layout(65536, True, 4, 32, 8)
    line = layout.panels * 32 * 128
    plan: CudaPlan = cuda_plan(layout, 1024, 8, 1)
    segments = -(-1024 // plan.segment)
    cost = life_model.cuda_cost(plan, 65536, 1024)
    assert cost.useful == pytest.approx(65536 * 1024 / (line * segments * (plan.segment + 9)))
    assert cost.traffic == (segments * (plan.segment + 16) + 1024) * line // 8


def test_the_limit_of_an_h200() -> None:
    assert life_model.cuda_limit(132, 4, LIFE) == pytest.approx(16.3e12 * 32 / 8.5)
    assert life_model.cuda_limit(132, 4, Rule.parse("HighLife")) < life_model.cuda_limit(
        132, 4, LIFE
    )


def test_cases() -> None:
    assert record.case_of("plane:16x9") == life_model.SoupCase(16, 9, Topology.PLANE)
    assert record.case_of("64") == life_model.SoupCase(64, 64)
    for text in ("disc:9", "0", "x", "-4x4"):
        with pytest.raises(ValueError):  # noqa: PT011
            record.case_of(text)
    assert len(record.default_cases(True)) == 8
    assert len(record.default_cases(False)) == 7


@needs_extension
@pytest.mark.slow
def test_the_table_of_record(capsys: pytest.CaptureFixture[str]) -> None:
    small = ["--device", "cpu", "--sizes", "256", "plane:100x70", "--seconds", "0.03"]
    record.main([*small, "--json"])
    facts = json.loads(capsys.readouterr().out)
    assert [row["topology"] for row in facts["rows"]] == ["torus", "plane"]
    assert all(row["rate"] > 0 and 0 < row["useful"] <= 1 for row in facts["rows"])
    assert [end["case"] for end in facts["end_to_end"]] == [
        "torus 256×256 B3/S23",
        "plane 100×70 B3/S23",
    ]
    assert all(end["rate"] > 0 for end in facts["end_to_end"])
    assert all(t["one"] > 0 and t["all"] > 0 for t in facts["threads"])


@pytest.mark.slow
def test_the_table_of_record_on_cuda(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def emulate(self: CudaTarget, index: int = 0) -> None:
        self.device = cast(Any, EmulatedDevice())

    monkeypatch.setattr(CudaTarget, "__init__", emulate)
    record.main(["--device", "cuda:0", "--sizes", "128", "plane:65x30", "--seconds", "0.02"])
    text = capsys.readouterr().out
    assert "16.3 ×10¹² lane-operations/s × 4 / 132" in text
    lines = [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("| ")]
    assert lines[0][3].strip() == "of the limit"
    assert [line[0].strip() for line in lines[2:]] == ["torus 128×128 B3/S23", "plane 65×30 B3/S23"]
    assert all(float(line[1]) > 0 for line in lines[2:])


def test_tables_are_rectangular() -> None:
    case = life_model.SoupCase(64, 64)
    cost = life_model.PassCost(7, 0.93, 4096)
    rows = [life_tables.Row(case, rate=1e12, cost=cost), life_tables.Row(case, problem="no memory")]
    for cuda in (True, False):
        lines = life_tables.main_table(rows, cuda).splitlines()
        assert len(lines) == 4
        assert len({line.count("|") for line in lines}) == 1
    assert rows[0].bandwidth == pytest.approx(4096 * 1e12 / (64 * 64 * 7))


def test_unknown_device() -> None:
    with pytest.raises(SystemExit, match="unknown device abacus"):
        record.main(["--device", "abacus"])


def test_soup_is_of_the_size_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[Words, int, int]] = []
    real = ReferenceLifeEngine.universe

    def life(
        self: ReferenceLifeEngine, words: Words, shape: LifeShape, rule: LifeRule
    ) -> LifeUniverse:
        seen.append((words, shape.width, shape.height))
        return real(self, words, shape, rule)

    monkeypatch.setattr(ReferenceLifeEngine, "universe", life)
    universe = bench.soup_universe(ReferenceTarget(), 70, 30)
    assert (universe.width, universe.height) == (70, 30)
    ((words, width, height),) = seen
    assert words.shape == (30, 2)
    assert (width, height) == (70, 30)
