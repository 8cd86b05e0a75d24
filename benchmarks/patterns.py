"""Pattern files: how long reading and writing take, beside bare reading of the same bytes.

    python -m benchmarks.patterns [--side SIDE] [--rounds ROUNDS] [--formats NAME ...]

A soup of SIDE x SIDE cells, half of them live, in a file of each format: seconds of one core (the
process's own time, so that others on the machine do not count), the best of the rounds. Bare is
reading the file's bytes, decompressed where they are gzip, and nothing more.
"""

from __future__ import annotations

import argparse
import gzip
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from lifesim import patterns
from lifesim.grid import BitGrid
from lifesim.patterns import Pattern
from lifesim.soup import random_grid

FORMATS = ("rle", "rle.gz", "cells", "cells.gz", "mc", "mc.gz", "lif", "life")


class Row(NamedTuple):
    """Seconds of one core, and the file's bytes."""

    format: str
    size: int
    bare: float
    read: float
    written: float

    def as_line(self) -> str:
        times = f"{self.bare:.2f} | {self.read:.2f} | {self.written:.2f}"
        return f"| {self.format} | {self.size / 1e6:.1f} | {times} |"


class WrongResultError(Exception):
    """Raised where what was read is not what was written."""


def measure(form: str, grid: BitGrid, folder: Path, rounds: int) -> Row:
    """Write and read a grid in a format. Raises WrongResultError for other cells."""
    path = folder / f"soup.{form}"
    written = _best(lambda: patterns.write(Pattern(grid), path), rounds)
    if patterns.read(path).grid != Pattern(grid).trimmed().grid:
        raise WrongResultError(form)
    opened = gzip.open if form.endswith(".gz") else open

    def bare() -> None:
        with opened(path, "rb") as stream:
            stream.read()

    row = Row(
        form,
        os.path.getsize(path),
        _best(bare, rounds),
        _best(lambda: patterns.read(path), rounds),
        written,
    )
    path.unlink()
    return row


def _best(action: Callable[[], object], rounds: int) -> float:
    times = []
    for _ in range(rounds):
        start = time.process_time()
        action()
        times.append(time.process_time() - start)
    return min(times)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.patterns",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--side", type=int, default=16384, help="of the soup [16384]")
    parser.add_argument("--rounds", type=int, default=3, help="of which the best counts [3]")
    parser.add_argument("--formats", nargs="+", choices=FORMATS, default=FORMATS[:4])
    chosen = parser.parse_args(arguments)
    grid = random_grid(chosen.side, chosen.side, 0.5, 1)
    print("| file | MB | bare, s | read, s | written, s |")
    print("| --- | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        for form in chosen.formats:
            row = measure(form, grid, Path(folder), chosen.rounds)
            print(row.as_line(), flush=True)


if __name__ == "__main__":
    main()
