"""Rules of tables on patterns of Golly's collection, on one thread, beside bgolly.

    python -m benchmarks.tables [PATTERN ...] [--patterns FOLDER] [--rules FOLDER]
        [--generations N] [--seconds S] [--golly PROGRAM]

A row for each pattern: the processor's seconds that `kernels.tables` takes for the generations, one
by one, and how many times as long bgolly takes with its algorithm RuleLoader, or JvN, generation by
generation (-i 1) and leaping as HashLife does. All run by turns, the least of some runs counts, and
bgolly's time without generations is subtracted. Neither includes reading the file. `equal` says
whether both have as many cells that are not dead at the end. A pattern stands in a rectangle that
it cannot leave in these generations.
"""

from __future__ import annotations

import argparse
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.collection import algorithms_of
from benchmarks.plane import PeerError, run_timed
from kernels.life.bytewise import packed, unpacked
from kernels.life.contract import LifeShape
from kernels.tables import engine_for
from kernels.tables.rules import TableRule
from kernels.targets.cpu import CpuTarget
from lifesim import patterns
from lifesim.errors import LifesimError
from lifesim.patterns import Pattern
from lifesim.rule import Rule
from lifesim.rules import files
from lifesim.topology import Topology

PATTERNS = (
    "WireWorld/primes.mc",
    "WireWorld/NickGardner.mcl",
    "WireWorld/circuit.mcl",
    "WireWorld/unary-multiplier.mcl",
    "Other-Rules/golly-ants.rle",
    "Other-Rules/Langtons-Ant.rle",
    "Self-Rep/Codd/tape-reader-demo.rle",
    "Patersons-Worms/worm-1040512.rle",
    "Loops/Langtons-Loops.rle",
    "Loops/Tempesti-Loop.rle",
    "Loops/SDSR-Loop.rle",
    "Loops/Byl-Loop.rle",
    "Loops/Chou-Reggia-Loop-2.rle",
    "Margolus/TMGas.rle",
    "Margolus/DLA.rle",
    "Margolus/BBM.rle",
    "Margolus/Sand.rle",
    "Self-Rep/JvN/read-arm-demo.rle",
    "Self-Rep/JvN/partial-constructor.mc.gz",
    "Self-Rep/JvN/codon4-auto-retract.rle",
    "Self-Rep/JvN/NP-replicator.rle.gz",
    "Self-Rep/JvN/golly-constructor.rle",
    "Self-Rep/JvN/Boustrophedon-replicator.rle",
)
MOST_RUNS = 20


class Ours(NamedTuple):
    """A pattern in a rectangle, packed."""

    rule: TableRule
    shape: LifeShape
    words: np.ndarray

    def run(self, generations: int) -> tuple[float, int]:
        """Return the processor's seconds, and how many cells are not dead then."""
        engine = engine_for(CpuTarget(1), self.shape.planes)
        universe = engine.universe(self.words, self.shape, self.rule)
        start = time.process_time()
        universe.step(generations)
        seconds = max(time.process_time() - start, 1e-9)
        return seconds, int(np.count_nonzero(unpacked(universe.words(), self.shape.width)))


class Theirs(NamedTuple):
    """A file for bgolly.

    algorithm: Golly's, of its rule. rules: the folder of its rule. begins: the generation that the
    file is of.
    """

    program: str
    path: Path
    algorithm: str
    rules: str | None
    begins: int

    def seconds(self, generations: int, step: int) -> float:
        """Return the processor's seconds of a run, with all that is beside the generations."""
        return self._run(["-q", "-q"], generations, step)[0]

    def population(self, generations: int) -> int:
        """Return how many cells are not dead in the end."""
        _, said = self._run([], generations, generations)
        try:
            return int(said.strip().splitlines()[-1].split(":")[-1].replace(",", ""))
        except (IndexError, ValueError):
            raise PeerError(f"{self.path}: bgolly tells no population") from None

    def _run(self, options: list[str], generations: int, step: int) -> tuple[float, str]:
        search = [] if self.rules is None else ["-s", f"{Path(self.rules).resolve()}/"]
        count = ["-m", str(self.begins + generations), "-i", str(step)]
        algorithm = ["-a", self.algorithm]
        return run_timed([self.program, *algorithm, *search, *count, *options, str(self.path)])


def placed(pattern: Pattern, room: int) -> Ours:
    """Return a pattern with so many dead cells on each side. Raises LifesimError."""
    rule = pattern.rule or Rule.parse("B3/S23")
    if not isinstance(rule.cells, TableRule):
        raise LifesimError(f"rule {rule} is not a table")
    if pattern.topology not in (None, Topology.PLANE):
        raise LifesimError("it is not a pattern on a plane without bounds")
    if not rule.stays_empty:
        raise LifesimError("its empty space does not stay empty")
    cells = np.pad(pattern.trimmed().grid.states(), room)
    shape = LifeShape(cells.shape[1], cells.shape[0], False, rule.planes)
    return Ours(rule.cells, shape, packed(cells, rule.planes))


def measured(ours: Ours, theirs: Theirs | None, generations: int, seconds: float) -> list[str]:
    """Return the cells of a row behind the pattern's name. Raises PeerError."""
    took: list[list[float]] = []
    began = time.monotonic()
    while not took or (len(took) < MOST_RUNS and time.monotonic() - began < seconds):
        own, population = ours.run(generations)
        took.append([own])
        if theirs:
            nothing = theirs.seconds(0, 1)
            each, leaping = theirs.seconds(generations, 1), theirs.seconds(generations, generations)
            took[-1] += [nothing, each, leaping]
    own, *peer = (min(column) for column in zip(*took, strict=True))
    row = [f"{own * 1e3:.2f} ms"]
    if theirs:
        nothing, each, leaping = peer
        row += [f"{max(0.0, each - nothing) / own:.2g}", f"{max(0.0, leaping - nothing) / own:.2g}"]
        row.append("yes" if theirs.population(generations) == population else "NO")
    return row


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a row for each pattern."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=PATTERNS, metavar="PATTERN")
    parser.add_argument("--patterns", default=".", help="the folder that names are in")
    parser.add_argument("--rules", help="a folder of rule files")
    parser.add_argument("--generations", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=4.0, help="of the clock, for each pattern")
    parser.add_argument("--golly", default=shutil.which("bgolly"), help="bgolly, or '' for none")
    given = parser.parse_args(arguments)
    if given.generations < 1:
        parser.error("there is at least one generation")
    if given.rules:
        files.look_in([given.rules])
    print(f"{CpuTarget(1).describe()}, {given.generations} generations")
    print("| pattern | ours | each generation | leaping | equal |")
    print("| --- | ---: | ---: | ---: | --- |")
    for name in given.names:
        path = Path(given.patterns) / name
        try:
            pattern = patterns.read(path)
            ours, theirs = placed(pattern, given.generations), None
            if given.golly:
                algorithm = algorithms_of(pattern)[0]
                theirs = Theirs(given.golly, path, algorithm, given.rules, pattern.generation)
            row = measured(ours, theirs, given.generations, given.seconds)
        except (LifesimError, PeerError) as error:
            raise SystemExit(f"{path}: {error}") from None
        print("| " + " | ".join([path.name.split(".")[0], *row, "", "", ""][:5]) + " |", flush=True)


if __name__ == "__main__":
    main()
