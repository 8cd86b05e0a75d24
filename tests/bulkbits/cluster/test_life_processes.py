"""Universes on disk, moved on by real workers: killed, slow, or alone in the world."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("distributed")
pytest.importorskip("cryptography")

from bulkbits.cluster import Cluster, client
from lifesim.errors import LifesimError
from lifesim.pauses import Progress
from lifesim.store.universe import Universe
from lifesim.stream.cluster import ClusterExecutor
from lifesim.stream.run import StreamedLife
from tests.bulkbits.cluster.held import GO_ON, HELD
from tests.bulkbits.cluster.test_cluster import outside  # noqa: F401
from tests.clusters import admitted, two_workers  # noqa: F401
from tests.lifesim.conftest import lifesim  # noqa: F401
from tests.lifesim.store.faults import Case, check, copy
from tests.waiting import until

# Some tenths of a second of each phase for a worker, so that there is something to kill.
LONG = Case(width=4000, height=4000, tiles=(2, 16), phase=150, generations=900)
SHORT = replace(LONG, width=640, height=640, phase=20, generations=60)
MEMORY = 32 << 20


def life_of(case: Case, universe: Universe, cluster: Cluster) -> StreamedLife:
    crew = ClusterExecutor(cluster, MEMORY)
    return StreamedLife(universe, crew, generations=case.phase, keep_previous=case.keep_previous)


def trail(case: Case) -> dict[int, tuple[str, int]]:
    """Return the digest and the population of the last generation, by its number."""
    from lifesim import Life

    life = Life(case.grid, topology="torus" if case.torus else "plane", backend="cpu")
    life.run(case.generations)
    return {case.generations: (life.digest(), life.grid().population())}


def test_two_processes(two_workers: Cluster, tmp_path: Path) -> None:  # noqa: F811
    with SHORT.make(tmp_path / "universe") as universe:
        life = life_of(SHORT, universe, two_workers)
        life.run(SHORT.generations)
        SHORT.verify(universe, trail(SHORT))
        assert life.executor.name == "cpu"
        assert [tally.computed for _, tally in life.tallies] == [32] * 3


@pytest.fixture
def address(two_workers: Cluster) -> Iterator[str]:  # noqa: F811
    """The address of its scheduler, as commands are given one."""
    with admitted(two_workers) as found:
        yield found


def test_the_command(address: str, lifesim: Any) -> None:  # noqa: F811
    wanted = lifesim("run", "--size", 256, "--steps", 30, "--json").facts["digest"]
    done = lifesim("run", "--size", 256, "--steps", 20, "--cluster", address, "--json")
    assert done.code == 0, done
    facts = done.facts
    assert facts["universe"] == "soup-256x256-0.5-1"
    assert facts["backend"] == "cpu"
    assert facts["device"].startswith("2 workers of CPU level")
    assert lifesim("resume", facts["universe"], "--cluster", address, "--quiet").code == 0
    more = lifesim("run", facts["universe"], "--steps", 10, "--cluster", address, "--json")
    assert more.facts["digest"] == wanted
    for arguments in (["--cluster", "local:x"], ["--cluster", "nowhere"]):
        refused = lifesim("run", "--size", 64, "--steps", 1, *arguments)
        assert (refused.code, refused.err.count("\n")) == (2, 1)
        assert not os.path.exists("soup-64x64-0.5-1")
    refused = lifesim("run", "--size", 64, "--steps", 1, "--cluster", address, "--device", "0,1")
    assert refused.code == 2
    assert "contradict" in refused.err


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_any_number_of_processes(count: int, tmp_path: Path) -> None:
    case = replace(SHORT, compression="zstd" if count == 3 else "none", torus=count != 2)
    with (
        Cluster.open(f"local:{count}", backend="cpu", threads=1) as cluster,
        case.make(tmp_path / "universe") as universe,
    ):
        life_of(case, universe, cluster).run(case.generations)
        case.verify(universe, trail(case))


def while_it_runs(
    life: StreamedLife, case: Case, meanwhile: Callable[[], object], *, at_least: int
) -> None:
    """Run it, and do that again and again in another thread, so often before its second half."""
    over, count = threading.Event(), 0
    errors: list[BaseException] = []

    def work() -> None:
        nonlocal count
        try:
            while not over.is_set():
                meanwhile()
                count += 1
        except BaseException as error:
            errors.append(error)

    def wait(progress: Progress) -> None:
        if progress.done > case.generations // 2:
            until(lambda: errors or count >= at_least)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        life.run(case.generations, progress=wait)
    finally:
        over.set()
        thread.join()
    assert not errors
    assert count >= at_least


@pytest.mark.slow
@pytest.mark.parametrize("keep_previous", [False, True])
def test_workers_are_killed(keep_previous: bool, tmp_path: Path) -> None:
    """Whenever: as they read, compute, write, or wait for the manifest. Nannies start others."""
    case = replace(LONG, keep_previous=keep_previous, generations=3000)
    rng = random.Random(keep_previous)

    def kill() -> None:
        time.sleep(rng.uniform(0.1, 0.7))
        workers: list[str] = []

        def come() -> bool:  # or too few would be left
            workers[:] = sorted(cluster._scheduler.workers())
            return len(workers) > 1

        until(come)
        address = rng.choice(workers)
        cluster._client.run(_die, workers=[address], on_error="ignore", wait=False)

    with (
        Cluster.open("local:3", backend="cpu", threads=1) as cluster,
        case.make(tmp_path / "universe") as universe,
    ):
        cluster._client.run_on_scheduler(_forgive)
        while_it_runs(life_of(case, universe, cluster), case, kill, at_least=3)
        case.verify(universe, trail(case))


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _forgive(dask_scheduler: Any) -> None:
    dask_scheduler.allowed_failures = 1000


@pytest.mark.slow
def test_a_worker_is_slow(tmp_path: Path) -> None:
    with (
        Cluster.open("local:2", backend="cpu", threads=1) as cluster,
        SHORT.make(tmp_path / "universe") as universe,
    ):
        pid = cluster.workers[0].pid

        def halt() -> None:
            os.kill(pid, signal.SIGSTOP)
            time.sleep(0.5)
            os.kill(pid, signal.SIGCONT)
            time.sleep(0.1)

        while_it_runs(life_of(SHORT, universe, cluster), SHORT, halt, at_least=1)
        SHORT.verify(universe, trail(SHORT))


class Command:
    """`lifesim run` in a process of its own, which may wait once so many tiles are done."""

    def __init__(self, path: Path, case: Case, *options: str, hold: int = 0) -> None:
        arguments = ["run", str(path), "--steps", str(case.generations), "--memory", str(MEMORY)]
        arguments += ["--phase", str(case.phase), "--backend", "cpu", "--json", *options]
        module = ["lifesim"]
        if hold:
            self.folder = path.parent / f"hold-{hold}"
            self.folder.mkdir()
            module = ["tests.bulkbits.cluster.held", str(hold), str(self.folder)]
        self.process = subprocess.Popen(
            [sys.executable, "-m", *module, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def until_held(self) -> None:
        def come() -> bool:
            assert self.process.poll() is None, self.process.communicate()
            return (self.folder / HELD).exists()

        until(come)

    def go_on(self) -> None:
        (self.folder / GO_ON).touch()

    def end(self) -> tuple[int, str, str]:
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err


@pytest.fixture
def path(tmp_path: Path) -> Path:
    LONG.make(tmp_path / "universe").close()
    return tmp_path / "universe"


def assert_goes_on(path: Path, *options: str) -> None:
    """Run to the end, and check the result, and that nothing is left behind on the way."""
    code, out, err = Command(path, LONG, *options).end()
    assert code == 0, err
    (digest, population) = trail(LONG)[LONG.generations]
    facts = json.loads(out)
    assert (facts["digest"], facts["population"]) == (digest, population)
    with Universe.open(path, writing=True) as universe:
        LONG.verify(universe, trail(LONG))


@pytest.mark.slow
def test_the_scheduler_is_killed(outside: Any, path: Path) -> None:  # noqa: F811
    outside.worker()
    outside.worker()
    outside.wait_for(2)
    command = Command(path, LONG, "--cluster", outside.file, "--threads", "1", hold=4)
    command.until_held()
    outside.scheduler.kill()
    command.go_on()
    began = time.monotonic()
    code, _, err = command.end()
    assert code == 3, err
    assert time.monotonic() - began < 15
    assert "scheduler is gone" in err
    assert err.count("\n") <= 2  # and the address of the dashboard
    check(Universe.open(path))
    other = copy(path, path.parent / "other")
    assert_goes_on(path)
    assert_goes_on(other, "--cluster", "local:2", "--threads", "1")


@pytest.mark.slow
def test_the_client_is_killed(outside: Any, path: Path) -> None:  # noqa: F811
    """Its workers, which do not know, do no harm to the next one's run."""
    outside.worker()
    outside.worker()
    outside.wait_for(2)
    options = "--cluster", outside.file, "--threads", "1"
    for tiles in (1, 8, 16):
        command = Command(path, LONG, *options, hold=tiles)
        command.until_held()
        command.go_on()  # and nobody knows how far it comes
        command.process.kill()
        command.end()
    assert_goes_on(path, *options)


