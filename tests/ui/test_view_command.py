"""`lifesim view` before there is a window: what it refuses, and how it says so."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kernels.targets.choose import pick
from lifesim import patterns
from lifesim.errors import LifesimError
from lifesim.grid import BitGrid
from lifesim.patterns import Pattern
from lifesim.rule import Rule
from lifesim.topology import Topology
from tests.waiting import until
from ui import cli
from ui.launch import ViewLaunch
from ui.session import SessionError

HAS_QT = importlib.util.find_spec("PySide6") is not None
ROOT = str(Path(__file__).parents[2])
PROGRAM = (
    "import sys; from bulkbits import entry; from ui.cli import command; import click\n"
    "group = click.Group(commands={'view': command})\n"
    "entry.run(group, 'lifesim')"
)


def start(*arguments: str, **environment: str) -> subprocess.Popen[str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    }
    command = [sys.executable, "-c", PROGRAM, "view", *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, cwd=ROOT, env=kept | environment
    )


def refused(*arguments: str, **environment: str) -> str:
    """The one line that it says, and code 2."""
    process = start(*arguments, **environment)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (2, ""), err
    assert err.startswith("lifesim: ")
    assert err.count("\n") == 1
    return err


@pytest.mark.skipif(HAS_QT, reason="Qt is installed")
def test_without_qt() -> None:
    assert "pip install 'bulkbits[gui]'" in refused()


def test_without_qt_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(cli.NoWindowError, match=r"bulkbits\[gui\]"):
        cli.check_display()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="others always have a screen")
def test_without_a_display(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(cli.NoWindowError, match="there is no display"):
        cli.check_display()
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    cli.check_display()


@pytest.mark.skipif(not HAS_QT, reason="needs Qt")
def test_a_display_that_cannot_be_reached_is_no_abort() -> None:
    assert "no window can be opened" in refused(DISPLAY=":987", QT_QPA_PLATFORM="xcb")
    assert "nonsense" in refused(QT_QPA_PLATFORM="nonsense")


@pytest.mark.skipif(not HAS_QT, reason="needs Qt")
def test_bad_arguments(tmp_path: Path) -> None:
    assert "unknown rule" in refused("--rule", "nonsense", QT_QPA_PLATFORM="offscreen")
    text = refused(str(tmp_path), "--size", "5", QT_QPA_PLATFORM="offscreen")
    assert "is a directory" in text


@pytest.mark.sample(1)
@pytest.mark.skipif(not HAS_QT, reason="needs Qt")
@pytest.mark.parametrize("path", [[], ["-"]])
def test_interrupting_it_closes_the_window(tmp_path: Path, path: list[str]) -> None:
    """Ctrl-C closes the window, even while it waits for standard input, which never ends."""
    home = str(tmp_path)
    process = start(
        *path, "--theme", "light", QT_QPA_PLATFORM="offscreen", HOME=home, XDG_CONFIG_HOME=home
    )  # fmt: skip
    assert process.stdout
    assert process.stderr
    kept = tmp_path / "bulkbits" / "lifesim.conf"
    try:
        end = time.monotonic() + 30
        while not kept.exists() and process.poll() is None and time.monotonic() < end:
            time.sleep(0.05)  # the theme is written when the window is there
        process.send_signal(signal.SIGINT)
        process.wait(30)
    finally:
        process.kill()
    assert (process.returncode, process.stdout.read(), process.stderr.read()) == (130, "", "")
    process.communicate()
    assert "geometry" in kept.read_text()


@pytest.mark.skipif(not HAS_QT, reason="needs Qt")
def test_it_ends_while_the_plots_are_still_being_loaded(tmp_path: Path) -> None:
    slow = tmp_path / "pyqtgraph.py"
    slow.write_text(
        "import time, pathlib\npathlib.Path(__file__).with_name('begun').touch()\n"
        "while True: time.sleep(0.01)\n"
    )
    home = str(tmp_path)
    process = start(
        "--theme", "light",
        QT_QPA_PLATFORM="offscreen", HOME=home, XDG_CONFIG_HOME=home, PYTHONPATH=home,
    )  # fmt: skip
    kept = tmp_path / "bulkbits" / "lifesim.conf"
    try:
        until(lambda: kept.exists() and (tmp_path / "begun").exists())
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
    assert (process.returncode, out, err) == (130, "", "")
    assert "geometry" in kept.read_text()


def glider(folder: Path, side: int = 3) -> str:
    cells = [(1, 0), (2, 1), (0, 2), (1, 2), (2, 2), (side - 1, side - 1)]
    path = str(folder / "glider.rle")
    patterns.write(Pattern(BitGrid.from_cells(side, side, cells)), path)
    return path


def test_what_a_window_begins_with(tmp_path: Path) -> None:
    backend = pick("auto", threads=1)
    session = ViewLaunch(size=(30, 20), rule=Rule.parse("B2/S")).session(backend)
    assert (session.width, session.height, str(session.rule)) == (30, 20, "B2/S")
    assert session.status().generation == 0
    session.close()
    path = glider(tmp_path)
    session = ViewLaunch(path, topology=Topology.PLANE, size=(30, 20)).session(backend)
    assert (session.width, session.height, session.topology) == (30, 20, Topology.PLANE)
    assert session.path == path
    session.close()
    session = ViewLaunch(glider(tmp_path, 5000), rule=Rule.parse("B2/S")).session(backend)
    assert (session.topology, str(session.rule)) == (Topology.PLANE, "B2/S")
    assert not session.is_bounded
    assert min(session.width, session.height) > 5000
    session.close()
    with pytest.raises(LifesimError, match="2x2"):
        ViewLaunch(path, size=(2, 2)).session(backend)
    with pytest.raises(SessionError, match="is a directory"):
        ViewLaunch(str(tmp_path), size=(9, 9)).check()


def test_topologies_of_a_window(tmp_path: Path) -> None:
    backend = pick("auto", threads=1)
    path = glider(tmp_path)
    for topology, size, bounds in [
        ("unbounded", None, (0, 0)),
        ("T9,8", None, (9, 8)),
        ("plane", (9, 8), (9, 8)),
    ]:
        for source in (path, None):
            launch = ViewLaunch(source, topology=topology, size=size)
            launch.check()
            session = launch.session(backend)
            assert session.is_bounded == any(bounds)
            assert bounds in ((0, 0), (session.width, session.height))
            session.close()
    with pytest.raises(LifesimError, match="what the window shows is a torus or a plane, not a K"):
        ViewLaunch(path, topology="klein").check()
    with pytest.raises(LifesimError, match="has no size"):
        ViewLaunch(None, topology="unbounded", size=(9, 9)).check()
    Path(path).write_text("x = 1, y = 1, rule = B3/S23:S9\no!\n")
    with pytest.raises(SessionError, match=r"glider.rle: what the window shows .* not a sphere"):
        ViewLaunch(path).session(backend)
