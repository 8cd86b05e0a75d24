"""Universes on disk: what reading, writing and halos cost beside computing.

    python -m benchmarks.stream FOLDER --size 65536 --steps 16384 --memory 1G

In FOLDER, which needs room for two universes: what plain direct reads and writes of files
of the same sizes get; what the backend does to cells in memory; a run of a boiling
soup; the same a few generations at a time, so that the disk is what bounds it; and a run
of a universe that is settled, by Life alone. Runs are processes of their own, whose memory is
measured. With `--rule 345/2/4` all of it is of cells of several states; then it is also said how
many bytes a second are looked through for states that the rule does not have.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import click
import numpy as np

from kernels.life.contract import LifeShape
from kernels.targets.choose import pick
from kernels.targets.contract import Target
from lifesim import BitGrid, Life, random_grid
from lifesim.cli.options import Memory, Size
from lifesim.engines import engine_of
from lifesim.rule import LIFE, Rule
from lifesim.soup import Soup
from lifesim.store import disk
from lifesim.store.make import make_universe
from lifesim.store.tilereader import check_stored
from lifesim.store.tiling import tile_universe

_CHUNK = 8 << 20
_SIDE = 512  # of the settled pattern


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False))
@click.option("--size", type=Size(), default=(65536, 65536))
@click.option("--steps", type=int, default=16384)
@click.option("--memory", type=Memory(), default=1 << 30)
@click.option("--backend", default="auto")
@click.option("--device", default="0")
@click.option("--short", type=int, default=8, help="Generations of a disk-bound phase.")
@click.option("--rule", "rule_text", default="B3/S23", help="B3/S23 unless told.")
@click.option("--settled-size", type=Size(), help="Of the settled universe. [as --size]")
@click.option("--settled-steps", type=int, help="[as --steps]")
def main(  # each parameter is an option, or an argument
    folder: str,
    size: tuple[int, int],
    steps: int,
    memory: int,
    backend: str,
    device: str,
    short: int,
    rule_text: str,
    settled_size: tuple[int, int] | None,
    settled_steps: int | None,
) -> None:
    width, height = size
    here = Path(folder)
    runner = pick(backend)
    click.echo(f"{runner.describe()}; {width}x{height}, {steps} generations, {memory:,} bytes")
    options = ["--memory", str(memory), "--backend", runner.name, "--device", device]
    soup = here / "soup"
    began = time.perf_counter()
    rule = Rule.parse(rule_text)
    chosen = ["--size", f"{width}x{height}", "--density", "0.37", "--rule", str(rule)]
    _run(["random", *chosen, "--out", str(soup)])
    made = time.perf_counter() - began
    stored = sum(path.stat().st_size for path in (soup / "tiles").iterdir())
    files = len(list((soup / "tiles").iterdir()))
    click.echo(f"made in {made:.1f} s, {stored / made / 1e9:.2f} GB/s, {files} files")

    read, write, both = raw_rates(here, stored, files)
    click.echo(
        f"plain direct: read {read / 1e9:.2f}, write {write / 1e9:.2f}, "
        f"both at once {both / 1e9:.2f} GB/s"
    )
    rate = _rate(runner, width, height, rule)
    click.echo(f"in memory: {rate / 1e12:.3f} x 10^12 cell updates/s")
    if rule.states < 1 << rule.planes:
        click.echo(f"states are checked at {_check_rate(rule) / 1e9:.2f} GB/s by one thread")

    facts = _run(["run", str(soup), "--steps", str(steps), *options])
    compute = width * height * steps / rate
    disk_seconds = sum(p["read_bytes"] / read + p["written_bytes"] / write for p in facts["phases"])
    bound = max(compute, disk_seconds)
    click.echo(
        f"run: {facts['wall']:.2f} s ({facts['seconds']:.2f} s of it phases), "
        f"{facts['cell_updates_per_second'] / 1e12:.3f} x 10^12/s, "
        f"phases {_lengths(facts)}, blocks {facts['phases'][0]['block']}; "
        f"pure computing {compute:.2f} s, pure disk {disk_seconds:.2f} s: "
        f"overhead {facts['seconds'] / bound - 1:+.1%}; "
        f"peak memory {facts['peak'] / 2**20:.0f} MiB"
    )
    boiling = float(facts["cell_updates_per_second"])
    facts = _run(["run", str(soup), "--steps", str(3 * short), "--phase", str(short), *options])
    phases = facts["phases"]
    moved = sum(p["read_bytes"] + p["written_bytes"] for p in phases)
    seconds = sum(p["seconds"] for p in phases)
    plain = sum(p["read_bytes"] / read + p["written_bytes"] / write for p in phases)
    click.echo(
        f"{short} generations a phase: {moved / seconds / 1e9:.2f} GB/s, computing "
        f"{sum(p['step_seconds'] for p in phases) / seconds:.0%} of the time; "
        f"{plain / seconds:.0%} of plain reads and writes one after the other, "
        f"{moved / seconds / both:.0%} of both at once"
    )
    shutil.rmtree(soup)
    if rule != LIFE:
        return

    ash = here / "ash"
    across, down = settled_size or size
    with make_universe(ash, tile_universe(across, down, True), _repeated(_settled())):
        pass
    long = settled_steps or steps
    facts = _run(["run", str(ash), "--steps", str(long), *options])
    dense = across * down * long / boiling
    click.echo(
        f"settled {across}x{down}, {long} generations: {facts['seconds']:.2f} s, "
        f"phases {_lengths(facts)}; a boiling one of that size, at the rate above, "
        f"{dense:.2f} s: {dense / facts['seconds']:.1f} times"
    )
    shutil.rmtree(ash)


def _lengths(facts: dict[str, Any]) -> str:
    return "+".join(str(p["generations"]) for p in facts["phases"]) or "none"


def _run(args: list[str]) -> dict[str, Any]:
    """lifesim in a process; its --json facts with wall seconds and peak bytes of memory."""
    command = [sys.executable, "-c", _MAIN, *args, *(["--json"] if args[0] == "run" else [])]
    began = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    wall = time.perf_counter() - began
    if args[0] != "run":
        return {}
    out, _, peak = done.stdout.strip().rpartition("\n")
    return {**json.loads(out), "wall": wall, "peak": int(peak) * 1024}


_MAIN = """
import sys
from lifesim.cli import main
try:
    main()
