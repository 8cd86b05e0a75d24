"""Enumeration of semigroups of maps, beside libsemigroups where it is installed.

    python -m benchmarks.semigroups [--backend cuda] [--threads N] [--cases bihecke:6 full:7]
                                    [--green bihecke:6] [--hash-only] [--memory BYTES]
                                    [--alone] [--json]

Seconds from the generators in the host's memory to all elements in the backend's; best of up to
three runs. Levels are compared with data/semigroups where they are known. moved: bytes of rows
read and written, as the algorithm needs them. memory: the most that the backend took for the
enumeration at any time. libsemigroups computes on one core, in the same run, where all maps fit
in memory, which it keeps. --green measures Green's relations and idempotents, which need the
compiled extension to be fast, on any backend.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from kernels.targets.choose import NAMES, pick
from kernels.targets.contract import BackendUnavailableError, Target
from kernels.targets.memory import available_memory
from kernels.transformations import (
    CayleyTables,
    EnumerationProblem,
    Enumerator,
    ProductCounts,
    SemigroupEngine,
    engine_for,
    graphs,
)
from semigroups.families import Family

EXPECTED = Path(__file__).parents[1] / "data" / "semigroups" / "expected.json"
RUNS = 3
SECONDS = 20.0  # enough of runs, if there is one
CASES = ("bihecke:5", "bihecke:6", "zero_rook:6", "full:6", "full:7")
LARGE = ("zero_rook:7",)  # rows of half a megabyte: for a GPU
SLOW = ("bihecke:4", "zero_rook:4", "full:4")  # for the reference


class WrongResultError(Exception):
    pass


@dataclass(frozen=True, slots=True)
class Row:
    case: str
    elements: int
    seconds: float
    computed: int
    deduced: int
    moved: int
    memory: int
    theirs: float | None  # seconds

    @property
    def ratio(self) -> float | None:
        return self.theirs and self.theirs / self.seconds


@dataclass(frozen=True, slots=True)
class GreenRow:
    """seconds: of all relations, and of idempotents where R is known."""

    case: str
    elements: int
    green: float
    classes: dict[str, int]
    idempotents: int
    idempotents_seconds: float


def problem_of(
    case: str, engine: SemigroupEngine, exact: bool = True, memory: int | None = None
) -> EnumerationProblem:
    generators = Family.parse(case).generators()
    points = np.arange(generators.shape[1], dtype=np.uint32)
    return EnumerationProblem(generators, points, compare=exact, memory=memory or engine.memory)


def enumerate_all(engine: SemigroupEngine, problem: EnumerationProblem) -> tuple[Enumerator, int]:
    """The most memory taken, too."""
    enumerator = engine.start(problem)
    most = enumerator.nbytes
    while not enumerator.finished:
        enumerator.expand(1 << 40)
        most = max(most, enumerator.nbytes)
    return enumerator, most


def expected(case: str) -> dict[str, Any]:
    known: dict[str, dict[str, Any]] = json.loads(EXPECTED.read_text("utf-8"))["monoids"]
    return known.get(case, {})


def verify(case: str, what: str, found: object) -> None:
    known = expected(case)
    if known.get(what, found) != found:
        raise WrongResultError(f"{case} has {what} {known[what]}, not {found}")


def best(run: Callable[[], object]) -> float:
    times: list[float] = []
    while len(times) < RUNS and sum(times) < SECONDS:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def measure(
    engine: SemigroupEngine, case: str, problem: EnumerationProblem
) -> tuple[Row, Enumerator]:
    """Raises WrongResultError, MemoryError."""
    last: list[tuple[Enumerator, int]] = []

    def run() -> None:
        last.clear()  # its memory is free for the next
        last.append(enumerate_all(engine, problem))

    seconds = best(run)
    enumerator, memory = last[0]
    verify(case, "size", enumerator.size)
    verify(case, "levels", [b - a for a, b in pairwise(enumerator.starts)])
    counts: ProductCounts = enumerator.counts
    row = Row(
        case,
        enumerator.size,
        seconds,
        counts.computed,
        counts.deduced,
        counts.moved,
        memory,
        None,
    )
    return row, enumerator


def libsemigroups(problem: EnumerationProblem, size: int) -> float | None:
    """Seconds; None where it is not installed, or has not the memory."""
    try:
        import libsemigroups_pybind11 as other
    except ImportError:
        return None
    if 1.4 * size * problem.generators[0].nbytes > available_memory():
        return None
    quiet = other.ReportGuard(False)
    generators = [other.Transf(row) for row in problem.generators.tolist()]
    start = time.perf_counter()
    try:
        found = other.FroidurePin(generators).size()
    except MemoryError:
        return None
    seconds = time.perf_counter() - start
    del quiet
    if found not in (size, size - 1):  # without the identity
        raise WrongResultError(f"libsemigroups finds {found} elements, not {size}")
    return seconds


def measure_green(case: str, enumerator: Enumerator, threads: int | None) -> GreenRow:
    arrays = {name: enumerator.array(name) for name in CayleyTables.ARRAYS if name != "hashes"}
    found: list[Any] = []

    def green() -> None:
        found[:] = [graphs.green(arrays["right"], arrays["left"], threads)]

    def idempotents() -> None:
        of = (arrays[name] for name in ("right", "first", "suffix"))
        found[1:] = [graphs.idempotents(*of, found[0].r, threads=threads)]

    seconds, more = best(green), best(idempotents)
    verify(case, "idempotents", len(found[1]))
    classes = {kind: int(getattr(found[0], kind.lower()).max()) + 1 for kind in "RLHD"}
    return GreenRow(case, enumerator.size, seconds, classes, len(found[1]), more)


def rows_of(backend: Target, options: argparse.Namespace) -> Iterator[Row | GreenRow]:
    engine = engine_for(backend)
    for case in dict.fromkeys([*options.cases, *options.green]):
        problem = problem_of(case, engine, not options.hash_only, options.memory)
        row, enumerator = measure(engine, case, problem)
        green = measure_green(case, enumerator, options.threads) if case in options.green else None
        del enumerator  # its memory is free for others
        if case in options.cases:
            theirs = None if options.alone else libsemigroups(problem, row.elements)
            yield replace(row, theirs=theirs)
        if green is not None:
            yield green


def has_extension() -> bool:
    try:
        pick("cpu")
    except BackendUnavailableError:
        return False
    return True


def as_markdown(row: Row) -> str:
    other = "– | –" if row.theirs is None else f"{row.theirs:.3g} | {row.ratio:.3g}"
    return (
        f"| {row.case} | {row.elements:,} | {row.seconds:.4g} | {row.elements / row.seconds:,.0f} "
        f"| {row.computed:,} | {row.deduced:,} | {row.moved / 1e9:.4g} "
        f"| {row.moved / row.seconds / 1e9:.3g} | {row.memory / 1e9:.3g} | {other} |"
    )


HEAD = """\
| case | elements | s | elements/s | computed | deduced | GB moved | GB/s | GB | lib's s | ratio |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"""


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", choices=NAMES, default="auto")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--cases", nargs="*", metavar="FAMILY")
    parser.add_argument("--green", nargs="*", metavar="FAMILY")
    parser.add_argument("--hash-only", action="store_true", help="trust equal hashes")
    parser.add_argument("--memory", type=int, help="bytes that an enumeration may take")
    parser.add_argument("--alone", action="store_true", help="leave out libsemigroups")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    for case in [*(options.cases or ()), *(options.green or ())]:
        try:
            Family.parse(case)
        except ValueError as error:
            parser.error(str(error))
    return options


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    backend = pick(options.backend, threads=options.threads)
    fast = backend.name != "reference"
    if options.cases is None:
        options.cases = (*CASES, *(LARGE if backend.name == "cuda" else ())) if fast else SLOW
    if options.green is None:
        options.green = (("bihecke:6",) if has_extension() else ()) if fast else SLOW[:1]
    if not options.json:
        kind = "hashes only" if options.hash_only else "exact"
        print(f"{backend.describe()}; {kind}; best of up to {RUNS} runs\n\n{HEAD}")
    rows: list[Row] = []
    greens: list[GreenRow] = []
    for row in rows_of(backend, options):
        if isinstance(row, GreenRow):
            greens.append(row)
            continue
        rows.append(row)
        if not options.json:
            print(as_markdown(row), flush=True)
    if options.json:
        named = {"rows": [asdict(row) for row in rows], "green": [asdict(row) for row in greens]}
        print(json.dumps({"backend": backend.name, "exact": not options.hash_only, **named}))
        return
    for each in greens:
        classes = ", ".join(f"{count:,} {kind}" for kind, count in each.classes.items())
        print(
            f"\n{each.case}: Green's relations in {each.green:.3g} s ({classes}), "
            f"{each.idempotents:,} idempotents in {each.idempotents_seconds:.3g} s"
        )


if __name__ == "__main__":
    main()
