"""The lifesim command. Each subcommand is a module of this package, imported when used."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import signal
import sys
from typing import Any

import click

# Name of the subcommand, its module here, and its line in --help: so that help needs
# no import of numpy and answers at once.
COMMANDS = {
    "run": "Run a pattern, a universe or a random soup for a number of generations.",
    "resume": "Finish the run of a universe directory that was broken off.",
    "info": "Say what a pattern file or a universe directory holds.",
    "verify": "Check every byte of a universe directory.",
    "convert": "Convert between pattern formats and universe directories.",
    "random": "Write a random soup: a pattern file or a universe directory.",
    "render": "Draw a region of a pattern or universe at any power-of-two scale.",
    "bench": "Measure this machine's speed.",
    "doctor": "Say what this machine has, which backend is taken, and why.",
}


# Click before 8.2 prints the help by itself.
_NO_ARGUMENTS: Any = getattr(click.exceptions, "NoArgsIsHelpError", ())


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"lifesim.cli.{name}").command
        return command

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise click.Abort from None  # or Click would print an empty line

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="bulkbits", prog_name="lifesim")
def group() -> None:
    """Conway's Game of Life and its relatives, bigger and longer.

    \b
    lifesim run data/patterns/gosper-gun.rle --steps 16384 --size 512x512
    lifesim run --steps 16384 --size 16384x16384 --out soup.rle.gz
    """


def main() -> None:
    """Entry point. Exit codes: 0 done, 2 bad input, 3 no backend, 4 damaged, 130 interrupted."""
    _mend_streams()
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:  # else it is ignored, as under nohup
            signal.signal(number, signal.default_int_handler)
    try:
        code = group.main(prog_name="lifesim", standalone_mode=False)
        sys.stdout.flush()
        sys.exit(code if isinstance(code, int) else 0)
    except _NO_ARGUMENTS as error:
        click.echo(error.format_message(), err=True)
        sys.exit(2)
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        hint = f" (see {context.command_path} --help)" if context else ""
        _fail(error.format_message() + hint, 2)
    except (click.Abort, KeyboardInterrupt):
        _fail("interrupted", 130)
    except MemoryError as error:
        _fail(f"out of memory: {error}" if str(error) else "out of memory", 2)
    except BrokenPipeError:
        _drop_output()
        sys.exit(1)
    except OSError as error:  # of standard output: files have messages of their own
        _drop_output()
        _fail(f"cannot write standard output: {error.strerror or error}", 2)
    except Exception as error:
        code = _exit_code(error)
        if code is None:
            raise
        _fail(str(error), code)


def _mend_streams() -> None:
    """Closed streams become empty ones; what a stream cannot encode is shown as escapes."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115
        elif mode == "w" and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _drop_output() -> None:
    """Let the interpreter's last flush of standard output succeed."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _exit_code(error: Exception) -> int | None:
    from kernels.backend import BackendUnavailableError
    from lifesim.errors import LifesimError

    if isinstance(error, LifesimError):
        return error.exit_code
    return 3 if isinstance(error, BackendUnavailableError) else None


def _fail(message: str, code: int) -> None:
    """One line on standard error, whatever the message quotes, and exit."""
    line = " ".join(message.split())
    line = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)
    with contextlib.suppress(OSError):
        click.echo(f"lifesim: {line}", err=True)
    try:
        sys.stdout.flush()
    except OSError:
        _drop_output()
    sys.exit(code)
