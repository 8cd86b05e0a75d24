"""semigroups bench: elements a second, beside other machines and libsemigroups."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from bulkbits.comparison import Comparison, Row, present
from bulkbits.options import json_option, one_device_options
from bulkbits.timing import TimedRunner, compete
from semigroups.cli.options import memory_options, usage_errors

if TYPE_CHECKING:
    from kernels.transformations import Maps
    from semigroups.families import Family

SECONDS = 1.0  # of a row, all rounds together
ROUNDS = 5
_PATIENCE = 5.0  # seconds for libsemigroups and one semigroup
_SLICE = timedelta(milliseconds=50)  # after which it looks whether it is to end
_DEFAULT = ("bihecke:5", "zero_rook:6", "full:6", "full:7", "symmetric:8")
_ON_GPUS = (*_DEFAULT, "bihecke:6")
_SLOW = ("bihecke:4", "zero_rook:4", "full:4", "symmetric:5")  # for the reference


@click.command("bench")
@click.argument("families", nargs=-1, metavar="[FAMILY]...")
@memory_options
@one_device_options
@json_option
def command(
    families: tuple[str, ...],
    memory: int | None,
    backend: str,
    device: int,
    threads: int | None,
    as_json: bool,
) -> None:
    """Measure this machine beside the figures of benchmarks/RESULTS.md, in a table to paste.

    Rows are all elements of a FAMILY, as bihecke:5. The result is certain and stays where it was
    computed; generators are made before. Columns with "/" say how many times as fast this machine
    is: also as libsemigroups on one core, by turns with ours, where libsemigroups_pybind11 is
    installed; empty where it takes more than five seconds.
    """
    from kernels.targets import cpu
    from kernels.targets.choose import pick
    from semigroups.families import Family

    target = pick(backend, device=device, threads=threads)
    default = _ON_GPUS if target.devices else _DEFAULT
    names = families or (_SLOW if target.is_reference else default)
    with usage_errors():
        cases = [Family.parse(name) for name in names]
    options = {"backend": target.name, "device": device, "threads": threads, "memory": memory}
    comparison = Comparison("semigroups", target.describe(), target.name, cpu.model())
    peer = _libsemigroups()
    tasks = [partial(_measured, case, options, peer) for case in cases]
    present(comparison, tasks, as_json=as_json)


def _measured(case: Family, options: dict[str, Any], peer: Peer | None) -> Row:
    """Measure ours and the peer by turns. Raises ClickException where they differ."""
    from semigroups.options import maps_of
    from semigroups.semigroup import Semigroup

    generators = maps_of(case)
    now: Any = None
    sizes: set[int | None] = set()

    def ours(times: int) -> float:
        nonlocal now
        total = 0.0
        for _ in range(times):
            found = Semigroup(generators, **options)
            start = time.perf_counter()
            found.run()
            total += time.perf_counter() - start
            now = found.progress
            del found  # before the next one takes memory
        return total

    def theirs(times: int) -> float:
        assert peer
        total = 0.0
        for _ in range(times):
            size, seconds = peer(generators)
            total += seconds
            sizes.add(size)
        return total

    ours(1)
    runners = [TimedRunner(now.size, ours)]
    if peer:
        theirs(1)
        if None not in sizes:
            runners.append(TimedRunner(now.size, theirs))
    mine, *others = compete(runners, SECONDS, rounds=ROUNDS)
    # libsemigroups does not count an identity that is no product.
    for size in sizes:
        if size is not None and now.size not in (size, size + 1):
            raise click.ClickException(f"libsemigroups finds {size:,} elements, not {now.size:,}")
    if None in sizes:
        others = []
    return Row(
        str(case),
        f"{now.size:,} elements",
        "elements",
        mine,
        {"libsemigroups": others[0]} if others else {},
        details={
            "elements": now.size,
            "seconds": now.size / mine.median,
            "computed": now.counts.computed,
            "deduced": now.counts.deduced,
            "bytes_moved": now.counts.moved,
            "memory": now.nbytes,
        },
    )


# What enumerates a semigroup with another program: its size, None where that took too long, and
# the seconds.
Peer = Callable[["Maps"], tuple[int | None, float]]


def _libsemigroups() -> Peer | None:
    """Return what enumerates with libsemigroups; None without it."""
    try:
        from libsemigroups_pybind11 import FroidurePin, ReportGuard, Transf
    except ImportError:
        return None
    quiet = ReportGuard(False)

    def run(generators: Maps) -> tuple[int | None, float]:
        assert quiet
        made = FroidurePin([Transf(images) for images in generators.tolist()])
        start = time.perf_counter()
        while not made.finished():
            if time.perf_counter() - start > _PATIENCE:
                return None, _PATIENCE
            made.run_for(_SLICE)  # in slices, as it does not look at signals
        return made.size(), time.perf_counter() - start

    return run
