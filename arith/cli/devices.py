"""Which GPUs, and which machines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from arith.cluster import Cluster

F = TypeVar("F", bound=Callable[..., Any])


class Devices(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """Numbers of GPUs: 0 or 0,1."""

    name = "N[,N...]"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        if not re.fullmatch(r"[0-9]{1,4}(,[0-9]{1,4})*", value):
            self.fail(f"{value!r} names no devices: write 0 or 0,1", param, ctx)
        devices = tuple(map(int, value.split(",")))
        if len(set(devices)) < len(devices):
            self.fail(f"{value!r} names a device twice", param, ctx)
        return devices


device_option = click.option(
    "--device",
    "devices",
    type=Devices(),
    default="0",
    help="Which GPU; several, as 0,1, to use them all. [0]",
)

cluster_option = click.option(
    "--cluster",
    metavar="ADDRESS",
    help="Compute on a Dask cluster: local:N for N processes here, tcp://HOST:8786, or a "
    "scheduler file. Other options of what computes are for its workers.",
)


def check_cluster(cluster: str | None, devices: tuple[int, ...]) -> None:
    """Raise UsageError where both are given: a worker has the GPU that it was started with."""
    if cluster is not None and devices != (0,):
        raise click.UsageError("--cluster and --device contradict each other")


@contextmanager
def opened_cluster(
    address: str, backend: str, threads: int | None, *, quiet: bool
) -> Iterator[Cluster]:
    """Says where its workers can be watched, unless quiet. Raises ClusterError."""
    from arith.cluster import Cluster

    with Cluster.open(address, backend=backend, threads=threads) as cluster:
        if cluster.dashboard and not quiet:
            program = click.get_current_context().find_root().info_name
            click.echo(f"{program}: {cluster.dashboard} shows the workers", err=True)
        yield cluster
