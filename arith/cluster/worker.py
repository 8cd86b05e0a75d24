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
    from kernels.backend import Backend

T = TypeVar("T")

_KEPT = 6  # things of a process
_FETCH = 60  # seconds for what is shared to come
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # M_... of malloc.h


@dataclass(frozen=True, slots=True)
class Config:
    """What a client wants of all workers.

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
    """To a value that Cluster.share() was given, in place of an argument."""

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
    """What is sent to workers: function(*args), with a check that the code is the same.

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
    """What Cluster.share() was given."""
    from distributed import Variable

    make: Any = Variable
    return kept(reference, lambda: pickle.loads(make(reference.name).get(timeout=_FETCH)))


def _config() -> Config:
    if _Task.config is None:
        raise RuntimeError("no task of a cluster has run in this process")
    return _Task.config


def backend() -> Backend:
    """This process's own. Raises BackendUnavailableError."""
    from kernels.choose import pick

    config = _config()
    return kept((config.backend, threads()), lambda: pick(config.backend, threads=threads()))


def threads() -> int:
    """CPU threads that a task may use."""
    from kernels.cpu import core_count

    return _config().threads or max(1, core_count() // _peers())


def memory() -> int:
    """Bytes of host memory that a task may take: its share of what is available."""
    from kernels.memory import available_memory

    return available_memory() // _peers()


def _peers() -> int:
    """Workers on this host, this one included."""
    return dict(_config().hosts).get(_Task.worker.ip, 1)


def tell(value: Any) -> None:
    """A small value, pickled, to Cluster.listen(); not more often than a few times a second."""
    worker = _Task.worker
    worker.log_event(_config().topic, [str(worker.name), pickle.dumps(value)])


def hear(topic: str, value: Any) -> None:
    """What Cluster.say() calls, beside the task under way."""
    _said[topic] = value


def said() -> Any:
    """What the client has said last; None where it has not."""
    return _said.get(_config().topic)


def stopping() -> bool:
    """Whether nobody wants the task under way any more: it was cancelled, or the client or the
    scheduler is gone. It is best to look a few times a second, and to end soon."""
    state = _Task.worker.state.tasks.get(_Task.key)
    return state is None or state.state in ("cancelled", "resumed", "forgotten")


def kept(key: Any, make: Callable[[], T]) -> T:
    """What make() made when it was first asked for by that key; the last few are kept."""
    with _keeping:
        if key in _kept:
            _kept.move_to_end(key)
        else:
            while len(_kept) >= _KEPT:
                _kept.popitem(last=False)
            _kept[key] = make()
        found: T = _kept[key]
        return found
