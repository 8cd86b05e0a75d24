"""The widget in notebooks: what it answers, and how it looks in JupyterLab."""

from __future__ import annotations

import gzip
import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lifesim import BitGrid, Life, Universe, random_grid
from tests.browsers import Browser
from tests.universes import on_disk
from tests.waiting import until
from ui.web.living import LifeBoard
from ui.web.widget import NoWidgetError, WidgetLink, script, show

SHOTS = os.environ.get("SHOTS")  # a folder for screenshots, to be looked at


class Heard:
    """Keeps what a link has sent."""

    def __init__(self, board: Any) -> None:
        self.said: list[tuple[dict[str, Any], list[bytes]]] = []
        self.link = WidgetLink(
            board, lambda message, buffers=(): self.said.append((message, buffers))
        )

    def ask(self, message: Any) -> tuple[dict[str, Any], list[bytes]]:
        self.link.hear(message)
        return self.said[-1]


@pytest.fixture
def life() -> Life:
    return Life(random_grid(300, 200, 0.4, seed=6), backend="cpu")


@pytest.fixture
def heard(life: Life) -> Iterator[Heard]:
    board = LifeBoard(life)
    yield Heard(board)
    board.close()


def test_facts_and_palettes_come_first(heard: Heard) -> None:
    message, _ = heard.ask({"ask": "facts"})
    assert message["facts"]["population"] == str(heard.link.board.life.population())
    assert set(heard.said[0][0]["palettes"]) == {"dark", "light", "viridis"}


def test_blocks(heard: Heard, life: Life) -> None:
    question = {"ask": "block", "id": "a1", "version": 1, "place": [0, "0", "0", 2, 1], "tag": None}
    message, [body] = heard.ask(question)
    assert message["id"] == "a1"
    tiles = np.frombuffer(gzip.decompress(body), np.uint8).reshape(2, 256, 256)
    assert np.array_equal(tiles[0, :200] > 0, np.asarray(life.grid())[:, :256])
    message, buffers = heard.ask({**question, "tag": message["block"]["tag"]})
    assert message["block"]["same"]
    assert not buffers


@pytest.mark.parametrize(
    "message",
    [
        {"ask": "block", "id": "b"},
        {"ask": "block", "id": "b", "version": 1, "place": [0, 0, 0, 9, 9]},
        {"ask": "block", "id": "b", "version": "x", "place": [0, 0, 0, 1, 1]},
        {"id": "b", "order": {"do": "format"}},
        {"id": "b", "order": None},
        {"id": "b", "order": {"do": "undo"}},
    ],
)
def test_messages_that_are_refused(heard: Heard, message: Any) -> None:
    answer, _ = heard.ask(message)
    assert answer["id"] == "b"
    assert "\n" not in answer["error"]


def test_messages_that_are_none(heard: Heard) -> None:
    for message in (None, 3, "play", [], {}, {"ask": "more"}):
        heard.link.hear(message)
    assert not heard.said


def test_the_script_is_one_module() -> None:
    text = script()
    assert "import " not in text
    assert text.count("export ") == 1


def test_what_a_widget_shows(life: Life) -> None:
    pytest.importorskip("anywidget")
    widget = life.show(height=200)
    assert widget.height == 200
    assert "install it there" in repr(widget)  # which is what is seen without the extension
    widget.close()
    with on_disk(life.grid()) as universe:
        widget = universe.show()
        widget.close()
    with pytest.raises(ValueError, match="high"):
        life.show(height=1 << 20)
    with pytest.raises(NoWidgetError, match="BitGrid"):
        show(life.grid())


def test_without_anywidget(life: Life, monkeypatch: pytest.MonkeyPatch) -> None:
    from ui.web import widget

    monkeypatch.setitem(sys.modules, "anywidget", None)
    widget._widget_class.cache_clear()
    with pytest.raises(NoWidgetError, match=r"pip install 'bulkbits\[notebook\]'"):
        life.show()


# --- in JupyterLab -----------------------------------------------------------------


