"""Life against its definition, and what it says of its progress."""

from __future__ import annotations

import pytest

import lifesim.pauses as pauses
from kernels.life import ref
from kernels.targets import cpu
from lifesim.digests import digest
from lifesim.engine import Life
from lifesim.grid import BitGrid, GridError
from lifesim.pauses import Progress
from lifesim.rule import Rule, RuleError
from lifesim.soup import random_grid

needs_extension = pytest.mark.skipif(not cpu.levels(), reason="the extension is not built")
BACKENDS = ["reference", pytest.param("cpu", marks=needs_extension)]


def expected(grid: BitGrid, rule: str, topology: str, generations: int) -> BitGrid:
    parsed = Rule.parse(rule)
    cells = ref.run(
        grid.to_bool(),
        parsed.life_like.birth,
        parsed.life_like.survival,
        topology == "torus",
        generations,
    )
    return BitGrid.from_bool(cells)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("topology", ["torus", "plane"])
@pytest.mark.parametrize("rule", ["B3/S23", "B36/S23", "B0/S8"])
@pytest.mark.parametrize("size", [(1, 1), (65, 33), (200, 3)])
def test_snapshots_are_the_definition_s(backend, topology, rule, size):
    grid = random_grid(*size, 0.4, 7)
    life = Life(grid, rule=rule, topology=topology, backend=backend)
    seen = []
    life.run(40, every=7, on_snapshot=lambda now: seen.append((now.generation, now.grid())))
    assert [generation for generation, _ in seen] == [7, 14, 21, 28, 35]
    for generation, now in [*seen, (40, life.grid())]:
        assert now == expected(grid, rule, topology, generation)
    assert life.generation == 40
    assert life.digest() == digest(life.grid())


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_last_snapshot_comes_once(backend):
    life = Life(random_grid(20, 20, 0.4, 1), backend=backend, generation=100)
    seen = []
    life.run(6, every=3, on_snapshot=lambda now: seen.append(now.generation))
    life.run(6, every=9, on_snapshot=lambda now: seen.append(now.generation))
    assert seen == [103, 106]
    assert life.generation == 112


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("every", [None, 1, 17, 1000])
def test_progress_grows_to_the_total(backend, every, monkeypatch):
    monkeypatch.setattr(pauses, "_CHUNK_SECONDS", 0.0)
    life = Life(random_grid(64, 32, 0.4, 1), backend=backend, generation=5)
    life.run(3)
    calls: list[Progress] = []
    life.run(200, every=every, progress=calls.append, on_snapshot=lambda now: None)
    done = [call.done for call in calls]
    assert done == sorted(set(done))
    assert done[-1] == 200
    assert len(done) > 2
    for call in calls:
        assert call.total == 200
        assert call.generation == 8 + call.done
        assert call.rate == pytest.approx(64 * 32 * call.done / call.seconds)
    assert [call.seconds for call in calls] == sorted(call.seconds for call in calls)
    assert life.rate == pytest.approx(64 * 32 * 203 / life.seconds)


def test_nothing_to_do():
    life = Life(random_grid(5, 5, 0.4, 1), backend="reference")
    life.run(0, every=1, progress=pytest.fail, on_snapshot=pytest.fail)
    assert (life.generation, life.rate, life.seconds) == (0, 0.0, 0.0)


def test_grids_are_copies():
    grid = random_grid(70, 20, 0.4, 1)
    life = Life(grid, backend="reference")
    before = grid.copy()
    grid.words[:] = 0
    life.grid().words[:] = 0
    assert life.grid() == before


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_interrupted_run_goes_on(backend, monkeypatch):
    """A callback interrupts it, as Ctrl-C does: at a whole generation, and with the same result."""
    monkeypatch.setattr(pauses, "_CHUNK_SECONDS", 0.0)
    grid = random_grid(100, 50, 0.4, 3)
    life = Life(grid, backend=backend)

    def stop(now: Progress) -> None:
        if now.done >= 50:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        life.run(200, every=30, progress=stop, on_snapshot=lambda now: None)
    assert 50 <= life.generation < 200
    assert life.grid() == expected(grid, "B3/S23", "torus", life.generation)
    life.run(200 - life.generation)
    assert life.grid() == expected(grid, "B3/S23", "torus", 200)


def test_wrong_arguments(monkeypatch):
    life = Life(BitGrid(5, 5), backend="reference")
    with pytest.raises(ValueError, match="cannot go back 1 generation"):
        life.run(-1)
    with pytest.raises(ValueError, match="every 1 or more"):
        life.run(5, every=0, on_snapshot=lambda now: None)
    for wrong, error in [
        ({"rule": "B9/S"}, RuleError),
        ({"topology": "disc"}, ValueError),
        ({"topology": "T5+1,4"}, ValueError),
        ({"backend": "abacus"}, ValueError),
    ]:
        with pytest.raises(error):
            Life(BitGrid(5, 5), **wrong)
    monkeypatch.setattr("lifesim.grid.available_memory", lambda: 10_000)
    with pytest.raises(GridError, match="free"):
        Life(BitGrid(64, 64), backend="reference")
