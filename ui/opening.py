"""Universes to begin with: files, directories, empty ones and soups."""

from __future__ import annotations

import builtins
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from typing import BinaryIO, cast

from kernels.targets.contract import BackendUnavailableError, Target
from lifesim import patterns
from lifesim.grid import BitGrid, GridError, check_size
from lifesim.growing import COPIES
from lifesim.patterns import Pattern
from lifesim.rule import LIFE, Rule
from lifesim.soup import Soup
from lifesim.start import Start, place, soup
from lifesim.topology import Topology, TopologyError, topology_of, torus_or_plane
from ui.cells.session import MemorySession
from ui.disk.session import DiskSession
from ui.reading import CountedReader, Progress, in_silence
from ui.session import Session, SessionError

SIDE = 4096  # cells, of an empty torus that nobody has asked to be otherwise


def open(
    path: str,
    *,
    rule: Rule | None = None,
    topology: Topology | str | None = None,
    size: tuple[int, int] | None = None,
    backend: Target | str = "auto",
    is_cancelled: Callable[[], bool] = lambda: False,
    progress: Progress = in_silence,
) -> Session:
    """Open the universe of a pattern file of any format, or of a universe directory.

    rule, topology, size: in place of what the file says; a directory has its own. Only tori and
    planes can be shown. A pattern for which none of them says a size is on a plane without bounds,
    as of `lifesim run`. progress: is told the share of a file that has been read.
    Raises LifesimError, in one line, for what cannot be opened, and as patterns.read() does
    when it is cancelled.
    """
    check_source(path, as_it_is=not (rule or topology or size))
    if os.path.isdir(path):
        return DiskSession.open(path, backend=backend)
    pattern = _read(path, is_cancelled, progress)
    try:
        start = place(pattern, size, None, rule, topology)
        torus_or_plane(start.topology, "what the window shows")
    except (GridError, TopologyError) as error:
        raise SessionError(f"{path}: {error}") from None
    notes = pattern.name, pattern.comments
    where = None if path == "-" else os.path.abspath(path)
    session = _begun(lambda: _session(start, backend, where, notes, watch=True))
    session.oddities = pattern.notes
    return session


def _read(path: str, is_cancelled: Callable[[], bool], progress: Progress) -> Pattern:
    """Read a pattern as patterns.read() does."""
    if path != "-":
        with suppress(OSError), builtins.open(path, "rb") as file:
            stream = cast(BinaryIO, CountedReader(file, progress))
            return patterns.read(stream, name=path, is_cancelled=is_cancelled)
    # Why it cannot be opened or read is said there.
    return patterns.read(path, is_cancelled=is_cancelled)


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
) -> MemorySession:
    """Make an empty universe. topology: "unbounded" for one that has no size, whatever width and
    height are. Raises RuleError, TopologyError, GridError for a size there is no memory for,
    SessionError where nothing computes."""
    chosen = rule if isinstance(rule, Rule) else Rule.parse(rule)
    edges, bounds = topology_of(topology, None, (width, height))
    held = (1, 1) if topology == "unbounded" else bounds
    check_size(*held, COPIES)
    start = Start(BitGrid(*held), chosen, edges, bounds=bounds)
    return _begun(lambda: _session(start, backend))


def random(
    width: int,
    height: int,
    density: Fraction | float,
    seed: int,
    rule: Rule | str = LIFE,
    topology: Topology | str = Topology.TORUS,
    *,
    backend: Target | str = "auto",
) -> MemorySession:
    """Make a soup. Raises SoupError for a density or seed that none has, and what new() does."""
    chosen = rule if isinstance(rule, Rule) else Rule.parse(rule)
    Soup(density, seed)
    start = soup((width, height), density, seed, chosen, Topology(topology))
    return _begun(lambda: _session(start, backend))


def _session(
    start: Start,
    backend: Target | str,
    path: str | None = None,
    notes: tuple[str, tuple[str, ...]] = ("", ()),
    watch: bool = False,
) -> MemorySession:
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
    )


def _begun(make: Callable[[], MemorySession]) -> MemorySession:
    try:
        return make()
    except BackendUnavailableError as error:
        raise SessionError(str(error)) from None
    except MemoryError as error:
        raise SessionError(f"out of memory: {error}".rstrip(": ")) from None
