"""The scheduler of a cluster: whether it is still there, who its workers are, what they answer."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .errors import ClusterError


class Scheduler:
    """Asks the scheduler at an address, by a client of Dask, and tells when it is gone."""

    def __init__(self, client: Any, address: str) -> None:
        self._client, self.address = client, address

    def workers(self) -> dict[str, Any]:
        """Return what the scheduler knows of each worker, by address."""
        with self.kept_up():
            found = self._client.scheduler_info(n_workers=-1).get("workers")
        if found is None:  # nothing is known where nobody answered
            raise self.gone()
        return dict(found)

    def ask(
        self, addresses: Mapping[str, str], function: Callable[..., Any], *args: Any
    ) -> tuple[Any, dict[str, Any]]:
        """Call a function on the scheduler and on each worker; return results, or exceptions.

        addresses: of workers, by the names by which their results are returned.
        """
        try:
            own = self._client.run_on_scheduler(function, *args)
        except Exception as error:
            own = error
        found = self._client.run(function, *args, on_error="return")
        return own, {
            name: found[address] for name, address in addresses.items() if address in found
        }

    def gone(self) -> ClusterError:
        """Return the error that says that it is not there any more."""
        return ClusterError(f"{self.address}: the scheduler is gone")

    def check(self) -> None:
        """Raise ClusterError where the connection is broken.

        Dask tries for long to have it back, but tasks are lost with it.
        """
        if self._client.status != "running":
            raise self.gone()

    @contextlib.contextmanager
    def kept_up(self) -> Iterator[None]:
        """Raise ClusterError where the connection breaks within the block."""
        self.check()
        try:
            yield
        except (OSError, asyncio.CancelledError, concurrent.futures.CancelledError):
            raise self.gone() from None


def addresses_by_name(workers: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return the addresses of workers, of which Scheduler.workers() tells, by name, in order."""
    named = {str(facts["name"]): address for address, facts in workers.items()}
    return dict(sorted(named.items(), key=lambda item: _in_order(item[0])))


def _in_order(name: str) -> tuple[object, ...]:
    """Return a key that sorts names with numbers in them by the numbers: 2 before 10."""
    return tuple(
        (0, int(part), "") if part.isdigit() else (1, 0, part)
        for part in re.findall("[0-9]+|[^0-9]+", name)
    )
