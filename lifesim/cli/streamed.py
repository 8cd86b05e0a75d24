"""Runs on disk: which directory, and what it starts from."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from lifesim.errors import LifesimError
from lifesim.grid import bytes_of
from lifesim.memory import available_memory
from lifesim.patterns import Pattern
from lifesim.soup import Soup
from lifesim.start import COPIES, Placement
from lifesim.store.make import Source, check_room, from_pattern, make_universe
from lifesim.store.tiling import tile_universe
from lifesim.store.universe import MANIFEST, Universe, check_new
from lifesim.topology import Topology


def exceeds(size: tuple[int, int], memory: int | None) -> bool:
    """Whether a run of that size in memory takes more than may be taken."""
    most = available_memory() if memory is None else memory
    return COPIES * bytes_of(*size) > most


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
) -> Universe:
    """A universe that memory does not hold, open for writing: made, or as far as a run of
    it has come.

    path: by default named after what it is made from. name: of the pattern's file. Raises
    LifesimError where the directory holds something else.
    """
    width, height = where.size
    make: Source
    if isinstance(source, Soup):
        origin = f"soup of density {source.density}, seed {source.seed}"
        path = path or f"soup-{width}x{height}-{float(source.density):g}-{source.seed}"
        make = source.fill
    else:
        origin = f"{Path(name or '-').name} at {where.at[0]},{where.at[1]}"
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
                f"{path}: holds another universe ({universe.manifest.origin or 'no soup'}, "
                f"{size[0]}x{size[1]}, {universe.rule}, {universe.topology})"
            )
        return universe
    check_new(path)
    if compression == "none":
        check_room(path, width, height, pyramid=pyramid)
    with told(f"making {path}", show) as progress:
        return make_universe(
            path,
            tile_universe(width, height, where.topology is Topology.TORUS, tiles),
            make,
            rule=where.rule,
            generation=source.generation,
            compression=compression,
            pyramid=pyramid,
            origin=origin,
            progress=progress,
        )


def steps_to(universe: Universe, generation: int) -> int:
    """From where the universe is. Raises LifesimError where it has come further."""
    if universe.generation > generation:
        raise LifesimError(
            f"{universe.path}: is at generation {universe.generation}, beyond {generation}"
        )
    return generation - universe.generation
