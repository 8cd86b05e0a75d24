"""Check whether a universe on disk is what was written, and what it should be."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kernels.targets.contract import Target
from kernels.targets.cpu import core_count
from lifesim.digests import surveyed
from lifesim.engine import Life
from lifesim.errors import LifesimError
from lifesim.grid import BitGrid, Box, GridError, check_size, shape_of
from lifesim.soup import Soup
from lifesim.store import read
from lifesim.store.pyramid import levels
from lifesim.store.tiling import TileWindow, pieces, span
from lifesim.store.undo import read_before, undo_path
from lifesim.store.universe import Universe, disk_errors
from lifesim.store.workers import TileWorkers
from lifesim.stream.bits import copy_columns

ReportDamage = Callable[[str], None]
Progress = Callable[[int, int], None]

_SIDE = 64  # of a sample
_MASK = (1 << 128) - 1


@dataclass(frozen=True, slots=True)
class Checked:
    """The number of files that were read, and of their bytes."""

    files: int
    bytes: int


def check_files(universe: Universe, report: ReportDamage, progress: Progress) -> Checked:
    """Read every byte of every file that is in use, and report those that have changed. Raises
    GridError where memory does not hold what undoes a change."""
    in_use = [(tile, True) for tile in range(len(universe.tiling))]
    if universe.phase:
        done = universe.phase.done
        gone = universe.journal.removed_files()
        in_use = [(t, True) for t, record in done.items() if record]
        in_use += [
            (t, False) for t in range(len(universe.tiling)) if universe.record(t).file not in gone
        ]

    def check(tile: int, newest: bool) -> int:
        try:
            with disk_errors(universe.path):
                for _ in universe.reader(tile, newest=newest).check():
                    pass
                return universe.record(tile, newest=newest).size
        except LifesimError as error:  # damaged, or the system refuses
            report(str(error))
        return 0

    checked = _share_out(in_use, check, progress)
    undone = _check_undo(universe, report)
    return Checked(checked.files + undone.files, checked.bytes + undone.bytes)


def _check_undo(universe: Universe, report: ReportDamage) -> Checked:
    """Read the files that undo changes, and report those that have changed. Raises GridError for
    one that memory does not hold, of which nobody knows."""
    edits, files, count = universe.manifest.edits, 0, 0
    for entry in (*edits.undo, *edits.redo) if edits else ():
        path = undo_path(universe.tiles_folder, entry.number)
        try:
            with disk_errors(universe.path):
                read_before(path, universe.manifest.id, entry.number, universe.rule)
                files, count = files + 1, count + os.path.getsize(path)
        except GridError:
            raise
        except LifesimError as error:  # damaged, or the system refuses
            report(str(error))
    return Checked(files, count)


def check_facts(universe: Universe, report: ReportDamage, progress: Progress) -> None:
    """Find out from the cells again what is kept of them, and report what differs."""
    form = universe.manifest.form

    def check(tile: int, newest: bool) -> int:
        try:
            with disk_errors(universe.path):
                compare(tile, newest)
        except LifesimError as error:
            report(str(error))
        return 0

    def compare(tile: int, newest: bool) -> None:
        box, record = universe.tiling.box(tile), universe.record(tile, newest=newest)
        reader = universe.reader(tile, newest=newest)
        cells = reader.sets[0]
        counts = np.empty((-(-box.height // 8), 8 * cells.columns), np.uint8)
        population, partials = 0, (0,) * form.planes
        for chunk in range(cells.chunks):
            y = chunk * cells.chunk_rows
            words = cells.rows_of(reader.read(cells, chunk))
            part = counts[y // 8 : y // 8 + -(-len(words) // 8)]
            live, some = surveyed(words, box.y + y, box.x // 64, part)
            population += live
            partials = tuple(map(operator.add, partials, some))
        kept = record.population, record.partials
        if (population, tuple(partial & _MASK for partial in partials)) != kept:
            report(f"{reader.path}: its cells have another population or digest than was kept")
        for s, level in zip(
            reader.sets[1:], levels(counts, box.width, box.height, form.top), strict=True
        ):
            stored = np.concatenate([reader.read(s, chunk) for chunk in range(s.chunks)])
            if not np.array_equal(stored, level.reshape(-1)):
                report(f"{reader.path}: level {s.name} of its pyramid is not of its cells")

    if universe.is_whole:
        _share_out([(tile, False) for tile in range(len(universe.tiling))], check, progress)


def replay(universe: Universe, backend: Target, samples: int, report: ReportDamage) -> int:
    """Make samples of a universe again from the soup that it started as, and compare.

    Returns how many generations that took. Raises LifesimError where the universe does
    not say that it began as a soup, is between two generations, or has come too far for
    the memory there is.
    """
    universe.population()  # which needs a whole generation
    soup = Soup.from_origin(universe.manifest.origin)
    if soup is None:
        raise LifesimError(
            f"{universe.path}: no samples can be made again: it does not say that it began "
            f"as a soup ({universe.manifest.origin or 'no origin'})"
        )
    generations = universe.generation
    halo = universe.manifest.halo(generations)
    random = np.random.default_rng(int.from_bytes(os.urandom(8), "little"))
    width, height = min(_SIDE, universe.width), min(_SIDE, universe.height)
    for _ in range(samples):
        x = int(random.integers(0, universe.width - width + 1))
        y = int(random.integers(0, universe.height - height + 1))
        torus = universe.tiling.torus
        window = TileWindow(
            span(universe.width, x, x + width, halo, torus),
            span(universe.height, y, y + height, halo, torus),
            torus,
        )
        check_size(window.across.length, window.down.length, copies=3 * universe.rule.planes)
        life = Life(
            _soup_window(soup, universe, window),
            rule=universe.rule,
            topology=universe.topology,
            backend=backend,
        )
        life.run(generations)
        mine = life.grid().crop(Box(window.across.before, window.down.before, width, height))
        if mine != read.region(universe, Box(x, y, width, height)):
            report(
                f"{universe.path}: the {width}x{height} cells at ({x}, {y}) are not what the "
                f"soup becomes in {generations} generations"
            )
    return generations


def _soup_window(soup: Soup, universe: Universe, window: TileWindow) -> BitGrid:
    planes, fill = universe.rule.planes, soup.source(universe.rule.states)
    grid = BitGrid(window.across.length, window.down.length, planes=planes)
    for top, y, rows in pieces(universe.height, window.down):
        for left, x, columns in pieces(universe.width, window.across):
            first = x // 64
            part = np.empty(shape_of(x + columns - 64 * first, rows, planes), np.uint64)
            fill(part, y, first, universe.width)
            copy_columns(grid.words[top : top + rows], left, part, x - 64 * first, columns)
    return grid


def _share_out(
    tiles: list[tuple[int, bool]], check: Callable[[int, bool], int], progress: Progress
) -> Checked:
    with TileWorkers(core_count()) as workers:
        jobs = [workers.submit(check, *tile) for tile in tiles]
        total = 0
        try:
            for done, job in enumerate(jobs):
                total += job.result()
                progress(done + 1, len(jobs))
        except BaseException:
            workers.shutdown(cancel_futures=True)
            raise
    return Checked(len(jobs), total)
