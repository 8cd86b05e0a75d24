"""Work on several machines: on Dask, of which only this package knows.

`Cluster` is what commands use: a function over many items, on workers that have been looked at.
`worker` is what such a function may ask of the worker that it runs on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .errors import ClusterError

if TYPE_CHECKING:
    from .client import Cluster, Shared

__all__ = ["Cluster", "ClusterError", "Shared"]


def __getattr__(name: str) -> Any:
    if name in ("Cluster", "Shared"):
        from . import client

        return getattr(client, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