@pytest.mark.slow
def test_a_worker_that_comes_later(
    outside: Any,  # noqa: F811
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(client, "_LOOK_FOR_WORKERS", 0.1)
    outside.worker()
    with (
        Cluster.open(outside.file, backend="cpu", threads=1) as cluster,
        Universe.open(path, writing=True) as universe,
    ):
        life = life_of(LONG, universe, cluster)
        lanes = []

        def note(progress: object) -> None:
            lanes.append((life.executor.lanes, cluster.size))
            if len(lanes) == 1:
                outside.worker()
                outside.wait_for(2)

        life.run(LONG.generations, progress=note)
        assert (lanes[0], lanes[-1]) == ((1, 1), (2, 2))
        LONG.verify(universe, trail(LONG))


@pytest.mark.slow
def test_two_clients(outside: Any, path: Path) -> None:  # noqa: F811
    outside.worker()
    outside.wait_for(1)
    first = Command(path, LONG, "--cluster", outside.file, "--threads", "1", hold=1)
    first.until_held()
    code, _, err = Command(path, LONG, "--cluster", outside.file).end()
    assert (code, err.count("\n")) == (2, 1)
    assert f"in use by process {first.process.pid}" in err
    with pytest.raises(LifesimError, match="in use"):
        Universe.open(path, writing=True)
    first.go_on()
    code, _, err = first.end()
    assert code == 0, err
    with Universe.open(path, writing=True) as universe:
        LONG.verify(universe, trail(LONG))


@pytest.mark.slow
def test_ctrl_c(path: Path) -> None:
    """Ctrl-C during a run on a cluster leaves a universe that a later run goes on with."""
    command = Command(path, LONG, "--cluster", "local:2", "--threads", "1", hold=1)
    command.until_held()
    command.process.send_signal(signal.SIGINT)
    command.go_on()
    code, _, err = command.end()
    assert code == 130
    assert "interrupted between generations" in err or "interrupted at generation" in err
    assert "goes on" in err
    assert not list((path / "tiles").glob("*.tmp"))
    assert_goes_on(path)
