"""All cells of a universe on disk, or what is recorded of it, of one generation: while a run
goes on, files of it may be gone."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable

from lifesim.errors import DamagedDataError, LifesimError
from lifesim.grid import Box, GridError, bytes_of
from lifesim.store import read
from lifesim.store.manifest import Manifest
from lifesim.store.universe import Universe
from ui.cells.saving import Whole
from ui.film.stills import Afar, Still
from ui.picture.pyramid import FIRST
from ui.session import Event, Session, SessionError

_EXACT = 1 << 25  # bytes of cells of a universe of which all are recorded
_FAR = 4096  # pixels a side, at most, of what is recorded of larger ones
_WAITING = 0.1  # seconds between two looks whether a generation is whole
_TRIES = 5  # to read all cells


def whole_of(path: str) -> Whole:
    """Return all cells of a directory. Raises as Session.whole() does, and LifesimError where a run
    goes on too fast."""
    for _ in range(_TRIES):
        universe = Universe.open(path)
        before = universe.manifest
        about = universe.rule, universe.topology, universe.generation
        try:
            cells = read.whole(universe)
        except LifesimError:
            if universe.tiling == before.tiling:
                raise
            continue  # a plane that has grown meanwhile
        if universe.manifest is before:  # else some cells are newer
            return Whole(cells, *about, *_place(before))
    raise SessionError(f"{path}: cannot be read while it goes on so fast")


def next_whole(session: Session, waiting: Callable[[], None]) -> Whole:
    """Return whole() of a session; of a run between two generations, the later one. waiting: is
    called all the while, and may raise."""
    found: queue.SimpleQueue[Whole | Exception] = queue.SimpleQueue()

    def look(event: Event) -> None:
        if event is not Event.CELLS:
            return
        try:
            found.put(session.whole())
        except (DamagedDataError, GridError, MemoryError) as error:
            found.put(error)
        except LifesimError as error:
            status = session.status()
            if not status.running and status.progress is None:
                found.put(error)  # nobody takes it there

    session.listen(look)  # a run of its own goes on when all have looked
    try:
        look(Event.CELLS)
        while True:
            try:
                made = found.get(timeout=_WAITING)
                break
            except queue.Empty:
                waiting()
                look(Event.CELLS)
    finally:
        session.forget(look)
    if isinstance(made, Exception):
        raise made
    return made


class Stills:
    """Remembers the last still of a universe on disk. Any thread may call it."""

    def __init__(self) -> None:
        self._taking = threading.Lock()
        self._last: tuple[Manifest, Still | None] | None = None

    def of(self, universe: Universe) -> Still | None:
        """Return all cells of a universe; of a large one, a level of its pyramid.

        None where tiles of its generation are gone, as it is on its way to the next one. Raises
        LifesimError.
        """
        manifest = universe.manifest
        with self._taking:
            if self._last:
                last, still = self._last
                if (last.generation, last.tiles) == (manifest.generation, manifest.tiles):
                    return still
            still = _read(universe.path, manifest)
            self._last = manifest, still
            return still


def _read(path: str, manifest: Manifest) -> Still | None:
    # As if nothing were under way: what is read then is of this generation or missing.
    universe = Universe(path, manifest, None, None)
    try:
        still = _still(universe)
    except LifesimError as error:
        if universe.tiling != manifest.tiling:
            return None  # a plane that has grown meanwhile
        if not isinstance(error, DamagedDataError):
            raise
        if universe.is_whole and universe.manifest.tiles == manifest.tiles:
            raise
        return None
    # Reading opens it again where it has moved on.
    return still if universe.manifest is manifest else None


def _still(universe: Universe) -> Still:
    width, height = universe.width, universe.height
    about = universe.rule, universe.topology, universe.generation
    everything = Box(0, 0, width, height)
    if bytes_of(width, height, universe.manifest.form.planes) <= _EXACT:
        return Whole(read.region(universe, everything), *about, *_place(universe.manifest))
    if not universe.manifest.form.top:
        raise SessionError(
            f"{universe.path}: without a pyramid so large a universe cannot be recorded"
        )
    scale = FIRST
    while max(width, height) > _FAR << scale:
        scale += 1
    pixels = read.levels(universe, everything, scale)
    return Afar(pixels, scale, width, height, *about, _place(universe.manifest)[0])


def _place(manifest: Manifest) -> tuple[tuple[int, int], tuple[bool, bool]]:
    """Return `at` and `grows` of a Whole."""
    grows = manifest.corner is not None
    return manifest.corner or (0, 0), (grows, grows)
