"""The client's side: a cluster that has been looked at, and functions over many items on it."""

from __future__ import annotations

import asyncio
import collections
import concurrent.futures
import contextlib
import logging
import pickle
import queue
import re
import time
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import metadata
from typing import Any, TypeVar

from kernels.signals import undisturbed

from . import census, worker
from .connect import connect
from .errors import ClusterError, line_of
from .flow import Flow

T = TypeVar("T")

_NOBODY: Mapping[str, str] = {}
_PATIENCE = 10.0  # seconds that opening waits for a worker
_RESOURCE = "bulkbits"
_AHEAD = 3  # items a worker that are sent and not yet taken
_CENSUSES = 5  # in a row, where somebody comes or goes amid each
_ALONE = 60.0  # seconds that work waits for a worker to come
_LOOK, _LOOK_FOR_WORKERS = 0.5, 5.0  # seconds between two looks


@dataclass(frozen=True, slots=True)
class Shared:
    """A value for workers: an argument of map(). Got by Cluster.share()."""

    reference: worker.Reference


class Cluster:
    """Workers that have the code of this process; a context manager.

    >>> with Cluster.open("local:2") as cluster:
    ...     for result in cluster.map(function, items):
    ...         ...

    function: of a module, as workers import it. It may ask `arith.cluster.worker` for what it
    computes with. A worker that dies has its tasks done by others: a task may be done twice.
    Workers that come later are given tasks, too.
    In a script, call it below `if __name__ == "__main__"`: workers import the script.

    workers: those of the last census, at opening or by refresh(). size: how many workers there
    were when somebody last looked and saw any, which is every few seconds while results are
    waited for.
    """

    workers: tuple[census.WorkerFacts, ...]
    size: int

    @classmethod
    def open(cls, address: str, *, backend: str = "auto", threads: int | None = None) -> Cluster:
        """address: local:N for N processes on this machine, that of a scheduler as
        tcp://HOST:8786, or the path of a scheduler file. backend, threads: what workers compute
        with, as of kernels.choose.pick(); threads by default a worker's share of its cores.

        Raises ClusterError where it cannot be used: Dask is not installed, nobody answers
        within 10 seconds, there are no workers, or one has other code.
        """
        try:
            with undisturbed():
                import distributed  # noqa: F401
        except ImportError as error:
            hint = "pip install 'bulkbits[dist]'" if error.name == "distributed" else str(error)
            raise ClusterError(f"--cluster needs Dask: {hint}") from None
        for name in ("distributed", "distributed.client"):  # one line of our own will do
            logging.getLogger(name).setLevel(logging.CRITICAL)
        with contextlib.ExitStack() as held:
            client = connect(address, backend, held)
            cluster = cls(client, address, backend, threads)
            cluster._begin(_PATIENCE)
            cluster._held = held.pop_all()
        return cluster

    def __init__(self, client: Any, address: str, backend: str, threads: int | None) -> None:
        self._client, self.address, self._held = client, address, contextlib.ExitStack()
        self._addresses: dict[str, str] = {}  # of workers, by name
        self._resources: dict[str, int] | None = None
        self._topic = f"bulkbits-{uuid.uuid4().hex[:12]}"
        self._config = worker.Config(census.code().digest, self._topic, backend, threads, ())
        self._looked = 0.0  # when workers were last looked for

    def close(self) -> None:
        with undisturbed():  # amid it Dask would take ten seconds more to end processes
            self._held.close()

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()

    @property
    def dashboard(self) -> str | None:
        """The address of Dask's own pages on what workers do, where there are any."""
        try:
            services = self._client.scheduler_info()["services"]
            return str(self._client.dashboard_link) if "dashboard" in services else None
        except (KeyError, ValueError):
            return None

    def refresh(self) -> bool:
        """Take the census again where workers have come or gone; whether that was so.

        For the time between two map(): it waits for tasks under way. Raises ClusterError as
        open(), for who has come; and where nobody is left, and nobody comes within a minute.
        """
        changed = 0
        while set(self._workers_now()) != set(self._addresses.values()):
            changed += 1
            try:
                self._begin(_ALONE)
            except ClusterError:
                # Of somebody who has gone since? Then of the others.
                still = set(self._workers_now()) == set(self._addresses.values())
                if still or changed == _CENSUSES:
                    raise
        return changed > 0

    def everywhere(self, function: Callable[..., Any], *args: Any) -> dict[str, Any]:
        """What function(*args) returns on each worker, by the worker's name.

        Raises what it raises, ClusterError where a worker goes meanwhile.
        """
        futures = {
            name: self.submit(function, args, workers=[address])
            for name, address in self._addresses.items()
        }
        news: queue.SimpleQueue[Any] = queue.SimpleQueue()
        try:
            for future in futures.values():
                future.add_done_callback(news.put)
            for _ in futures:
                self.wait_for(news, self._addresses)
            return {name: self.result(future, self._addresses) for name, future in futures.items()}
        finally:
            self.cancel(futures.values())

    def share(self, value: Any) -> Shared:
        """The value is sent to a worker once, when a task of its own first needs it; args of
        map() may be such. It lies with the scheduler until then."""
        # As a result of a task it would draw all tasks to the worker that has it.
        from distributed import Variable

        made: Any = Variable
        data = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
        name = uuid.uuid4().hex
        with self._kept_up():
            variable = made(name, client=self._client)
            variable.set(data)
        self._held.callback(self._drop, variable)
        return Shared(worker.Reference(name))

    def _drop(self, variable: Any) -> None:
        if self._client.status == "running":
            with contextlib.suppress(Exception):
                variable.delete()

    def map(
        self,
        function: Callable[..., Any],
        items: Iterable[Any],
        *args: Any,
        ahead: int = _AHEAD,
        ordered: bool = True,
    ) -> Iterator[Any]:
        """function(item, *args) of each item, on workers, one at a time on each.

        Results come in the order of items; if not ordered, as they are done, each as
        (place of the item, result). ahead: items a worker that are taken and whose results are
        not, at most. So items may be without end, and slow to come: they are taken by a
        thread. args: values, or what share() has given.

        What items or the function raises comes out in its place. Ending early, by close() too,
        cancels what has not begun; what has begun can tell by worker.stopping().
        """
        return Flow(self, function, args, ahead, ordered).run(items)

    def listen(self, callback: Callable[[str, Any], None]) -> None:
        """callback(name of the worker, value) of what tasks tell; in a thread of its own."""

        def heard(event: tuple[float, Any]) -> None:
            name, data = event[1]
            callback(name, pickle.loads(data))

        self._client.subscribe_topic(self._topic, heard)

    def say(self, value: Any) -> None:
        """What worker.said() is from now on on every worker, also to tasks under way."""
        with self._kept_up():
            self._client.run(worker.hear, self._topic, value, on_error="return")

    # --- beginning and ending ----------------------------------------------------------

    def _begin(self, patience: float) -> None:
        """The census. Raises ClusterError."""
        self._addresses = self._wait_for_workers(patience)
        places = self._census()
        facts = self.everywhere(_facts)
        self.workers = tuple(
            census.WorkerFacts(
                name, self._addresses[name], place.host, place.pid, place.code, *facts[name]
            )
            for name, place in places.items()
        )

    def _wait_for_workers(self, seconds: float) -> dict[str, str]:
        """Addresses by name."""
        end = time.monotonic() + seconds
        while not (found := self._workers_now()):
            if time.monotonic() > end:
                raise ClusterError(f"{self.address}: no workers")
            time.sleep(0.1)
        # What a task takes of a worker; nothing where Dask gives one at a time anyway.
        alone = all(facts["nthreads"] == 1 for facts in found.values())
        self._resources = None if alone else {_RESOURCE: 1}
        self._count(found)
        named = {str(facts["name"]): address for address, facts in found.items()}
        return dict(sorted(named.items(), key=lambda item: _in_order(item[0])))

    def _check_one_at_a_time(self, workers: Iterable[Mapping[str, Any]]) -> None:
        """Raises ClusterError where a worker would have two tasks: each uses all cores."""
        for facts in workers:
            if self._resources:
                one = facts["resources"].get(_RESOURCE) == 1
            else:
                one = facts["nthreads"] == 1
            if not one:
                raise ClusterError(
                    f"worker {facts['name']} of {self.address} begins {facts['nthreads']} tasks at "
                    f"a time, each of which uses all cores: start workers with --nthreads 1, or "
                    f"all with --resources {_RESOURCE}=1"
                )

    def _census(self) -> dict[str, census.Place]:
        """Where each worker is. Raises ClusterError for one that has not this code."""
        with self._kept_up():
            # First by what every Python has: a worker that lacks the package cannot be asked more.
            self._check(*self._ask(metadata.version, census.DISTRIBUTION))
            scheduler, workers = self._ask(census.place)
        self._check(scheduler, workers)
        others = [
            (who, found)
            for who, found in self._titled(scheduler, workers)
            if found.code.digest != census.code().digest
        ]
        if others:
            who, found = others[0]
            more = f", and {len(others) - 1} more have other code, too" if others[1:] else ""
            raise ClusterError(
                f"{who} on {found.host} has {census.DISTRIBUTION} {found.code}, this command "
                f"{census.code()}: they might differ{more}"
            )
        return workers

    def _ask(self, function: Callable[..., Any], *args: Any) -> tuple[Any, dict[str, Any]]:
        """What the scheduler and each worker says, or the exception there."""
        try:
            scheduler = self._client.run_on_scheduler(function, *args)
        except Exception as error:
            scheduler = error
        found = self._client.run(function, *args, on_error="return")
        return scheduler, {
            name: found[address] for name, address in self._addresses.items() if address in found
        }

    def _titled(self, scheduler: Any, workers: dict[str, Any]) -> Iterator[tuple[str, Any]]:
        yield f"the scheduler {self.address}", scheduler
        yield from ((f"worker {name}", found) for name, found in workers.items())

    def _check(self, scheduler: Any, workers: dict[str, Any]) -> None:
        for who, found in self._titled(scheduler, workers):
            if isinstance(found, metadata.PackageNotFoundError):
                raise ClusterError(f"{who} has no {census.DISTRIBUTION}: install it there")
            if isinstance(found, BaseException):
                raise ClusterError(f"{who} does not answer: {line_of(found)}")

    # --- tasks -------------------------------------------------------------------------

    def submit(self, function: Callable[..., Any], args: Iterable[Any], **how: Any) -> Any:
        """A future of function(*args) on a worker."""
        values = [arg.reference if isinstance(arg, Shared) else arg for arg in args]
        with self._kept_up(), _any_size():
            return self._client.submit(
                worker.call,
                self._config,
                function,
                *values,
                pure=False,
                resources=self._resources,
                **how,
            )

    def result(self, future: Any, needed: Mapping[str, str] = _NOBODY) -> Any:
        """Of a task that is done; where its result was lost with a worker, of the task done once
        more. Raises what it raised, and ClusterError where the cluster is at fault.

        needed: as of wait_for().
        """
        from distributed.scheduler import KilledWorker

        while future.status in ("lost", "pending"):
            news: queue.SimpleQueue[Any] = queue.SimpleQueue()
            future.add_done_callback(news.put)
            self.wait_for(news, needed)
        if future.status == "error":
            error = future.exception()
            if isinstance(error, KilledWorker):
                raise ClusterError(
                    f"{self.address}: one worker after the other died of the same task: is there "
                    f"memory enough?"
                )
            raise error
        if future.status != "finished":
            raise self._gone()
        with self._kept_up():
            return future.result()

    def wait_for(
        self,
        news: queue.SimpleQueue[T],
        needed: Mapping[str, str] = _NOBODY,
        looked: Callable[[], None] = lambda: None,
    ) -> T:
        """The next of what tasks that are done bring. Raises ClusterError where none will be.

        needed: addresses by name of workers that nobody can stand in for. looked: called when
        `size` is known anew.
        """
        last_seen = time.monotonic()
        while True:
            now = time.monotonic()
            if now > self._looked + _LOOK_FOR_WORKERS:
                self._looked = now
                there = self._workers_now()
                for name, address in needed.items():
                    if address not in there:
                        raise ClusterError(f"worker {name} of {self.address} is gone")
                if there:
                    last_seen = now
                    self._count(there)
                    looked()
                elif now > last_seen + _ALONE:
                    raise ClusterError(f"{self.address}: its workers are gone")
            try:
                return news.get(timeout=_LOOK)
            except queue.Empty:
                self._check_connection()  # tasks of after the break are not heard of again

    def _count(self, there: Mapping[str, Mapping[str, Any]]) -> None:
        """Note how many workers there are, and how many share each host. Raises ClusterError."""
        self._check_one_at_a_time(there.values())
        self.size = len(there)
        hosts = collections.Counter(str(facts["host"]) for facts in there.values())
        self._config = replace(self._config, hosts=tuple(sorted(hosts.items())))

    def cancel(self, futures: Iterable[Any]) -> None:
        with contextlib.suppress(Exception):
            self._client.cancel(list(futures), force=True)

    def _workers_now(self) -> dict[str, Any]:
        """What the scheduler knows of each, by address."""
        with self._kept_up():
            found = self._client.scheduler_info(n_workers=-1).get("workers")
        if found is None:  # nothing is known where nobody answered
            raise self._gone()
        return dict(found)

    def _gone(self) -> ClusterError:
        return ClusterError(f"{self.address}: the scheduler is gone")

    def _check_connection(self) -> None:
        """Dask tries for long to have a broken one back, but tasks are lost with it."""
        if self._client.status != "running":
            raise self._gone()

    @contextlib.contextmanager
    def _kept_up(self) -> Iterator[None]:
        """Says so where the connection breaks."""
        self._check_connection()
        try:
            yield
        except (OSError, asyncio.CancelledError, concurrent.futures.CancelledError):
            raise self._gone() from None


def _facts() -> tuple[str, str, int, int]:
    """Of the worker that this runs on: the end of WorkerFacts."""
    backend = worker.backend()
    return backend.name, backend.describe(), worker.threads(), worker.memory()


@contextlib.contextmanager
def _any_size() -> Iterator[None]:
    """Without Dask's warning that an argument is large: it is so on purpose."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph")
        yield


def _in_order(name: str) -> tuple[object, ...]:
    """2 before 10."""
    return tuple(
        (0, int(part), "") if part.isdigit() else (1, 0, part)
        for part in re.findall("[0-9]+|[^0-9]+", name)
    )
