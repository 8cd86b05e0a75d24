"""Fujita's Table 5.1, measured here: pairwise sums, one by one and bitwise, CPU and GPU.

    python -m benchmarks.sums [--device auto|cuda|cpu] [--threads 1] [--json]

Times are milliseconds for 2^20 sums of two k-bit numbers, the median of several runs,
with the numbers where they are wanted and as they are wanted: in the memory of the
device, and as bit planes for the bitwise sums. The naive sums are of 32-bit words,
whatever k is.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from kernels import sums
from kernels.sums import ref
from kernels.sums.slicing import Words
from kernels.targets.contract import BackendUnavailableError
from kernels.targets.cpu import CpuTarget
from kernels.targets.cuda.device import Device

RUNS = 9
CPU_RUN_SECONDS = 2e-3  # a run is as many calls as take about this long
GPU_LAUNCHES = 200  # in a run


@dataclass(frozen=True, slots=True)
class Row:
    """Milliseconds; None where nothing was measured."""

    k: int
    naive_cpu: float | None = None
    naive_gpu: float | None = None
    bitwise_cpu: float | None = None
    bitwise_gpu: float | None = None


class WrongSumsError(Exception):
    """Sums that are not those of numpy: their time would mean nothing."""


def ratio(slow: float | None, fast: float | None) -> float | None:
    return None if slow is None or fast is None else slow / fast


def pairs_of(k: int, count: int) -> tuple[Words, Words]:
    a, b = np.random.default_rng(k).integers(0, 2**k, (2, count), np.uint32)
    return a, b


def verify(k: int, naive: Words, planes: Words) -> None:
    """Raises WrongSumsError unless both are the sums of pairs_of(k, naive.size)."""
    expected = ref.add(*pairs_of(k, naive.size))
    for found in (naive, sums.unslice_bits(planes, naive.size)):
        if not np.array_equal(found, expected):
            raise WrongSumsError(f"k = {k}")


def median_ms(calls: int, run: Callable[[], object], finish: Callable[[], object]) -> float:
    """Return the milliseconds of one call, by the median of RUNS runs of that many."""
    took = []
    for _ in range(RUNS):
        start = time.perf_counter()
        for _ in range(calls):
            run()
        finish()
        took.append((time.perf_counter() - start) / calls)
    return statistics.median(took) * 1e3


def measure_cpu(cpu: CpuTarget, k: int, count: int) -> tuple[float, float]:
    """Milliseconds of the naive and of the bitwise sums."""
    a, b = pairs_of(k, count)
    a_planes, b_planes = sums.slice_bits(a, k), sums.slice_bits(b, k)
    naive = np.zeros_like(a)  # touched, so that no page fault is timed
    planes = np.zeros((sums.sum_bits(k), a_planes.shape[1]), np.uint32)

    def timed(run: Callable[[], object]) -> float:
        start = time.perf_counter()
        run()
        once = time.perf_counter() - start
        return median_ms(max(1, int(CPU_RUN_SECONDS / once)), run, lambda: None)

    times = (
        timed(lambda: sums.add_naive_cpu(cpu, a, b, naive)),
        timed(lambda: sums.add_bitwise_cpu(cpu, a_planes, b_planes, planes)),
    )
    verify(k, naive, planes)
    return times


def measure_gpu(
    device: Device, k: int, count: int, launches: int = GPU_LAUNCHES
) -> tuple[float, float]:
    """Milliseconds of the naive and of the bitwise sums, launched one after the other."""
    a, b = pairs_of(k, count)
    module = device.module(sums.SOURCE, {"K": k})

    def timed(kernel: str, operands: tuple[Words, Words], result: Words) -> float:
        threads = operands[0].shape[-1]
        params = sums.choose(threads, device.info.multiprocessors)
        sources = [device.alloc(x.nbytes) for x in operands]
        target = device.alloc(result.nbytes)
        for buffer, values in zip(sources, operands, strict=True):
            device.upload(buffer, values)

        def launch() -> None:
            module.launch(kernel, params.grid, params.block, *sources, target, np.uint64(threads))

        launch()  # loads the module, wakes the clocks
        device.synchronize()
        took = median_ms(launches, launch, device.synchronize)
        device.download(result, target)
        return took

    naive = np.zeros_like(a)
    a_planes, b_planes = sums.slice_bits(a, k), sums.slice_bits(b, k)
    planes = np.zeros((sums.sum_bits(k), a_planes.shape[1]), np.uint32)
    times = (
        timed("sums_naive", (a, b), naive),
        timed("sums_bitwise", (a_planes, b_planes), planes),
    )
    verify(k, naive, planes)
    return times


def measure(
    cpu: CpuTarget | None,
    device: Device | None,
    count: int,
    bits: Iterable[int],
    launches: int = GPU_LAUNCHES,
) -> list[Row]:
    rows = []
    for k in bits:
        naive_cpu, bitwise_cpu = measure_cpu(cpu, k, count) if cpu else (None, None)
        naive_gpu, bitwise_gpu = measure_gpu(device, k, count, launches) if device else (None, None)
        rows.append(Row(k, naive_cpu, naive_gpu, bitwise_cpu, bitwise_gpu))
    return rows


def as_markdown(rows: Iterable[Row]) -> str:
    """The table, with the columns of Fujita's."""

    def line(*cells: str) -> str:
        return "| " + " | ".join(cells) + " |"

    def ms(value: float | None) -> str:
        return "" if value is None else f"{value:.4f}"

    def times(value: float | None) -> str:
        return "" if value is None else f"{value:.2f}"

    heads = ["naive CPU, ms", "naive GPU, ms", "bitwise CPU, ms", "bitwise GPU, ms"]
    heads += ["GPU over CPU, naive", "GPU over CPU, bitwise"]
    heads += ["bitwise over naive, CPU", "bitwise over naive, GPU"]
    lines = [line("k", *heads), line(*["---:"] * (1 + len(heads)))]
    for row in rows:
        cells = [ms(t) for t in (row.naive_cpu, row.naive_gpu, row.bitwise_cpu, row.bitwise_gpu)]
        cells += [
            times(ratio(row.naive_cpu, row.naive_gpu)),
            times(ratio(row.bitwise_cpu, row.bitwise_gpu)),
            times(ratio(row.naive_cpu, row.bitwise_cpu)),
            times(ratio(row.naive_gpu, row.bitwise_gpu)),
        ]
        lines.append(line(str(row.k), *cells))
    return "\n".join(lines)


