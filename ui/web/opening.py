"""Opens what pages look at: a pattern in memory, or a universe directory."""

from __future__ import annotations

import os

from lifesim import patterns
from lifesim.cli.drive import begin, busy
from lifesim.cli.report import note_oddities
from lifesim.rule import Rule
from lifesim.start import placement, start_of
from lifesim.topology import Topology
from ui.opening import check_source
from ui.web.board import Board, BoardError


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

    as_squares = None if not size and engine in ("auto", "tiles", "hashlife") else False
    with busy(f"reading {path}"):
        pattern = patterns.read(path, as_squares=as_squares)
        if pattern.squares is not None and pattern.size:  # bounds are for what fits a grid
            pattern = patterns.read(path)
        placed = placement(pattern, size, None, rule, topology, steps=1)
        start = start_of(pattern, placed)
    note_oddities(pattern, path)
    name = "" if path == "-" else os.path.basename(path)
    life = begin(start, backend, [device], threads, watch=False, engine=engine)
    return LifeBoard(life, name, draws=edit)
