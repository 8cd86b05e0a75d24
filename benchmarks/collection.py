"""Golly's collection of patterns: which files open, and whether all their cells are bgolly's.

    python -m benchmarks.collection --golly BGOLLY --patterns FOLDER [--rules FOLDER]
        [--generations N,N,...] [--seconds SECONDS] [--only TEXT] [--backend BACKEND]

Each file is run to those generations here and by bgolly, and the cells are compared: their number,
the box they lie in and what is in it. Files that are made by scripts are left out. The table has a
line for each family of rules: files, those that open, those whose cells are bgolly's in all
generations that both reach in time. Why others do not stands below it, a line for each reason.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from kernels.life.rules import AgeingRule
from kernels.ranges.rules import RangeRule
from kernels.tables.rules import TableRule
from lifesim import patterns
from lifesim.digests import digest
from lifesim.engine import Life
from lifesim.errors import LifesimError
from lifesim.grid import BitGrid
from lifesim.patterns import Pattern, archive
from lifesim.rule import LIFE
from lifesim.rules import files
from lifesim.rules.listing import family_of

GENERATIONS = 0, 1, 64, 256, 1000
SECONDS = 60.0  # for a file, here, and for each run of bgolly
LARGEST = 1 << 28  # cells of a box that is written out to be compared


class CollectionError(LifesimError):
    """The collection cannot be read, or bgolly not be run."""


class Outcome(NamedTuple):
    """Says what became of a file. family: of its rule. equal: generations in which all cells are
    bgolly's. why: what is wrong, empty where nothing is."""

    file: str
    family: str
    is_open: bool
    equal: tuple[int, ...] = ()
    why: str = ""

    @property
    def is_equal(self) -> bool:
        """Tell whether all cells that were compared are bgolly's."""
        return self.is_open and not self.why


class Peer:
    """The program bgolly. folder: where it writes; rules: where its rule files are."""

    def __init__(self, program: str, folder: Path, rules: Sequence[str], seconds: float) -> None:
        self._program, self._folder, self._seconds = program, folder, seconds
        self._search = ["-s", f"{Path(rules[0]).resolve()}/"] if rules else []

    def population(self, path: Path, pattern: Pattern, generation: int) -> int:
        """Return how many cells live in a generation of a file, and write it (written()).

        Raises CollectionError where bgolly refuses the file, or is not done in time.
        """
        if path.suffix == ".zip":
            path = self._unpacked(path)
        said = ""
        for algorithm in algorithms_of(pattern):
            said = self._run(path, algorithm, pattern.generation, generation)
            counted = re.findall(r"^([0-9,]+): ([0-9,]+)$", said, re.MULTILINE)
            if counted and "Fatal error" not in said:
                return int(counted[-1][1].replace(",", ""))
        refusal = re.search("Fatal error: (.*)", said)
        raise CollectionError(f"bgolly refuses it: {refusal[1] if refusal else 'no population'}")

    def _unpacked(self, path: Path) -> Path:
        """Unpack an archive, which bgolly does not read, and return the path of its pattern."""
        data = path.read_bytes()
        extensions = tuple(end for end in patterns.readable() if end != ".zip")
        cells, name = archive.member_of(data, extensions, str(path))
        rules = archive.rule_files(data, str(path))
        for where, contents in [(name, cells), *rules.items()]:
            (self._folder / Path(where).name).write_bytes(contents)
        if rules:
            self._search = ["-s", f"{self._folder}/"]
        return self._folder / Path(name).name

    def written(self) -> Pattern:
        """Read the generation that it wrote last."""
        return patterns.read(self._folder / "golly.rle")

    def _run(self, path: Path, algorithm: str, first: int, generations: int) -> str:
        out = self._folder / "golly.rle"
        out.unlink(missing_ok=True)
        last, step = str(first + generations), str(max(1, generations))
        command = [
            self._program, *self._search, "-a", algorithm, "-m", last, "-i", step,
            "-o", str(out), str(path),
        ]  # fmt: skip
        try:
            done = subprocess.run(command, capture_output=True, timeout=self._seconds)
        except subprocess.TimeoutExpired:
            raise CollectionError("bgolly is not done in time") from None
        except OSError as error:
            raise CollectionError(f"{self._program}: {error.strerror}") from None
        return (done.stdout + done.stderr).decode(errors="replace")


def algorithms_of(pattern: Pattern) -> tuple[str, ...]:
    """Return Golly's algorithms that may compute a pattern, the likeliest first."""
    cells = (pattern.rule or LIFE).cells
    if isinstance(cells, AgeingRule):
        return "Generations", "RuleLoader"
    if isinstance(cells, RangeRule):
        return ("Larger than Life",)
    if isinstance(cells, TableRule):
        return ("JvN",) if family_of(pattern.rule or LIFE) == "JvN" else ("RuleLoader",)
    if pattern.squares is not None:
        return ("HashLife",)
    return "QuickLife", "HashLife", "RuleLoader"