def notebook(*cells: str) -> str:
    made = [
        {
            "cell_type": "code",
            "id": f"cell{n}",
            "metadata": {},
            "execution_count": None,
            "outputs": [],
            "source": text,
        }
        for n, text in enumerate(cells)
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    about = {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": kernel}}
    return json.dumps({**about, "cells": made})


@contextmanager
def jupyterlab(folder: Path) -> Iterator[str]:
    """Give the address of a JupyterLab on a folder."""
    if find_spec("jupyterlab") is None or find_spec("ipykernel") is None:
        pytest.skip("needs JupyterLab")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    own = {f"JUPYTER_{n}_DIR": str(folder / f".{n}") for n in ("CONFIG", "DATA", "RUNTIME")}
    options = [
        "--no-browser",
        "--allow-root",
        f"--ServerApp.port={port}",
        "--IdentityProvider.token=abc",
        f"--ServerApp.root_dir={folder}",
        "--LabApp.expose_app_in_browser=True",
        "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]
    server = subprocess.Popen(
        [sys.executable, "-m", "jupyterlab", *options],
        env={**os.environ, **own, "IPYTHONDIR": str(folder / ".ipython"), "HOME": str(folder)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )

    def answers() -> bool:
        assert server.poll() is None, "JupyterLab has ended"
        with suppress(OSError):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/api?token=abc").close()
            return True
        return False

    try:
        until(answers)
        yield f"http://127.0.0.1:{port}/lab/tree/NAME?token=abc"
    finally:
        server.send_signal(signal.SIGTERM)
        try:
            server.wait(30)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


@pytest.mark.slow
def test_in_jupyterlab(tmp_path: Path) -> None:
    pytest.importorskip("anywidget")
    gun = Path(__file__).parents[2] / "data" / "patterns" / "gosper-gun.rle"
    with on_disk(random_grid(600, 400, 0.4, seed=7), pyramid=True, folder=tmp_path) as universe:
        universe.close()
        cells = (
            f"from lifesim import Life, Universe\nlife = Life.from_pattern({str(gun)!r})\nlife",
            "life.show(height=260)",
            f"Universe.open({universe.path!r}).show(height=200)",
            "life.animate(30, 2)",
        )
        (tmp_path / "life.ipynb").write_text(notebook(*cells))
        viewer = "[...document.querySelectorAll('.lifesim')].map((one) => one.lifesimViewer)"
        with jupyterlab(tmp_path) as address, Browser(1100, 1400) as browser:
            browser.open(address.replace("NAME", "life.ipynb"))
            browser.until("globalThis.jupyterapp !== undefined")
            browser.value("jupyterapp.restored.then(() => 1)")
            browser.until("document.querySelectorAll('.jp-Notebook .jp-Cell').length === 4")
            browser.until(
                "[...jupyterapp.shell.widgets('main')][0]?.sessionContext?.session?.kernel?.status"
                " === 'idle'"
            )
            browser.value("jupyterapp.commands.execute('notebook:run-all-cells').then(() => 1)")
            browser.until(f"{viewer}.filter((one) => one?.coverage === 1).length === 2")
            browser.until("document.querySelector('img[src^=\"data:image/gif\"]') !== null")
            if SHOTS:
                browser.picture(Path(SHOTS) / "lab.png")
            heights = "[...document.querySelectorAll('.lifesim')].map((one) => one.clientHeight)"
            assert browser.value(heights) == [260, 200]
            assert browser.value(f"{viewer}[1].facts.generation") == "0"
            assert browser.value(f"{viewer}[1].facts.box") == ["0", "0", "600", "400"]
            browser.until(f"{viewer}[0].facts.generation === '30'")
            browser.value(f"{viewer}[0].buttons.play.click()")
            browser.until(f"Number({viewer}[0].facts.generation) > 40")
            browser.value(f"{viewer}[0].buttons.play.click()")
            browser.until(f"!{viewer}[0].facts.running")
            before = int(browser.value(f"{viewer}[0].facts.population"))
            browser.value(
                f"{viewer}[0].order({{do: 'draw', points: [['-20', '-20']], state: 1, stroke: 1}})"
            )
            browser.until(f"{viewer}[0].facts.population === '{before + 1}'")
            browser.until(f"{viewer}[0].lives(-20n, -20n)")
            browser.value(f"{viewer}[0].order({{do: 'undo'}})")
            browser.until(f"{viewer}[0].facts.population === '{before}'")
            if SHOTS:
                browser.picture(Path(SHOTS) / "lab-after.png")
            browser.value(f"{viewer}[0].canvas.focus()")
            for _ in range(2):  # twice it would be JupyterLab's key to delete the cell
                browser.do("Input.dispatchKeyEvent", type="keyDown", key="d", code="KeyD", text="d")
            browser.until(f"{viewer}[0].drawing === false")
            browser.do("Input.dispatchKeyEvent", type="keyDown", key="f", code="KeyF", text="f")
            browser.do("Input.dispatchKeyEvent", type="keyDown", key="+", text="+")
            assert browser.value("document.querySelectorAll('.jp-Notebook .jp-Cell').length") == 4
            assert Universe.open(universe.path).generation == 0


def test_drawing_in_a_widget_changes_the_life() -> None:
    empty = Life(BitGrid(16, 16), backend="cpu")
    board = LifeBoard(empty)
    heard = Heard(board)
    heard.link.hear({"order": {"do": "draw", "points": [[1, 2], [3, 2]]}})
    assert empty.grid().cells().tolist() == [[1, 2], [2, 2], [3, 2]]
    board.close()
