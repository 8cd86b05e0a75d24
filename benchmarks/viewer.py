"""What is felt in the viewer's window: how soon it is there, how it follows hands, how it stops.

    python -m benchmarks.viewer [--side 4096 --side 32768] [--rule 345/2/4] [--window 1920x1080]
        [--disk FOLDER]

Windows without a screen, each in a process of its own. In memory: a soup of Life or another rule;
the view is moved by a few pixels again and again, at rest and while the engine runs flat out, until
the picture of where it was moved to is painted; runs are stopped at any moment. On disk, with
--disk: the stand-in of benchmarks.frames, all of it alive, or with --look DIRECTORY a universe that
is there: to the first picture, from opening it and from the start of the process; then moves at
every scale, and how much memory the process has at most. --json says it all for programs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import numpy as np
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication

from benchmarks.frames import ROOT, peak, stand_in
from lifesim.cli.options import Size
from lifesim.render import format_scale
from lifesim.rule import Rule
from ui import opening
from ui.launch import ViewLaunch
from ui.picture.viewport import NEAREST
from ui.qt.app import application
from ui.qt.dialogs import Dialogs, UnsavedAnswer
from ui.qt.window import LifeWindow
from ui.session import Session

_DENSITY = 0.37
_PATIENCE = 120.0  # seconds
_STEP = 7, 5  # pixels that a view is moved by
_SCALES = 0, 2
_DISK_MOVES = 5  # at each scale
_WINDOW, _DISK, _RUNNING, _STOP = 2.0, 1.0, 0.05, 0.1  # seconds that are asked for
_MEMORY = 1 << 30  # bytes


@click.command()
@click.option("--side", "sides", multiple=True, type=int, default=(4096, 32768))
@click.option("--rule", default="B3/S23", help="Of all universes but --look's. [B3/S23]")
@click.option("--window", type=Size(), default=(1920, 1080), help="In pixels. [1920x1080]")
@click.option("--moves", default=60, help="Of each view. [60]")
@click.option("--stops", default=12, help="Of runs. [12]")
@click.option("--disk", "folder", type=click.Path(exists=True, file_okay=False))
@click.option("--disk-size", type=Size(), default=(1 << 18, 1 << 18), help="[256K]")
@click.option("--look", "looked", type=click.Path(exists=True, file_okay=False))
@click.option("--json", "as_json", is_flag=True)
@click.option("--one", type=(str, float), hidden=True)  # a child: what to show, when it began
def main(  # each parameter is an option, or an argument
    sides: tuple[int, ...],
    rule: str,
    window: tuple[int, int],
    moves: int,
    stops: int,
    folder: str | None,
    disk_size: tuple[int, int],
    looked: str | None,
    as_json: bool,
    one: tuple[str, float] | None,
) -> None:
    if one:
        what, began = one
        if what.isdigit():
            click.echo(json.dumps(in_memory(int(what), rule, window, moves, stops)))
        else:
            click.echo(json.dumps(on_disk(what, window, began)))
        return
    shown = [str(side) for side in sides]
    if looked:
        shown.append(os.path.abspath(looked))
    if folder:
        shown.append(str(stand_in(Path(folder).absolute(), disk_size, 1, Rule.parse(rule))))
    found = []
    for what in shown:
        command = [sys.executable, "-m", "benchmarks.viewer", "--window", "{}x{}".format(*window)]
        command += ["--moves", str(moves), "--stops", str(stops), "--rule", rule]
        command += ["--one", what, str(time.time())]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        found.append(json.loads(done.stdout))
        if not as_json:
            click.echo(table(found[-1]) + "\n")
    if as_json:
        click.echo(json.dumps(found))


# --- what is measured ----------------------------------------------------------


def in_memory(
    side: int, rule: str, window: tuple[int, int], moves: int, stops: int
) -> dict[str, Any]:
    """Seconds: of each thing a list."""
    app = application("lifesim")
    session = opening.random(side, side, _DENSITY, 1, rule)
    began = time.perf_counter()
    with _opened(session, window) as shown:
        rows = [_row("window to first picture", [time.perf_counter() - began], _WINDOW)]
        run = shown.registry.run
        run("control.rate-all")
        for running in (False, True):
            if running:
                session.start()
                _until(app, lambda: session.status().running)
            how = "while it runs" if running else "at rest"
            for scale in (None, *_SCALES):
                if scale is None:
                    run("view.fit-universe")
                else:
                    shown.canvas.zoom_to(scale)
                name = "all in view" if scale is None else format_scale(scale)
                times = [_moved(app, shown) for _ in range(moves)]
                asked = _RUNNING if running else None
                rows.append(_row(f"move to picture {how}, {name}", times, asked))
        rate = session.status().rate
        rows.append(_row("stop", [_stopped(app, session, n) for n in range(stops)], _STOP))
    return {"size": (side, side), "where": session.where, "rate": rate, "rows": rows}


def on_disk(path: str, window: tuple[int, int], began: float) -> dict[str, Any]:
    """began: when the process did, by time.time()."""
    app = application("lifesim")
    empty, opened = peak(), time.time()
    session = opening.open(path)
    with _opened(session, window) as shown:
        now = time.time()
        rows = [
            _row("universe to first picture", [now - opened], _DISK),
            _row("process to first picture", [now - began], _WINDOW),
            _row("of that, work of its own", [time.process_time()]),
        ]
        shown.registry.run("view.fit-universe")
        for scale in range(shown.canvas.view.viewport.scale, NEAREST - 1, -1):
            shown.canvas.zoom_to(scale)
            times = [_moved(app, shown) for _ in range(_DISK_MOVES)]
            rows.append(_row(f"move to picture, {format_scale(scale)}", times))
        size = session.width, session.height
    return {"size": size, "before": empty, "memory": peak(), "rows": rows}


def _row(what: str, times: list[float], asked: float | None = None) -> dict[str, Any]:
    return {"what": what, "asked": asked, "times": times}


class _Discarding(Dialogs):
    """Answers for people."""

    def unsaved(self, name: str) -> UnsavedAnswer:
        return UnsavedAnswer.DISCARD


@contextmanager
def _opened(session: Session, size: tuple[int, int]) -> Iterator[LifeWindow]:
    """A window, with its first picture; closed with the session."""
    app = application("lifesim")
    with tempfile.TemporaryDirectory() as folder:
        settings = QSettings(os.path.join(folder, "s.ini"), QSettings.Format.IniFormat)
        window = LifeWindow(session, ViewLaunch().pick(), settings)
        window.dialogs = _Discarding(window)
        window.resize(*size)
        window.show()
        try:
            _until(app, lambda: _is_current(window))
            yield window
        finally:
            window.close()
            app.processEvents()


def _is_current(window: LifeWindow) -> bool:
    frame = window.canvas.frame
    return frame is not None and frame.request.viewport == window.canvas.view.viewport


def _moved(app: QApplication, window: LifeWindow) -> float:
    began = time.perf_counter()
    window.canvas.pan(*_STEP)
    _until(app, lambda: _is_current(window))
    window.canvas.repaint()
    taken = time.perf_counter() - began
    _rest(app, 0.01)
    return taken


def _stopped(app: QApplication, session: Session, number: int) -> float:
    session.start()
    _until(app, lambda: session.status().running)
    _rest(app, 0.3 + 0.137 * (number % 7))
    began = time.perf_counter()
    session.stop()
    _until(app, lambda: not session.status().running)
    return time.perf_counter() - began


def _until(app: QApplication, condition: Callable[[], bool]) -> None:
    end = time.perf_counter() + _PATIENCE
    while not condition():
        if time.perf_counter() > end:
            raise click.ClickException(f"nothing has come for {_PATIENCE:g} seconds")
        app.processEvents()
        time.sleep(0.0005)


def _rest(app: QApplication, seconds: float) -> None:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        app.processEvents()
        time.sleep(0.001)


# --- how it is told ------------------------------------------------------------


def table(facts: dict[str, Any]) -> str:
    size = "{}x{}".format(*facts["size"])
    if "memory" in facts:
        head = (
            f"{size} cells on disk; at most {facts['memory'] / 2**20:.0f} MiB of memory "
            f"({_MEMORY / 2**20:.0f} asked), {facts['before'] / 2**20:.0f} of it before"
        )
    else:
        head = f"{size} cells in memory, {facts['where']}: {facts['rate'] / 1e9:.1f}e9 updates/s"
    lines = [
        head,
        "",
        "| what | median, ms | 95 %, ms | most, ms | asked, ms |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for row in facts["rows"]:
        times = [np.median(row["times"]), np.percentile(row["times"], 95), max(row["times"])]
        cells = " | ".join(f"{1e3 * seconds:.1f}" for seconds in times)
        asked = f"{1e3 * row['asked']:.0f}" if row["asked"] else ""
        lines.append(f"| {row['what']} | {cells} | {asked} |")
    return "\n".join(lines)


if __name__ == "__main__":
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    main()