def compared(path: Path, peer: Peer, generations: Sequence[int], backend: str) -> Outcome:
    """Run a file here and by bgolly, and say what became of it."""
    try:
        pattern = patterns.read(path, as_squares=None)
    except LifesimError as error:
        return Outcome(path.name, "not read", False, why=_reason(str(error)))
    family = family_of(pattern.rule or LIFE)
    equal: list[int] = []
    try:
        life = Life.from_pattern(pattern, backend=backend)
        for generation in sorted(generations):
            life.run(generation - (life.generation - pattern.generation))
            if wrong := _difference(life, path, pattern, peer, generation):
                return Outcome(path.name, family, True, tuple(equal), wrong)
            equal.append(generation)
            print(json.dumps(Outcome(path.name, family, True, tuple(equal))), flush=True)
    except (LifesimError, MemoryError) as error:
        return Outcome(path.name, family, True, tuple(equal), _reason(str(error)))
    return Outcome(path.name, family, True, tuple(equal))


def _difference(life: Life, path: Path, pattern: Pattern, peer: Peer, generation: int) -> str:
    """Say in what a generation differs from bgolly's; empty where it does not."""
    theirs = peer.population(path, pattern, generation)
    ours = life.population()
    if ours != theirs:
        return f"generation {generation}: {ours} cells live, bgolly says {theirs}"
    if not ours or life.far_squares() is not None:
        return ""
    if life.frame().width * life.frame().height > LARGEST:
        return ""
    if _cells(life.grid()) != _cells(peer.written().grid):
        return f"generation {generation}: as many cells live as in bgolly, but others"
    return ""


def _cells(grid: BitGrid) -> tuple[int, int, str]:
    """Return what does not depend on where cells lie: width, height and digest of their box."""
    box = grid.bounding_box()
    if box is None:
        return 0, 0, ""
    cut = grid.crop(box)
    return cut.width, cut.height, digest(cut)


def _reason(error: str) -> str:
    """Return an error without the name and place of its file."""
    return re.sub(r"^.*?:[0-9]+(?::[0-9]+)?: ", "", error.split(" is in the archive")[0])


def every_file(folder: Path, only: str = "") -> list[Path]:
    """Return the files of the collection that are no scripts. Raises CollectionError."""
    found = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    chosen = [path for path in found if path.suffix not in (".lua", ".py") and only in str(path)]
    if not chosen:
        raise CollectionError(f"no pattern files in {folder}")
    return chosen


def in_time(arguments: Sequence[str], path: Path, seconds: float) -> Outcome:
    """Compare a file in a process of its own, and end it when its time is over."""
    command = [sys.executable, "-m", "benchmarks.collection", *arguments, "--one", str(path)]
    # A session of its own, so that a bgolly that it waits for ends with it.
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, start_new_session=True) as child:
        try:
            text, said = child.communicate(timeout=seconds)
            fault = "" if child.returncode == 0 else _last_line(said) or "it died"
        except BaseException as late:
            os.killpg(child.pid, signal.SIGKILL)
            text, said = child.communicate()
            if not isinstance(late, subprocess.TimeoutExpired):
                raise
            fault = ""
    lines = text.decode().splitlines()
    if not lines:
        return Outcome(path.name, "not read", False, why=fault or "not read in time")
    file, family, is_open, equal, why = json.loads(lines[-1])
    return Outcome(file, family, is_open, tuple(equal), why or fault)


def _last_line(text: bytes) -> str:
    return text.decode(errors="replace").strip().rpartition("\n")[2]


def table(outcomes: Sequence[Outcome], last: int) -> str:
    """Return the table of families, and below it the reasons of those that are not equal."""
    families: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        families[outcome.family].append(outcome)
    lines = [
        f"| family | files | opened | equal | of these to generation {last} |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for family, found in [*sorted(families.items()), ("all", list(outcomes))]:
        opened = sum(outcome.is_open for outcome in found)
        equal = [outcome for outcome in found if outcome.is_equal]
        whole = sum(last in outcome.equal for outcome in equal)
        lines.append(f"| {family} | {len(found)} | {opened} | {len(equal)} | {whole} |")
    reasons = Counter((outcome.family, outcome.why) for outcome in outcomes if outcome.why)
    lines += ["", *(f"{count:4} {family}: {why}" for (family, why), count in reasons.most_common())]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, or with --one what became of one file."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.collection")
    parser.add_argument("--golly", required=True, help="the program bgolly")
    parser.add_argument("--patterns", type=Path, required=True, help="Golly's folder Patterns")
    parser.add_argument("--rules", action="append", default=[], help="Golly's folder Rules")
    parser.add_argument("--generations", default=",".join(map(str, GENERATIONS)))
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--backend", default="auto", help="what computes here, as of lifesim run")
    parser.add_argument("--only", default="", help="a text in the paths of the files")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = parser.parse_args(given)
    generations = [int(part) for part in options.generations.split(",")]
    files.look_in(options.rules)
    if options.one:
        with tempfile.TemporaryDirectory() as folder:
            peer = Peer(options.golly, Path(folder), options.rules, options.seconds)
            print(json.dumps(compared(options.one, peer, generations, options.backend)))
        return
    outcomes = []
    for path in every_file(options.patterns, options.only):
        outcomes.append(in_time(given, path, options.seconds))
        print(f"{path}: {outcomes[-1].why or outcomes[-1].equal}", file=sys.stderr, flush=True)
    print(table(outcomes, max(generations)))


if __name__ == "__main__":
    main()
