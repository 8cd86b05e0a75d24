"""A universe on disk moved on by one worker of a cluster, and without: what the engine costs.

    python -m benchmarks.cluster_life FOLDER

In FOLDER, which need not be shared as all workers are here. Runs of both kinds take turns in
this one process, and the best of each counts: the machine may be busy with other things. Then
processor seconds say more: those of all processes that take part.
"""

from __future__ import annotations

import shutil
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import click

from bulkbits.amounts import Memory
from bulkbits.cluster import Cluster
from kernels.targets.choose import pick
from lifesim.cli.options import Size
from lifesim.soup import Soup
from lifesim.store.make import make_universe
from lifesim.store.tiling import tile_universe
from lifesim.store.universe import Universe
from lifesim.stream.cluster import ClusterExecutor
from lifesim.stream.executor import LocalExecutor, PhaseExecutor
from lifesim.stream.plan import PhasePlan
from lifesim.stream.run import StreamedLife

T = TypeVar("T")

_ASKED = 0.05  # of the time without a cluster


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False))
@click.option("--size", type=Size(), default=(32768, 32768))
@click.option("--phase", type=int, default=480, help="Generations.")
@click.option("--repeats", type=int, default=7)
@click.option("--memory", type=Memory(), default=256 << 20)
@click.option("--backend", default="auto")
def main(
    folder: str, size: tuple[int, int], phase: int, repeats: int, memory: int, backend: str
) -> None:
    """Phases of a soup on disk by one worker, and by this process; planned by each, in blocks
    of one and the same shape."""
    runner = pick(backend)
    with TemporaryDirectory(dir=folder) as place, Cluster.open("local:1", backend=backend) as one:
        here, there = Path(place) / "here", Path(place) / "there"
        make_universe(here, tile_universe(*size, True), Soup(0.37, 1).fill).close()
        shutil.copytree(here, there)
        crews = LocalExecutor([runner], memory), ClusterExecutor(one, memory)
        lives = [
            StreamedLife(Universe.open(path, writing=True), crew, generations=phase)
            for path, crew in zip((here, there), crews, strict=True)
        ]
        lives[0].run(phase)  # which plans for both
        plan = lives[0].tallies[0][0]
        click.echo(f"{size[0]}x{size[1]}, {phase} generations a phase, {plan.shape}")
        for crew in crews:
            _pin(crew, plan)
        lives[1].run(phase)
        wall: list[list[float]] = [[], []]
        cores: list[list[float]] = [[], []]
        for _ in range(repeats):
            for i, moved in enumerate(lives):
                began, spent = time.perf_counter(), _spent(one)
                moved.run(phase)
                wall[i].append(time.perf_counter() - began)
                cores[i].append(_spent(one) - spent)
        if lives[0].digest() != lives[1].digest():
            raise click.ClickException("they differ")
        for moved in lives:
            moved.universe.close()
    for i, name in enumerate((runner.describe(), "one worker")):
        click.echo(
            f"{name}: {min(wall[i]):.3f} s at best, {statistics.median(wall[i]):.3f} s in the "
            f"middle; {min(cores[i]):.3f} processor seconds at best, "
            f"{statistics.median(cores[i]):.3f} in the middle"
        )
    for what, taken in (("seconds", wall), ("processor seconds", cores)):
        middle = statistics.median(b / a for a, b in zip(*taken, strict=True)) - 1
        click.echo(
            f"overhead in {what}: {min(taken[1]) / min(taken[0]) - 1:+.1%} of the best, "
            f"{middle:+.1%} of pairs in the middle; {_ASKED:.0%} asked"
        )


def _spent(cluster: Cluster) -> float:
    """Processor seconds of this process, which has the scheduler too, and of workers."""
    return time.process_time() + sum(cluster.everywhere(time.process_time).values())


def _pin(crew: PhaseExecutor, plan: PhasePlan) -> None:
    """It asks for a plan as ever, and takes that one."""
    ask: Callable[..., PhasePlan] = crew.plan

    def pinned(make: Callable[..., Any], *args: Any) -> PhasePlan:
        ask(make, *args)
        return plan

    crew.plan = pinned  # type: ignore[method-assign, assignment]


if __name__ == "__main__":
    main()
