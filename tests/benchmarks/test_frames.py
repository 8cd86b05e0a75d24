"""The benchmark of frames, run small."""

from __future__ import annotations

import json
from pathlib import Path

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
    (disk,) = found["disk"]
    assert (disk["every"], disk["size"], disk["problem"]) == (2, [512, 4096], "")
    assert disk["memory"] >= disk["before"] > 0
    # From all of it down to single cells.
    assert [row["scale"] for row in disk["rows"]] == list(range(7, -6, -1))
    assert all(0 < row["first"] <= row["exact"] for row in disk["rows"])

    looked = CliRunner().invoke(frames.main, ["--look", str(tmp_path / "stand-in-2"), *SMALL])
    assert "512x4096 cells on disk" in looked.stdout
    assert "| 1:128 |" in looked.stdout
    told = CliRunner().invoke(frames.main, SMALL)
    assert "600x500 cells in memory" in told.stdout
    assert "| 32:1 |" in told.stdout


def test_a_stand_in(tmp_path: Path) -> None:
    path = tmp_path / "u"
    frames.stand_in(path, (512, 65536), 3)
    with Universe.open(path) as universe:
        count = len(universe.tiling)
        assert count > 1
        populations = [record.population for record in universe.manifest.tiles]
        assert [number > 0 for number in populations] == [i % 3 == 0 for i in range(count)]
        grid = universe.grid()  # of which every byte is right
        assert grid.population() == sum(populations)
