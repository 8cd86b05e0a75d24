"""What makes a function a command of the shell: subcommands that load when used, exit codes,
one line for what goes wrong."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import signal
import sys
from collections.abc import Callable, Iterator
from typing import Any

import click

from kernels.signals import undisturbed

# Click before 8.2 prints the help by itself.
_NO_ARGUMENTS: Any = getattr(click.exceptions, "NoArgsIsHelpError", ())


class LazyGroup(click.Group):
    """Subcommands that are modules of a package, imported when used.

    lines: the --help line of each, so that help needs no import of numpy and answers at
    once. A module's name is the subcommand's, with _ for -, and has it as `command`.
    """

    def __init__(self, *args: Any, package: str, lines: dict[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._package, self._lines = package, lines

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._lines)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self._lines:
            return None
        with undisturbed():
            module = importlib.import_module(f"{self._package}.{name.replace('-', '_')}")
        command: click.Command = module.command
        return command

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        with _aborting():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> object:
        with _aborting():
            return super().invoke(ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(self._lines.items()))


@contextlib.contextmanager
def _aborting() -> Iterator[None]:
    """Click prints an empty line for Ctrl-C, but not for what it makes of it."""
    try:
        yield
    except KeyboardInterrupt:
        raise click.Abort from None


def run(group: click.Group, name: str, exit_code: Callable[[Exception], int | None]) -> None:
    """Run the command and exit.

    exit_code: of an exception whose message is meant for people, None of others. A
    subcommand that returns an int exits with it.
    """
    _mend_streams()
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:  # else it is ignored, as under nohup
            signal.signal(number, signal.default_int_handler)
    try:
        code = group.main(prog_name=name, standalone_mode=False)
        sys.stdout.flush()
        sys.exit(code if isinstance(code, int) else 0)
    except _NO_ARGUMENTS as error:
        click.echo(error.format_message(), err=True)
        sys.exit(2)
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        hint = f" (see {context.command_path} --help)" if context else ""
        _fail(name, error.format_message() + hint, 2)
    except (click.Abort, KeyboardInterrupt):
        _fail(name, "interrupted", 130)
    except MemoryError as error:
        _fail(name, f"out of memory: {error}" if str(error) else "out of memory", 2)
    except BrokenPipeError:
        _drop_output()
        sys.exit(1)
    except OSError as error:  # of standard output: files have messages of their own
        _drop_output()
        _fail(name, f"cannot write standard output: {error.strerror or error}", 2)
    except Exception as error:
        code = exit_code(error)
        if code is None:
            raise
        _fail(name, str(error), code)


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


def _fail(name: str, message: str, code: int) -> None:
    """One line on standard error, whatever the message quotes, and exit."""
    line = " ".join(message.split())
    line = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)
    with contextlib.suppress(OSError):
        click.echo(f"{name}: {line}", err=True)
    try:
        sys.stdout.flush()
    except OSError:
        _drop_output()
    sys.exit(code)
