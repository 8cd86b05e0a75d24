"""What `lifesim serve` refuses, and what it prints."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

pytest.importorskip("tornado")

from kernels.targets import cpu
from lifesim import LifesimError, random_grid
from lifesim.cli import main
from tests.commands import in_process, refused
from tests.universes import on_disk
from ui.web import cli
from ui.web.board import Facts
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


WIDE = "x = 1100000000, y = 1, rule = B3/S23\n3o1099999994b3o!"
# Two cells of a torus, 65536 apart: too far for a file of so few bytes.
BOUNDED = "[M2]\n#R B3/S23:T80000,80000\n*$\n"
BOUNDED += "".join(f"{level} {level - 3} 0 0 0\n" for level in range(4, 17)) + "17 14 0 0 14\n"


@pytest.mark.parametrize("through", ["a file", "standard input"])
def test_cells_that_are_far_apart(
    through: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Standard input can be read only once, bounds are for what fits a grid."""
    if not cpu.levels():
        pytest.skip("the extension is not built")

    def opened(text: str, topology: str | None = None) -> Facts:
        path = tmp_path / "far"
        path.write_text(text)
        with path.open() as stream:
            monkeypatch.setattr("sys.stdin", stream)
            where = "-" if through == "standard input" else str(path)
            board = open_board(where, None, topology, None, "auto", False, "cpu")
        facts = board.facts()
        board.close()
        return facts

    assert opened(WIDE).box.width == 1100000000
    with pytest.raises(LifesimError, match="1100000000x1 cells, the torus 64x40"):
        opened(WIDE, "T64,40")
    with pytest.raises(LifesimError, match="do not say so"):
        opened(BOUNDED)
