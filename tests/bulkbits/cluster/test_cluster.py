"""bulkbits.cluster: functions over many items, on workers that have been looked at."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("distributed")
pytest.importorskip("cryptography")

import distributed
import psutil

from bulkbits.cluster import Cluster, ClusterError, census, client, connect, local
from tests.bulkbits.cluster import tasks
from tests.clusters import InlineCluster, two_workers  # noqa: F401
from tests.interrupts import interrupts
from tests.waiting import until

Either = Cluster | InlineCluster


@pytest.fixture(params=["processes", "inline"])
def cluster(request: pytest.FixtureRequest) -> Either:
    if request.param == "inline":
        return InlineCluster(2)
    found: Cluster = request.getfixturevalue("two_workers")
    return found


def test_results_come_in_order(cluster: Either) -> None:
    assert list(cluster.map(tasks.double, range(20))) == [2 * i for i in range(20)]


def test_results_as_they_are_done_say_of_what(cluster: Either) -> None:
    found = dict(cluster.map(tasks.double, range(20), ordered=False))
    assert found == {i: 2 * i for i in range(20)}


def test_what_is_shared_is_an_argument(cluster: Either) -> None:
    more = cluster.share(100)
    assert list(cluster.map(tasks.double, range(5), more)) == [100, 102, 104, 106, 108]


def test_no_items_have_no_results(cluster: Either) -> None:
    assert list(cluster.map(tasks.double, [])) == []


def test_few_items_are_sent_ahead(cluster: Either) -> None:
    taken: list[int] = []

    def endless() -> Iterator[int]:
        for i in itertools.count():
            taken.append(i)
            yield i

    results = cluster.map(tasks.double, endless(), ahead=2)
    assert [next(results), next(results)] == [0, 2]
    time.sleep(0.3)
    assert len(taken) <= 2 + 4
    results.close()  # type: ignore[attr-defined]
    time.sleep(0.1)
    assert len(taken) <= 2 + 4


def test_an_error_comes_in_its_place(cluster: Either) -> None:
    results = cluster.map(tasks.fail, range(5))
    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(tasks.TaskError, match="2 is bad"):
        next(results)


def test_an_error_of_the_items_comes_after_the_results_before(cluster: Either) -> None:
    def items() -> Iterator[int]:
        yield 1
        raise OSError("gone")

    results = cluster.map(tasks.double, items())
    assert next(results) == 2
    with pytest.raises(OSError, match="gone"):
        next(results)


def test_everywhere_asks_each_worker_once(cluster: Either) -> None:
    assert cluster.everywhere(tasks.double, 4) == {facts.name: 8 for facts in cluster.workers}


def test_what_tasks_tell_is_heard(cluster: Either) -> None:
    heard: list[Any] = []
    cluster.listen(lambda name, value: heard.append((name, value["item"])))
    list(cluster.map(tasks.told, range(6)))
    end = time.monotonic() + 60
    while len(heard) < 6 and time.monotonic() < end:
        time.sleep(0.02)
    assert sorted(item for _, item in heard) == list(range(6))
    assert {name for name, _ in heard} <= {facts.name for facts in cluster.workers}


def test_things_are_kept_between_tasks(cluster: Either) -> None:
    assert max(cluster.map(tasks.counted, range(8))) > 1


def test_large_items_are_sent(two_workers: Cluster) -> None:  # noqa: F811
    data = bytes(12 << 20)
    assert list(two_workers.map(tasks.size, [data, data[:5]])) == [len(data), 5]


def test_both_workers_work(two_workers: Cluster) -> None:  # noqa: F811
    pids = {facts.pid for facts in two_workers.workers}
    assert set(two_workers.map(tasks.pid, range(8))) == pids
    assert len(pids) == 2


def test_workers_compute_with_what_was_asked_for(two_workers: Cluster) -> None:  # noqa: F811
    [(backend, threads, memory)] = two_workers.map(tasks.facts, [0])
    assert (backend, threads) == ("cpu", 1)
    assert 0 < memory <= two_workers.workers[0].memory * 2
    assert {facts.backend for facts in two_workers.workers} == {"cpu"}
    assert {facts.code for facts in two_workers.workers} == {census.code()}


def test_workers_that_all_start_anew_are_counted_on(
    two_workers: Cluster,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A cluster keeps its size while all workers start anew: who shares work may divide by it."""
    monkeypatch.setattr(client, "_LOOK_FOR_WORKERS", 0.0)
    monkeypatch.setattr(two_workers._scheduler, "workers", dict)
    assert list(two_workers.map(tasks.double, range(5))) == [0, 2, 4, 6, 8]
    assert two_workers.size == 2


