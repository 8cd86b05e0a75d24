"""Universes to begin with: files, directories, empty ones and soups."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction

from kernels.backend import Backend, BackendUnavailableError
from lifesim import patterns
from lifesim.grid import BitGrid, GridError, check_size
from lifesim.patterns import Pattern
from lifesim.rule import LIFE, Rule
from lifesim.soup import Soup
from lifesim.start import COPIES, Start, place, soup
from lifesim.topology import Topology
from ui.cells.session import MemorySession
from ui.disk.session import DiskSession
from ui.session import Session, SessionError

SIDE = 4096  # cells, of a torus that nobody has asked to be otherwise
_STEP = 512  # sides beyond it are multiples


def open(path: str, *, backend: Backend | str = "auto") -> Session:
    """The universe of a pattern file of any format, or of a universe directory.

    Raises LifesimError, in one line, for what cannot be opened.
    """
    if os.path.isdir(path):
        return DiskSession.open(path, backend=backend)
    check_source(path)
    pattern = patterns.read(path)
    try:
        start = placed(pattern)
    except GridError as error:
        raise SessionError(f"{path}: {error}") from None
    notes = pattern.name, pattern.comments
    where = None if path == "-" else os.path.abspath(path)
    return _begun(lambda: _session(start, backend, where, notes))


def check_source(path: str) -> None:
    """Raise SessionError for a named pipe: nobody may ever write to it, and whatever else is to
    be read or saved would wait. A pipe without a name has somebody who writes."""
    with suppress(OSError, ValueError):
        if stat.S_ISFIFO(os.stat(path).st_mode) and os.path.exists(os.path.realpath(path)):
            raise SessionError(f"cannot read {path}: it is a pipe, not a file")


def placed(pattern: Pattern) -> Start:
    """A pattern in the middle of a torus with room around it, or as its file says.

    Raises GridError for too large a one.
    """
    bounds = pattern.size or (0, 0)
    cells = pattern.grid.width, pattern.grid.height
    width, height = (bound or roomy(length) for bound, length in zip(bounds, cells, strict=True))
    return place(pattern, 0, (width, height))


def roomy(length: int) -> int:
    """The side of a torus for a pattern that is so long: SIDE, or a quarter more than it."""
    wanted = length + max(length // 4, SIDE // 4)
    return max(SIDE, -(-wanted // _STEP) * _STEP)


def new(
    width: int = SIDE,
    height: int = SIDE,
    rule: Rule | str = LIFE,
    topology: Topology | str = Topology.TORUS,
    *,
    backend: Backend | str = "auto",
) -> MemorySession:
    """An empty universe. Raises RuleError, GridError for a size there is no memory for,
    SessionError where nothing computes."""
    chosen = rule if isinstance(rule, Rule) else Rule.parse(rule)
    check_size(width, height, COPIES)
    start = Start(BitGrid(width, height), chosen, Topology(topology))
    return _begun(lambda: _session(start, backend))


def random(
    width: int,
    height: int,
    density: Fraction | float,
    seed: int,
    rule: Rule | str = LIFE,
    topology: Topology | str = Topology.TORUS,
    *,
    backend: Backend | str = "auto",
) -> MemorySession:
    """A soup. Raises SoupError for a density or seed that none has, and what new() does."""
    chosen = rule if isinstance(rule, Rule) else Rule.parse(rule)
    Soup(density, seed)
    start = soup((width, height), density, seed, chosen, Topology(topology))
    return _begun(lambda: _session(start, backend))


def _session(
    start: Start,
    backend: Backend | str,
    path: str | None = None,
    notes: tuple[str, tuple[str, ...]] = ("", ()),
) -> MemorySession:
    return MemorySession(
        start.grid,
        rule=start.rule,
        topology=start.topology,
        generation=start.generation,
        backend=backend,
        path=path,
        notes=notes,
    )


def _begun(make: Callable[[], MemorySession]) -> MemorySession:
    try:
        return make()
    except BackendUnavailableError as error:
        raise SessionError(str(error)) from None
    except MemoryError as error:
        raise SessionError(f"out of memory: {error}".rstrip(": ")) from None
