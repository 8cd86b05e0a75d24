"""Tables 6.1 and 6.2 of Fujita 2017, measured here, beside his figures.

    python -m benchmarks.ladder [--size 16384] [--generations 1024] [--cpu] [--json]

Rates are 10^9 updates of a cell a second on a square torus, best of three runs. Each
rung is first tried in its variants (warps of a block, order of the words, how slices
are stored), and the fastest is measured. The CPU, one thread, has a smaller torus and
fewer generations; without a CUDA device it is all that is measured.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence

from kernels.targets.cuda.device import Device

from .cpu import CPU_RUNGS, CpuLadder
from .measure import MeasuredRung, measure_all, measure_cpu
from .rungs import RUNGS

# -O3 may put two 64-bit words into a register of 128 bits, and sixteen cells; the
# second line stays at one word (one cell) an operation, as the table's names say.
CPU_FLAGS = (("-O3",), ("-O3", "-fno-tree-vectorize"))

CpuRates = Mapping[str, Mapping[str, float]]  # flags, rung


def cuda_device(index: int) -> Device | None:
    """Return the GPU; None, and why on standard error, where there is none."""
    try:
        from kernels.targets.cuda.target import CudaDevice

        device: Device = CudaDevice(index)
    except Exception as error:  # the driver's own kinds come from a module that may lack
        print(f"no CUDA device: {error}", file=sys.stderr)
        return None
    return device


def row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


def table_61(gpu: Mapping[str, MeasuredRung], cpu: CpuRates) -> str:
    """Return Table 6.1: one generation a pass."""
    names = ("word_per_cell", "single_word", "double_word")
    published = {rung.name: rung.published for rung in RUNGS}
    lines = [
        row("", "word-per-cell", "SINGLE-WORD", "DOUBLE-WORD"),
        row("---", "---:", "---:", "---:"),
        row("CPU, Fujita 2017 (Core i7-4790)", *(f"{CPU_RUNGS[n]:.3g}" for n in names)),
    ]
    lines += [
        row(f"CPU, here ({flags})", *(f"{rates[n]:.3g}" for n in names))
        for flags, rates in cpu.items()
    ]
    lines.append(row("GPU, Fujita 2017 (GTX TITAN X)", *(f"{published[n]:.3g}" for n in names)))
    if gpu:
        lines.append(row("GPU, here", *(f"{gpu[n].rate:.4g}" for n in names)))
        ratios = (f"{gpu[n].rate / published[n]:.3g}" for n in names)
        lines.append(row("GPU, here / Fujita", *ratios))
    return "\n".join(lines)


def table_62(gpu: Mapping[str, MeasuredRung]) -> str:
    """Several generations a pass: here / Fujita, and their ratio."""
    columns = [
        ("shared_single32", "shared 32×32 SINGLE"),
        ("shared_single64", "shared 64×64 SINGLE"),
        ("shared_double64", "shared 64×64 DOUBLE"),
        ("register_single32", "registers 32×32 SINGLE"),
        ("register_single64", "registers 64×64 SINGLE"),
        ("register_double64", "registers 64×64 DOUBLE"),
    ]
    published = {rung.name: rung.published for rung in RUNGS}

    def cell(name: str) -> str:
        if name not in published:
            return "–"
        his = published[name]
        if name not in gpu:
            return f"– / {his:.4g}"
        return f"{gpu[name].rate:.4g} / {his:.4g} (×{gpu[name].rate / his:.3g})"

    lines = [
        row("steps", *(title for _, title in columns)),
        row("---:", *("---:" for _ in columns)),
    ]
    lines += [
        row(str(steps), *(cell(f"{kernel}_{steps}") for kernel, _ in columns))
        for steps in (2, 4, 8, 16)
    ]
    return "\n".join(lines)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.ladder",
        description="Fujita's Tables 6.1 and 6.2, measured here, beside his figures.",
    )
    parser.add_argument("--size", type=int, default=16384, help="side of the torus on the GPU")
    parser.add_argument("--generations", type=int, default=1024, help="on the GPU")
    parser.add_argument("--device", type=int, default=0, help="index of the CUDA device")
    parser.add_argument("--cpu", action="store_true", help="measure the CPU too")
    parser.add_argument("--cpu-size", type=int, default=4096, help="side of the torus on the CPU")
    parser.add_argument("--cpu-generations", type=int, default=16, help="on the CPU")
    parser.add_argument(
        "--first-variant",
        action="store_true",
        help="take each rung as Fujita describes it, one warp a block; compiles less",
    )
    parser.add_argument("--json", action="store_true", help="figures instead of tables")
    options = parser.parse_args(arguments)
    for name in ("size", "cpu_size"):
        if getattr(options, name) < 64 or getattr(options, name) % 64:
            parser.error(f"--{name.replace('_', '-')} must be a multiple of 64")
    if options.generations < 16 or options.generations % 16:
        parser.error("--generations must be a multiple of 16, the most steps of a rung")
    if options.cpu_generations < 1:
        parser.error("--cpu-generations must be positive")
    return options


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    device = cuda_device(options.device)
    gpu: dict[str, MeasuredRung] = {}
    if device is not None:
        for result in measure_all(
            device,
            options.size,
            options.generations,
            first_variant_only=options.first_variant,
            progress=lambda line: print(line, file=sys.stderr),
        ):
            gpu[result.rung.name] = result
    cpu: dict[str, dict[str, float]] = {}
    if options.cpu or device is None:
        for flags in CPU_FLAGS:
            ladder = CpuLadder(*flags)
            cpu[" ".join(flags)] = {
                name: measure_cpu(ladder, name, options.cpu_size, options.cpu_generations)
                for name in CPU_RUNGS
            }
    if options.json:
        print(json.dumps(as_json(options, device, gpu, cpu), indent=1))
    else:
        print(as_markdown(options, device, gpu, cpu))


def as_json(
    options: argparse.Namespace,
    device: Device | None,
    gpu: Mapping[str, MeasuredRung],
    cpu: CpuRates,
) -> dict[str, object]:
    return {
        "unit": "1e9 updates/s",
        "device": device.info.name if device else None,
        "size": options.size,
        "generations": options.generations,
        "gpu": [
            {
                "rung": name,
                "steps": m.rung.steps,
                "rate": m.rate,
                "fujita": m.rung.published,
                "variant": str(m.variant),
                "probes": m.probes,
            }
            for name, m in gpu.items()
        ],
        "cpu_size": options.cpu_size,
        "cpu_generations": options.cpu_generations,
        "cpu": [
            {"rung": name, "flags": flags, "rate": rate, "fujita": CPU_RUNGS[name]}
            for flags, rates in cpu.items()
            for name, rate in rates.items()
        ],
    }


def as_markdown(
    options: argparse.Namespace,
    device: Device | None,
    gpu: Mapping[str, MeasuredRung],
    cpu: CpuRates,
) -> str:
    parts = ["Life (B3/S23) on a torus, 10^9 updates/s, best of 3. Fujita's: 16384×16384, 1024."]
    if device:
        n = options.size
        parts.append(f"GPU: {device.info.name}, {n}×{n} cells, {options.generations} generations.")
    else:
        parts.append("No CUDA device here: only the CPU was measured.")
    if cpu:
        n = options.cpu_size
        parts.append(
            f"CPU: one thread, {n}×{n} cells and {options.cpu_generations} generations only, "
            "which keeps it short."
        )
    parts += [
        "Table 6.1: one generation a pass over global memory",
        table_61(gpu, cpu),
        "Table 6.2: several generations a pass, here / Fujita 2017",
        table_62(gpu),
    ]
    if gpu:
        chosen = "\n".join(f"- {name}: {m.variant}" for name, m in gpu.items())
        parts.append(f"Fastest variants, here:\n\n{chosen}")
    return "\n\n".join(parts)


if __name__ == "__main__":
    main()
