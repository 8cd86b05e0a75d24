"""Universes on disk against the same in memory: what a run costs more, by turns.

    python -m benchmarks.out_of_core FOLDER --size 65536 --memory 512M --steps 1260 --repeats 2

In FOLDER, which needs room for two universes and for files of the same sizes: what plain direct
reads and writes get; then `lifesim run` in memory and on disk by turns, and on disk with phases so
short that the disk bounds them. Each line has the least of all repeats: seconds on the clock as
`--json` says them, and seconds of the processor (user and system) without those of a run of no
generation at all. On a machine that others use too only the latter are to be trusted.

The limit is said beside: the rows that halos add, and the bytes moved at the plain rates. A second
checkout is compared with `--command`, which may be given several times: the path of its `lifesim`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from benchmarks.stream import raw_rates
from lifesim.cli.options import Memory, Size

_HERE = (sys.executable, "-m", "lifesim")


@dataclass(frozen=True, slots=True)
class Measured:
    """A command that has ended. facts: its --json. cpu: seconds of the processor; peak: bytes of
    memory."""

    facts: dict[str, Any]
    cpu: float
    peak: int

    @property
    def seconds(self) -> float:
        """Return the seconds on the clock that the run took by its own account."""
        return float(self.facts["seconds"])

    def total(self, name: str) -> float:
        """Return the sum of a figure over all phases."""
        return float(sum(phase[name] for phase in self.facts["phases"]))


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False))
@click.option("--size", type=Size(), default=(65536, 65536))
@click.option("--steps", type=int, default=1260)
@click.option("--memory", type=Memory(), default=512 << 20)
@click.option("--short", type=int, default=4, help="Generations of a disk-bound phase.")
@click.option("--repeats", type=int, default=2)
@click.option("--command", "commands", multiple=True, help="A lifesim to measure. [this one]")
def main(
    folder: str,
    size: tuple[int, int],
    steps: int,
    memory: int,
    short: int,
    repeats: int,
    commands: tuple[str, ...],
) -> None:
    here = Path(folder)
    chosen = [(command,) for command in commands] or [_HERE]
    soup = here / "soup"
    sides = f"{size[0]}x{size[1]}"
    _run([*_HERE, "random", "--size", sides, "--out", str(soup)])
    in_memory = ["run", "--size", sides]
    on_disk = ["run", str(soup), "--memory", str(memory)]
    try:
        _rates(here, soup)
        for name, args, generations in (
            ("in memory", in_memory, steps),
            ("on disk", on_disk, steps),
            (f"phases of {short}", [*on_disk, "--phase", str(short)], 6 * short),
        ):
            best = _by_turns(chosen, args, generations, repeats)
            for command, found in zip(chosen, best, strict=True):
                click.echo(f"{name}, {' '.join(command)}: {_said(found, size)}")
    finally:
        shutil.rmtree(soup)


def _rates(here: Path, soup: Path) -> None:
    files = list((soup / "tiles").iterdir())
    stored = sum(path.stat().st_size for path in files)
    read, write, both = raw_rates(here, stored, len(files))
    click.echo(
        f"{stored / 1e6:.0f} MB in {len(files)} files; plain direct: read {read / 1e9:.2f}, "
        f"write {write / 1e9:.2f}, both at once {both / 1e9:.2f} GB/s"
    )


def _by_turns(
    commands: Sequence[tuple[str, ...]], args: list[str], steps: int, repeats: int
) -> list[tuple[float, Measured]]:
    """Return for each command the seconds of the processor of its steps alone, the least of all
    repeats, and the run that was the quickest on the clock."""
    begin = [_measured([*command, *args, "--steps", "0"]).cpu for command in commands]
    runs: list[list[Measured]] = [[] for _ in commands]
    for _ in range(repeats):
        for command, found in zip(commands, runs, strict=True):
            found.append(_measured([*command, *args, "--steps", str(steps)]))
    return [
        (min(run.cpu for run in found) - start, min(found, key=lambda run: run.seconds))
        for start, found in zip(begin, runs, strict=True)
    ]


def _said(found: tuple[float, Measured], size: tuple[int, int]) -> str:
    cpu, run = found
    text = f"{run.seconds:.2f} s on the clock, {cpu:.2f} of the processor"
    phases = run.facts.get("phases")
    if not phases:
        return text
    lengths = "+".join(str(phase["generations"]) for phase in phases)
    wanted = size[0] * size[1] * sum(phase["generations"] for phase in phases)
    inside, stepping = run.total("seconds"), run.total("step_seconds")
    moved = run.total("read_bytes") + run.total("written_bytes")
    return (
        f"{text}; phases {lengths}, blocks {phases[0]['block']}; before and between phases "
        f"{run.seconds - inside:.2f} s, in them without stepping {inside - stepping:.2f}; "
        f"halos {run.total('cell_updates_with_halos') / wanted - 1:.1%}; "
        f"{moved / 1e9:.2f} GB, {moved / inside / 1e9:.2f} GB/s; "
        f"peak {run.peak / 2**20:.0f} MiB"
    )


def _measured(command: list[str]) -> Measured:
    """Run a command in a process of its own, which says --json."""
    process = subprocess.Popen([*command, "--json"], stdout=subprocess.PIPE, text=True)
    assert process.stdout
    out = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)}: exit code {process.returncode}")
    return Measured(json.loads(out), used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)


def _run(command: list[str]) -> None:
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)


if __name__ == "__main__":
    main()
