"""arith shared-primes: an audit of RSA keys."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from arith.cli.keyfiles import contents
from arith.cli.slow import say_if_slow
from arith.factors import BACKENDS, Finding, Kind, StoredModuli, save_moduli, shared_factors
from arith.factors.stored import KIND
from arith.keys import FORMATS, KeyFileError, Keys, MissingReaderError
from bulkbits import overwriting
from bulkbits.entry import one_line
from bulkbits.exit_codes import DamagedFileError
from bulkbits.files import check_out, one_line_errors, shown
from bulkbits.hdf5 import is_of
from bulkbits.keeping import Kept, keep
from bulkbits.options import (
    check_cluster,
    cluster_option,
    devices_option,
    force_option,
    json_option,
    opened_cluster,
    threads_option,
)
from bulkbits.plurals import many
from bulkbits.progress import bar

if TYPE_CHECKING:
    from bulkbits.cluster import Cluster

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

_SET = overwriting.FileKind("set of moduli", lambda path: is_of(path, KIND))


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
@force_option
@click.option(
    "--backend",
    type=click.Choice(BACKENDS),
    default="auto",
    help="cuda looks at all pairs on a GPU, cpu has trees of products. [by number and size]",
)
@devices_option
@threads_option
@cluster_option
@json_option
def command(  # each parameter is an option, or an argument
    files: tuple[str, ...],
    kind: str,
    against: str | None,
    save: str | None,
    force: bool,
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
    passed over. What is no key or cannot be read, of whatever kind, is named and passed
    over, too: private keys, other files, directories. It says what is shared; it derives
    no keys.

    \b
    Exit codes: 0 nothing found, 1 something found, 2 bad input, also where nothing was
    found but some files or keys could not be read, or --save failed. What is found is
    printed before it is saved.
    """
    check_cluster(cluster, devices)
    check_out(save, _SET, files, force, regular=True)
    if backend == "cpu" and devices != (0,):
        raise click.UsageError("--device names GPUs, which --backend cpu has no use for")
    if backend == "auto" and cluster is None:
        say_if_slow()
    keys = _read(files, kind, quiet=as_json)
    if keys.unreadable and not keys.moduli and not keys.others:
        if as_json:
            click.echo(json.dumps(_facts(keys, [], [])))
            return 2
        others = len(keys.unreadable) - 1
        more = f" (and {others:,} more that cannot be read)" if others else ""
        raise click.ClickException(keys.unreadable[0] + more)
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
    except DamagedFileError:
        raise
    except ValueError as error:  # of the stored set; the keys are read and checked
        raise click.ClickException(str(error)) from None
    if as_json:
        click.echo(json.dumps(_facts(keys, names, found)))
    else:
        _tell(keys, names, found)
    saved = save is None or _save(save, keys, stored)
    if found:
        return 1
    return 2 if keys.unreadable or not saved else 0


def _save(path: str, keys: Keys, stored: StoredModuli | None) -> bool:
    """Keep the moduli; say where they cannot be, and return whether they are there."""
    sys.stdout.flush()  # what was found is out, whatever happens here
    write = partial(save_moduli, moduli=keys.moduli, names=keys.sources, onto=stored)
    try:
        kept = keep(path, write, OSError)
    except ValueError as error:  # of the stored set
        kept = Kept(None, str(error))
    if kept.error:
        click.echo(f"arith: {kept.error}", err=True)
    elif kept.path != path:
        click.echo(f"arith: saved in {kept.path}", err=True)
    return not kept.error


def _read(files: Sequence[str], kind: str, quiet: bool) -> Keys:
    keys = Keys()
    with bar("reading", not quiet) as progress:
        for done, path in enumerate(files):
            if progress:
                progress(done / len(files))
            try:
                keys.add(contents(path), shown(path), kind)
            except MissingReaderError as error:
                raise click.ClickException(str(error)) from None
            except KeyFileError as error:
                keys.unreadable.append(str(error))
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
        click.echo(f"arith: {one_line(line)}", err=True)
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

    table = Table(title=f"{count}: {many(len(found), 'finding')}", title_justify="left")
    table.add_column("what")
    table.add_column("value", overflow="fold")
    table.add_column("where", overflow="fold")
    for each in found:
        places = [*map(one_line, _places(keys, names, each))]
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
