"""Opens what pages look at: a pattern in memory, or a universe directory."""

from __future__ import annotations

import os
from io import BytesIO
from typing import BinaryIO

from lifesim import patterns
from lifesim.cli.drive import begin, busy
from lifesim.cli.report import note_oddities
from lifesim.patterns import Pattern
from lifesim.patterns.files import load
from lifesim.rule import Rule
from lifesim.start import placement, start_of
from lifesim.topology import Topology
from ui.opening import check_source
from ui.web.board import Board, BoardError

_STANDARD_INPUT = "<stdin>"  # as errors call it


def open_board(
    path: str,
    rule: Rule | None,
    topology: Topology | str | None,
    size: tuple[int, int] | None,
    engine: str,
    edit: bool,
    backend: str,
    *,
    device: int = 0,
    threads: int | None = None,
) -> Board:
    """Open a universe to be shown; arguments as of `lifesim run`. edit: whether pages may draw.

    Raises LifesimError.
    """
    check_source(path, as_it_is=not (rule or topology or size))
    if os.path.isdir(path):
        if edit:
            raise BoardError(f"{path} is a directory: what is on disk is only looked at")
        from ui.web.stored import StoredBoard

        return StoredBoard(path)
    from ui.web.living import LifeBoard

    is_wide = engine in ("auto", "tiles", "hashlife") and not (size or topology)
    with busy(f"reading {path}"):
        pattern = _read(path, is_wide)
        placed = placement(pattern, size, None, rule, topology, steps=1)
        start = start_of(pattern, placed)
    note_oddities(pattern, path)
    name = "" if path == "-" else os.path.basename(path)
    life = begin(start, backend, [device], threads, watch=False, engine=engine)
    return LifeBoard(life, name, draws=edit)


def _read(path: str, is_wide: bool) -> Pattern:
    """Read a pattern as patterns.read() does. is_wide: whether what no grid holds may stay a list
    of squares; where the file itself has bounds these are for what fits a grid."""
    if not is_wide:
        return patterns.read(path)
    source: str | BinaryIO = path
    if path == "-":  # of which there is nothing to be read twice
        with patterns.standard_input() as stream:
            source = BytesIO(load(stream, _STANDARD_INPUT))
    name = _STANDARD_INPUT if path == "-" else None
    pattern = patterns.read(source, name=name, as_squares=None)
    if pattern.squares is None or not pattern.size:
        return pattern
    if not isinstance(source, str):
        source.seek(0)
    return patterns.read(source, name=name)
