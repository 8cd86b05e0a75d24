"""ckyparse on a cluster: what comes out is the same as without."""

from __future__ import annotations

import io
import itertools
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable
from contextlib import ExitStack, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest import mock

import numpy as np
import pytest
from click import ClickException
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("distributed")
pytest.importorskip("cryptography")

from bulkbits.cluster import Cluster
from ckyparse.cli import main, pipeline, spread
from ckyparse.cli.blocks import Extent, TextBlock, blocks, extents
from ckyparse.cli.processor import LinesOutcome
from ckyparse.cli.spread import ClusterDispatcher, Job, Order
from kernels.targets.cpu import levels
from tests.ckyparse.odd_inputs import (
    COMMANDS,
    GRAMMARS,
    Case,
    cases,
    line,
    of,
    run,
    run_case,
    several_devices,
    small_blocks,
)
from tests.clusters import InlineCluster, two_workers  # noqa: F401
from tests.quick import examples

pytestmark = pytest.mark.skipif(not levels(), reason="the extension is not built")


def on(cluster: Any) -> Any:
    """That is what --cluster opens, and leaves open."""
    return mock.patch.object(Cluster, "open", return_value=nullcontext(cluster))


# --- a cluster --------------------------------------------------------------------


@settings(max_examples=examples(40), deadline=None)
@given(cases, st.integers(4, 40), st.integers(1, 3), st.integers(0, 9))
def test_the_same_as_without_a_cluster(case: Case, size: int, count: int, seed: int) -> None:
    """Messages, with their line numbers, and the exit code are the same on a cluster, too."""
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        small_blocks(stack, size)
        expected = run_case(case, Path(name), ["--backend", "cpu"])
        cluster = InlineCluster(count, seed, backend="cpu", threads=1 + seed % 2)
        with on(cluster):
            found = run_case(case, Path(name), ["--backend", "cpu", "--cluster", "local:2"])
        assert found == expected


def test_workers_of_a_real_one(two_workers: Cluster, tmp_path: Path) -> None:  # noqa: F811
    lines = [("()", "(x)", "", ")(", "\udcff", "(" * 50)[i * i % 6] for i in range(400)]
    data = "\n".join(lines).encode(errors="surrogateescape")
    for command in COMMANDS[3::3]:
        case = Case(command, [data, data, None], [])
        with ExitStack() as stack:
            small_blocks(stack, 1 << 10, 1 << 20)
            expected = run_case(case, tmp_path, ["--backend", "cpu"])
            with on(two_workers):
                assert run_case(case, tmp_path, ["--cluster", "local:2"]) == expected
    (tmp_path / "g").write_text("S -> S [1.0] | '(' [0.005]\n")
    with on(two_workers):
        done = run(["prob", "-g", str(tmp_path / "g"), "--cluster", "local:2"], of(b"("))
    assert done.code == 2
    assert len(done.err) == 1
    assert "probabilities have no sum" in done.err[0]


def test_files_that_all_workers_see_are_not_sent(tmp_path: Path) -> None:
    whole, sent = tmp_path / "whole", tmp_path / "sent"
    for path in (whole, sent):
        path.write_bytes(b"()\n" * 100)

    class Blind(InlineCluster):
        """Workers that see another file in place of one of them."""

        def everywhere(self, function: Any, *args: Any) -> dict[str, Any]:
            found = super().everywhere(function, *args)
            found["1"][1] = (300, 5)
            return found

    cluster: Any = Blind(2)
    dispatcher = ClusterDispatcher(cluster, (str(whole), str(sent), "-"), cluster.share(None))
    with mock.patch.object(sys, "stdin", of(b"()\n" * 100)), ExitStack() as stack:
        small_blocks(stack, 60)
        orders = list(dispatcher.items(lambda: False))
    read, sent_ones = orders[:-10], orders[-10:]
    assert len(read) > 5
    assert [order.lines.text.size for order in sent_ones] == [60] * 10
    first = 1
    for order in read:
        assert order.lines.file == str(whole)
        assert (order.first, order.lines.start) == (first, 3 * (first - 1))
        first += order.lines.count
    assert (order.lines.stop, first) == (300, 101)


