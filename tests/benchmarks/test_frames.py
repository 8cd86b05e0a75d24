"""The benchmark of frames, run small."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from benchmarks import frames
from lifesim.store.universe import Universe

SMALL = ["--size", "600x500", "--window", "64x48", "--frames", "3"]


def test_fills_the_tables(tmp_path: Path) -> None:
    command = [*SMALL, "--disk", str(tmp_path), "--disk-size", "512x4096", "--every", "2"]
    done = CliRunner().invoke(frames.main, [*command, "--json"], catch_exceptions=False)
    found = json.loads(done.stdout)
    memory = found["memory"]
    assert [row["scale"] for row in memory["rows"]] == list(range(-5, 11))
    assert all(0 < row["median"] <= row["most"] for row in memory["rows"])
    assert memory["median"] <= memory["most"]
    assert all(row["copy"] > 0 for row in memory["rows"])
    assert all(0 <= row["interrupted"] <= 1 for row in memory["rows"])
    assert all(row["alone"] is None or row["alone"] > 0 for row in memory["rows"])
    (disk,) = found["disk"]
    assert (disk["every"], disk["size"], disk["problem"]) == (2, [512, 4096], "")
    assert disk["memory"] >= disk["before"] > 0
    # From all of it down to single cells.
    assert [row["scale"] for row in disk["rows"]] == list(range(7, -6, -1))
    assert all(0 < row["first"] <= row["exact"] for row in disk["rows"])

    looked = CliRunner().invoke(
        frames.main, ["--look", str(tmp_path / "stand-in-2-512x4096"), *SMALL]
    )
    assert "512x4096 cells on disk" in looked.stdout
    assert "| 1:128 |" in looked.stdout
    told = CliRunner().invoke(frames.main, SMALL)
    assert "600x500 cells in memory" in told.stdout
    assert "| 32:1 |" in told.stdout
    aged = CliRunner().invoke(frames.main, [*SMALL, "--ages", "--json"], catch_exceptions=False)
    rows = json.loads(aged.stdout)["memory"]["rows"]
    assert [row["scale"] for row in rows] == list(range(-5, 3))


def test_what_was_interrupted_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    switches = iter([0, 0, 0, 1, 1, 1])
    monkeypatch.setattr(frames, "_switches", lambda: next(switches))
    times = frames.Times()
    for seconds in (0.001, 0.1, 0.001):
        with times:
            time.sleep(seconds)
        times.copy(np.zeros((100, 4), np.uint64))
    found = times.facts()
    assert found["interrupted"] == pytest.approx(1 / 3)
    assert found["alone"] < found["most"]
    both = frames.Times()
    both.add(times)
    both.add(times)
    assert both.facts()["median"] == found["median"]


def test_a_stand_in(tmp_path: Path) -> None:
    path = frames.stand_in(tmp_path, (512, 524288), 3)
    made = path.stat().st_mtime_ns
    assert frames.stand_in(tmp_path, (512, 524288), 3) == path
    assert path.stat().st_mtime_ns == made
    with Universe.open(path) as universe:
        count = len(universe.tiling)
        assert count > 4  # of which some are one file
        populations = [record.population for record in universe.manifest.tiles]
        assert [number > 0 for number in populations] == [i % 3 == 0 for i in range(count)]
        grid = universe.grid()  # of which every byte is right
        assert grid.population() == sum(populations)
