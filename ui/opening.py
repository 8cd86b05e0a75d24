"""Universes to begin with: files, directories, empty ones and soups."""

from __future__ import annotations

import builtins
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import BinaryIO, TypeVar, cast

from kernels.targets.choose import pick
from kernels.targets.contract import BackendUnavailableError, Target
from lifesim import patterns
from lifesim.grid import BitGrid, Box, GridError, check_size
from lifesim.growing import COPIES, check_birth
from lifesim.patterns import Pattern
from lifesim.planes import HashedUniverse, plane_target
from lifesim.rule import LIFE, Rule, RuleError
from lifesim.soup import Soup
from lifesim.start import Start, place, soup
from lifesim.topology import Topology, TopologyError, topology_of, torus_or_plane
from ui.cells.edited import EditedSession
from ui.cells.session import MemorySession
from ui.disk.session import DiskSession
from ui.planes.session import PlaneSession
from ui.planes.universe import empty_start, open_seen
from ui.reading import CountedReader, Progress, in_silence
from ui.session import Session, SessionError

_RECTANGLE = 1 << 28  # cells: a wider macrocell file stays a tree
SIDE = 4096  # cells, of an empty torus that nobody has asked to be otherwise


def open(
    path: str,
    *,
    rule: Rule | None = None,
    topology: Topology | str | None = None,
    size: tuple[int, int] | None = None,
    engine: str | None = None,
    backend: Target | str = "auto",
    is_cancelled: Callable[[], bool] = lambda: False,
    progress: Progress = in_silence,
) -> Session:
    """Open the universe of a pattern file of any format, or of a universe directory.

    rule, topology, size: in place of what the file says; a directory has its own. Only tori and
    planes can be shown. A pattern for which none of them says a size is on a plane without bounds,
    as of `lifesim run`. engine: of lifesim.unbounded.ENGINES; None is a rectangle, or HashLife for
    a macrocell file that is too wide for one. progress: is told the share of a file that has been
    read.
    Raises LifesimError, in one line, for what cannot be opened, and as patterns.read() does
    when it is cancelled.
    """
    check_source(path, as_it_is=not (rule or topology or size))
    if os.path.isdir(path):
        if engine is not None:
            raise SessionError(f"{path} is a directory: its cells are kept on disk, in no engine")
        return DiskSession.open(path, backend=backend)
    pattern = _read(path, is_cancelled, progress, as_squares=_takes_trees(size, engine))
    if pattern.squares is not None and engine is None:
        pattern, engine = _held(pattern, rule or pattern.rule or LIFE)
    try:
        start = place(pattern, size, None, rule, topology)
        torus_or_plane(start.topology, "what the window shows")
    except (GridError, RuleError, TopologyError) as error:
        raise SessionError(f"{path}: {error}") from None
    notes = pattern.name, pattern.comments
    where = None if path == "-" else os.path.abspath(path)
    session = _begun(lambda: _session(start, backend, where, notes, True, engine or "dense"))
    session.oddities = pattern.notes
    return session


def _takes_trees(size: tuple[int, int] | None, engine: str | None) -> bool:
    """Tell whether a macrocell file may stay the tree that it is, which takes compiled code."""
    if size is not None or engine in ("dense", "tiles"):
        return False
    try:
        plane_target("hashlife", "auto", None)
    except BackendUnavailableError:
        return False
    return True


def _held(pattern: Pattern, rule: Rule) -> tuple[Pattern, str]:
    """Choose what keeps the squares of a macrocell file. Returns a pattern whose cells are a
    rectangle, and "dense"; of one that is too wide for that the pattern as it is, and "hashlife".
    Raises GridError for one that is too wide where only a rectangle can be: of some size or B0."""
    plane = HashedUniverse(
        plane_target("hashlife", "auto", None), BitGrid(1, 1), (0, 0), LIFE, None
    )
    assert pattern.squares is not None
    plane.take(pattern.squares)
    box = plane.box() or Box(0, 0, 1, 1)
    is_plane = not pattern.size and rule.stays_empty
    if is_plane and box.width * box.height > _RECTANGLE:
        return pattern, "hashlife"
    check_size(box.width, box.height, COPIES)
    return replace(pattern, grid=plane.part(box), x=box.x, y=box.y, squares=None), "dense"


