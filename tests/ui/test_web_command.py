"""What `lifesim serve` refuses, and what it prints."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

pytest.importorskip("tornado")

from lifesim import random_grid
from lifesim.cli import main
from tests.commands import in_process, refused
from tests.universes import on_disk
from ui.web import cli
from ui.web.living import LifeBoard
from ui.web.opening import open_board

GUN = Path(__file__).parents[2] / "data" / "patterns" / "gosper-gun.rle"


@pytest.fixture
def lifesim(capsys, monkeypatch):
    return in_process("lifesim", main, capsys, monkeypatch)


def test_what_is_refused(lifesim, tmp_path: Path) -> None:
    refused(lifesim("serve", tmp_path / "none.rle"), 2, "none.rle")
    refused(lifesim("serve", tmp_path), 2, "manifest.json")
    refused(lifesim("serve", GUN, "--size", "8x8"), 2, "the universe 8x8")
    refused(lifesim("serve", GUN, "--rule", "B0/S"), 2, "B0")
    refused(lifesim("serve", GUN, "--port", "70000"), 2, "--port")
    with on_disk(random_grid(64, 64, 0.4, seed=1)) as universe:
        universe.close()
        refused(lifesim("serve", universe.path, "--edit"), 2, "only looked at")
        refused(lifesim("serve", universe.path, "--size", "9"), 2, "a directory")


def test_a_port_that_is_taken(lifesim) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        refused(lifesim("serve", GUN, "--port", port), 2, f"port {port}: ")


def test_without_tornado(lifesim, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli.importlib.util, "find_spec", lambda name: None)
    refused(lifesim("serve", GUN), 2, r"pip install 'bulkbits\[serve\]'")


def test_what_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    cli.tell(8123, "abc", True)
    facts = json.loads(capsys.readouterr().out)
    assert facts["address"] == "http://127.0.0.1:8123/abc/"
    assert facts["ssh"].startswith("ssh -N -L 8123:127.0.0.1:8123 ")
    cli.tell(8123, "abc", False)
    assert facts["address"] in capsys.readouterr().out


def test_what_is_opened() -> None:
    board = open_board(str(GUN), None, "T64,40", None, "auto", False, "reference")
    assert isinstance(board, LifeBoard)
    facts = board.facts()
    assert (facts.population, facts.bounded, facts.draws) == (36, True, False)
    assert (facts.box.width, facts.box.height) == (64, 40)
    board.close()
