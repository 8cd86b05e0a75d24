"""`lifesim serve`. lifesim does not know this package: it finds the command by its name."""

from __future__ import annotations

import contextlib
import getpass
import importlib.util
import json
import os
import signal
import socket
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from bulkbits.options import json_option, one_device_options
from lifesim.cli.named import PatternFile
from lifesim.cli.options import chosen_edges, universe_options
from lifesim.errors import LifesimError
from lifesim.unbounded import ENGINES

if TYPE_CHECKING:
    from ui.web.board import Board


class NoServerError(LifesimError):
    """Raised where the server's library is missing, or what it is asked cannot be."""


@click.command("serve")
@click.argument("universe", metavar="PATTERN|UNIVERSE", type=PatternFile())
@universe_options
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    default="auto",
    help="What keeps a plane without bounds. [auto]",
)
@click.option("--edit", is_flag=True, help="Let pages draw in a PATTERN's universe.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="Port to serve on. [any free one]"
)
@json_option
@one_device_options
def command(  # each parameter is an option, or an argument
    universe: str,
    rule: str | None,
    topology: str | None,
    size: tuple[int, int] | None,
    engine: str,
    edit: bool,
    port: int,
    as_json: bool,
    backend: str,
    device: int,
    threads: int | None,
) -> None:
    """Show PATTERN, or a universe directory, in a browser, until Ctrl-C.

    The page is served to this machine only (127.0.0.1), to whoever knows its address, which has a
    token. From another machine it is reached through SSH: the line that forwards it is printed. A
    pattern can be played and stepped there, in memory; its file stays as it is. A directory is only
    looked at, while another process may move it on. Needs Tornado: pip install 'bulkbits[serve]'.
    """
    if importlib.util.find_spec("tornado") is None:
        raise NoServerError("the server needs Tornado: pip install 'bulkbits[serve]'")
    import asyncio

    from ui.web import guard
    from ui.web.opening import open_board

    chosen, where = chosen_edges(rule, topology)
    board = open_board(
        universe, chosen, where, size, engine, edit, backend, device=device, threads=threads
    )
    token = guard.new_token()
    with contextlib.suppress(KeyboardInterrupt, asyncio.CancelledError):
        try:
            asyncio.run(_serve(board, port, token, lambda at: tell(at, token, as_json)))
        finally:
            board.close()
    # Nothing is lost with what a thread is still computing, and to take all modules apart would
    # take longer than anybody waits after Ctrl-C.
    sys.stdout.flush()
    os._exit(0)


async def _serve(board: Board, port: int, token: str, ready: Callable[[int], None]) -> None:
    """Serve until a signal asks to stop, which is heard between two things that the server does."""
    import asyncio

    from ui.web.server import serve

    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
            loop.add_signal_handler(number, task.cancel)
    await serve(board, port, token, ready)


def tell(port: int, token: str, as_json: bool) -> None:
    """Print where the page is, and how it is reached from another machine."""
    address = f"http://127.0.0.1:{port}/{token}/"
    ssh = f"ssh -N -L {port}:127.0.0.1:{port} {_user()}@{socket.gethostname()}"
    if as_json:
        facts = {"address": address, "port": port, "token": token, "ssh": ssh, "pid": os.getpid()}
        click.echo(json.dumps(facts))
        return
    click.echo(f"open {address}\nfrom another machine, first: {ssh}\nCtrl-C ends it")


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "USER"