def cuda_device(index: int) -> Device:
    """Raises BackendUnavailableError."""
    from kernels.targets.cuda.target import CudaTarget  # imports PyCUDA, which may lack

    device: Device = CudaTarget(index).device
    return device


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.sums", description="Fujita's Table 5.1, measured here."
    )
    parser.add_argument("--device", choices=("auto", "cuda", "cpu"), default="auto")
    parser.add_argument("--index", type=int, default=0, help="of the CUDA device")
    parser.add_argument("--threads", type=int, default=1, help="of the CPU; Fujita's had one")
    parser.add_argument("--pairs", type=int, default=2**20, help="sums of each kind")
    parser.add_argument("--json", action="store_true", help="figures instead of a table")
    options = parser.parse_args(arguments)
    if options.threads < 1 or options.pairs < 1:
        parser.error("--threads and --pairs must be positive")
    return options


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    cpu: CpuTarget | None = None
    device: Device | None = None
    try:
        cpu = CpuTarget(options.threads)
    except BackendUnavailableError as error:
        print(f"no CPU columns: {error}", file=sys.stderr)
    if options.device != "cpu":
        try:
            device = cuda_device(options.index)
        except BackendUnavailableError as error:
            if options.device == "cuda":
                sys.exit(f"no CUDA device: {error}")
            print(f"no GPU columns: {error}", file=sys.stderr)
    if cpu is None and device is None:
        sys.exit("nothing to measure on")
    rows = measure(cpu, device, options.pairs, range(1, 33))
    cpu_name = cpu.describe() if cpu else None
    gpu_name = device.info.name if device else None
    if options.json:
        figures = {"unit": "ms", "pairs": options.pairs, "cpu": cpu_name, "gpu": gpu_name}
        print(json.dumps({**figures, "rows": [asdict(row) for row in rows]}, indent=1))
        return
    print(f"{options.pairs:,} sums of two k-bit numbers, median of {RUNS} runs.")
    print(f"CPU: {cpu_name or 'none'}. GPU: {gpu_name or 'none'}.\n")
    print(as_markdown(rows))


if __name__ == "__main__":
    main()
