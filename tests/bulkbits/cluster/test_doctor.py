"""lifesim doctor --cluster: who takes part."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from click.testing import CliRunner

from bulkbits.cluster import Cluster, census
from lifesim.cli import group
from tests.clusters import two_workers  # noqa: F401


@pytest.fixture
def cluster(two_workers: Cluster, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:  # noqa: F811
    monkeypatch.setattr(Cluster, "open", lambda *given, **chosen: two_workers)
    monkeypatch.setattr(Cluster, "close", lambda self: None)  # it serves other tests
    yield two_workers
    monkeypatch.undo()


def test_it_lists_workers(cluster: Cluster) -> None:
    done = CliRunner().invoke(group, ["doctor", "--cluster", "local:2"], catch_exceptions=False)
    assert done.exit_code == 0
    lines = done.output.splitlines()
    assert [line.split("  ")[0].strip() for line in lines] == [
        "scheduler", "dashboard", "package", "workers", "worker 0", "worker 1"
    ]  # fmt: skip
    assert str(census.code()) in lines[2]
    for facts, line in zip(cluster.workers, lines[4:], strict=True):
        assert facts.description in line
        assert f"process {facts.pid}," in line
        assert "cell updates/s" in line


def test_as_json(cluster: Cluster) -> None:
    done = CliRunner().invoke(group, ["doctor", "--cluster", "local:2", "--json"])
    found = json.loads(done.output)
    assert [worker["name"] for worker in found["workers"]] == ["0", "1"]
    assert all(worker["speed"]["rate"] > 0 for worker in found["workers"])


def test_a_device_is_the_worker_s_own() -> None:
    done = CliRunner().invoke(group, ["doctor", "--cluster", "local:2", "--device", "1"])
    assert done.exit_code == 2
    assert "contradict" in done.output
