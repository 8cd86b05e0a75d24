"""Changing cells of a universe on disk: put there, killed, undone and redone.

A change writes what undoes it, then the files of the tiles that it touches under names that none
has; then the manifest, in one rename, says that these are the universe; then the old files go. So
a universe whose process is killed is as it was before, or as it is after, and nothing between. What
is in memory is the box that changes, and a few chunks of files.

Coordinates are the universe's own: those of its pattern, on a plane without bounds. Such a plane
gets room for what is put outside of its tiles. All changes of a generation can be undone until the
universe is moved on.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from lifesim.engines import cells_for
from lifesim.errors import LifesimError
from lifesim.grid import BitGrid, Box, GridError, bytes_of, check_size, human_bytes
from lifesim.pasting import Mode, overwrite, pasted
from lifesim.store import disk, plane, read
from lifesim.store.growth import grow
from lifesim.store.make import LEAST_ROOM, Source, Words, box_of_words, make_tiles
from lifesim.store.manifest import Manifest
from lifesim.store.names import TileLabel
from lifesim.store.state import disk_errors
from lifesim.store.tilefile import TileRecord
from lifesim.store.tiling import TilingError, tile_universe
from lifesim.store.undo import (
    MOST_KEPT,
    Before,
    EditLog,
    UndoEntry,
    read_before,
    undo_path,
    write_before,
)
from lifesim.store.universe import Universe

Progress = Callable[[int, int], None] | None

_COPIES = 5  # of a box of cells, that changing it takes
_EDITED = ", edited"  # follows what a universe was made from


def box_of(universe: Universe) -> Box:
    """Return the cells that the tiles hold."""
    return Box(*(universe.manifest.corner or (0, 0)), universe.width, universe.height)


def cells(universe: Universe, box: Box) -> BitGrid:
    """Return a copy of the cells of a box; outside of what is held of a plane without bounds they
    are dead. Raises GridError where it leaves a universe that has bounds, or is more than memory
    holds."""
    held = box_of(universe)
    part = box.common(held)
    if part == box:
        return read.region(universe, plane.inner(universe, box))
    if universe.manifest.corner is None:
        raise GridError(
            f"region {box.width}x{box.height} at ({box.x}, {box.y}) leaves the "
            f"{universe.width}x{universe.height} universe"
        )
    planes = universe.manifest.form.planes
    check_size(box.width, box.height, 2 * planes)
    grid = BitGrid(box.width, box.height, planes=planes)
    if part is not None:
        grid.paste(
            read.region(universe, plane.inner(universe, part)), part.x - box.x, part.y - box.y
        )
    return grid


def paste(
    universe: Universe,
    grid: BitGrid,
    at: tuple[int, int],
    mode: Mode | str = Mode.OR,
    *,
    progress: Progress = None,
) -> None:
    """Put a grid into a universe that is open for writing, with its top-left cell at a place.

    at: column and row, by the universe's own coordinates. mode: what becomes of the cells that are
    there. progress: told of tiles written, and of tiles in all; what it raises leaves all as it
    was. Raises GridError where the grid leaves a universe that has bounds, has states that the rule
    does not, or is more than memory holds, and LifesimError between two generations and where the
    disk refuses.
    """
    box, rule, mode = Box(*at, grid.width, grid.height), universe.rule, Mode(mode)
    over = cells_for(rule, grid)
    change(universe, box, lambda old: pasted(old, over, mode, rule), "pasting", progress=progress)


def clear(universe: Universe, box: Box, *, progress: Progress = None) -> None:
    """Kill the cells of a box; else as paste()."""
    change(universe, box, _dead, "clearing", progress=progress)


def _dead(cells: BitGrid) -> BitGrid:
    return BitGrid(cells.width, cells.height, planes=cells.planes)


def change(
    universe: Universe,
    box: Box,
    becomes: Callable[[BitGrid], BitGrid],
    title: str,
    *,
    progress: Progress = None,
) -> bool:
    """Replace the cells of a box; return whether any are others now.

    becomes: takes the cells of the box, which it leaves as they are, and returns those that replace
    them, in a grid of their own. title: what is done, in a few small letters: "undo drawing".
    progress: as of paste(). Raises as paste() does.
    """
    _check(universe, box)
    old = cells(universe, box)
    new = cells_for(universe.rule, becomes(old))
    if new == old:
        return False
    box, old, new = _least(box, old, new)
    _hold(universe, box, new, progress)
    manifest = universe.manifest
    log = (manifest.edits or EditLog(0)).counted(universe.path)
    before = Before(box, old, manifest.edge, manifest.origin)
    entry = UndoEntry(log.count, title)
    log = replace(log, undo=(*log.undo, entry)[-MOST_KEPT:], redo=())
    origin = manifest.origin.removesuffix(_EDITED) + _EDITED
    after = replace(manifest, edits=log, origin=origin, edge=_edge_after(universe, box, new))
    _write(universe, box, new, before, after, progress)
    return True


def undo(universe: Universe, *, progress: Progress = None) -> UndoEntry | None:
    """Undo the last change, and return which it was; None where there is none to be undone. Raises
    DamagedDataError where its file is damaged, and as change()."""
    return _swap(universe, progress, back=True)


def redo(universe: Universe, *, progress: Progress = None) -> UndoEntry | None:
    """Redo what was undone last, and return which change it was; else as undo()."""
    return _swap(universe, progress, back=False)


def _swap(universe: Universe, progress: Progress, *, back: bool) -> UndoEntry | None:
    _check(universe, None)
    log = universe.manifest.edits
    source = (log.undo if back else log.redo) if log else ()
    if not source:
        return None
    entry = source[-1]
    with disk_errors(universe.path):
        path = undo_path(universe.tiles_folder, entry.number)
        then = read_before(path, universe.manifest.id, entry.number, universe.rule)
    _check(universe, then.box)
    _hold(universe, then.box, then.cells, progress)
    manifest = universe.manifest
    before = Before(then.box, cells(universe, then.box), manifest.edge, manifest.origin)
    log = (manifest.edits or EditLog(0)).counted(universe.path)
    other = UndoEntry(log.count, entry.title)
    if back:
        log = replace(log, undo=log.undo[:-1], redo=(*log.redo, other)[-MOST_KEPT:])
    else:
        log = replace(log, redo=log.redo[:-1], undo=(*log.undo, other)[-MOST_KEPT:])
    after = replace(manifest, edits=log, origin=then.origin, edge=then.edge)
    _write(universe, then.box, then.cells, before, after, progress)
    return entry


# --- what is changed ------------------------------------------------------------------


def _check(universe: Universe, box: Box | None) -> None:
    """Raise LifesimError where nothing can be changed, or a box leaves the universe."""
    phase = universe.phase
    if phase:
        raise LifesimError(
            f"{universe.path}: on its way from generation {phase.start} to {phase.stop}: cells can "
            f"be changed when `lifesim resume` has taken it there"
        )
    universe.directory.check_known()
    if box is None:
        return
    check_size(box.width, box.height, _COPIES * universe.manifest.form.planes)
    if universe.manifest.corner is None and box.common(box_of(universe)) != box:
        raise GridError(
            f"cells {box.width}x{box.height} at ({box.x}, {box.y}) leave the "
            f"{universe.width}x{universe.height} universe"
        )


def _least(box: Box, old: BitGrid, new: BitGrid) -> tuple[Box, BitGrid, BitGrid]:
    """Return the smallest box in which cells differ, and those of both grids."""
    differ = BitGrid(box.width, box.height, (old.words ^ new.words))
    inner = differ.bounding_box()
    assert inner
    return inner._replace(x=box.x + inner.x, y=box.y + inner.y), old.crop(inner), new.crop(inner)


def _edge_after(universe: Universe, box: Box, new: BitGrid) -> tuple[int, int | None] | None:
    """Return what is known of the edge when the cells of a box are others."""
    edge, held = universe.manifest.edge, box_of(universe)
    if edge is None or edge[1] is not None:
        return edge
    live = new.bounding_box()
    if live is None:
        return edge
    x, y = box.x + live.x, box.y + live.y
    right, bottom = held.x + held.width, held.y + held.height
    inside = x > held.x and y > held.y and x + live.width < right and y + live.height < bottom
    return edge if inside else (min(edge[0], universe.generation - 1), universe.generation)


def _hold(universe: Universe, box: Box, new: BitGrid, progress: Progress) -> None:
    """Give a plane without bounds room for a box, in which cells are to be put."""
    held = box_of(universe)
    if universe.manifest.corner is None or box.common(held) == box:
        return
    live = plane.live_box(universe) or Box(0, 0, 1, 1)
    x, y = held.x + live.x, held.y + live.y
    left, top = min(x, box.x) - LEAST_ROOM, min(y, box.y) - LEAST_ROOM
    right = max(x + live.width, box.x + box.width) + LEAST_ROOM
    bottom = max(y + live.height, box.y + box.height) + LEAST_ROOM
    size = right - left, bottom - top
    try:
        tiling = tile_universe(*size, False, planes=universe.manifest.form.planes)
    except TilingError:
        raise GridError(
            f"({box.x}, {box.y}) is too far away: a plane of {size[0]}x{size[1]} cells is more "
            f"than a directory holds"
        ) from None
    grow(universe, live, size, (x - left, y - top), tiling, progress)


# --- writing --------------------------------------------------------------------------


def _write(
    universe: Universe, box: Box, new: BitGrid, before: Before, after: Manifest, progress: Progress
) -> None:
    """Write what undoes a change, the tiles that it touches, and the manifest; the old files go."""
    assert after.edits
    inner, count = plane.inner(universe, box), after.edits.count
    tiles = universe.tiling.within(inner)
    _check_room(universe, tiles, before.cells)
    records: dict[int, TileRecord] = {}
    directory, form = universe.directory, after.form
    label = TileLabel(after.generation, count)
    writer = partial(directory.writer, generation=after.generation, label=label)
    try:
        with disk_errors(universe.path):
            path = undo_path(universe.tiles_folder, count)
            write_before(path, after.id, count, before)
            source = _changed(universe, inner, new)
            make_tiles(universe.tiling, form, source, writer, records.__setitem__, progress, tiles)
            disk.sync_folder(universe.tiles_folder)
        directory.write_manifest(
            replace(
                after,
                tiles=tuple(records.get(i, record) for i, record in enumerate(after.tiles)),
                steady=tuple(steady and i not in records for i, steady in enumerate(after.steady)),
            )
        )
    finally:
        with contextlib.suppress(LifesimError):  # what stays goes when it is opened again
            universe.journal.sweep()


def _changed(universe: Universe, box: Box, new: BitGrid) -> Source:
    """Return a source of a universe with other cells in a box, by the coordinates of the tiles."""

    def fill(words: Words, y0: int, w0: int, width: int) -> None:
        block = box_of_words(words, y0, w0, width)
        grid = read.region(universe, block)
        part = block.common(box)
        if part is not None:
            cut = new.crop(part._replace(x=part.x - box.x, y=part.y - box.y))
            overwrite(grid, cut, part.x - block.x, part.y - block.y)
        words[:] = grid.words

    return fill


def _check_room(universe: Universe, tiles: list[int], old: BitGrid) -> None:
    """Raise LifesimError where the disk has no room for the files of a change."""
    need = sum(universe.record(tile).size for tile in tiles)
    need += bytes_of(old.width, old.height, old.planes)
    with disk_errors(universe.path):
        free = disk.free_bytes(universe.tiles_folder)
    if need > free:
        raise LifesimError(
            f"{universe.path}: to change these cells takes {human_bytes(need)} of disk for a "
            f"while, {human_bytes(free)} are free"
        )
