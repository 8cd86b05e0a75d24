"""From what --cluster was given to a client of a scheduler that answers."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import re
import threading
import time
from collections.abc import Callable
from typing import Any

from . import local, tls
from .errors import ClusterError, line_of

_ADDRESS = re.compile(r"(tcp|tls|ucx|ws|wss)://.+:[0-9]+")
_ANSWER, _CLOSE = 10.0, 2.0  # seconds
_LONGEST = 1 << 24  # characters of a scheduler file that are looked at


def connect(address: str, backend: str, held: contextlib.ExitStack) -> Any:
    """A client, closed with `held`. Raises ClusterError, after 10 seconds where nobody answers."""
    from distributed import Client

    where: Any = address
    security: Any = None
    if address.startswith("local:"):
        try:
            count = int(address.removeprefix("local:"))
        except ValueError:
            raise ClusterError(f"{address}: write the number of workers, as local:2", 2) from None
        where = held.enter_context(local.started(count, backend))
        security = where.security
    else:
        if not _ADDRESS.fullmatch(address):
            where = _address_in(address)
        security = tls.configured(where)
    make: Any = Client
    # Not the default client of the process: that is its user's.
    how = {"timeout": _ANSWER, "set_as_default": False, "direct_to_workers": True}
    made = _Making(lambda: make(where, security=security, **how))
    try:
        client = made.within(_ANSWER)
    except Exception as error:
        line = tls.trouble(str(where), security)
        line = line or f"{address}: no scheduler answers: {line_of(error)}"
        raise ClusterError(line) from None
    held.callback(client.close, timeout=_CLOSE)
    return client


def _address_in(path: str) -> str:
    """Return what a scheduler file has. Dask would wait for one that has none for ever; here one
    that is missing or empty is waited for, as its scheduler may have been started just now."""
    end = time.monotonic() + _ANSWER
    while path.endswith(".json") and not _is_written(path) and time.monotonic() < end:
        time.sleep(0.05)
    try:
        with open(path, encoding="utf-8") as file:
            found = json.loads(file.read(_LONGEST))["address"]
    except OSError:
        raise ClusterError(
            f"{path}: neither local:N, nor tcp:// or tls://HOST:PORT, nor a scheduler file",
            2,
        ) from None
    except (ValueError, KeyError, TypeError, RecursionError):
        found = None
    if not isinstance(found, str) or not _ADDRESS.fullmatch(found):
        raise ClusterError(f"{path}: no scheduler file: it has no address", 2)
    return found


def _is_written(path: str) -> bool:
    try:
        return os.stat(path).st_size > 0
    except (OSError, ValueError):
        return False


class _Making:
    """Something that is made by a thread, since it may take for ever: a client, say, of an
    address where somebody listens who says nothing."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._made: queue.SimpleQueue[Any] = queue.SimpleQueue()
        threading.Thread(target=self._work, daemon=True).start()

    def within(self, seconds: float) -> Any:
        """Raises what making it raises, and TimeoutError."""
        try:
            made = self._made.get(timeout=seconds)
        except queue.Empty:
            raise TimeoutError(f"not within {seconds:g} s") from None
        if isinstance(made, Exception):
            raise made
        return made

    def _work(self) -> None:
        try:
            made = self._make()
        except Exception as error:
            made = error
        self._made.put(made)
