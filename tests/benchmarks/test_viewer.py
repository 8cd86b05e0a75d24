"""The benchmark of the window, run small."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from benchmarks import viewer

pytestmark = pytest.mark.usefixtures("windows_are_garbage")
SMALL = ["--window", "200x150", "--moves", "2", "--stops", "1"]


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the command in this process, which is quicker, and without a screen."""
    monkeypatch.setitem(os.environ, "QT_QPA_PLATFORM", "offscreen")

    def run(command: list[str], **_: object) -> SimpleNamespace:
        assert command[1:3] == ["-m", "benchmarks.viewer"]
        done = CliRunner().invoke(viewer.main, command[3:], catch_exceptions=False)
        return SimpleNamespace(stdout=done.stdout)

    monkeypatch.setattr(viewer, "subprocess", SimpleNamespace(run=run, PIPE=None))


def test_fills_the_tables(tmp_path: Path) -> None:
    on_disk = ["--disk", str(tmp_path), "--disk-size", "512x4096"]
    command = [*SMALL, "--side", "300", "--rule", "345/2/4", *on_disk]
    done = CliRunner().invoke(viewer.main, [*command, "--json"], catch_exceptions=False)
    memory, disk = json.loads(done.stdout)
    assert memory["size"] == [300, 300]
    assert memory["rate"] > 0
    assert [len(row["times"]) for row in memory["rows"]] == [1, 2, 2, 2, 2, 2, 2, 1]
    assert [row["asked"] for row in memory["rows"]] == [2, None, None, None, 0.05, 0.05, 0.05, 0.1]
    assert disk["size"] == [512, 4096]
    assert disk["memory"] >= disk["before"] > 0
    scales = [row["what"].split(", ")[-1] for row in disk["rows"]]
    assert scales[-6:] == ["1:1", "2:1", "4:1", "8:1", "16:1", "32:1"]
    for row in memory["rows"] + disk["rows"]:
        # Here the work of its own is that of all the tests which this process ran before.
        most = time.process_time() if row["what"].endswith("work of its own") else 60
        assert all(0 < seconds < most for seconds in row["times"])

    told = viewer.table(memory).splitlines()
    assert told[0].startswith("300x300 cells in memory, ")
    assert told[-1].startswith("| stop | ")
    assert told[-1].endswith(" | 100 |")
    assert "of memory (1024 asked)" in viewer.table(disk)


def test_what_never_comes_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(viewer, "_PATIENCE", 0.05)
    monkeypatch.setattr(viewer, "_is_current", lambda window: False)
    began = time.monotonic()
    done = CliRunner().invoke(viewer.main, [*SMALL, "--one", "64", "0"])
    assert done.exit_code == 1
    assert "nothing has come for 0.05 seconds" in done.output
    assert time.monotonic() - began < 30
