"""What the viewer's frames take: of a universe in memory at every zoom, and of one on disk.

    python -m benchmarks.frames [--size 32768] [--window 1920x1080] [--ages] [--disk FOLDER]

In memory: frames of a soup, at every scale, from places all over it, one after the other as
a view that is moved asks for them; or with --ages, coloured by age, of a view that stays while
the cells live on. On a busy machine the worst times are those of the machine: so it is said how
many frames were interrupted for somebody else, and how long the others took; and after every
frame, what it was drawn from is copied for as long as half of the frames take, again and again,
to see how late that is.

On disk, with --disk: a stand-in for a universe of --disk-size is made in FOLDER, of a few tile
files that take the place of all; then, each time in a process of its own, from opening it until
there is a first picture, and until that is exact, of all of it and of its middle at every scale.
Files are read past the system's cache where they can be. --look DIRECTORY does the same to a
universe that is there. --json says it all for programs.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import threading
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np
import numpy.typing as npt

from kernels.targets.cpu import core_count
from lifesim.cli.options import Size
from lifesim.grid import BitGrid, Box
from lifesim.render import format_scale
from lifesim.rule import LIFE, Rule
from lifesim.soup import Soup
from lifesim.store.making import UniverseBuilder
from lifesim.store.names import tile_name
from lifesim.store.tilejob import TileJob
from lifesim.store.tiling import tile_universe
from lifesim.store.workers import TileWorkers
from ui.disk.session import DiskSession
from ui.picture.ages import Ages
from ui.picture.draw import draw
from ui.picture.live import Aim
from ui.picture.pyramid import FIRST
from ui.picture.request import FARTHEST_AGES, FrameRequest
from ui.picture.sources import MemorySource
from ui.picture.viewport import NEAREST, Viewport
from ui.session import Event

ROOT = Path(__file__).parents[1]
_SOUPS = 4  # files of the stand-in that hold life
_DENSITY = 0.37
_ROWS = 32  # that are copied between two looks at the clock
_PATIENCE = 120.0  # seconds until a picture must be exact


@click.command()
@click.option("--size", type=Size(), default=(32768, 32768), help="In memory. [32768]")
@click.option("--window", type=Size(), default=(1920, 1080), help="In pixels. [1920x1080]")
@click.option("--frames", default=100, help="At each scale. [100]")
@click.option("--ages", is_flag=True, help="Frames of a run, coloured by age.")
@click.option("--disk", "folder", type=click.Path(exists=True, file_okay=False))
@click.option("--disk-size", type=Size(), default=(1 << 18, 1 << 18), help="[256K]")
@click.option("--every", "shares", multiple=True, type=int, default=(16, 1),
              help="On disk one tile in so many holds life. [16, then 1]")  # fmt: skip
@click.option("--rule", default="B3/S23", help="Of the stand-in. [B3/S23]")
@click.option("--look", "looked", type=click.Path(exists=True, file_okay=False))
@click.option("--json", "as_json", is_flag=True)
def main(  # each parameter is an option, or an argument
    size: tuple[int, int],
    window: tuple[int, int],
    frames: int,
    ages: bool,
    folder: str | None,
    disk_size: tuple[int, int],
    shares: tuple[int, ...],
    rule: str,
    looked: str | None,
    as_json: bool,
) -> None:
    if looked:
        found: dict[str, Any] = look(looked, window)
        click.echo(json.dumps(found) if as_json else _disk_table(found))
        return
    found = {"memory": in_memory(size, window, frames, ages), "disk": []}
    if not as_json:
        click.echo(_memory_table(found["memory"]))
    for every in shares if folder else ():
        path = stand_in(Path(str(folder)), disk_size, every, Rule.parse(rule))
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


def in_memory(
    size: tuple[int, int], window: tuple[int, int], frames: int, ages: bool = False
) -> dict[str, Any]:
    """Seconds of frames, by scale."""
    grid = BitGrid(*size)
    Soup(_DENSITY, 1).fill_grid(grid)
    source = MemorySource(grid)
    began = time.perf_counter()
    top = source.pyramid.top
    made = time.perf_counter() - began
    rng = np.random.default_rng(1)
    rows: list[dict[str, Any]] = []
    every = Times()
    for scale in range(NEAREST, FARTHEST_AGES + 1 if ages else top + 1):
        times, seen = Times(), Ages()
        for number in range(frames):
            if not ages or number == 0:
                corner = [
                    _within(rng, -(-cells >> scale) if scale > 0 else cells << -scale, pixels)
                    for cells, pixels in zip(size, window, strict=True)
                ]
            request = FrameRequest(Viewport(*corner, scale, *window), ages=ages)
            if ages:
                part = _bytes_of(request.viewport, source)
                # A cell of every word, but the last one, which may have padding.
                part[:, :-1] ^= np.uint64(1) << np.uint64(7 * number % 64)
                source = MemorySource(grid, number)
            with times:
                draw(request, seen.seen(request, source))
            times.copy(_bytes_of(request.viewport, source))
        rows.append({"scale": scale, **times.facts()})
        every.add(times)
    return {"size": size, "window": window, "pyramid": made, "rows": rows, **every.facts()}


class Times:
    """The times of frames, each of them a block that this is the context of."""

    def __init__(self) -> None:
        self._taken: list[float] = []
        self._work: list[float] = []  # of the thread itself
        self._alone: list[bool] = []  # whether the thread kept its core
        self._copies: list[float] = []

    def __enter__(self) -> None:
        self._switches, self._worked = _switches(), time.thread_time()
        self._began = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self._taken.append(time.perf_counter() - self._began)
        self._work.append(time.thread_time() - self._worked)
        self._alone.append(_switches() == self._switches)

    def copy(self, part: npt.NDArray[Any]) -> None:
        """Copies it, a few rows at a time, for as long as half of the frames take at most."""
        target, row = np.empty_like(part[:_ROWS]), 0
        most, began = float(np.median(self._taken)), time.perf_counter()
        while time.perf_counter() - began < most:
            rows = part[row : row + _ROWS]
            target[: len(rows)] = rows
            row = row + _ROWS if row + _ROWS < len(part) else 0
        self._copies.append(time.perf_counter() - began)

    def add(self, other: Times) -> None:
        self._taken += other._taken
        self._work += other._work
        self._alone += other._alone
        self._copies += other._copies

    def facts(self) -> dict[str, Any]:
        """work: median of CPU time. most: 99 % take no longer. interrupted: a share. alone:
        `most` of the others; None where there are none. copy: `most` of copying for as long as
        the median."""
        alone = [taken for taken, alone in zip(self._taken, self._alone, strict=True) if alone]
        return {
            "median": float(np.median(self._taken)),
            "work": float(np.median(self._work)),
            "most": float(np.percentile(self._taken, 99)),
            "interrupted": 1 - len(alone) / len(self._taken),
            "alone": float(np.percentile(alone, 99)) if alone else None,
            "copy": float(np.percentile(self._copies, 99)),
        }


def _switches() -> int:
    """Count how often this thread had to leave its core to another."""
    return resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw


def _bytes_of(view: Viewport, source: MemorySource) -> npt.NDArray[Any]:
    """Return how many bytes of cells a frame is drawn from."""
    box = view.box.common(Box(0, 0, source.width, source.height))
    assert box is not None
    if view.scale < FIRST:
        return source.grid.words[
            box.y : box.y + box.height, box.x >> 6 : (box.x + box.width >> 6) + 1
        ]
    x, y = box.x >> view.scale, box.y >> view.scale
    return source.pyramid.level(view.scale)[y : y + view.height, x : x + view.width]


def _within(rng: np.random.Generator, universe: int, window: int) -> int:
    """A first pixel of a window that lies in the universe, or has it in its middle."""
    spare = universe - window
    return int(rng.integers(0, spare + 1)) if spare >= 0 else spare // 2


def _memory_table(facts: dict[str, Any]) -> str:
    lines = [
        "{}x{} cells in memory, a window of {}x{} pixels; ".format(*facts["size"], *facts["window"])
        + f"pyramid in {facts['pyramid']:.2f} s",
        "",
        "| scale | median, ms | CPU time | 99 % | interrupted | 99 % of others | 99 % of copying |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    lines += [_memory_row(format_scale(row["scale"]), row) for row in facts["rows"]]
    return "\n".join([*lines, _memory_row("all", facts)])


def _memory_row(name: str, facts: dict[str, Any]) -> str:
    alone = f"{1e3 * facts['alone']:.2f}" if facts["alone"] is not None else "none"
    return (
        f"| {name} | {1e3 * facts['median']:.2f} | {1e3 * facts['work']:.2f} "
        f"| {1e3 * facts['most']:.2f} "
        f"| {facts['interrupted']:.0%} | {alone} | {1e3 * facts['copy']:.2f} |"
    )


# --- on disk -------------------------------------------------------------------


def stand_in(folder: Path, size: tuple[int, int], every: int, rule: Rule = LIFE) -> Path:
    """A universe in a folder, unless it is there: one tile in so many holds a soup, all of them
    from a few files, and the others are dead, all of them one file, by many names: to be looked
    at, not to be run."""
    path = folder / "stand-in-{}{}-{}x{}".format(every, f"-{rule.states}" * (rule != LIFE), *size)
    if path.exists():
        return path
    tiling = tile_universe(*size, True, planes=rule.planes)
    making = UniverseBuilder(path, tiling, rule=rule, origin="a stand-in")
    made: dict[tuple[int, tuple[int, int]], Any] = {}
    with TileWorkers(core_count()) as workers:
        for tile in range(len(tiling)):
            box = tiling.box(tile)
            kind = 0 if tile % every else 1 + tile // every % _SOUPS
            key = kind, (box.width, box.height)
            if key not in made:
                fetch = partial(_fetch, kind, rule.states, box)
                form = making.universe.manifest.form
                job = TileJob(partial(making.writer, tile), box, form, fetch, workers)
                made[key] = job.finish()
            # Each tile has a name of its own for the file.
            name = tile_name(*divmod(tile, tiling.across), 0)
            if name != made[key].file:
                files = Path(making.universe.tiles_folder)
                (files / name).hardlink_to(files / made[key].file)
            making.add(tile, replace(made[key], file=name))
    making.finish().close()
    return path


def _fetch(kind: int, states: int, box: Box, y: int, words: Any) -> None:
    if kind:
        Soup(_DENSITY, kind).source(states)(words, y, 0, box.width)
    else:
        words[:] = 0


def look(path: str, window: tuple[int, int]) -> dict[str, Any]:
    """Seconds until there is a picture of a universe directory, and until it is exact."""
    empty = peak()
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
    return {"size": size, "problem": problem, "rows": rows, "memory": peak(), "before": empty}


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


def peak() -> int:
    """Bytes of memory that this process has had at most: getrusage() counts those of the one
    that has started it, too."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


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
