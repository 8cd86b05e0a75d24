"""The client's side: a cluster that has been looked at, and functions over many items on it."""

from __future__ import annotations

import collections
import contextlib
import logging
import pickle
import queue
import time
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from kernels.signals import undisturbed

from . import census, worker
from .connect import connect
from .errors import ClusterError
from .flow import Flow
from .scheduler import Scheduler, addresses_by_name

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

    function: of a module, as workers import it. It may ask `bulkbits.cluster.worker` for what it
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
        """Look for a cluster and its workers.

        address: local:N for N processes on this machine, that of a scheduler as
        tcp://HOST:8786 or tls://HOST:8786, or the path of a scheduler file. Certificates for
        TLS are those of Dask's configuration; a scheduler without is one that everybody who
        reaches it commands, and its workers with it. backend, threads: what workers compute
        with, as of kernels.targets.choose.pick(); threads by default a worker's share of its cores.

        Raises ClusterError where it cannot be used: Dask is not installed, nobody answers
        within 10 seconds, certificates do not fit, there are no workers, or one has other code.
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
        self._scheduler = Scheduler(client, address)
        self._addresses: dict[str, str] = {}  # of workers, by name
        self._resources: dict[str, int] | None = None
        self._topic = f"bulkbits-{uuid.uuid4().hex[:12]}"
        self._config = worker.Config(census.code().digest, self._topic, backend, threads, ())
        self._looked = 0.0  # when workers were last looked for

    def close(self) -> None:
        """Leave the cluster, and end workers that open() has started."""
        with undisturbed():  # amid it Dask would take ten seconds more to end processes
            self._held.close()

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()

    @property
    def dashboard(self) -> str | None:
        """Return the address of Dask's own pages on what workers do, None where there are none."""
        try:
            services = self._client.scheduler_info()["services"]
            return str(self._client.dashboard_link) if "dashboard" in services else None
        except (KeyError, ValueError):
            return None

    def refresh(self) -> bool:
        """Take the census again where workers have come or gone, and return whether they have.

        For the time between two map(): it waits for tasks under way. Raises ClusterError as
        open(), for who has come; and where nobody is left, and nobody comes within a minute.
        """
        changed = 0
        while set(self._scheduler.workers()) != set(self._addresses.values()):
            changed += 1
            try:
                self._begin(_ALONE)
            except ClusterError:
                # Of somebody who has gone since? Then of the others.
                still = set(self._scheduler.workers()) == set(self._addresses.values())
                if still or changed == _CENSUSES:
                    raise
        return changed > 0

    def everywhere(self, function: Callable[..., Any], *args: Any) -> dict[str, Any]:
        """Call function(*args) on each worker; return the results by the workers' names.

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
        """Return a stand-in for a value, to be among the args of map().

        A worker is sent the value once, when a task of its own first needs it; it lies with the
        scheduler until then.
        """
        # As a result of a task it would draw all tasks to the worker that has it.
        from distributed import Variable

        made: Any = Variable
        data = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
        name = uuid.uuid4().hex
        with self._scheduler.kept_up():
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
        """Yield function(item, *args) of each item, computed by workers, one at a time on each.

        Results come in the order of items; if not ordered, as they are done, each as
        (place of the item, result). ahead: items a worker that are taken and whose results are
        not, at most. So items may be without end, and slow to come: they are taken by a
        thread. args: values, or what share() has given.

        What items or the function raises comes out in its place. Ending early, by close() too,
        cancels what has not begun; what has begun can tell by worker.stopping().
        """
        return Flow(self, function, args, ahead, ordered).run(items)

    def listen(self, callback: Callable[[str, Any], None]) -> None:
        """Have callback(name of the worker, value) called for what tasks tell, by a thread."""

        def heard(event: tuple[float, Any]) -> None:
            name, data = event[1]
            callback(name, pickle.loads(data))

        self._client.subscribe_topic(self._topic, heard)

    def say(self, value: Any) -> None:
        """Set what worker.said() returns from now on on every worker, also to tasks under way."""
        with self._scheduler.kept_up():
            self._client.run(worker.hear, self._topic, value, on_error="return")

    # --- beginning and ending ----------------------------------------------------------

    def _begin(self, patience: float) -> None:
        """Take the census. Raises ClusterError."""
        self._addresses = self._wait_for_workers(patience)
        places = census.take(self._scheduler, self._addresses)
        facts = self.everywhere(_facts)
        self.workers = tuple(
            census.WorkerFacts(
                name, self._addresses[name], place.host, place.pid, place.code, *facts[name]
            )
            for name, place in places.items()
        )

    def _wait_for_workers(self, seconds: float) -> dict[str, str]:
        """Return the addresses of workers by name, once there are any."""
        end = time.monotonic() + seconds
        while not (found := self._scheduler.workers()):
            if time.monotonic() > end:
                raise ClusterError(f"{self.address}: no workers")
            time.sleep(0.1)
        # What a task takes of a worker; nothing where Dask gives one at a time anyway.
        alone = all(facts["nthreads"] == 1 for facts in found.values())
        self._resources = None if alone else {_RESOURCE: 1}
        self._count(found)
        return addresses_by_name(found)

    def _check_one_at_a_time(self, workers: Iterable[Mapping[str, Any]]) -> None:
        """Raise ClusterError where a worker would have two tasks: each uses all cores."""
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

    # --- tasks -------------------------------------------------------------------------

    def submit(self, function: Callable[..., Any], args: Iterable[Any], **how: Any) -> Any:
        """Begin function(*args) on a worker, and return a future of it."""
        values = [arg.reference if isinstance(arg, Shared) else arg for arg in args]
        with self._scheduler.kept_up(), _any_size():
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
        """Return the result of a task that is done; where that was lost with a worker, the task is
        done once more. Raises what it raised, and ClusterError where the cluster is at fault.

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
            raise self._scheduler.gone()
        with self._scheduler.kept_up():
            return future.result()

    def wait_for(
        self,
        news: queue.SimpleQueue[T],
        needed: Mapping[str, str] = _NOBODY,
        looked: Callable[[], None] = lambda: None,
    ) -> T:
        """Wait for the next of what tasks that are done bring, and return it.

        Raises ClusterError where none will be.

        needed: addresses by name of workers that nobody can stand in for. looked: called when
        `size` is known anew.
        """
        last_seen = time.monotonic()
        while True:
            now = time.monotonic()
            if now > self._looked + _LOOK_FOR_WORKERS:
                self._looked = now
                there = self._scheduler.workers()
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
                self._scheduler.check()  # tasks of after the break are not heard of again

    def _count(self, there: Mapping[str, Mapping[str, Any]]) -> None:
        """Note how many workers there are, and how many share each host. Raises ClusterError."""
        self._check_one_at_a_time(there.values())
        self.size = len(there)
        hosts = collections.Counter(str(facts["host"]) for facts in there.values())
        self._config = replace(self._config, hosts=tuple(sorted(hosts.items())))

    def cancel(self, futures: Iterable[Any]) -> None:
        """Cancel tasks, whether they have begun or not."""
        with contextlib.suppress(Exception):
            self._client.cancel(list(futures), force=True)


def _facts() -> tuple[str, str, int, int]:
    """Return the last four facts (WorkerFacts) of the worker that executes this task."""
    backend = worker.backend()
    return backend.name, backend.describe(), worker.threads(), worker.memory()


@contextlib.contextmanager
def _any_size() -> Iterator[None]:
    """Silence Dask's warning that an argument is large: it is so on purpose."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph")
        yield
