"""The table of record for Life: rates on soups, beside the limits of the machine.

    python -m benchmarks.life [--device cuda:N|cpu] [--sizes SIZE ...] [--json]

A SIZE is 16384, 10000x9999 or plane:16384, in cells. Rates are cell updates per second,
the best of rounds that take turns with what they are compared with; ratios are medians
over the rounds, which a noisy machine distorts less. On the CPU that is the tile loop
(tile_loop.cpp): B3/S23 that never leaves the cache. One thread, unless a table has more.
On CUDA the limit is the rate at which three-input operations issue.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median

from kernels.backend import Backend, BackendUnavailableError
from kernels.cpu import CpuBackend, CpuLife, core_count
from kernels.life.plan import CpuPlan, CudaPlan, choose_cuda
from lifesim.bench import Runner, TileLoop, TileLoopError, compete, runner_of, soup_universe
from lifesim.grid import GridError
from lifesim.rule import LIFE, Rule
from lifesim.topology import Topology

ROOT = Path(__file__).parents[1]
RULES = (Rule.parse("HighLife"), Rule.parse("Day & Night"))

# Lane-operations per second of the pipe that LOP3 and funnel shifts share, measured on
# an H200; another device counts by its multiprocessors, as if it had the same clock.
LOP3_RATE, LOP3_MULTIPROCESSORS = 16.3e12, 132
CONWAY_OPERATIONS, TABLE_OPERATIONS = 8, 14  # per word: circuit.hpp's Conway, StaticRule
MOVES = 2  # of a row's end words to the neighbouring lanes, per lane


@dataclass(frozen=True, slots=True)
class Case:
    width: int
    height: int
    topology: Topology = Topology.TORUS
    rule: Rule = LIFE

    def __str__(self) -> str:
        return f"{self.topology} {self.width}×{self.height} {self.rule}"


@dataclass(frozen=True, slots=True)
class PassCost:
    """What a plan says of one pass.

    useful: share of the computed cells that are not thrown away; traffic: bytes read
    and written, as if no cache held them from one pass to the next.
    """

    steps: int
    useful: float
    traffic: int


@dataclass(frozen=True, slots=True)
class Row:
    """rate, tile: cell updates per second. of_limit: share of the device's limit."""

    case: Case
    problem: str = ""
    rate: float = 0.0
    median: float = 0.0
    tile: float | None = None
    ratio: float | None = None
    of_limit: float | None = None
    cost: PassCost | None = None

    @property
    def bandwidth(self) -> float:
        """Bytes per second to and from memory."""
        if self.cost is None:
            return 0.0
        return (
            self.cost.traffic * self.rate / (self.case.width * self.case.height * self.cost.steps)
        )


@dataclass(frozen=True, slots=True)
class Threads:
    """All cores beside one, in one run, and the tile loop the same."""

    case: Case
    threads: int
    one: float
    all: float
    ratio: float
    tile_one: float | None = None
    tile_all: float | None = None
    tile_ratio: float | None = None


@dataclass(frozen=True, slots=True)
class EndToEnd:
    """`lifesim run` in a process of its own. whole: its rate with start-up and soup."""

    case: Case
    steps: int
    rate: float
    whole: float
    tile: float | None
    ratio: float | None