def test_a_file_that_has_changed_is_told(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"()\n" * 10)
    processor = SimpleNamespace(settle_all=lambda block, first: LinesOutcome(0, 0))
    job = SimpleNamespace(processor=lambda: (processor, 1))
    for name, says in ((path, "it has become shorter"), (tmp_path / "none", "No such file")):
        order = Order(Extent("lines", str(name), 0, 300, 100), 1)
        with pytest.raises(ClickException, match=rf"{name}: on \S+: {says}"):
            spread.settled(order, cast(Job, job))


@given(
    st.lists(line, max_size=20).map(b"\n".join),
    st.booleans(),
    st.integers(4, 40),
    st.lists(st.integers(1, 60), min_size=1),
)
def test_extents_have_the_same_blocks(
    data: bytes, marked: bool, longest: int, sizes: list[int]
) -> None:
    """Each line once, with the same bytes and the same place, or the same trouble."""
    data = b"\xef\xbb\xbf" * marked + data

    def lines(found: Iterable[TextBlock]) -> list[Any]:
        return [
            (part.start, part.text.tobytes(), part.trouble, part.line)
            for block in found
            for part in block.cut(1)
        ]

    turns = itertools.cycle(sizes)
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        expected = lines(blocks([file.name], lambda: False, longest))
        parts = list(extents(file.name, file.name, lambda: next(turns)))
        assert lines(block for part in parts for block in part.blocks(longest)) == expected
    ends = [0, *(part.stop for part in parts)]
    assert ends[-1] == len(data)
    for start, part in zip(ends, parts, strict=False):
        assert part.start == start
        piece = data[start : part.stop]
        assert part.count == piece.count(b"\n") + (not piece.endswith(b"\n"))


@given(st.lists(line, max_size=20).map(b"\n".join), st.integers(1, 40), st.integers(0, 99))
def test_blocks_are_cut_at_the_ends_of_lines(data: bytes, size: int, start: int) -> None:
    whole = TextBlock("name", np.frombuffer(data, np.uint8), start)
    parts = list(whole.cut(size))
    assert b"".join(part.text.tobytes() for part in parts) == data
    assert sum(part.count for part in parts) == whole.count == len(data.splitlines(keepends=True))
    at = start
    for part in parts:
        assert part.start == at
        at += part.text.size
        assert part.text.size <= size or part.text.tobytes().count(b"\n", 0, -1) == 0
    assert all(part.text.tobytes().endswith(b"\n") for part in parts[:-1])