def test_ending_early_stops_what_runs(two_workers: Cluster, tmp_path: Path) -> None:  # noqa: F811
    results = two_workers.map(tasks.until_stopped, range(9), str(tmp_path))
    assert next(results) == 0
    until(lambda: len(list(tmp_path.glob("began-*"))) == 2)
    results.close()  # type: ignore[attr-defined]
    until(lambda: len(list(tmp_path.glob("stopped-*"))) == 2)
    assert len(list(tmp_path.glob("began-*"))) == 2


@pytest.mark.sample(1)
@pytest.mark.parametrize("end", [None, tasks.TaskError, KeyboardInterrupt])
def test_workers_end_with_the_block(
    end: type[BaseException] | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However it is left, and though this process lives on; their files go, too."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    pids: list[int] = []
    with (
        interrupts() as interrupt,
        pytest.raises(end) if end else contextlib.nullcontext(),
        Cluster.open("local:1", backend="cpu") as cluster,
    ):
        pids += (facts.pid for facts in cluster.workers)
        assert all(psutil.pid_exists(pid) for pid in pids)
        assert any(path.startswith(str(folder)) for path in sys.path)  # as Dask has it
        if end is tasks.TaskError:
            list(cluster.map(tasks.fail, range(5)))
        if end is KeyboardInterrupt:
            results = cluster.map(tasks.until_stopped, [1], str(tmp_path))
            threading.Thread(
                target=lambda: (until((tmp_path / "began-1").exists), interrupt())
            ).start()
            next(results)
    assert len(pids) == 1
    assert not [pid for pid in pids if psutil.pid_exists(pid)]
    assert not list(folder.iterdir())
    assert not [path for path in sys.path if path.startswith(str(folder))]


def test_addresses_that_are_none() -> None:
    for address, what in (
        ("local:two", "number of workers"),
        ("local:0", "make sense"),
        ("local:5000", "make sense"),
        ("nowhere", "neither local:N"),
        ("http://host", "neither local:N"),
    ):
        with pytest.raises(ClusterError, match=what) as caught:
            Cluster.open(address)
        assert caught.value.exit_code == 2
        assert str(caught.value).startswith(address)


NOBODY = """
import sys, time
from bulkbits.cluster import Cluster, ClusterError, connect

connect._ANSWER = 0.5
DASK = 30  # seconds that Dask itself would wait
for address in sys.argv[1:]:
    began = time.monotonic()
    try:
        Cluster.open(address)
    except ClusterError as error:
        print(error.exit_code, time.monotonic() - began < DASK, error)
"""


def test_nobody_answers() -> None:
    """A process of its own asks, as Dask leaves what connects too slowly to the collector."""
    with socket.create_server(("127.0.0.1", 0)) as server:  # listens, and says nothing
        addresses = ["tcp://127.0.0.1:1", f"tcp://127.0.0.1:{server.getsockname()[1]}"]
        command = [sys.executable, "-c", NOBODY, *addresses]
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    lines = done.stdout.splitlines()
    assert len(lines) == 2, done.stdout
    for line, address in zip(lines, addresses, strict=True):
        assert line.startswith(f"3 True {address}: no scheduler answers"), line


@pytest.mark.parametrize(
    "text", ["Dear scheduler,", "{}", "[1]", '{"address": 5}', "[" * 100_000, "\0"]
)
def test_a_scheduler_file_of_prose(text: str, tmp_path: Path) -> None:
    path = tmp_path / "scheduler.json"
    path.write_text(text)
    with pytest.raises(ClusterError, match="no scheduler file: it has no address") as caught:
        Cluster.open(str(path))
    assert caught.value.exit_code == 2


def test_a_scheduler_file_is_waited_for(tmp_path: Path) -> None:
    """It comes a moment after `dask scheduler &`, empty at first."""
    path = tmp_path / "scheduler.json"

    def write() -> None:
        path.touch()
        time.sleep(0.1)
        path.write_text('{"address": "tcp://127.0.0.1:1"}')

    threading.Timer(0.1, write).start()
    assert connect._address_in(str(path)) == "tcp://127.0.0.1:1"


def test_a_scheduler_file_that_does_not_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connect, "_ANSWER", 0.2)
    with pytest.raises(ClusterError, match="neither local:N"):
        Cluster.open(str(tmp_path / "scheduler.json"))


