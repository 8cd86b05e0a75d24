"""Clusters for tests: one of two processes, and one without any."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from bulkbits.cluster import Cluster, ClusterError, worker
from bulkbits.cluster.census import WorkerFacts, code


@dataclass(frozen=True)
class _Raised:
    error: Exception


@dataclass
class InlineCluster:
    """Stands in for bulkbits.cluster.Cluster, but tasks run where results are waited for, in an
    order that the seed says, as far as they have been sent.

    Arguments and results are pickled, as on the way to a worker.
    """

    count: int = 2
    seed: int = 0
    backend: str = "auto"
    threads: int | None = 1
    address: str = "inline"
    dashboard: str | None = None
    sent: int = 0
    callbacks: list[Callable[[str, Any], None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.workers = tuple(
            WorkerFacts(str(i), f"inline://{i}", "here", 0, code(), self.backend, "", 1, 1 << 30)
            for i in range(self.count)
        )
        self._random = random.Random(self.seed)
        self._config = worker.Config(
            code().digest, "", self.backend, self.threads, (("here", self.count),)
        )

    def __enter__(self) -> InlineCluster:
        return self

    def __exit__(self, *reason: object) -> None:
        pass

    def close(self) -> None:
        pass

    @property
    def size(self) -> int:
        return len(self.workers)

    def refresh(self) -> bool:
        return False

    def everywhere(self, function: Callable[..., Any], *args: Any) -> dict[str, Any]:
        return {facts.name: self._call(facts.name, function, args) for facts in self.workers}

    def share(self, value: Any) -> Any:
        return pickle.loads(pickle.dumps(value))

    def map(
        self,
        function: Callable[..., Any],
        items: Iterable[Any],
        *args: Any,
        ahead: int = 3,
        ordered: bool = True,
    ) -> Iterator[Any]:
        room, source = ahead * self.size, enumerate(items)
        waiting: dict[int, Any] = {}
        done: dict[int, Any] = {}
        given, ended = 0, False
        while True:
            while not ended and len(waiting) + len(done) < room:
                try:
                    place, item = next(source)
                except StopIteration:
                    ended = True
                    break
                except Exception as error:
                    done[given + len(waiting) + len(done)] = _Raised(error)
                    ended = True
                    break
                waiting[place] = item
                self.sent += 1
            if not waiting and not done:
                return
            if waiting:
                place = self._random.choice(list(waiting))
                name = self._random.choice(self.workers).name
                try:
                    done[place] = self._call(name, function, (waiting.pop(place), *args))
                except Exception as error:
                    done[place] = _Raised(error)
            ready = [given] if ordered and given in done else [] if ordered else list(done)
            for place in ready:
                given += 1
                result = done.pop(place)
                if isinstance(result, _Raised):
                    raise result.error
                yield result if ordered else (place, result)

    def listen(self, callback: Callable[[str, Any], None]) -> None:
        self.callbacks.append(callback)

    def say(self, value: Any) -> None:
        worker.hear("", value)

    def _call(self, name: str, function: Callable[..., Any], args: Iterable[Any]) -> Any:
        def heard(topic: str, message: tuple[str, bytes]) -> None:
            for callback in self.callbacks:
                callback(message[0], pickle.loads(message[1]))

        tasks = {"task": SimpleNamespace(state="executing")}
        worker._Task.worker = SimpleNamespace(
            name=name, ip="here", log_event=heard, state=SimpleNamespace(tasks=tasks)
        )
        worker._Task.config, worker._Task.key = self._config, "task"
        given = pickle.loads(pickle.dumps((function, tuple(args))))
        try:
            return pickle.loads(pickle.dumps(given[0](*given[1])))
        finally:
            worker._Task.config = worker._Task.worker = None


@pytest.fixture(scope="module")
def two_workers() -> Iterator[Cluster]:
    """Processes of one thread each, on the CPU. For tests that kill nothing.

    Not for the whole session: Dask's threads would be in the way of tests that count threads or
    bytes.
    """
    pytest.importorskip("distributed")
    pytest.importorskip("cryptography")
    with Cluster.open("local:2", backend="cpu", threads=1) as cluster:
        yield cluster


@contextmanager
def admitted(cluster: Cluster) -> Iterator[str]:
    """Have Dask's configuration hold the certificate of a cluster of this process, so that others
    may connect to it; gives the address of its scheduler."""
    import dask

    client = cluster._client
    found = client.security
    with dask.config.set(
        {
            "distributed.comm.tls.ca-file": found.tls_ca_file,
            "distributed.comm.tls.client.cert": found.tls_client_cert,
            "distributed.comm.tls.client.key": found.tls_client_key,
        }
    ):
        yield str(client.scheduler.address)


__all__ = ["Cluster", "ClusterError", "InlineCluster", "admitted", "two_workers"]
