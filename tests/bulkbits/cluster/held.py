"""`lifesim`, held where a test wants to find it: -m tests.bulkbits.cluster.held TILES FOLDER ..."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from lifesim.cli import main
from lifesim.store.universe import Moved, Universe
from tests.waiting import until

HELD, GO_ON = "held", "go-on"  # files in FOLDER


def hold(tiles: int, folder: Path) -> None:
    """Once so many tiles of a phase after the first are done, say so, and wait."""
    finish_tiles = Universe.finish_tiles

    def finish(universe: Universe, finished: Iterable[Moved]) -> list[str]:
        paths = finish_tiles(universe, finished)
        if universe.generation and universe.phase and len(universe.phase.done) >= tiles:
            (folder / HELD).touch()
            until((folder / GO_ON).exists)
        return paths

    Universe.finish_tiles = finish  # type: ignore[method-assign]


if __name__ == "__main__":
    hold(int(sys.argv[1]), Path(sys.argv[2]))
    del sys.argv[1:3]
    main()
