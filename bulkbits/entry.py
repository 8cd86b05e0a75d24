"""What makes a function a command of the shell: subcommands that load when used, exit codes,
one line for what goes wrong."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import signal
import sys
from collections.abc import Iterator
from typing import Any, NoReturn, TextIO

import click

from bulkbits.exit_codes import ExitCode, exit_code_of
from bulkbits.faults import fail_internally
from bulkbits.options import named_gpus
from kernels.signals import redeliver_dropped_interrupts, undisturbed

# Click before 8.2 prints the help by itself.
_NO_ARGUMENTS: Any = getattr(click.exceptions, "NoArgsIsHelpError", ())


class LazyGroup(click.Group):
    """Subcommands that are modules of a package, imported when used.

    lines: the --help line of each, so that help needs no import of numpy and answers at
    once. A module's name is the subcommand's, with _ for -, and has it as `command`.
    at_once: how many of the GPUs that are named begin while it is imported; None: all.
    """

    def __init__(
        self,
        *args: Any,
        package: str,
        lines: dict[str, str],
        at_once: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self._package, self._lines, self._at_once = package, lines, at_once

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the subcommands."""
        return list(self._lines)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the subcommand; GPUs that its arguments name begin while it is imported."""
        if gpus := named_gpus(args)[: self._at_once]:
            from kernels.targets.cuda import early

            early.begin(gpus)
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import a subcommand; None where there is none of that name."""
        if name not in self._lines:
            return None
        with undisturbed():
            module = importlib.import_module(f"{self._package}.{name.replace('-', '_')}")
        command: click.Command = module.command
        return command

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Read the arguments; Ctrl-C and a closed output end this as they do a command."""
        with _aborting():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> object:
        """Run the subcommand, and return its exit code."""
        with _aborting():
            return super().invoke(ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of subcommands for --help, which imports none of them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self._lines.items()))


class _ReaderGoneError(Exception):
    """Raised where nobody reads standard output any more."""


@contextlib.contextmanager
def _aborting() -> Iterator[None]:
    """Hide from click what it would end in its own way: with an empty line, or exit code 1."""
    try:
        yield
    except KeyboardInterrupt:
        raise click.Abort from None
    except BrokenPipeError:
        raise _ReaderGoneError from None


def run(group: click.Group, name: str) -> None:
    """Run the command and exit.

    A subcommand that returns an int exits with it. An exception without an exit code
    (bulkbits.exit_codes) is a fault of the command itself: a traceback, and exit code 70.
    """
    _mend_streams()
    redeliver_dropped_interrupts()
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:  # else it is ignored, as under nohup
            signal.signal(number, signal.default_int_handler)
    try:
        code = group.main(prog_name=name, standalone_mode=False)
        sys.stdout.flush()
        sys.exit(code if isinstance(code, int) else ExitCode.DONE)
    except _NO_ARGUMENTS as error:
        click.echo(error.format_message(), err=True)
        sys.exit(ExitCode.BAD_INPUT)
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        hint = f" (see {context.command_path} --help)" if context else ""
        _fail(name, error.format_message() + hint, ExitCode.BAD_INPUT)
    except (click.Abort, KeyboardInterrupt):
        _fail(name, "interrupted", ExitCode.INTERRUPTED)
    except MemoryError as error:
        message = f"out of memory: {error}" if str(error) else "out of memory"
        _fail(name, message, ExitCode.BAD_INPUT)
    except (BrokenPipeError, _ReaderGoneError):
        _drop_output()
        _die_of_broken_pipe()
    except OSError as error:  # of standard output: files have messages of their own
        _drop_output()
        message = f"cannot write standard output: {error.strerror or error}"
        _fail(name, message, ExitCode.BAD_INPUT)
    except Exception as error:
        foreseen = exit_code_of(error)
        if foreseen is None:
            fail_internally(name, error)
        _fail(name, str(error), foreseen)


def _mend_streams() -> None:
    """Put streams where they were closed; have the others show as escapes what they cannot encode.

    What a command cannot print, or read, is an error that it reports, so closed output and input
    fail at the first use. What is said on a closed standard error is lost.
    """
    if sys.stdin is None:
        sys.stdin = _replaced(0, os.O_WRONLY, "r")
    if sys.stdout is None:
        sys.stdout = _replaced(1, os.O_RDONLY, "w")
    if sys.stderr is None:
        sys.stderr = _replaced(2, os.O_WRONLY, "w")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _replaced(number: int, access: int, mode: str) -> TextIO:
    """Return a stream on the null device, under the number that was closed.

    So no file that is opened later gets this number, to be written to by what prints. With an
    `access` other than `mode` says, every use is an error (EBADF).
    """
    null = os.open(os.devnull, access)
    if null != number:
        os.dup2(null, number)
        os.close(null)
    stream: TextIO = os.fdopen(number, mode, closefd=False)  # type: ignore[assignment]
    return stream


def _drop_output() -> None:
    """Let the interpreter's last flush of standard output succeed."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _die_of_broken_pipe() -> NoReturn:
    """End as other commands do whose reader has gone: by SIGPIPE, which a shell shows as 141."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGPIPE)
    sys.exit(ExitCode.BROKEN_PIPE)  # where the signal is blocked


def one_line(message: str) -> str:
    """Return the message as a terminal may show it, whatever it quotes (names of files)."""
    line = " ".join(message.split())
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)


def _fail(name: str, message: str, code: int) -> None:
    """Print one line on standard error, whatever the message quotes, and exit."""
    line = one_line(message)
    with contextlib.suppress(OSError):
        click.echo(f"{name}: {line}", err=True)
    try:
        sys.stdout.flush()
    except OSError:
        _drop_output()
    sys.exit(code)
