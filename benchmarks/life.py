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
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from statistics import median

from benchmarks.life_model import SoupCase, cpu_cost, cuda_cost, cuda_limit
from benchmarks.life_tables import (
    EndToEnd,
    Row,
    Threads,
    end_table,
    limit_text,
    main_table,
    row_facts,
    thread_table,
)
from bulkbits.timing import TimedRunner, compete
from kernels.life.cpu.engine import CpuLife
from kernels.life.cuda.engine import DeviceLife
from kernels.life.plan import choose_cuda
from kernels.targets.contract import BackendUnavailableError, Target
from kernels.targets.cpu import CpuTarget, core_count
from lifesim.bench import TileLoop, TileLoopError, runner_of, soup_universe
from lifesim.grid import GridError
from lifesim.rule import LIFE, Rule
from lifesim.topology import Topology

ROOT = Path(__file__).parents[1]
RULES = (Rule.parse("HighLife"), Rule.parse("Day & Night"))


def default_cases(cuda: bool) -> list[SoupCase]:
    squares, ragged, side = [4096, 16384], [(16383, 16384), (10000, 10000)], 16384
    if cuda:
        squares, ragged, side = [16384, 65536, 131072, 262144], [(65535, 65535)], 65536
    return [
        *(SoupCase(n, n) for n in squares),
        *(SoupCase(*size) for size in ragged),
        SoupCase(side, side, Topology.PLANE),
        *(SoupCase(side, side, rule=rule) for rule in RULES),
    ]


def measure(backend: Target, case: SoupCase, seconds: float, tile: TimedRunner | None) -> Row:
    try:
        universe = soup_universe(
            backend, case.width, case.height, rule=case.rule, topology=case.topology
        )
        plots = universe.plots if isinstance(universe, DeviceLife) else None
        if plots:
            plots.compiling().result()
        samples = compete([runner_of(universe), *([tile] if tile else [])], seconds)
    except (GridError, MemoryError) as error:
        return Row(case, problem=str(error) or "out of memory")
    cost, of_limit = None, None
    if isinstance(backend, CpuTarget) and isinstance(universe, CpuLife):
        plan = universe.plan(1 << 30)
        cost = cpu_cost(plan, case.width, case.height, backend.vector_bits)
    elif backend.devices:
        count, torus = multiprocessors_of(backend), case.topology is Topology.TORUS
        words = 0
        if not plots:
            pass_plan = choose_cuda(case.width, case.height, torus, count)
            cost, words = cuda_cost(pass_plan, case.width, case.height), pass_plan.layout.words
        of_limit = samples[0].best / cuda_limit(count, words, case.rule)
    return Row(
        case,
        rate=samples[0].best,
        median=samples[0].median,
        tile=samples[1].best if tile else None,
        ratio=samples[0].ratio(samples[1]) if tile else None,
        of_limit=of_limit,
        cost=cost,
    )


def multiprocessors_of(backend: Target) -> int:
    from kernels.targets.cuda.target import CudaTarget

    assert isinstance(backend, CudaTarget)
    return backend.device.info.multiprocessors


def measure_vectors(loop: TileLoop, seconds: float) -> dict[int, float]:
    """The tile loop at each width of vectors, one thread."""
    widths = (512, 256, 128)
    samples = compete([loop.runner(bits) for bits in widths], seconds)
    return {bits: found.best for bits, found in zip(widths, samples, strict=True)}


def measure_threads(case: SoupCase, loop: TileLoop | None, seconds: float) -> Threads:
    every = core_count()
    backends = [CpuTarget(1), CpuTarget(every)]
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
    case: SoupCase, expected: float, tile: TimedRunner | None, seconds: float, rounds: int = 3
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


def case_of(text: str) -> SoupCase:
    topology, _, size = text.rpartition(":")
    width, _, height = size.lower().partition("x")
    case = SoupCase(int(width), int(height or width), Topology(topology or "torus"))
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


def backend_of(device: str | None) -> Target:
    """Raises BackendUnavailableError and ValueError."""
    if device == "cpu":
        return CpuTarget(1)
    name, _, index = (device or "cuda").partition(":")
    if name != "cuda":
        raise ValueError(f"unknown device {device}: cpu or cuda:N")
    from kernels.targets.cuda.target import CudaTarget

    try:
        return CudaTarget(int(index or 0))
    except BackendUnavailableError as error:
        if device:
            raise
        print(f"no CUDA device: {error}", file=sys.stderr)
        return CpuTarget(1)


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    try:
        backend = backend_of(options.device)
    except (BackendUnavailableError, ValueError) as error:
        sys.exit(f"benchmarks.life: {error}")
    cuda, seconds = bool(backend.devices), options.seconds
    loop, tile = None, None
    if isinstance(backend, CpuTarget):
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
        parts.append(limit_text(multiprocessors_of(backend)))
    parts.append(main_table(rows, cuda))
    if vectors:
        listed = ", ".join(f"{bits} bits {rate / 1e9:.3g}" for bits, rate in vectors.items())
        parts.append(f"The tile loop by width of vectors, 10⁹/s: {listed}.")
    if threads:
        parts += [f"All cores: {threads[0].threads} threads.", thread_table(threads)]
        parts += ["End to end, one thread:", end_table(ends)]
    print("\n\n".join(parts))


if __name__ == "__main__":
    main()
