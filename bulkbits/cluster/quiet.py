"""Schedulers and workers of Dask that listen for tasks only, not for browsers.

Dask has each open a port for HTTP as well, dashboard or not. Whoever reaches it, without any
certificate, reads what runs where.
"""

from __future__ import annotations

from typing import Any

_Scheduler: Any = object
_Worker: Any = object
try:
    from distributed import Scheduler, Worker
except ImportError:
    pass  # nobody starts one without Dask
else:
    _Scheduler, _Worker = Scheduler, Worker


class QuietScheduler(_Scheduler):  # type: ignore[misc]
    """A scheduler without a port for HTTP."""

    def start_http_server(self, *args: Any, **kwargs: Any) -> None:
        """Open no port."""


class QuietWorker(_Worker):  # type: ignore[misc]
    """A worker without a port for HTTP."""

    def start_http_server(self, *args: Any, **kwargs: Any) -> None:
        """Open no port."""
