"""Measure bgolly, Golly's program without windows, as a peer of this machine's rates."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

from bulkbits.timing import TimedRunner
from lifesim import patterns
from lifesim.errors import LifesimError
from lifesim.grid import BitGrid
from lifesim.patterns import Pattern
from lifesim.rule import LIFE, Rule
from lifesim.soup import random_grid
from lifesim.topology import Topology

_LARGEST = 1 << 22  # cells of a soup that it reads in less than a second
_GENERATIONS = 64


class GollyError(LifesimError):
    """The program bgolly failed, or its result is another. The message says how."""


class Golly:
    """The program bgolly. folder: where its patterns are written."""

    def __init__(self, program: str, folder: Path) -> None:
        self._program, self._folder = program, folder
        self.population: int | None = None  # of the last run

    @classmethod
    def tried(cls, program: str, folder: Path) -> Golly:
        """Return a program that counts a still life on a torus right. Raises GollyError."""
        golly = cls(program, folder)
        block = BitGrid.from_cells(8, 8, [(0, 0), (1, 0), (0, 7), (1, 7)])  # across an edge
        torus = Pattern(block, -4, -4, LIFE, Topology.TORUS, size=(8, 8))
        golly.runner(torus, "QuickLife", 4, 1.0).step(1)
        if golly.population != 4:
            raise GollyError(f"{program} counts {golly.population} cells of a block on a torus")
        return golly

    def soup(self, width: int, height: int, rule: Rule, topology: Topology) -> TimedRunner | None:
        """Return a runner of QuickLife on a soup; None where it would take too long to read."""
        if width * height > _LARGEST or not rule.stays_empty:
            return None
        grid = random_grid(width, height, Fraction(1, 2), 1)
        corner = -(width // 2), -(height // 2)
        soup = Pattern(grid, *corner, rule, topology, size=(width, height))
        return self.runner(soup, "QuickLife", _GENERATIONS, float(width * height * _GENERATIONS))

    def runner(
        self, pattern: Pattern, algorithm: str, generations: int, work: float
    ) -> TimedRunner:
        """Return a runner of so many generations, one after the other or as HashLife leaps. What
        reading the file takes does not count."""
        path = self._folder / f"{algorithm}-{generations}.rle"
        patterns.write(pattern, path)

        def step(count: int) -> float:
            return sum(self._seconds(path, algorithm, generations) for _ in range(count))

        return TimedRunner(work, step)

    def _seconds(self, path: Path, algorithm: str, generations: int) -> float:
        """Run a file, keep its last population, and return the seconds of the generations alone.
        Raises GollyError."""
        steps = str(generations)
        text = _output([self._program, "-b", "-a", algorithm, "-m", steps, "-i", steps, str(path)])
        # Seconds since the start: "0.011488 5,206" after a step, then "0.0115058 pop 909".
        made = re.findall(r"^([\d.e+-]+) ([\d,]+)$", text, re.MULTILINE)
        counted = re.findall(r"^([\d.e+-]+) pop ([\d,]+)$", text, re.MULTILINE)
        if len(counted) < 2 or not made or _whole(made[-1][1]) != generations:
            raise GollyError(f"{self._program} does not say when it was done with {path.name}")
        self.population = _whole(counted[-1][1])
        return max(float(made[-1][0]) - float(counted[0][0]), 1e-6)


def _whole(text: str) -> int:
    return int(text.replace(",", ""))


def _output(command: Sequence[str]) -> str:
    """Return what a program prints; it is ended with us. Raises GollyError."""
    try:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except OSError as error:
        raise GollyError(f"{command[0]}: {error.strerror}") from None
    with process:
        try:
            text, _ = process.communicate()
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        raise GollyError(f"{command[0]} ends with exit code {process.returncode}")
    return text.decode(errors="replace")
