"""Runs on disk: which directory, and what it starts from."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import click

from bulkbits.options import opened_cluster
from bulkbits.progress import bar
from kernels.targets.memory import available_memory, resident_memory
from lifesim.cli.drive import pick_devices
from lifesim.digests import digest
from lifesim.engine import Life
from lifesim.engines import cells_for
from lifesim.errors import LifesimError
from lifesim.grid import Box, bytes_of
from lifesim.growing import COPIES
from lifesim.patterns import Pattern
from lifesim.soup import Soup
from lifesim.start import Placement
from lifesim.store.make import LEAST_ROOM, Source, check_room, from_pattern, make_universe
from lifesim.store.making import check_new, form_of
from lifesim.store.tiling import tile_universe
from lifesim.store.universe import MANIFEST, Universe
from lifesim.stream.bounds import Budget, tiling_within
from lifesim.stream.executor import LocalExecutor, PhaseExecutor
from lifesim.topology import Topology, torus_or_plane

_MOST_ROOM = 1024  # cells around a pattern without bounds


def exceeds_memory(size: tuple[int, int], memory: int | None, planes: int = 1) -> bool:
    """Tell whether a run of that size in memory takes more than may be taken. planes: bits of a
    cell."""
    most = available_memory() if memory is None else memory
    return COPIES * bytes_of(*size, planes) > most


def left_for_windows(memory: int) -> int:
    """Return how much of the memory that a command may take is left for windows: what the process
    has already counts, unless that is more than a quarter."""
    taken = resident_memory()
    return memory - taken if 4 * taken <= memory else memory


@contextmanager
def opened_executor(
    cluster: str | None,
    backend: str,
    devices: Sequence[int],
    threads: int | None,
    memory: int | None,
    quiet: bool,
) -> Iterator[PhaseExecutor]:
    """Give the executor of a universe on disk: the workers of the cluster at that address, or else
    devices here."""
    if cluster is None:
        picked = pick_devices(backend, devices, threads)
        yield LocalExecutor(picked, None if memory is None else left_for_windows(memory))
        return
    from lifesim.stream.cluster import ClusterExecutor

    with (
        opened_cluster(cluster, backend, threads, quiet=quiet) as workers,
        ClusterExecutor(workers, memory) as executor,
    ):
        yield executor


@contextmanager
def counting_bar(what: str, show: bool) -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar on standard error, and give what tells it of parts done and in all."""
    with bar(what, show) as update:
        if update is None:
            yield lambda done, total: None
        else:
            yield lambda done, total: update(done / total if total else 1.0)


def origin_of(source: Pattern | Soup, where: Placement, name: str | None) -> str:
    """Return what a universe began as: the same text only for the same cells. name: of the file."""
    if isinstance(source, Soup):
        return source.origin
    cells = digest(source.grid)[:16]
    return f"{Path(name or '-').name} at {where.at[0]},{where.at[1]} (digest {cells})"


@dataclass(frozen=True, slots=True)
class Beginning:
    """The source that a universe on disk begins as, and how it is placed.

    origin: text that is the same only for the same cells (origin_of). steps: generations to be
    run, which a plane without bounds gets room for.
    """

    source: Pattern | Soup
    placement: Placement
    origin: str
    steps: int = 0


@dataclass(frozen=True, slots=True)
class Storage:
    """The way in which a universe directory is stored. tiles: across and down, None to choose
    them."""

    tiles: tuple[int, int] | None = None
    compression: str = "none"
    pyramid: bool = True

    @classmethod
    def chosen(
        cls, tiles: tuple[int, int] | None, compression: str | None, no_pyramid: bool
    ) -> Storage:
        """Return what storing_options ask for."""
        return cls(tiles, compression or "none", not no_pyramid)


def made_universe(
    path: str,
    beginning: Beginning,
    *,
    show: bool,
    storage: Storage = Storage(),
    budget: Budget = lambda tiling, form, rule: None,
) -> Universe:
    """Return a universe that memory does not hold, open for writing: made, or as far as a run of
    it has come.

    budget: raises BudgetError for tiles that are too large; then smaller ones are tried, unless
    they are given. Raises LifesimError where the directory holds something else, for bounds along
    one axis only, and for edges that are neither a torus's nor a plane's.
    """
    source, where, origin = beginning.source, beginning.placement, beginning.origin
    edges = torus_or_plane(where.topology, f"{path}: a universe on disk")
    fill, size, corner, edge = _laid_out(path, beginning)
    if os.path.exists(os.path.join(path, MANIFEST)):
        universe = Universe.open(path, writing=True)
        if not began_as(universe, where, origin):
            universe.close()
            raise LifesimError(
                f"{path}: holds another universe ({universe.manifest.origin or 'of no origin'}, "
                f"{universe.width}x{universe.height}, {universe.rule}, {universe.topology})"
            )
        return universe
    check_new(path)
    compression, pyramid = storage.compression, storage.pyramid
    rule = where.rule
    if compression == "none":
        check_room(path, *size, rule.planes, pyramid=pyramid)
    tiling = tile_universe(*size, edges is Topology.TORUS, storage.tiles, planes=rule.planes)
    if storage.tiles is None:
        tiling = tiling_within(
            tiling, lambda t: budget(t, form_of(t, compression, pyramid, rule.states), rule)
        )
    with counting_bar(f"making {path}", show) as progress:
        return make_universe(
            path,
            tiling,
            fill,
            rule=where.rule,
            generation=source.generation,
            compression=compression,
            pyramid=pyramid,
            origin=origin,
            corner=corner,
            edge=edge,
            progress=progress,
        )