finally:
    if "--json" in sys.argv:
        for line in open("/proc/self/status"):
            if line.startswith("VmHWM"):
                print(line.split()[1])
"""


def raw_rates(folder: Path, total: int, files: int) -> tuple[float, float, float]:
    """Bytes per second of direct reads, of direct writes with one fsync a file, of both."""
    size = max(_CHUNK, min(total, 8 << 30) // files // _CHUNK * _CHUNK)
    count = max(2, min(files, (8 << 30) // size))
    data = disk.aligned(_CHUNK)
    data[:] = np.frombuffer(os.urandom(1 << 20) * 8, np.uint8)
    names = [str(folder / f"raw-{i}") for i in range(count)]

    def write(name: str) -> None:
        fd, _ = disk.open_file(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, direct=True)
        for offset in range(0, size, _CHUNK):
            disk.write(fd, data, offset)
        disk.sync(fd)
        os.close(fd)

    def read(name: str) -> None:
        buffer = disk.aligned(_CHUNK)
        fd, _ = disk.open_file(name, os.O_RDONLY, direct=True)
        for offset in range(0, size, _CHUNK):
            disk.read(fd, buffer, offset)
        os.close(fd)

    def timed(work: list[tuple[Any, str]], threads: int) -> float:
        with ThreadPoolExecutor(threads) as pool:
            began = time.perf_counter()
            for job in [pool.submit(*one) for one in work]:
                job.result()
            return len(work) * size / (time.perf_counter() - began)

    try:
        writes = max(timed([(write, n) for n in names], threads) for threads in (1, 4))
        reads = max(timed([(read, n) for n in names], threads) for threads in (1, 4))
        half = count // 2
        mixed = [
            pair
            for a, b in zip(names[:half], names[half:], strict=False)
            for pair in ((read, a), (write, b))
        ]
        both = max(timed(mixed, threads) for threads in (2, 8))
    finally:
        for name in names:
            os.unlink(name)
    return reads, writes, both


def _rate(runner: Target, width: int, height: int, rule: Rule) -> float:
    """Cell updates per second in memory, of at most 2^34 cells of that width."""
    rows = min(height, (1 << 34 if runner.devices else 1 << 30) // width)
    cells = BitGrid(width, rows, planes=rule.planes)
    Soup(0.37, 1).fill_grid(cells, rule.states)
    shape = LifeShape(width, rows, True, rule.planes)
    life = engine_of(rule, runner).universe(cells.words, shape, rule.cells)
    life.step(2 * life.stride)
    best = 0.0
    for _ in range(3):
        began, first = time.perf_counter(), life.generation
        while time.perf_counter() - began < 1:
            life.step(4 * life.stride)
        made = life.generation - first
        best = max(best, width * rows * made / (time.perf_counter() - began))
    return best


def _check_rate(rule: Rule) -> float:
    """Bytes per second of chunks of cells whose states are looked at."""
    cells = BitGrid(1 << 15, 1 << 9, planes=rule.planes)
    Soup(0.37, 1).fill_grid(cells, rule.states)
    best = 0.0
    for _ in range(9):
        began = time.process_time()
        check_stored(cells.words, rule.states)
        best = max(best, cells.words.nbytes / (time.process_time() - began))
    return best


def _settled() -> BitGrid:
    """A torus of still lifes and blinkers."""
    for seed in range(100):
        life = Life(random_grid(_SIDE, _SIDE, 0.37, seed), backend="cpu")
        life.run(20000)
        before = life.grid()
        life.run(2)
        if life.grid() == before:
            return before
    raise RuntimeError("no soup settled")


def _repeated(grid: BitGrid) -> Any:
    words = grid.words

    def fill(target: Any, y0: int, w0: int, width: int) -> None:
        rows = (y0 + np.arange(target.shape[0])) % grid.height
        columns = (w0 + np.arange(target.shape[1])) % words.shape[1]
        target[:] = words[np.ix_(rows, columns)]

    return fill


if __name__ == "__main__":
    main()