def test_a_scheduler_file_without_end() -> None:
    with pytest.raises(ClusterError, match="no scheduler file: it has no address"):
        Cluster.open("/dev/zero")


def test_without_dask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ClusterError, match=r"bulkbits\[dist\]"):
        Cluster.open("local:1")


def test_a_gpu_for_each_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernels.targets.cuda.target.device_count", lambda: 2)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert local._gpus(2, "auto") == ["0", "1"]
    assert local._gpus(3, "cpu") == []
    with pytest.raises(ClusterError, match="there are 2"):
        local._gpus(3, "cuda")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "5, 3")
    assert local._gpus(1, "cuda") == ["5"]
    assert local._gpus(2, "cuda") == ["5", "3"]
    monkeypatch.setattr("kernels.targets.cuda.target.device_count", lambda: 0)
    assert local._gpus(3, "auto") == []


def test_other_code_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cluster is refused whose workers have another file of the code than this process."""
    mine = census.code()
    other = census.Code(mine.version, "0" * 32, mine.python)
    monkeypatch.setattr(census, "code", lambda: other)
    # The scheduler is in this process, so that it has the same.
    with pytest.raises(ClusterError, match=r"worker 0 .*they might differ") as caught:
        Cluster.open("local:1", backend="cpu")
    assert caught.value.exit_code == 3


def test_the_code_of_two_packages_differs_by_a_byte(
    tmp_path: Path,
) -> None:
    root = Path(census.__file__).parents[2]
    for package in census._PACKAGES:
        shutil.copytree(
            root / package, tmp_path / package, ignore=shutil.ignore_patterns("*.so", "__pycache__")
        )
    # Without site: it would find the packages where they are installed.
    command = [
        sys.executable,
        "-S",
        "-c",
        "from bulkbits.cluster.census import code; print(code().digest)",
    ]

    def digest() -> str:
        return subprocess.run(
            command,
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()

    same = digest()
    assert digest() == same
    with open(tmp_path / "lifesim" / "rule.py", "a") as file:
        file.write("#")
    assert digest() != same


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[Any]:
    """A scheduler and workers that somebody else has started: start(count) gives its file."""
    running: list[subprocess.Popen[bytes]] = []
    path = tmp_path / "scheduler.json"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}

    def launch(*command: str, **changed: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-m", *command, "--scheduler-file", str(path)],
            env=environment | changed,
            cwd=tmp_path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        running.append(process)
        return process

    class Outside:
        file = str(path)

        def __init__(self) -> None:
            self.scheduler = launch(
                "distributed.cli.dask_scheduler", "--port", "0", "--dashboard-address", ":0"
            )
            until(lambda: path.exists() and path.read_text().endswith("}"))

        def worker(self, *options: str, **changed: str) -> subprocess.Popen[bytes]:
            options = options or ("--nthreads", "1")
            return launch("distributed.cli.dask_worker", "--no-dashboard", *options, **changed)

        def wait_for(self, count: int) -> None:
            with distributed.Client(scheduler_file=self.file, set_as_default=False) as client:
                client.wait_for_workers(count, timeout=60)

    yield Outside()
    for process in running:
        process.kill()
        process.wait()


@pytest.mark.slow
def test_a_scheduler_that_somebody_started(outside: Any) -> None:
    outside.worker("--nthreads", "4", "--resources", "bulkbits=1")
    outside.wait_for(1)
    with Cluster.open(outside.file, backend="cpu") as cluster:
        assert list(cluster.map(tasks.double, range(9))) == [2 * i for i in range(9)]
        [facts] = cluster.workers
        assert facts.threads == os.cpu_count()
        # One task at a time, whatever --nthreads says.
        began = time.monotonic()
        assert list(cluster.map(tasks.sleep, [0.2] * 3)) == [0.2] * 3
        assert time.monotonic() - began >= 0.6
    with Cluster.open(outside.file, backend="cpu") as cluster:  # and once more
        assert list(cluster.map(tasks.double, [1])) == [2]


@pytest.mark.slow
def test_workers_that_begin_many_tasks_at_a_time(outside: Any) -> None:
    outside.worker("--nthreads", "4")
    outside.wait_for(1)
    with pytest.raises(ClusterError, match="--nthreads 1"):
        Cluster.open(outside.file)


@pytest.mark.slow
def test_who_comes_later_may_not_begin_many(
    outside: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(client, "_LOOK_FOR_WORKERS", 0.1)
    outside.worker()
    outside.wait_for(1)
    with Cluster.open(outside.file, backend="cpu") as cluster:
        results = cluster.map(tasks.met, range(2), str(tmp_path), ahead=1)
        outside.worker("--nthreads", "4")
        with pytest.raises(ClusterError, match="begins 4 tasks at a time"):
            list(results)


@pytest.mark.slow
def test_no_workers(outside: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "_PATIENCE", 1.0)
    with pytest.raises(ClusterError, match="no workers"):
        Cluster.open(outside.file)


@pytest.mark.slow
def test_the_scheduler_dies(outside: Any) -> None:
    outside.worker()
    outside.wait_for(1)
    with Cluster.open(outside.file, backend="cpu") as cluster:
        results = cluster.map(tasks.sleep, [0.01, 30, 30])
        assert next(results) == 0.01
        outside.scheduler.kill()
        began = time.monotonic()
        with pytest.raises(ClusterError, match="scheduler is gone") as caught:
            next(results)
        assert caught.value.exit_code == 3
        assert time.monotonic() - began < 10, "no result came, but the end of its task"
        began = time.monotonic()
        for ask in (
            lambda: list(cluster.map(tasks.double, [1])),
            lambda: cluster.everywhere(tasks.double, 1),
            lambda: cluster.share(1),
            lambda: cluster.say(1),
        ):
            with pytest.raises(ClusterError, match="scheduler is gone"):
                ask()
        assert time.monotonic() - began < 1, "nobody is waited for"


@pytest.fixture
def bare(tmp_path: Path) -> str:
    """PYTHONPATH of a Python that finds Dask, but none of our packages."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(
        "import importlib.metadata as m\n"
        "found = m.version\n"
        "def version(name):\n"
        "    if name == 'bulkbits':\n"
        "        raise m.PackageNotFoundError(name)\n"
        "    return found(name)\n"
        "version.__module__ = 'importlib.metadata'\n"
        "m.version = version\n"
    )
    return os.pathsep.join([str(site), *sys.path])


