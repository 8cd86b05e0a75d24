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


def open(
    path: str,
    *,
    rule: Rule | None = None,
    topology: Topology | None = None,
    size: tuple[int, int] | None = None,
    backend: Backend | str = "auto",
    is_cancelled: Callable[[], bool] = lambda: False,
) -> Session:
    """The universe of a pattern file of any format, or of a universe directory.

    rule, topology, size: in place of what the file says; a directory has its own.
    Raises LifesimError, in one line, for what cannot be opened, and as patterns.read() does
    when it is cancelled.
    """
    check_source(path, as_it_is=not (rule or topology or size))
    if os.path.isdir(path):
        return DiskSession.open(path, backend=backend)
    pattern = patterns.read(path, is_cancelled=is_cancelled)
    try:
        start = placed(pattern, size, rule, topology)
    except GridError as error:
        raise SessionError(f"{path}: {error}") from None
    notes = pattern.name, pattern.comments
    where = None if path == "-" else os.path.abspath(path)
    return _begun(lambda: _session(start, backend, where, notes))


def check_source(path: str, *, as_it_is: bool = True) -> None:
    """Raise SessionError for a directory that is not to be opened as it is, and for a named
    pipe: nobody may ever write to it. A pipe without a name has somebody who writes."""
    if os.path.isdir(path) and not as_it_is:
        raise SessionError(f"{path} is a directory: a universe has its size, rule and topology")
    with suppress(OSError, ValueError):
        if stat.S_ISFIFO(os.stat(path).st_mode) and os.path.exists(os.path.realpath(path)):
            raise SessionError(f"cannot read {path}: it is a pipe, not a file")


def placed(
    pattern: Pattern,
    size: tuple[int, int] | None = None,
    rule: Rule | None = None,
    topology: Topology | None = None,
) -> Start:
    """A pattern as is said, else as its file says, else in the middle of a torus with room
    around it.

    Raises GridError for too large a one.
    """
    bounds = pattern.size or (0, 0)
    cells = pattern.grid.width, pattern.grid.height
    width, height = size or (
        bound or _roomy(length) for bound, length in zip(bounds, cells, strict=True)
    )
    return place(pattern, 0, (width, height), None, rule, topology)


def _roomy(length: int) -> int:
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