def _laid_out(
    path: str, beginning: Beginning
) -> tuple[Source, tuple[int, int], tuple[int, int] | None, tuple[int, int | None] | None]:
    """Return what fills a universe, its size, and `corner` and `edge` of its manifest."""
    source, where = beginning.source, beginning.placement
    size = where.size
    if isinstance(source, Soup):
        return source.source(where.rule.states), size, None, None
    cells = cells_for(where.rule, source.grid)
    if where.is_bounded:
        fill = from_pattern(cells, where.at, size, wrap=where.topology is Topology.TORUS)
        met = source.generation if _meets_edge(source.grid.bounding_box(), where) else None
        return fill, size, None, (source.generation - (met is not None), met)
    if any(size):
        raise LifesimError(
            f"{path}: no universe on disk has bounds one way only: --size says how large it is"
        )
    wide, high = source.grid.width, source.grid.height
    room = max(LEAST_ROOM, min(beginning.steps, max(_MOST_ROOM, max(wide, high) // 2)))
    size, corner = (wide + 2 * room, high + 2 * room), (where.at[0] - room, where.at[1] - room)
    return from_pattern(cells, (room, room), size, wrap=False), size, corner, None


def universe_of(
    life: Life,
    path: str,
    where: Placement,
    origin: str,
    executor: PhaseExecutor,
    run: tuple[int, int],
    show: bool,
) -> Universe:
    """Put a plane without bounds from memory on disk, on its way from one generation of `run`
    to the other."""
    frame = life.frame()
    now = Pattern(life.grid(), frame.x, frame.y, life.rule, generation=life.generation)
    placed = replace(where, at=(frame.x, frame.y))
    beginning = Beginning(now, placed, origin, run[1] - life.generation)
    universe = made_universe(path, beginning, show=show, budget=executor.check_budget)
    universe.set_run(run)
    return universe


def usual_name(source: Pattern | Soup, where: Placement, name: str | None) -> str:
    """Return how a directory is called that nobody named."""
    width, height = where.size
    if isinstance(source, Soup):
        return f"soup-{width}x{height}-{float(source.density):g}-{source.seed}"
    stem = Path(name or "-").name.partition(".")[0]
    return f"{stem}-{width}x{height}" if where.is_bounded else f"{stem}-unbounded"


def began_as(universe: Universe, where: Placement, origin: str) -> bool:
    """Tell whether a universe began as what `origin` says, placed so."""
    found = universe.bounds, universe.rule, universe.topology, universe.manifest.origin
    return found == (where.size, where.rule, where.topology, origin)


def holds_run(path: str, where: Placement, origin: str, stop: int) -> bool:
    """Tell whether a directory holds a run of a plane without bounds to generation `stop`,
    which memory did not hold any longer: then that run is the one to go on with."""
    if not os.path.exists(os.path.join(path, MANIFEST)):
        return False
    with Universe.open(path) as universe:
        run = universe.manifest.run
        ends = run[1] if run else universe.generation
        return began_as(universe, where, origin) and ends == stop


def _meets_edge(live: Box | None, where: Placement) -> bool:
    """Tell whether a cell is in an outermost row or column as the pattern is placed."""
    if live is None:
        return False
    for start, length, at, side in zip(live[:2], live[2:], where.at, where.size, strict=True):
        first = (start + at) % side
        if first == 0 or first + length >= side:
            return True
    return False


def steps_to(universe: Universe, first: int, steps: int | None, quiet: bool) -> int | None:
    """Return the generations still to come of a run of `steps` from `first` on, None where they are
    those of the run that was broken off, or nobody knows how many; say where it goes on.

    Raises LifesimError where the universe has come further.
    """
    now, stop = universe.generation, None if steps is None else first + steps
    if stop is not None and now > stop:
        raise LifesimError(f"{universe.path}: is at generation {now} already, beyond {stop}")
    if not quiet and stop is not None and now == stop > first:
        click.echo(f"lifesim: {universe.path}: is at generation {now} already", err=True)
    elif not quiet and (now > first or universe.phase):
        click.echo(f"lifesim: {universe.path}: goes on from generation {now}", err=True)
    run = universe.manifest.run
    return None if stop is None or (run and run[1] == stop) else stop - now
