"""Runs on disk: which directory, and what it starts from."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from arith.cli.devices import opened_cluster
from kernels.memory import available_memory
from lifesim.cli.drive import pick_devices
from lifesim.digest import digest
from lifesim.errors import LifesimError
from lifesim.grid import bytes_of
from lifesim.patterns import Pattern
from lifesim.soup import Soup
from lifesim.start import COPIES, Placement
from lifesim.store.make import Source, check_room, from_pattern, make_universe
from lifesim.store.making import check_new, form_of
from lifesim.store.tilefile import Format
from lifesim.store.tiling import Tiling, tile_universe
from lifesim.store.universe import MANIFEST, Universe
from lifesim.stream.crew import Crew, LocalCrew
from lifesim.stream.plan import BudgetError
from lifesim.topology import Topology

_LEAST_CELLS, _MOST_FILES = 1 << 16, 1 << 12  # of smaller sub-universes than usual


def exceeds(size: tuple[int, int], memory: int | None) -> bool:
    """Whether a run of that size in memory takes more than may be taken."""
    most = available_memory() if memory is None else memory
    return COPIES * bytes_of(*size) > most


@contextmanager
def crew_of(
    cluster: str | None,
    backend: str,
    devices: Sequence[int],
    threads: int | None,
    memory: int | None,
    quiet: bool,
) -> Iterator[Crew]:
    """Who computes: the workers of the cluster at that address, or else devices here."""
    if cluster is None:
        yield LocalCrew(pick_devices(backend, devices, threads), memory)
        return
    from lifesim.stream.cluster import ClusterCrew

    with (
        opened_cluster(cluster, backend, threads, quiet=quiet) as workers,
        ClusterCrew(workers, memory) as crew,
    ):
        yield crew


@contextmanager
def told(what: str, show: bool) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on standard error, and what tells it of parts done and in all."""
    if not (show and sys.stderr.isatty()):
        yield lambda done, total: None
        return
    from rich import progress
    from rich.console import Console

    with progress.Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def origin_of(source: Pattern | Soup, where: Placement, name: str | None) -> str:
    """What a universe began as, of the same text only for the same cells. name: of the file."""
    if isinstance(source, Soup):
        return f"soup of density {source.density}, seed {source.seed}"
    cells = digest(source.grid)[:16]
    return f"{Path(name or '-').name} at {where.at[0]},{where.at[1]} (digest {cells})"


def made_universe(
    path: str | None,
    name: str | None,
    source: Pattern | Soup,
    where: Placement,
    show: bool,
    *,
    tiles: tuple[int, int] | None = None,
    compression: str = "none",
    pyramid: bool = True,
    budget: Callable[[Tiling, Format], None] = lambda tiling, form: None,
) -> Universe:
    """A universe that memory does not hold, open for writing: made, or as far as a run of
    it has come.

    path: by default named after what it is made from. name: of the pattern's file. budget:
    raises BudgetError for tiles that are too large; then smaller ones are tried, unless
    they are given. Raises LifesimError where the directory holds something else.
    """
    width, height = where.size
    origin = origin_of(source, where, name)
    make: Source
    if isinstance(source, Soup):
        path = path or f"soup-{width}x{height}-{float(source.density):g}-{source.seed}"
        make = source.fill
    else:
        path = path or f"{Path(name or '-').name.partition('.')[0]}-{width}x{height}"
        wrap = where.topology is Topology.TORUS
        make = from_pattern(source.grid, where.at, where.size, wrap=wrap)
    if os.path.exists(os.path.join(path, MANIFEST)):
        universe = Universe.open(path, writing=True)
        size = universe.width, universe.height
        found = size, universe.rule, universe.topology, universe.manifest.origin
        if found != (where.size, where.rule, where.topology, origin):
            universe.close()
            raise LifesimError(
                f"{path}: holds another universe ({universe.manifest.origin or 'of no origin'}, "
                f"{size[0]}x{size[1]}, {universe.rule}, {universe.topology})"
            )
        return universe
    check_new(path)
    if compression == "none":
        check_room(path, width, height, pyramid=pyramid)
    tiling = tile_universe(width, height, where.topology is Topology.TORUS, tiles)
    if tiles is None:
        tiling = _tiling_within(tiling, lambda t: budget(t, form_of(t, compression, pyramid)))
    with told(f"making {path}", show) as progress:
        return make_universe(
            path,
            tiling,
            make,
            rule=where.rule,
            generation=source.generation,
            compression=compression,
            pyramid=pyramid,
            origin=origin,
            progress=progress,
        )


def _tiling_within(tiling: Tiling, budget: Callable[[Tiling], None]) -> Tiling:
    """The tiling, or one of smaller tiles, that the budget raises no BudgetError for."""
    while True:
        try:
            budget(tiling)
            return tiling
        except BudgetError:
            wide, high = tiling.largest(1, 1)
            if wide * high < _LEAST_CELLS or len(tiling) > _MOST_FILES:
                raise
            across, down = tiling.across, tiling.down
            if high > 64:
                down = 1 << down.bit_length()  # so that many levels nest
            else:
                across = 1 << across.bit_length()
            tiling = tile_universe(tiling.width, tiling.height, tiling.torus, (across, down))


def steps_to(universe: Universe, first: int, steps: int, quiet: bool) -> int | None:
    """Generations still to come of a run of `steps` from `first` on, None where they are
    those of the run that was broken off; says where it goes on.

    Raises LifesimError where the universe has come further.
    """
    now, stop = universe.generation, first + steps
    if now > stop:
        raise LifesimError(f"{universe.path}: is at generation {now} already, beyond {stop}")
    if not quiet and now == stop > first:
        click.echo(f"lifesim: {universe.path}: is at generation {now} already", err=True)
    elif not quiet and (now > first or universe.phase):
        click.echo(f"lifesim: {universe.path}: goes on from generation {now}", err=True)
    run = universe.manifest.run
    return None if run and run[1] == stop else stop - now
