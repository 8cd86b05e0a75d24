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
from lifesim.store.make import LEAST_ROOM, Source, Words, make_tiles
from lifesim.store.manifest import Manifest
from lifesim.store.names import MOST_EDITS
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
    part = _common(box, held)
    if part == box:
        return read.region(universe, _inner(universe, box))
    if universe.manifest.corner is None:
        raise GridError(
            f"region {box.width}x{box.height} at ({box.x}, {box.y}) leaves the "
            f"{universe.width}x{universe.height} universe"
        )
    planes = universe.manifest.form.planes
    check_size(box.width, box.height, 2 * planes)
    grid = BitGrid(box.width, box.height, planes=planes)
    if part is not None:
        grid.paste(read.region(universe, _inner(universe, part)), part.x - box.x, part.y - box.y)
    return grid


def paste(
    universe: Universe,
    grid: BitGrid,
    at: tuple[int, int],
    mode: Mode | str = Mode.OR,
    *,
    progress: Progress = None,
) -> None:
    """Put a grid with its top-left cell at a place of a universe that is open for writing.

    progress: told of tiles written, and of tiles in all; what it raises leaves all as it was.
    Raises GridError where the grid leaves a universe that has bounds, or has states that the rule
    does not; else as change().
    """
    box = Box(*at, grid.width, grid.height)
    _check(universe, box)
    new = pasted(cells(universe, box), cells_for(universe.rule, grid), Mode(mode), universe.rule)
    change(universe, box, new, "pasting", progress=progress)


def clear(universe: Universe, box: Box, *, progress: Progress = None) -> None:
    """Kill the cells of a box; else as paste()."""
    _check(universe, box)
    dead = BitGrid(box.width, box.height, planes=universe.manifest.form.planes)
    change(universe, box, dead, "clearing", progress=progress)


def change(
    universe: Universe, box: Box, new: BitGrid, title: str, *, progress: Progress = None
) -> bool:
    """Replace the cells of a box; return whether any are others now.

    title: what is done, in a few small letters: "undo drawing". progress: as of paste(). Raises
    LifesimError between two generations, where the disk has no room, and as paste().
    """
    _check(universe, box)
    new = cells_for(universe.rule, new)
    old = cells(universe, box)
    if new == old:
        return False
    box, old, new = _least(box, old, new)
    _hold(universe, box, new, progress)
    manifest = universe.manifest
    log = _counted(universe)
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
    log = _counted(universe)
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
    if box is None:
        return
    check_size(box.width, box.height, _COPIES * universe.manifest.form.planes)
    if universe.manifest.corner is None and _common(box, box_of(universe)) != box:
        raise GridError(
            f"cells {box.width}x{box.height} at ({box.x}, {box.y}) leave the "
            f"{universe.width}x{universe.height} universe"
        )


def _common(box: Box, other: Box) -> Box | None:
    """Return what two boxes have in common; None if nothing."""
    left, top = max(box.x, other.x), max(box.y, other.y)
    right = min(box.x + box.width, other.x + other.width)
    bottom = min(box.y + box.height, other.y + other.height)
    return Box(left, top, right - left, bottom - top) if left < right and top < bottom else None


def _inner(universe: Universe, box: Box) -> Box:
    """Return a box by the coordinates of the tiles."""
    x, y = universe.manifest.corner or (0, 0)
    return box._replace(x=box.x - x, y=box.y - y)


def _least(box: Box, old: BitGrid, new: BitGrid) -> tuple[Box, BitGrid, BitGrid]:
    """Return the smallest box in which cells differ, and those of both grids."""
    differ = BitGrid(box.width, box.height, (old.words ^ new.words))
    inner = differ.bounding_box()
    assert inner
    return inner._replace(x=box.x + inner.x, y=box.y + inner.y), old.crop(inner), new.crop(inner)


def _counted(universe: Universe) -> EditLog:
    """Return the changes that there are, with one more in their number. Raises LifesimError for
    too many."""
    log = universe.manifest.edits or EditLog(0)
    if log.count >= MOST_EDITS:
        raise LifesimError(f"{universe.path}: its cells have been changed too often: move it on")
    return replace(log, count=log.count + 1)


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
    if universe.manifest.corner is None or _common(box, held) == box:
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
    inner, count = _inner(universe, box), after.edits.count
    tiles = universe.tiling.within(inner)
    _check_room(universe, tiles, before.cells)
    records: dict[int, TileRecord] = {}
    directory, form = universe.directory, after.form
    label = after.generation, count
    writer = partial(directory.writer, generation=after.generation, label=label)
    try:
        with disk_errors(universe.path):
            path = undo_path(universe.tiles_folder, count)
            write_before(path, after.id, count, before)
            source = _changed(universe, inner, new)
            make_tiles(universe.tiling, form, source, writer, records.__setitem__, progress, tiles)
            disk.sync_folder(universe.tiles_folder)
    except BaseException:
        universe.journal.sweep()
        raise
    try:
        directory.write_manifest(
            replace(
                after,
                tiles=tuple(records.get(i, record) for i, record in enumerate(after.tiles)),
                steady=tuple(steady and i not in records for i, steady in enumerate(after.steady)),
            )
        )
    except BaseException:
        with contextlib.suppress(LifesimError):  # whether it has its name is in doubt
            universe.refresh()
        raise
    with contextlib.suppress(LifesimError):  # what stays goes when it is opened again
        universe.journal.sweep()


def _changed(universe: Universe, box: Box, new: BitGrid) -> Source:
    """Return a source of a universe with other cells in a box, by the coordinates of the tiles."""

    def fill(words: Words, y0: int, w0: int, width: int) -> None:
        across = min(width - 64 * w0, 64 * words.shape[-1])
        block = Box(64 * w0, y0, across, len(words))
        grid = read.region(universe, block)
        part = _common(block, box)
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
