"""semigroups bench: elements a second, beside libsemigroups."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from bulkbits.options import json_option, one_device_options
from semigroups.cli.options import memory_options, usage_errors

if TYPE_CHECKING:
    from kernels.transformations import Maps

_TIME = 1.0  # seconds that a case takes at most, unless one run does
_ROUNDS = 5
_DEFAULT = ("bihecke:5", "zero_rook:6", "full:6", "symmetric:8")
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
    """Measure how long it takes to find all elements of a FAMILY, as bihecke:5.

    The result is certain and stays where it was computed; generators are made before. Times
    are the least of several rounds. The last column is libsemigroups in the same rounds, where
    libsemigroups_pybind11 is installed: how many times as long it takes, on one core.
    """
    from kernels.targets.choose import pick
    from semigroups.families import Family
    from semigroups.options import maps_of

    place = pick(backend, device=device, threads=threads)
    names = families or (_SLOW if place.is_reference else _DEFAULT)
    with usage_errors():
        cases = [Family.parse(name) for name in names]
    peer = _libsemigroups()
    results = []
    if not as_json:
        click.echo(f"{place.describe()}; least of up to {_ROUNDS} rounds")
        click.echo(
            f"{'':>18} {'elements':>12} {'ms':>10} {'elements/s':>13} {'computed':>13} "
            f"{'deduced':>13} {'GB moved':>9} {'GB/s':>7} {'libsemigroups':>13}"
        )
    for case in cases:
        found = _measured(
            maps_of(case),
            {"backend": place.name, "device": device, "threads": threads, "memory": memory},
            peer,
        )
        results.append({"family": str(case), **found})
        if as_json:
            continue
        ratio = found["libsemigroups_ratio"]
        click.echo(
            f"{case!s:>18} {found['elements']:>12,} {found['seconds'] * 1e3:>10,.2f} "
            f"{found['elements_per_second']:>13,} {found['computed']:>13,} "
            f"{found['deduced']:>13,} {found['bytes_moved'] / 1e9:>9,.3f} "
            f"{found['bytes_moved'] / 1e9 / found['seconds']:>7,.1f} "
            f"{'-' if ratio is None else f'{ratio:,.2f}x':>13}"
        )
    if as_json:
        click.echo(json.dumps({"place": place.describe(), "results": results}))


def _measured(
    generators: Maps, options: dict[str, Any], peer: Callable[[Maps], tuple[int, float]] | None
) -> dict[str, Any]:
    """Measure ours and the peer by turns."""
    from semigroups.semigroup import Semigroup

    mine: list[float] = []
    theirs: list[float] = []
    began = time.perf_counter()
    while not mine or (len(mine) < _ROUNDS and time.perf_counter() - began < _TIME):
        found = Semigroup(generators, **options)
        start = time.perf_counter()
        found.run()
        mine.append(time.perf_counter() - start)
        now = found.progress
        del found  # before the next one takes memory
        if peer is not None:
            size, seconds = peer(generators)
            theirs.append(seconds)
            # It does not count an identity that is no product.
            if now.size not in (size, size + 1):
                raise click.ClickException(
                    f"libsemigroups finds {size:,} elements, not {now.size:,}"
                )
    least = min(mine)
    return {
        "elements": now.size,
        "seconds": least,
        "elements_per_second": round(now.size / least),
        "computed": now.counts.computed,
        "deduced": now.counts.deduced,
        "bytes_moved": now.counts.moved,
        "memory": now.nbytes,
        "libsemigroups_ratio": min(theirs) / least if theirs else None,
    }


def _libsemigroups() -> Callable[[Maps], tuple[int, float]] | None:
    """Return what enumerates with libsemigroups: size and seconds; None without it."""
    try:
        from libsemigroups_pybind11 import FroidurePin, ReportGuard, Transf
    except ImportError:
        return None
    quiet = ReportGuard(False)

    def run(generators: Maps) -> tuple[int, float]:
        assert quiet
        made = FroidurePin([Transf(images) for images in generators.tolist()])
        start = time.perf_counter()
        made.run()
        return made.size(), time.perf_counter() - start

    return run
