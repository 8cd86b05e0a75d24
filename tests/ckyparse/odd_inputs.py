"""Commands of ckyparse on files with everything that lines can have wrong."""

from __future__ import annotations

import io
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import pytest
from hypothesis import strategies as st

from ckyparse.cli import devices as devices_module
from ckyparse.cli import lines as lines_module
from ckyparse.cli import main, spread
from kernels.targets import choose
from kernels.targets.reference import ReferenceTarget
from kernels.targets.several import SeveralDevices

GRAMMARS = {
    "dyck.cfg": "S -> '(' S ')' S |\n",
    "coins.pcfg": "S -> S S [0.4] | '(' [0.4] | ')' [0.2]\n",
    "cyclic.cfg": "S -> S | '(' | S ')'\n",
}
COMMANDS: list[tuple[str, str, list[str]]] = [
    ("accept", "dyck.cfg", []),
    ("accept", "dyck.cfg", ["--only", "accepted"]),
    ("accept", "dyck.cfg", ["--only", "rejected", "--format", "jsonl"]),
    ("accept", "dyck.cfg", ["--format", "jsonl", "--skip-empty"]),
    ("count", "cyclic.cfg", []),
    ("count", "coins.pcfg", ["--format", "jsonl"]),
    ("prob", "coins.pcfg", ["--best"]),
    ("prob", "coins.pcfg", ["--exact", "--format", "jsonl"]),
    ("parse", "dyck.cfg", ["--format", "tsv"]),
    ("parse", "cyclic.cfg", ["--limit", "3"]),
    ("parse", "coins.pcfg", ["--format", "jsonl", "--limit", "2", "--all"]),
]


class Done(NamedTuple):
    code: int
    out: bytes
    err: list[str]  # in alphabetical order: that of the lines depends on how they are cut


@dataclass
class Case:
    """Holds what a command is given.

    files: None for one that is missing; the first is standard input.
    """

    command: tuple[str, str, list[str]]
    files: list[bytes | None]
    more: list[str]


line = st.sampled_from([b"", b"()", b"(())()", b")(", b"(x)", b"\xff", b" ", b"(" * 30, b"((((\r"])
text = st.builds(
    lambda head, lines, ends, last: head + ends.join([*lines, b""] if last else lines),
    st.sampled_from([b"", b"\xef\xbb\xbf"]),
    st.lists(line, max_size=12),
    st.sampled_from([b"\n", b"\r\n"]),
    st.booleans(),
)
cases = st.builds(
    Case,
    st.sampled_from(COMMANDS),
    st.lists(text, min_size=1, max_size=3).flatmap(
        lambda files: st.sampled_from([files, [*files, None], [*files[:1], None, *files[1:]]])
    ),
    st.sampled_from([[], ["--unknown", "("], ["--unknown", "error"], ["--threads", "1"]]),
)


def run(args: list[str], stdin: Any) -> Done:
    """The command in this process."""
    out, err = io.TextIOWrapper(io.BytesIO()), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["ckyparse", *args]),
        mock.patch.object(sys, "stdin", stdin),
        mock.patch.object(signal, "signal"),
        redirect_stdout(out),
        redirect_stderr(err),
        pytest.raises(SystemExit) as stop,
    ):
        main()
    assert isinstance(out.buffer, io.BytesIO)
    return Done(stop.value.code, out.buffer.getvalue(), sorted(err.getvalue().splitlines()))


def of(data: bytes) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(data))


def run_case(case: Case, folder: Path, more: list[str]) -> Done:
    name, grammar, options = case.command
    (folder / grammar).write_text(GRAMMARS[grammar])
    paths = []
    for number, data in enumerate(case.files):
        path = folder / f"lines{number}"
        if data is not None:
            path.write_bytes(data)
        paths.append(str(path) if number else "-")
    args = [name, "-g", str(folder / grammar), "--tokens", "chars", *options, *case.more, *more]
    if len(paths) > 1:
        args += paths
    return run(args, of(case.files[0] or b""))


def small_blocks(stack: ExitStack, size: int, lines: int = 3) -> None:
    """So that few lines are many blocks, and are many lines."""
    stack.enter_context(mock.patch.object(lines_module, "BLOCK_BYTES", 4 * size))
    stack.enter_context(mock.patch.object(lines_module, "BLOCK_LINES", lines))
    stack.enter_context(mock.patch.object(spread, "BLOCK_BYTES", 4 * size))
    stack.enter_context(mock.patch.object(spread, "_LEAST", size // 2))
    stack.enter_context(mock.patch.object(spread, "_MOST", 9 * size))
    stack.enter_context(mock.patch.object(spread, "_SENT", size))


class Several(SeveralDevices):
    """GPUs that are none."""

    def __init__(self, count: int) -> None:
        self.backends: Any = tuple(ReferenceTarget() for _ in range(count))


@contextmanager
def several_devices(pays: Callable[..., bool] = lambda *work: True) -> Iterator[None]:
    """Have --device 0,1 mean reference backends instead of GPUs.

    pays: instead of ckyparse.cli.devices.pays(), by default so that all begin after a block.
    """
    with ExitStack() as stack:
        stack.enter_context(
            mock.patch.object(choose, "_several", lambda name, devices: Several(len(devices)))
        )
        make = choose._make
        stack.enter_context(
            mock.patch.object(
                choose, "_make", lambda name, *of: make(name.replace("cuda", "reference"), *of)
            )
        )
        stack.enter_context(mock.patch("kernels.targets.cuda.target.device_count", return_value=8))
        stack.enter_context(mock.patch.object(devices_module, "pays", pays))
        yield
