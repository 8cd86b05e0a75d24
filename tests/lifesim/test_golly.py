"""The peer bgolly: what is taken from what it says, and that a wrong one is found out."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kernels.targets import cpu
from kernels.targets.contract import Target
from lifesim.bench_planes import CASES, PlaneCase, cases_for, measure_plane
from lifesim.cli import bench as command
from lifesim.golly import Golly, GollyError
from lifesim.grid import BitGrid
from lifesim.patterns import Pattern
from lifesim.rule import LIFE, Rule
from lifesim.topology import Topology

needs_extension = pytest.mark.skipif(not cpu.levels(), reason="the extension is not built")
GLIDER = PlaneCase("glider", "tiles", 100, "QuickLife", b"x = 3, y = 3\nbo$2bo$3o!\n")


def fake(folder: Path, population: int, *, code: int = 0, words: str = "pop") -> str:
    """Write a program that says what bgolly -b does: generations in a hundredth of a second."""
    program = folder / "bgolly"
    # Its arguments are -b -a ALGORITHM -m GENERATIONS ...
    program.write_text(
        f"#!/bin/sh\necho This is bgolly.\necho 0.5 0\necho 0.75 pop 5\n"
        f"echo 0.76 $5\necho 0.9 {words} {population:,}\nexit {code}\n"
    )
    program.chmod(0o755)
    return str(program)


def test_seconds_and_population(tmp_path: Path) -> None:
    golly = Golly(fake(tmp_path, 1633), tmp_path)
    runner = golly.runner(Pattern(BitGrid(3, 3)), "QuickLife", 5206, 7.0)
    assert runner.work == 7.0
    assert runner.step(2) == pytest.approx(0.02)
    assert golly.population == 1633


def test_a_program_that_is_no_bgolly(tmp_path: Path) -> None:
    with pytest.raises(GollyError, match="counts 5 cells of a block"):
        Golly.tried(fake(tmp_path, 5), tmp_path)
    assert Golly.tried(fake(tmp_path, 4), tmp_path).population == 4
    with pytest.raises(GollyError, match="does not say"):
        Golly.tried(fake(tmp_path, 4, words="cells"), tmp_path)
    with pytest.raises(GollyError, match="exit code 3"):
        Golly.tried(fake(tmp_path, 4, code=3), tmp_path)
    with pytest.raises(GollyError, match="No such file"):
        Golly.tried(str(tmp_path / "nothing"), tmp_path)


def test_soups_that_it_is_given(tmp_path: Path) -> None:
    golly = Golly("bgolly", tmp_path)
    assert golly.soup(64, 32, LIFE, Topology.TORUS)
    assert golly.soup(1 << 12, 1 << 11, LIFE, Topology.TORUS) is None
    assert golly.soup(8, 8, Rule.parse("B0/S"), Topology.TORUS) is None


def test_the_command_says_why_there_is_no_bgolly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes: list[str] = []
    monkeypatch.setenv("PATH", str(tmp_path))
    assert command._golly(tmp_path, notes) is None
    assert notes == []
    fake(tmp_path, 5)
    assert command._golly(tmp_path, notes) is None
    assert len(notes) == 1
    assert "counts 5 cells" in notes[0]


@needs_extension
def test_a_case_beside_it(tmp_path: Path) -> None:
    target = cpu.CpuTarget(1)
    assert cases_for(target) == list(CASES)
    row = measure_plane(GLIDER, target, 0.02, Golly(fake(tmp_path, 5), tmp_path))
    assert (row.operation, row.size) == ("glider, tiles", "100 generations")
    assert row.details["population"] == 5
    assert row.peers["bgolly"].median == pytest.approx(100 / 0.01)
    assert measure_plane(GLIDER, target, 0.02).peers == {}
    with pytest.raises(GollyError, match="finds 6 cells of glider"):
        measure_plane(GLIDER, target, 0.02, Golly(fake(tmp_path, 6), tmp_path))


def test_cases_of_other_targets() -> None:
    class Gpus(Target):
        name = "cuda"

        def __init__(self, count: int) -> None:
            self._count = count

        def describe(self) -> str:
            return "GPUs"

        def free_device_memory(self) -> int | None:
            return 0

        @property
        def devices(self):  # type: ignore[no-untyped-def]
            return (None,) * self._count

    assert {case.engine for case in cases_for(Gpus(1))} == {"tiles"}
    assert cases_for(Gpus(2)) == []


@needs_extension
@pytest.mark.skipif(not shutil.which("bgolly"), reason="bgolly is not installed")
def test_the_real_one(tmp_path: Path) -> None:
    golly = Golly.tried(str(shutil.which("bgolly")), tmp_path)
    for case in (GLIDER, CASES[0]):
        assert measure_plane(case, cpu.CpuTarget(1), 0.02, golly).peers["bgolly"].median > 0