def cpu_cost(plan: CpuPlan, width: int, height: int, vector_bits: int) -> PassCost:
    bands = -(-height // plan.band_rows)
    line = plan.columns * vector_bits or plan.useful
    # A band begins with rows that serve only the next ones: half of them wait in vain.
    rows = height + bands * (1.5 * plan.steps if plan.columns else 0)
    read = plan.panels * (height + bands * 2 * plan.steps) * line // 8
    useful = width * height / (plan.panels * line * rows)
    return PassCost(plan.steps, useful, read + height * (-(-width // 64) * 8))


def cuda_cost(plan: CudaPlan, width: int, height: int) -> PassCost:
    layout, steps = plan.layout, plan.steps
    segments = -(-height // plan.segment)
    # Stage t starts 2 t rows late, when it has what it needs, or at once and in vain.
    rows = plan.segment + steps + 1
    line = layout.panels * 32 * layout.row_words
    read = segments * (plan.segment + 2 * steps) * line // 8
    return PassCost(steps, width * height / (line * segments * rows), read + height * line // 8)


def cuda_limit(multiprocessors: int, words: int, rule: Rule) -> float:
    """Cell updates per second if the pipe of LOP3 did nothing else and nothing waited."""
    operations = CONWAY_OPERATIONS if rule == LIFE else TABLE_OPERATIONS
    rate = LOP3_RATE * multiprocessors / LOP3_MULTIPROCESSORS
    return rate * 32 / (operations + MOVES / words)


def default_cases(cuda: bool) -> list[Case]:
    squares, ragged, side = [4096, 16384], [(16383, 16384), (10000, 10000)], 16384
    if cuda:
        squares, ragged, side = [16384, 65536, 131072, 262144], [(65535, 65535)], 65536
    return [
        *(Case(n, n) for n in squares),
        *(Case(*size) for size in ragged),
        Case(side, side, Topology.PLANE),
        *(Case(side, side, rule=rule) for rule in RULES),
    ]


def measure(backend: Backend, case: Case, seconds: float, tile: Runner | None) -> Row:
    try:
        universe = soup_universe(
            backend, case.width, case.height, rule=case.rule, topology=case.topology
        )
        samples = compete([runner_of(universe), *([tile] if tile else [])], seconds)
    except (GridError, MemoryError) as error:
        return Row(case, problem=str(error) or "out of memory")
    cost, of_limit = None, None
    if isinstance(backend, CpuBackend) and isinstance(universe, CpuLife):
        plan = universe.plan(1 << 30)
        cost = cpu_cost(plan, case.width, case.height, backend.vector_bits)
    elif backend.name == "cuda":
        count, torus = multiprocessors_of(backend), case.topology is Topology.TORUS
        pass_plan = choose_cuda(case.width, case.height, torus, count)
        cost = cuda_cost(pass_plan, case.width, case.height)
        of_limit = samples[0].best / cuda_limit(count, pass_plan.layout.words, case.rule)
    return Row(
        case,
        rate=samples[0].best,
        median=samples[0].median,
        tile=samples[1].best if tile else None,
        ratio=samples[0].ratio(samples[1]) if tile else None,
        of_limit=of_limit,
        cost=cost,
    )


def multiprocessors_of(backend: Backend) -> int:
    from kernels.cuda import CudaBackend

    assert isinstance(backend, CudaBackend)
    return backend.device.info.multiprocessors


def measure_vectors(loop: TileLoop, seconds: float) -> dict[int, float]:
    """The tile loop at each width of vectors, one thread."""
    widths = (512, 256, 128)
    samples = compete([loop.runner(bits) for bits in widths], seconds)
    return {bits: found.best for bits, found in zip(widths, samples, strict=True)}


def measure_threads(case: Case, loop: TileLoop | None, seconds: float) -> Threads:
    every = core_count()
    backends = [CpuBackend(1), CpuBackend(every)]
    runners = [
        runner_of(soup_universe(b, case.width, case.height, topology=case.topology))
        for b in backends
    ]
    if loop:
        runners += [loop.runner(b.vector_bits, b.threads) for b in backends]
    one, both, *tiles = compete(runners, seconds)
    result = Threads(case, every, one.best, both.best, both.ratio(one))
    if not tiles:
        return result
    scaled = tiles[1].ratio(tiles[0])
    return replace(result, tile_one=tiles[0].best, tile_all=tiles[1].best, tile_ratio=scaled)


def measure_end_to_end(
    case: Case, expected: float, tile: Runner | None, seconds: float, rounds: int = 3
) -> EndToEnd:
    """expected: the rate, for the number of generations that takes seconds / rounds."""
    cells = case.width * case.height
    steps = max(1, round(expected * seconds / rounds / cells / 128)) * 128
    command = [sys.executable, "-c", "from lifesim.cli import main; main()", "run", "--json"]
    command += ["--quiet", "--backend", "cpu", "--threads", "1", "--steps", str(steps)]
    command += ["--size", f"{case.width}x{case.height}", "--topology", str(case.topology)]
    rates: list[float] = []
    whole: list[float] = []
    tiles: list[float] = []
    for _ in range(rounds):
        start = time.perf_counter()
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
        whole.append(cells * steps / (time.perf_counter() - start))
        rates.append(float(json.loads(done.stdout)["cell_updates_per_second"]))
        if tile:
            tiles.append(compete([tile], 0.3, rounds=3)[0].median)
    ratio = median(a / b for a, b in zip(rates, tiles, strict=True)) if tile else None
    return EndToEnd(case, steps, max(rates), max(whole), max(tiles, default=None), ratio)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---", *("---:" for _ in head[1:])], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main_table(rows: Sequence[Row], cuda: bool) -> str:
    unit, size = ("10¹²/s", 1e12) if cuda else ("10⁹/s", 1e9)
    beside = ["of the limit"] if cuda else [f"tile loop, {unit}", "ratio"]
    head = ["universe", unit, "median", *beside, "generations a pass", "useful", "memory, GB/s"]

    def line(row: Row) -> list[str]:
        if row.problem:
            return [str(row.case), row.problem, *("" for _ in head[2:])]
        tile = [number(row.tile, size), number(row.ratio)]
        compared = [percent(row.of_limit)] if cuda else tile
        cost = row.cost
        planned = [str(cost.steps), percent(cost.useful)] if cost else ["–", "–"]
        rates = [number(row.rate, size), number(row.median, size)]
        return [str(row.case), *rates, *compared, *planned, number(row.bandwidth, 1e9)]

    return table(head, [line(row) for row in rows])


def number(value: float | None, size: float = 1.0) -> str:
    return "–" if value is None else f"{value / size:.3g}"


def percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


def limit_text(backend: Backend) -> str:
    count = multiprocessors_of(backend)
    limits = ", ".join(
        f"{cuda_limit(count, words, LIFE) / 1e12:.1f} ×10¹² with {words}" for words in (3, 4)
    )
    return (
        f"The limit: {LOP3_RATE / 1e12:g} ×10¹² lane-operations/s × {count} / "
        f"{LOP3_MULTIPROCESSORS} multiprocessors × 32 cells / ({CONWAY_OPERATIONS} + {MOVES} / "
        f"words a lane), {TABLE_OPERATIONS} for {CONWAY_OPERATIONS} with other rules: for "
        f"B3/S23 {limits} words."
    )


def thread_table(results: Sequence[Threads]) -> str:
    head = ["universe", "1 thread, 10⁹/s", "all", "ratio", "tile loop, 1", "all", "ratio"]

    def line(t: Threads) -> list[str]:
        tiles = [number(t.tile_one, 1e9), number(t.tile_all, 1e9), number(t.tile_ratio)]
        return [str(t.case), number(t.one, 1e9), number(t.all, 1e9), number(t.ratio), *tiles]

    return table(head, [line(t) for t in results])


def end_table(results: Sequence[EndToEnd]) -> str:
    head = ["lifesim run", "generations", "10⁹/s", "tile loop", "ratio", "whole process, 10⁹/s"]

    def line(e: EndToEnd) -> list[str]:
        rates = [number(e.rate, 1e9), number(e.tile, 1e9), number(e.ratio), number(e.whole, 1e9)]
        return [str(e.case), str(e.steps), *rates]

    return table(head, [line(e) for e in results])


def case_of(text: str) -> Case:
    topology, _, size = text.rpartition(":")
    width, _, height = size.lower().partition("x")
    case = Case(int(width), int(height or width), Topology(topology or "torus"))
    if case.width < 1 or case.height < 1:
        raise ValueError
    return case


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.life", description="Life: rates beside the machine's limits."
    )
    parser.add_argument("--device", help="cuda:N or cpu; CUDA 0 where it works by default")
    parser.add_argument("--sizes", type=case_of, nargs="+", metavar="SIZE", help="B3/S23 only")
    parser.add_argument("--seconds", type=float, default=4.0, help="for each row")
    parser.add_argument("--json", action="store_true", help="figures instead of tables")
    options = parser.parse_args(arguments)
    if not 0 < options.seconds < 3600:
        parser.error("--seconds must be positive")
    return options


def backend_of(device: str | None) -> Backend:
    """Raises BackendUnavailableError and ValueError."""
    if device == "cpu":
        return CpuBackend(1)
    name, _, index = (device or "cuda").partition(":")
    if name != "cuda":
        raise ValueError(f"unknown device {device}: cpu or cuda:N")
    from kernels.cuda import CudaBackend

    try:
        return CudaBackend(int(index or 0))
    except BackendUnavailableError as error:
        if device:
            raise
        print(f"no CUDA device: {error}", file=sys.stderr)
        return CpuBackend(1)


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    try:
        backend = backend_of(options.device)
    except (BackendUnavailableError, ValueError) as error:
        sys.exit(f"benchmarks.life: {error}")
    cuda, seconds = backend.name == "cuda", options.seconds
    loop, tile = None, None
    if isinstance(backend, CpuBackend):
        try:
            loop = TileLoop()
            tile = loop.runner(backend.vector_bits)
        except TileLoopError as error:
            print(f"no tile loop: {error}", file=sys.stderr)
    rows: list[Row] = []
    for case in options.sizes or default_cases(cuda):
        rows.append(measure(backend, case, seconds, tile))
        print(f"{case}: {rows[-1].problem or f'{rows[-1].rate:.4g}'}", file=sys.stderr)
    vectors = measure_vectors(loop, seconds) if loop else {}
    threads, ends = [], []
    if not cuda:
        squares = [row for row in rows if row.case.rule == LIFE and not row.problem][:2]
        threads = [measure_threads(row.case, loop, 2 * seconds) for row in squares]
        ends = [measure_end_to_end(row.case, row.rate, tile, seconds) for row in squares]
    if options.json:
        facts = {
            "device": backend.describe(),
            "unit": "cell updates/s",
            "rows": [row_facts(row) for row in rows],
            "tile_loop_by_vector_bits": vectors,
            "threads": [{**asdict(t), "case": str(t.case)} for t in threads],
            "end_to_end": [{**asdict(e), "case": str(e.case)} for e in ends],
        }
        print(json.dumps(facts, indent=1))
        return
    parts = [f"{backend.describe()}. Cell updates per second, best of rounds by turns."]
    if cuda:
        parts.append(limit_text(backend))
    parts.append(main_table(rows, cuda))
    if vectors:
        listed = ", ".join(f"{bits} bits {rate / 1e9:.3g}" for bits, rate in vectors.items())
        parts.append(f"The tile loop by width of vectors, 10⁹/s: {listed}.")
    if threads:
        parts += [f"All cores: {threads[0].threads} threads.", thread_table(threads)]
        parts += ["End to end, one thread:", end_table(ends)]
    print("\n\n".join(parts))


def row_facts(row: Row) -> dict[str, object]:
    case = row.case
    facts: dict[str, object] = {"width": case.width, "height": case.height}
    facts |= {"topology": str(case.topology), "rule": str(case.rule)}
    if row.problem:
        return facts | {"problem": row.problem}
    facts |= {"rate": row.rate, "median": row.median, "tile_loop": row.tile, "ratio": row.ratio}
    facts |= {"of_limit": row.of_limit, "bytes_per_second": row.bandwidth}
    if row.cost:
        facts |= {"generations_a_pass": row.cost.steps, "useful": row.cost.useful}
    return facts


if __name__ == "__main__":
    main()
