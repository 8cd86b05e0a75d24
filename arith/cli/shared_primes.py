"""arith shared-primes: an audit of RSA keys."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import click

from arith.cli.devices import check_cluster, cluster_option, device_option, opened_cluster
from arith.cli.files import one_line_errors, reading, shown
from arith.cli.progress import bar
from arith.factors import BACKENDS, Finding, Kind, StoredModuli, save_moduli, shared_factors
from arith.keys import FORMATS, KeyFileError, Keys, UnreadableKeyError

if TYPE_CHECKING:
    from arith.cluster import Cluster

_SHOWN = 4  # places in a line of the table
_MEANING = {
    Kind.INVALID: "no modulus",
    Kind.EVEN: "even modulus",
    Kind.DUPLICATE: "same modulus",
    Kind.DIVIDES: "modulus divides another",
    Kind.PRIME: "modulus is a prime",
    Kind.SHARED_PRIME: "shared prime",
    Kind.SHARED_DIVISOR: "shared divisor",
}


@click.command("shared-primes")
@click.argument("files", nargs=-1, required=True)
@click.option(
    "--format",
    "kind",
    type=click.Choice(FORMATS),
    default="auto",
    help="Of all FILES. [auto: what each looks like]",
)
@click.option("--against", metavar="SET", help="A set that --save has kept, to compare with too.")
@click.option(
    "--save", metavar="SET", help="Keep the moduli, with those of --against, for other runs."
)
@click.option(
    "--backend",
    type=click.Choice(BACKENDS),
    default="auto",
    help="cuda looks at all pairs on a GPU, cpu has trees of products. [by number and size]",
)
@device_option
@click.option("--threads", type=click.IntRange(1, 4096), help="CPU threads. [all cores]")
@cluster_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    files: tuple[str, ...],
    kind: str,
    against: str | None,
    save: str | None,
    backend: str,
    devices: tuple[int, ...],
    threads: int | None,
    cluster: str | None,
    as_json: bool,
) -> int:
    """Find the RSA moduli in FILES (or - for standard input) that share a prime.

    FILES hold public keys, certificates or requests in PEM (many in one file, too) or DER,
    OpenSSH keys as in authorized_keys and known_hosts, or moduli, one a line: decimal, or
    hex where they begin with 0x or have a letter. Keys of other kinds are counted and
    passed over, those that cannot be read named, private keys refused. It says what is
    shared; it derives no keys.

    \b
    Exit codes: 0 nothing found, 1 something found, 2 bad input, also where nothing was
    found but some keys could not be read.
    """
    check_cluster(cluster, devices)
    if backend == "cpu" and devices != (0,):
        raise click.UsageError("--device names GPUs, which --backend cpu has no use for")
    keys = _read(files, kind, quiet=as_json)
    try:
        with one_line_errors(against or ""):
            stored = StoredModuli(against) if against else None
        workers: AbstractContextManager[Cluster | None] = nullcontext()
        if cluster is not None:
            workers = opened_cluster(cluster, backend, threads, quiet=as_json)
        with (
            workers as on,
            bar("comparing", not as_json) as progress,
        ):
            found = shared_factors(
                keys.moduli,
                against=stored,
                backend=backend,
                device=devices,
                threads=threads,
                cluster=on,
                progress=progress,
            )
        names = stored.names() if stored and any(each.stored for each in found) else []
        if save:
            with one_line_errors(save):
                save_moduli(save, keys.moduli, names=keys.sources, onto=stored)
    except ValueError as error:  # of the stored set; the keys are read and checked
        raise click.ClickException(str(error)) from None
    if as_json:
        click.echo(json.dumps(_facts(keys, names, found)))
    else:
        _tell(keys, names, found)
    if found:
        return 1
    return 2 if keys.unreadable else 0


def _read(files: Sequence[str], kind: str, quiet: bool) -> Keys:
    keys = Keys()
    with bar("reading", not quiet) as progress:
        for done, path in enumerate(files):
            if progress:
                progress(done / len(files))
            with reading(path) as stream, one_line_errors(path):
                data = stream.read()
            try:
                keys.add(data, shown(path), kind)
            except UnreadableKeyError as error:
                keys.unreadable.append(str(error))
            except KeyFileError as error:
                raise click.ClickException(str(error)) from None
    if keys.unreadable and not keys.moduli and not keys.others:
        raise click.ClickException(keys.unreadable[0])
    return keys


def _places(keys: Keys, names: Sequence[str], found: Finding) -> list[str]:
    return [keys.sources[i] for i in found.indices] + [
        names[i] or f"number {i + 1} of the set" for i in found.stored
    ]


def _facts(keys: Keys, names: Sequence[str], found: Sequence[Finding]) -> dict[str, Any]:
    return {
        "moduli": len(keys.moduli),
        "passed_over": dict(keys.others),
        "unreadable": keys.unreadable,
        "findings": [
            {
                "kind": str(each.kind),
                "value": hex(each.value),
                "moduli": [keys.sources[i] for i in each.indices],
                "stored": [{"number": i + 1, "name": names[i]} for i in each.stored],
            }
            for each in found
        ],
    }


def _tell(keys: Keys, names: Sequence[str], found: Sequence[Finding]) -> None:
    for line in keys.unreadable:
        click.echo(f"arith: {line}", err=True)
    if keys.others:
        kinds = ", ".join(f"{count} {kind}" for kind, count in keys.others.most_common())
        click.echo(f"arith: passed over what is no RSA key: {kinds}", err=True)
    count = f"{len(keys.moduli):,} moduli"
    if not found:
        click.echo(f"{count}: nothing shared")
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    plural = "" if len(found) == 1 else "s"
    table = Table(title=f"{count}: {len(found):,} finding{plural}", title_justify="left")
    table.add_column("what")
    table.add_column("value", overflow="fold")
    table.add_column("where", overflow="fold")
    for each in found:
        places = _places(keys, names, each)
        more = [f"and {len(places) - _SHOWN:,} more"] if len(places) > _SHOWN else []
        where = "\n".join(places[:_SHOWN] + more)
        table.add_row(_MEANING[each.kind], _short(each.value), Text(where))
    # In a file there is no edge to fold lines at.
    Console(file=sys.stdout, width=None if sys.stdout.isatty() else 1000).print(table)


def _short(value: int) -> str:
    bits = abs(value).bit_length()
    if bits <= 64:
        return str(value)
    digits = f"{abs(value):x}"
    return f"{'-' if value < 0 else ''}0x{digits[:12]}…{digits[-4:]} ({bits} bits)"