@pytest.mark.slow
def test_a_worker_without_the_package(outside: Any, bare: str) -> None:
    outside.worker(PYTHONPATH=bare)
    outside.wait_for(1)
    with pytest.raises(ClusterError, match="has no bulkbits: install it there") as caught:
        Cluster.open(outside.file)
    assert caught.value.exit_code == 3


@pytest.mark.slow
def test_results_that_are_lost_with_a_worker_are_computed_again() -> None:
    with Cluster.open("local:2", backend="cpu", threads=1) as cluster:
        results = cluster.map(tasks.double, range(8), ahead=4)
        assert next(results) == 0
        time.sleep(1)  # the others are done, and nobody has come for them
        for facts in cluster.workers:
            os.kill(facts.pid, signal.SIGKILL)
        time.sleep(0.2)  # it is known, and not done again yet
        assert list(results) == [2 * i for i in range(1, 8)]


@pytest.mark.slow
def test_a_worker_is_killed(tmp_path: Path) -> None:
    with Cluster.open("local:2", backend="cpu", threads=1) as cluster:
        found = list(cluster.map(tasks.die_once, range(8), str(tmp_path)))
        assert found == list(range(8))
        assert (tmp_path / "died").exists()


@pytest.mark.slow
def test_workers_that_come_later(
    outside: Any, monkeypatch: pytest.MonkeyPatch, bare: str, tmp_path: Path
) -> None:
    monkeypatch.setattr(client, "_LOOK_FOR_WORKERS", 0.1)
    outside.worker()
    outside.wait_for(1)
    with Cluster.open(outside.file, backend="cpu") as cluster:
        assert not cluster.refresh()
        assert (cluster.size, len(cluster.workers)) == (1, 1)
        second = outside.worker()
        pids = set(cluster.map(tasks.met, range(2), str(tmp_path), ahead=1))
        assert (cluster.size, len(cluster.workers), len(pids)) == (2, 1, 2)
        assert cluster.workers[0].pid in pids
        assert cluster.refresh()
        assert {facts.pid for facts in cluster.workers} == pids
        assert not cluster.refresh()
        second.terminate()
        until(cluster.refresh)
        assert {facts.pid for facts in cluster.workers} < pids
        outside.worker(PYTHONPATH=bare)
        outside.wait_for(2)
        with pytest.raises(ClusterError, match="has no bulkbits: install it there"):
            cluster.refresh()


