"""What the viewer's frames take: of a universe in memory at every zoom, and of one on disk.

    python -m benchmarks.frames [--size 32768] [--window 1920x1080] [--disk FOLDER] [--json]

In memory: frames of a soup, at every scale, from places all over it, one after the other as
a view that is moved asks for them. On disk, with --disk: a stand-in for a universe of
--disk-size is made in FOLDER, of a few tile files that take the place of all; then, each time in
a process of its own, from opening it until there is a first picture, and until that is exact, of
all of it and of its middle at every scale. Files are read past the system's cache where they
can be. --look DIRECTORY does the same to a universe that is there.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np

from kernels.cpu import core_count
from lifesim.cli.options import Size
from lifesim.grid import BitGrid, Box
from lifesim.render import format_scale
from lifesim.rule import LIFE
from lifesim.soup import Soup
from lifesim.store.making import Making
from lifesim.store.tilejob import TileJob
from lifesim.store.tiling import tile_universe
from lifesim.store.workers import Workers
from ui.disk.session import DiskSession
from ui.picture.draw import draw
from ui.picture.live import Aim
from ui.picture.request import FrameRequest
from ui.picture.sources import MemorySource
from ui.picture.viewport import NEAREST, Viewport
from ui.session import Event

ROOT = Path(__file__).parents[1]
_SOUPS = 4  # files of the stand-in that hold life
_DENSITY = 0.37
_PATIENCE = 120.0  # seconds until a picture must be exact


@click.command()
@click.option("--size", type=Size(), default=(32768, 32768), help="In memory. [32768]")
@click.option("--window", type=Size(), default=(1920, 1080), help="In pixels. [1920x1080]")
@click.option("--frames", default=100, help="At each scale. [100]")
@click.option("--disk", "folder", type=click.Path(exists=True, file_okay=False))
@click.option("--disk-size", type=Size(), default=(1 << 18, 1 << 18), help="[256K]")
@click.option("--every", "shares", multiple=True, type=int, default=(16, 1),
              help="On disk one tile in so many holds life. [16, then 1]")  # fmt: skip
@click.option("--look", "looked", type=click.Path(exists=True, file_okay=False))
@click.option("--json", "as_json", is_flag=True)
def main(
    size: tuple[int, int],
    window: tuple[int, int],
    frames: int,
    folder: str | None,
    disk_size: tuple[int, int],
    shares: tuple[int, ...],
    looked: str | None,
    as_json: bool,
) -> None:
    if looked:
        found: dict[str, Any] = look(looked, window)
        click.echo(json.dumps(found) if as_json else _disk_table(found))
        return
    found = {"memory": in_memory(size, window, frames), "disk": []}
    if not as_json:
        click.echo(_memory_table(found["memory"]))
    for every in shares if folder else ():
        path = Path(str(folder)) / f"stand-in-{every}"
        stand_in(path, disk_size, every)
        command = [
            sys.executable,
            "-m",
            "benchmarks.frames",
            "--look",
            str(path.absolute()),
            "--json",
        ]
        command += ["--window", "{}x{}".format(*window)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        facts = {"every": every, **json.loads(done.stdout)}
        found["disk"].append(facts)
        if not as_json:
            click.echo(f"\none tile in {every} holds life")
            click.echo(_disk_table(facts))
    if as_json:
        click.echo(json.dumps(found))


# --- in memory -----------------------------------------------------------------


def in_memory(size: tuple[int, int], window: tuple[int, int], frames: int) -> dict[str, Any]:
    """Seconds of frames, by scale."""
    grid = BitGrid(*size)
    Soup(_DENSITY, 1).fill_grid(grid)
    source = MemorySource(grid)
    began = time.perf_counter()
    top = source.pyramid.top
    made = time.perf_counter() - began
    rng = np.random.default_rng(1)
    rows, every = [], []
    for scale in range(NEAREST, top + 1):
        times = []
        for _ in range(frames):
            corner = [
                _within(rng, -(-cells >> scale) if scale > 0 else cells << -scale, pixels)
                for cells, pixels in zip(size, window, strict=True)
            ]
            request = FrameRequest(Viewport(*corner, scale, *window))
            began = time.perf_counter()
            draw(request, source)
            times.append(time.perf_counter() - began)
        every += times
        rows.append({"scale": scale, **_spread(times)})
    return {"size": size, "window": window, "pyramid": made, "rows": rows, **_spread(every)}


def _within(rng: np.random.Generator, universe: int, window: int) -> int:
    """A first pixel of a window that lies in the universe, or has it in its middle."""
    spare = universe - window
    return int(rng.integers(0, spare + 1)) if spare >= 0 else spare // 2


def _spread(times: list[float]) -> dict[str, float]:
    return {
        "median": float(np.median(times)),
        "most": float(np.percentile(times, 99)),
    }


def _memory_table(facts: dict[str, Any]) -> str:
    lines = [
        "{}x{} cells in memory, a window of {}x{} pixels; ".format(*facts["size"], *facts["window"])
        + f"pyramid in {facts['pyramid']:.2f} s",
        "",
        "| scale | median, ms | 99 %, ms |",
        "| --- | --- | --- |",
    ]
    lines += [
        f"| {format_scale(row['scale'])} | {1e3 * row['median']:.2f} | {1e3 * row['most']:.2f} |"
        for row in facts["rows"]
    ]
    lines.append(f"| all | {1e3 * facts['median']:.2f} | {1e3 * facts['most']:.2f} |")
    return "\n".join(lines)


# --- on disk -------------------------------------------------------------------


def stand_in(path: Path, size: tuple[int, int], every: int) -> None:
    """A universe of which one tile in so many holds a soup, all of them from a few files, and
    the others are dead, all of them one file: to be looked at, not to be run."""
    tiling = tile_universe(*size, True)
    making = Making(path, tiling, rule=LIFE, origin="a stand-in")
    made: dict[tuple[int, tuple[int, int]], Any] = {}
    with Workers(core_count()) as workers:
        for tile in range(len(tiling)):
            box = tiling.box(tile)
            kind = 0 if tile % every else 1 + tile // every % _SOUPS
            key = kind, (box.width, box.height)
            if key not in made:
                fetch = partial(_fetch, kind, box)
                form = making.universe.manifest.form
                job = TileJob(partial(making.writer, tile), box, form, fetch, workers)
                made[key] = job.finish()
            making.add(tile, made[key])
    making.finish().close()


def _fetch(kind: int, box: Box, y: int, words: Any) -> None:
    if kind:
        Soup(_DENSITY, kind).fill(words, y, 0, box.width)
    else:
        words[:] = 0


def look(path: str, window: tuple[int, int]) -> dict[str, Any]:
    """Seconds until there is a picture of a universe directory, and until it is exact."""
    empty = _peak()
    arrived = threading.Event()
    began = time.perf_counter()
    session = DiskSession.open(path)
    try:
        session.listen(lambda event: arrived.set() if event is Event.CELLS else None)
        # As a window does: where is there life?
        view = Viewport.fitting(Box(0, 0, session.width, session.height), *window)
        view, _ = Aim(fit=True).taken(session.source(FrameRequest(view)), view)
        rows = [_sharpened(session, view, arrived, began)]
        for scale in range(view.scale - 1, NEAREST - 1, -1):
            middle = Viewport(0, 0, scale, *window)
            middle = middle.centred(session.width // 2, session.height // 2)
            rows.append(_sharpened(session, middle, arrived, time.perf_counter()))
        size = session.width, session.height
    finally:
        session.close()
    problem = session.status().problem
    return {"size": size, "problem": problem, "rows": rows, "memory": _peak(), "before": empty}


def _sharpened(
    session: DiskSession, view: Viewport, arrived: threading.Event, began: float
) -> dict[str, float]:
    request, first, longest = FrameRequest(view), 0.0, 0.0
    while True:
        arrived.clear()
        start = time.perf_counter()
        source = session.source(request)
        draw(request, source)
        now = time.perf_counter()
        first = first or now - began
        longest = max(longest, now - start)
        if not source.missing:
            return {"scale": view.scale, "first": first, "exact": now - began, "longest": longest}
        if session.status().problem or now - began > _PATIENCE:
            raise click.ClickException(session.status().problem or "no exact picture")
        arrived.wait(1.0)


def _peak() -> int:
    """Bytes of memory that this process has had at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _disk_table(facts: dict[str, Any]) -> str:
    lines = [
        "{}x{} cells on disk; ".format(*facts["size"])
        + f"at most {facts['memory'] / 2**20:.0f} MiB of memory, "
        f"{facts['before'] / 2**20:.0f} of it before",
        "",
        "| scale | first picture, ms | exact picture, ms | longest frame, ms |",
        "| --- | --- | --- | --- |",
    ]
    lines += [
        f"| {format_scale(row['scale'])} | {1e3 * row['first']:.1f} | {1e3 * row['exact']:.1f} "
        f"| {1e3 * row['longest']:.1f} |"
        for row in facts["rows"]
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