def moved(session: EditedSession, engine: str, backend: Target) -> EditedSession:
    """Make a session of the same cells, at the same generation, in another engine; waits.

    Its changes cannot be undone any more. Raises LifesimError for what the engine cannot hold: a
    universe with bounds, a rule of B0, a plane that is too wide for a rectangle.
    """
    session.settle()  # what has been asked for before is done
    modified, notes = session.status().modified, session.notes

    def make() -> EditedSession:
        if not isinstance(session, PlaneSession) or engine == "dense":
            whole = session.whole()
            if engine != "dense":
                check_birth(whole.rule)
                if not all(whole.grows):
                    raise GridError(f"the engine {engine} is for planes without bounds")
            start = Start(
                whole.cells, whole.rule, whole.topology, whole.generation, whole.bounds, whole.at
            )
            return _session(start, backend, session.path, notes, False, engine, modified)
        rule = session.rule
        universe = open_seen(engine, backend, empty_start(rule))
        if universe is None:
            raise SessionError(f"the engine {engine} keeps a rectangle here: choose dense")
        about = rule, session.pour(universe)
        return PlaneSession(
            universe, engine, backend, *about, path=session.path, notes=notes, modified=modified
        )

    return _begun(make)


def _read(
    path: str, is_cancelled: Callable[[], bool], progress: Progress, *, as_squares: bool
) -> Pattern:
    """Read a pattern as patterns.read() does."""
    if path != "-":
        with suppress(OSError), builtins.open(path, "rb") as file:
            stream = cast(BinaryIO, CountedReader(file, progress))
            return patterns.read(
                stream, name=path, is_cancelled=is_cancelled, as_squares=as_squares
            )
    # Why it cannot be opened or read is said there.
    return patterns.read(path, is_cancelled=is_cancelled, as_squares=as_squares)


def check_source(path: str, *, as_it_is: bool = True) -> None:
    """Raise SessionError for a directory that is not to be opened as it is, and for a named
    pipe: nobody may ever write to it. A pipe without a name has somebody who writes."""
    if os.path.isdir(path) and not as_it_is:
        raise SessionError(f"{path} is a directory: a universe has its size, rule and topology")
    with suppress(OSError, ValueError):
        if stat.S_ISFIFO(os.stat(path).st_mode) and os.path.exists(os.path.realpath(path)):
            raise SessionError(f"cannot read {path}: it is a pipe, not a file")


def new(
    width: int = SIDE,
    height: int = SIDE,
    rule: Rule | str = LIFE,
    topology: Topology | str = Topology.TORUS,
    *,
    backend: Target | str = "auto",
) -> EditedSession:
    """Make an empty universe. topology: "unbounded" for one that has no size, whatever width and
    height are. Raises RuleError, TopologyError, GridError for a size there is no memory for,
    SessionError where nothing computes."""
    chosen = Rule.parse(rule) if isinstance(rule, str) else rule
    edges, bounds = topology_of(topology, None, (width, height))
    held = (1, 1) if topology == "unbounded" else bounds
    check_size(*held, COPIES * chosen.planes)
    start = Start(BitGrid(*held, planes=chosen.planes), chosen, edges, bounds=bounds)
    return _begun(lambda: _session(start, backend))


def empty_plane(
    rule: Rule,
    engine: str,
    size: tuple[int, int] | None,
    topology: Topology | None,
    *,
    backend: Target,
) -> EditedSession:
    """Make an empty plane without bounds in an engine. Raises GridError for a size, a torus, and a
    rule of B0."""
    if size or topology is Topology.TORUS:
        raise GridError(f"the engine {engine} is for planes without bounds")
    return _begun(lambda: _session(empty_start(rule), backend, engine=engine))


def random(
    width: int,
    height: int,
    density: Fraction | float,
    seed: int,
    rule: Rule | str = LIFE,
    topology: Topology | str = Topology.TORUS,
    *,
    backend: Target | str = "auto",
) -> EditedSession:
    """Make a soup. Raises SoupError for a density or seed that none has, and what new() does."""
    chosen = Rule.parse(rule) if isinstance(rule, str) else rule
    Soup(density, seed)
    start = soup((width, height), density, seed, chosen, Topology(topology))
    return _begun(lambda: _session(start, backend))


def _session(
    start: Start,
    backend: Target | str,
    path: str | None = None,
    notes: tuple[str, tuple[str, ...]] = ("", ()),
    watch: bool = False,
    engine: str = "dense",
    modified: bool = False,
) -> EditedSession:
    if engine != "dense":
        target = pick(backend) if isinstance(backend, str) else backend
        universe = open_seen(engine, target, start)
        if universe is not None:
            about = start.rule, start.generation
            return PlaneSession(
                universe, engine, target, *about, path=path, notes=notes, modified=modified
            )
    return MemorySession(
        start.grid,
        rule=start.rule,
        topology=torus_or_plane(start.topology, "what the window shows"),
        generation=start.generation,
        backend=backend,
        path=path,
        notes=notes,
        bounds=start.bounds,
        at=start.at,
        watch=watch,
        modified=modified,
    )


M = TypeVar("M", bound=EditedSession)


def _begun(make: Callable[[], M]) -> M:
    try:
        return make()
    except BackendUnavailableError as error:
        raise SessionError(str(error)) from None
    except MemoryError as error:
        raise SessionError(f"out of memory: {error}".rstrip(": ")) from None