@pytest.mark.slow
def test_who_comes_to_a_host_shares_its_cores(
    outside: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "_LOOK_FOR_WORKERS", 0.1)
    outside.worker()
    outside.wait_for(1)
    cores = os.cpu_count() or 1
    with Cluster.open(outside.file, backend="cpu") as cluster:
        assert cluster.workers[0].threads == cores
        results = cluster.map(tasks.facts, itertools.count(), ahead=1)
        assert next(results)[1] == cores
        outside.worker()
        until(lambda: next(results)[1] == max(1, cores // 2))
        results.close()  # type: ignore[attr-defined]
        assert cluster.refresh()
        assert [facts.threads for facts in cluster.workers] == [max(1, cores // 2)] * 2


@pytest.mark.slow
def test_a_task_that_kills_every_worker() -> None:
    with (
        Cluster.open("local:1", backend="cpu", threads=1) as cluster,
        pytest.raises(ClusterError, match="died of the same task"),
    ):
        list(cluster.map(tasks.die, [0]))


@pytest.mark.slow
def test_a_slow_worker_does_not_hold_up_the_others(outside: Any) -> None:
    slow, fast = outside.worker(), outside.worker()
    outside.wait_for(2)
    with Cluster.open(outside.file, backend="cpu") as cluster:
        assert len(cluster.workers) == 2
        slow.send_signal(signal.SIGSTOP)
        try:
            results = cluster.map(tasks.sleep, [0.05] * 30, ahead=2, ordered=False)
            found = [next(results) for _ in range(20)]
            assert len(found) == 20
        finally:
            slow.send_signal(signal.SIGCONT)
        assert fast.poll() is None


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.7, 1.0, 1.4, 1.6, 1.8, 2.0, 3.0])
def test_ctrl_c_in_a_terminal_is_one_line(seconds: float) -> None:
    """It reaches all processes, while they start, too."""
    process = subprocess.Popen(
        [sys.executable, "-m", "lifesim", "doctor", "--cluster", "local:2"],
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGINT)
    said, wrong = process.communicate(timeout=9)  # of which Dask likes to take 10
    assert (process.returncode, wrong) == (130, "lifesim: interrupted\n") or (
        # -2 where Python itself was ending.
        process.returncode in (0, -2) and said.startswith("scheduler") and not wrong
    )
