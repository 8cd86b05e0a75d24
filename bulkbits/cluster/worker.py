"""In a worker: what a task may ask of the process that it runs in."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import pickle
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from .census import code
from .errors import ClusterError

if TYPE_CHECKING:
    from kernels.targets.contract import Target

T = TypeVar("T")

_KEPT = 6  # things of a process
_FETCH = 60  # seconds for what is shared to come
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # M_... of malloc.h


@dataclass(frozen=True, slots=True)
class Config:
    """A client's wishes, the same for all workers.

    code: digest of its packages. topic: of what tasks tell. backend, threads: as of pick();
    threads None: its share of the host's cores. hosts: how many workers each host has, by its
    address.
    """

    code: str
    topic: str
    backend: str
    threads: int | None
    hosts: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Reference:
    """A stand-in, among a task's arguments, for a value that Cluster.share() was given."""

    name: str


class _Task:
    """The task under way. A worker has one at a time; threads of its own may ask, too."""

    config: Config | None = None
    key = ""
    worker: Any = None


_said: dict[str, Any] = {}  # by topic
_kept: OrderedDict[Any, Any] = OrderedDict()
_keeping = threading.RLock()  # what is made may need another thing that is kept


@functools.cache
def _keep_memory() -> None:
    """Let glibc keep what is freed, as it does by itself, but not in a worker: there Dask sets
    MALLOC_TRIM_THRESHOLD_, and large arrays would be mapped anew for each task."""
    with contextlib.suppress(AttributeError, OSError):  # another C library
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_MMAP_THRESHOLD, 32 << 20)
        mallopt(_TRIM_THRESHOLD, 64 << 20)


def call(config: Config, function: Callable[..., T], *args: Any) -> T:
    """Execute a task, function(*args), on a worker, whose code is first compared with the client's.

    A worker that joins a cluster late has not been asked before.
    """
    from distributed import get_worker

    worker: Any = get_worker()
    if code().digest != config.code:
        raise ClusterError(f"worker {worker.name}: has other code, {code()}, than this command")
    _keep_memory()
    _Task.config, _Task.key, _Task.worker = config, worker.get_current_task(), worker
    return function(*(_fetched(arg) if isinstance(arg, Reference) else arg for arg in args))


def _fetched(reference: Reference) -> Any:
    """Return the value that Cluster.share() was given."""
    from distributed import Variable

    make: Any = Variable
    return kept(reference, lambda: pickle.loads(make(reference.name).get(timeout=_FETCH)))


def _config() -> Config:
    if _Task.config is None:
        raise RuntimeError("no task of a cluster has run in this process")
    return _Task.config


def backend() -> Target:
    """Return the target that this process computes on. Raises BackendUnavailableError."""
    from kernels.targets.choose import pick

    config = _config()
    return kept((config.backend, threads()), lambda: pick(config.backend, threads=threads()))


def threads() -> int:
    """Return how many CPU threads a task may use."""
    from kernels.targets.cpu import core_count

    return _config().threads or max(1, core_count() // _peers())


def memory() -> int:
    """Return how many bytes of host memory a task may take: its share of what is available."""
    from kernels.targets.memory import available_memory

    return available_memory() // _peers()


def _peers() -> int:
    """Count the workers on this host, this one included."""
    return dict(_config().hosts).get(_Task.worker.ip, 1)


def tell(value: Any) -> None:
    """Send a small value, pickled, to Cluster.listen(); call it a few times a second at most."""
    worker = _Task.worker
    worker.log_event(_config().topic, [str(worker.name), pickle.dumps(value)])


def hear(topic: str, value: Any) -> None:
    """Note what the client says (Cluster.say()), beside the task under way."""
    _said[topic] = value


def said() -> Any:
    """Return what the client has said last, None where it has said nothing."""
    return _said.get(_config().topic)


def stopping() -> bool:
    """Tell whether nobody wants the task under way any more: it was cancelled, or the client or
    the scheduler is gone. It is best to look a few times a second, and to end soon."""
    state = _Task.worker.state.tasks.get(_Task.key)
    return state is None or state.state in ("cancelled", "resumed", "forgotten")


def kept(key: Any, make: Callable[[], T]) -> T:
    """Return what make() made when it was first asked for by that key; the last few are kept."""
    with _keeping:
        if key in _kept:
            _kept.move_to_end(key)
        else:
            while len(_kept) >= _KEPT:
                _kept.popitem(last=False)
            _kept[key] = make()
        found: T = _kept[key]
        return found
