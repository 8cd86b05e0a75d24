"""The options that commands share: spelled, checked and documented in one place.

Each is a decorator for a click command. A command takes those that mean something for it; what is
special about one there is said in the command's own help.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bulkbits.amounts import Memory
from bulkbits.version import version

if TYPE_CHECKING:
    from bulkbits.cluster import Cluster

F = TypeVar("F", bound=Callable[..., Any])

BACKENDS = ("auto", "cuda", "cpu", "reference")
DRIVERS = ("pycuda", "cuda.core")
DRIVER_VARIABLE = "BULKBITS_DRIVER"


_DEVICES = re.compile("[0-9]{1,4}(,[0-9]{1,4})*")
_MOST_GUESSED = 16  # GPUs


def named_gpus(args: Sequence[str]) -> tuple[int, ...]:
    """Return the GPUs that a subcommand will use for certain, by a first look at its arguments.

    These are the ones of --device where they say --backend cuda. Nothing is refused here: where the
    arguments make no sense there are none.
    """
    found = {"--backend": "", "--device": "0", "--cluster": "", "--help": ""}
    for arg, following in zip(args, [*args[1:], ""], strict=False):
        name, equals, value = arg.partition("=")
        if name in found:
            found[name] = value if equals else following or "1"
    if found["--backend"] != "cuda" or found["--cluster"] or found["--help"]:
        return ()
    if not _DEVICES.fullmatch(found["--device"]):
        return ()
    return tuple(map(int, found["--device"].split(",")))[:_MOST_GUESSED]


class Devices(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """Numbers of GPUs: 0 or 0,1."""

    name = "N[,N...]"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, ...]:
        """Return the numbers."""
        if isinstance(value, tuple):
            return value
        if not _DEVICES.fullmatch(value):
            self.fail(f"{value!r} names no devices: write 0 or 0,1", param, ctx)
        devices = tuple(map(int, value.split(",")))
        if len(set(devices)) < len(devices):
            self.fail(f"{value!r} names a device twice", param, ctx)
        return devices


def all_of(*decorators: Callable[[Any], Any]) -> Callable[[F], F]:
    """Return one decorator for all of them, which help then lists in this order."""

    def decorate(command: F) -> F:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate


# --- what computes ---------------------------------------------------------------


def _use_driver(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    """Set the environment variable for as long as the command runs, and the processes that it
    starts."""
    if value is None:
        return
    before = os.environ.get(DRIVER_VARIABLE)
    os.environ[DRIVER_VARIABLE] = value

    @ctx.call_on_close
    def restore() -> None:
        os.environ.pop(DRIVER_VARIABLE)
        if before is not None:
            os.environ[DRIVER_VARIABLE] = before


driver_option = click.option(
    "--driver",
    type=click.Choice(DRIVERS),
    expose_value=False,
    callback=_use_driver,
    help="What reaches a GPU. [the first that works]",
)


def backend_option(names: Sequence[str] = BACKENDS, default: str = "auto") -> Callable[[F], F]:
    """Return --backend with those of the names that the command has, and --driver where CUDA is
    among them."""
    backend = click.option(
        "--backend", type=click.Choice(names), default=default, help=f"What computes. [{default}]"
    )
    return all_of(backend, driver_option) if "cuda" in names else backend


def memory_option(what: str) -> Callable[[F], F]:
    """Return --memory. what: it bounds, and its default, in a few words."""
    return click.option("--memory", type=Memory(), help=what)


device_option = click.option(
    "--device", type=click.IntRange(0), default=0, help="Which GPU, counted from 0. [0]"
)
devices_option = click.option(
    "--device",
    "devices",
    type=Devices(),
    default="0",
    help="Which GPU; several, as 0,1, to use them all. [0]",
)
threads_option = click.option(
    "--threads", type=click.IntRange(1, 4096), help="CPU threads. [all cores]"
)
cluster_option = click.option(
    "--cluster",
    metavar="ADDRESS",
    help="Compute on a Dask cluster: local:N for N processes here, tcp://HOST:8786 or "
    "tls://HOST:8786, or a scheduler file. Other options of what computes are for its workers.",
)
one_device_options = all_of(backend_option(), device_option, threads_option)
many_devices_options = all_of(backend_option(), devices_option, threads_option)

# --- what is written -------------------------------------------------------------


def version_option(program: str) -> Callable[[F], F]:
    """Return the option --version of a program."""

    def tell(context: click.Context, option: click.Parameter, is_given: bool) -> None:
        if is_given and not context.resilient_parsing:
            click.echo(f"{program}, version {version()}")
            context.exit()

    return click.option(
        "--version",
        is_flag=True,
        expose_value=False,
        is_eager=True,
        callback=tell,
        help="Show the version and exit.",
    )


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
quiet_option = click.option("--quiet", is_flag=True, help="No progress bar, no notes.")
force_option = click.option(
    "--force", is_flag=True, help="Overwrite a file that is an input, or of another kind."
)


def out_option(
    help: str = "[standard output]", *, default: str | None = "-", metavar: str = "FILE"
) -> Callable[[F], F]:
    """Return -o, --out: the file that the result is written to; "-" is standard output."""
    return click.option("-o", "--out", default=default, metavar=metavar, help=help)


def format_option(*formats: str, help: str) -> Callable[[F], F]:
    """Return --format, as the argument `output`: what is printed, the first one by default."""
    return click.option(
        "--format",
        "output",
        type=click.Choice(formats),
        default=formats[0],
        help=f"{help} [{formats[0]}]",
    )


# --- clusters --------------------------------------------------------------------


def check_cluster(cluster: str | None, devices: tuple[int, ...]) -> None:
    """Raise UsageError where both are given: a worker has the GPU that it was started with."""
    if cluster is not None and devices != (0,):
        raise click.UsageError("--cluster and --device contradict each other")


@contextmanager
def opened_cluster(
    address: str, backend: str, threads: int | None, *, quiet: bool
) -> Iterator[Cluster]:
    """Connect to a cluster, and say where its workers can be watched, unless quiet. Raises
    ClusterError."""
    from bulkbits.cluster import Cluster

    with Cluster.open(address, backend=backend, threads=threads) as cluster:
        if cluster.dashboard and not quiet:
            program = click.get_current_context().find_root().info_name
            click.echo(f"{program}: {cluster.dashboard} shows the workers", err=True)
        yield cluster