class Endless(io.RawIOBase):
    """Lines without end; taken: the bytes that were read."""

    def __init__(self) -> None:
        self.taken, self.over = 0, False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self.over:
            return 0
        size = len(buffer) // 3 * 3
        buffer[:size] = b"()\n" * (size // 3)
        self.taken += size
        return size


class Stuck(io.RawIOBase):
    """Takes nothing before it may."""

    def __init__(self) -> None:
        self.may, self.written = threading.Event(), 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        assert self.may.wait(60)
        self.written += len(data)
        return len(data)


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", ["inline", "processes", "devices"])
def test_a_slow_reader_of_results_slows_the_input(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    (tmp_path / "g").write_text(GRAMMARS["dyck.cfg"])
    source, sink, size = Endless(), Stuck(), 3000
    out = io.TextIOWrapper(io.BufferedWriter(sink))
    codes: list[Any] = []
    args = ["ckyparse", "accept", "-g", str(tmp_path / "g"), "--tokens", "chars"]

    def command() -> None:
        with pytest.raises(SystemExit) as stop:
            main()
        codes.append(stop.value.code)

    with ExitStack() as stack:
        if kind == "devices":
            stack.enter_context(several_devices())
            args += ["--device", "0,1"]
        else:
            cluster = (
                InlineCluster(2) if kind == "inline" else request.getfixturevalue("two_workers")
            )
            stack.enter_context(on(cluster))
            args += ["--cluster", "local:2"]
        small_blocks(stack, size, 1 << 20)
        stdin = mock.Mock(buffer=io.BufferedReader(source))
        for name, value in (("argv", args), ("stdin", stdin), ("stdout", out)):
            stack.enter_context(mock.patch.object(sys, name, value))
        stack.enter_context(mock.patch.object(signal, "signal"))
        thread = threading.Thread(target=command)
        thread.start()
        before = -1
        while not source.taken or source.taken != before:
            before = source.taken
            time.sleep(0.5)
        assert source.taken <= 30 * 4 * size
        source.over = True
        sink.may.set()
        thread.join(60)
    assert codes == [0]
    assert sink.written == source.taken // 3 * len("1\t()\n")


def test_a_grammar_is_read_once_by_a_worker(tmp_path: Path) -> None:
    made = []
    parser = spread.Choices.parser

    def counted(*args: Any, **options: Any) -> Any:
        made.append(args)
        return parser(*args, **options)

    (tmp_path / "g").write_text(GRAMMARS["dyck.cfg"])
    with (
        on(InlineCluster(1)),
        ExitStack() as stack,
        mock.patch.object(spread.Choices, "parser", counted),
    ):
        small_blocks(stack, 8)
        done = run(["accept", "-g", str(tmp_path / "g"), "--cluster", "local:1"], of(b"\n" * 200))
    assert done.out == b"1\t\n" * 200
    assert len(made) == 2  # another one here, to see whether the options make sense


def test_options_that_contradict_a_cluster(tmp_path: Path) -> None:
    (tmp_path / "g").write_text(GRAMMARS["dyck.cfg"])
    for args, says in [
        (["accept", "--device", "1"], "contradict"),
        (["parse", "--all"], "--limit"),
        (["accept", "--unknown", "x"], "no terminal"),
        (["prob"], "no probabilities"),
    ]:
        command, *more = args
        given = [command, "-g", str(tmp_path / "g"), *more, "--cluster", "local:0"]
        done = run(given, of(b""))
        assert done.code == 2
        assert len(done.err) == 1
        assert says in done.err[0]


def test_no_cluster(tmp_path: Path) -> None:
    (tmp_path / "g").write_text(GRAMMARS["dyck.cfg"])
    for address, code in (("local:0", 2), ("nowhere", 2)):
        done = run(["accept", "-g", str(tmp_path / "g"), "--cluster", address], of(b""))
        assert (done.code, len(done.err)) == (code, 1)
        assert done.err[0].startswith(f"ckyparse: {address}: ")


@pytest.mark.slow
def test_results_come_while_the_input_waits_and_an_interrupt_ends_it(tmp_path: Path) -> None:
    (tmp_path / "g").write_text(GRAMMARS["dyck.cfg"])
    args = ["accept", "-g", str(tmp_path / "g"), "--tokens", "chars"]
    with subprocess.Popen(
        [sys.executable, "-m", "ckyparse", *args, "--cluster", "local:1", "--backend", "cpu"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        for given, answer in ((b"()\n", b"1\t()\n"), (b")\n", b"0\t)\n")):
            process.stdin.write(given)
            process.stdin.flush()
            assert process.stdout.readline() == answer
        os.killpg(process.pid, signal.SIGINT)  # as from a terminal
        assert process.wait(timeout=60) == 130
        assert process.stdout.read() == b""
        assert process.stderr.read() == b"ckyparse: interrupted\n"


@pytest.mark.slow
def test_a_worker_that_is_killed(tmp_path: Path) -> None:
    (tmp_path / "g").write_text(GRAMMARS["dyck.cfg"])
    file = tmp_path / "lines"
    file.write_bytes(b"".join(b"()" * (i % 40) + b"\n" for i in range(100_000)))
    args = ["accept", "-g", str(tmp_path / "g"), "--tokens", "chars", str(file)]
    expected = run(args, of(b""))
    with Cluster.open("local:2", backend="cpu", threads=1) as cluster, ExitStack() as stack:
        small_blocks(stack, 1 << 14, 1 << 20)
        stack.enter_context(on(cluster))
        take, taken = pipeline._LineStream._take, itertools.count()

        def killing(self: Any, outcome: LinesOutcome) -> None:
            if next(taken) == 5:
                os.kill(cluster.workers[0].pid, signal.SIGKILL)
            take(self, outcome)

        stack.enter_context(mock.patch.object(pipeline._LineStream, "_take", killing))
        assert run([*args, "--cluster", "local:2"], of(b"")) == expected
        assert next(taken) > 10
