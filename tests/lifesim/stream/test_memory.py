"""A universe that is larger than the memory it is moved on in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lifesim.rule import LIFE, Rule
from lifesim.soup import Soup
from lifesim.store.make import make_universe
from lifesim.store.tiling import tile_universe
from lifesim.store.universe import Universe

MIB = 1 << 20
BUDGET = 64 * MIB
REST = 300 * MIB  # the interpreter, its libraries, pages of the system
ROOT = Path(__file__).parents[3]

RUN = """
import json, sys
from pathlib import Path
from kernels.targets.choose import pick
from lifesim.store.universe import Universe
from lifesim.stream.run import StreamedLife

with Universe.open(sys.argv[1], writing=True) as universe:
    life = StreamedLife(universe, [pick("cpu")], memory=int(sys.argv[2]), generations=64)
    life.run(128)
status = Path("/proc/self/status").read_text()
peak = int(status.split("VmHWM:")[1].split()[0]) * 1024
phases = [
    {
        "slots": plan.shape.slots,
        "kinds": tally.read_seconds + tally.step_seconds + tally.write_seconds,
        "seconds": tally.seconds,
        "read": tally.read_bytes,
        "written": tally.written_bytes,
    }
    for plan, tally in life.tallies
]
print(json.dumps({"peak": peak, "phases": phases}))
"""


def soup(path: Path, side: int, compression: str, rule: Rule = LIFE) -> None:
    tiling = tile_universe(side, side, True, (1, 64))
    fill = Soup(0.3, 1).source(rule.states)
    make_universe(path, tiling, fill, rule=rule, compression=compression).close()


def streamed(path: Path) -> dict:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", RUN, str(path), str(BUDGET)],
        cwd=ROOT,
        env=os.environ,
        stdout=subprocess.PIPE,
        check=True,
        timeout=600,
    )
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc")
@pytest.mark.parametrize("compression", ["none", "zstd"])
def test_peak_memory_and_overlap(real_disk: Path, compression: str) -> None:
    """The run moves 512 MiB of cells in 64 MiB of windows and buffers, read, stepped and written at
    once."""
    path = real_disk / compression
    soup(path, 1 << 16, compression)
    facts = streamed(path)
    with Universe.open(path) as universe:
        assert universe.generation == 128
        if compression == "none":
            assert universe.manifest.stored_bytes > 512 * MIB
    assert facts["peak"] < BUDGET + REST
    assert len(facts["phases"]) == 2
    for phase in facts["phases"]:
        assert phase["slots"] > 1
        assert phase["kinds"] > phase["seconds"]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc")
def test_peak_memory_of_several_states(real_disk: Path) -> None:
    """The run moves 384 MiB of cells in three bit planes through windows and buffers of 64 MiB."""
    soup(real_disk / "u", 1 << 15, "none", Rule.parse("3458/37/5"))
    facts = streamed(real_disk / "u")
    with Universe.open(real_disk / "u") as universe:
        assert universe.manifest.stored_bytes > 384 * MIB
    assert facts["peak"] < BUDGET + REST
    assert all(phase["slots"] > 1 for phase in facts["phases"])
