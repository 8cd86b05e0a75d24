"""From what --cluster was given to a client of a scheduler that answers."""

from __future__ import annotations

import contextlib
import json
import queue
import re
import threading
from collections.abc import Callable
from typing import Any

from . import local
from .errors import ClusterError, line_of

_ADDRESS = re.compile(r"(tcp|tls|ucx|ws|wss)://.+:[0-9]+")
_ANSWER, _CLOSE = 10.0, 2.0  # seconds


def connect(address: str, backend: str, held: contextlib.ExitStack) -> Any:
    """A client, closed with `held`. Raises ClusterError, after 10 seconds where nobody answers."""
    from distributed import Client

    where: Any = address
    if address.startswith("local:"):
        try:
            count = int(address.removeprefix("local:"))
        except ValueError:
            raise ClusterError(f"{address}: write the number of workers, as local:2", 2) from None
        where = held.enter_context(local.start(count, backend))
    elif not _ADDRESS.fullmatch(address):
        where = _address_in(address)
    make: Any = Client
    # Not the default client of the process: that is its user's.
    how = {"timeout": _ANSWER, "set_as_default": False, "direct_to_workers": True}
    made = _Making(lambda: make(where, **how))
    try:
        client = made.within(_ANSWER)
    except Exception as error:
        raise ClusterError(f"{address}: no scheduler answers: {line_of(error)}") from None
    held.callback(client.close, timeout=_CLOSE)
    return client


def _address_in(path: str) -> str:
    """Of a scheduler file. Dask would wait for one that has none for ever."""
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)["address"]
    except OSError:
        raise ClusterError(
            f"{path}: neither local:N, nor tcp://HOST:PORT, nor a scheduler file", 2
        ) from None
    except (ValueError, KeyError, TypeError):
        found = None
    if not isinstance(found, str) or not _ADDRESS.fullmatch(found):
        raise ClusterError(f"{path}: no scheduler file: it has no address", 2)
    return found


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
