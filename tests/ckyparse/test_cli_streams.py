"""The ckyparse command on streams: input that waits, interrupts, pipes, and its parts."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time

import pytest

from ckyparse.cli import blocks as blocks_module
from ckyparse.cli.blocks import blocks
from ckyparse.cli.channel import Channel, StoppedError
from kernels.cky import TooLongError
from tests.ckyparse.commands import COMMAND, refused, write

# --- streams -------------------------------------------------------------------------


def spawn(*args: object, **options) -> subprocess.Popen:
    return subprocess.Popen(
        [*COMMAND, *map(str, args)],
        stdin=subprocess.PIPE,
        stdout=options.pop("stdout", subprocess.PIPE),
        stderr=subprocess.PIPE,
        **options,
    )


def test_results_come_while_the_input_waits_and_an_interrupt_ends_it(dyck) -> None:
    process = spawn("accept", "-g", dyck, "--tokens", "chars")
    assert process.stdin is not None
    assert process.stdout is not None
    for line, answer in ((b"()\n", b"1\t()\n"), (b")\n", b"0\t)\n")):
        process.stdin.write(line)
        process.stdin.flush()
        assert process.stdout.readline() == answer
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"ckyparse: interrupted\n")


def test_progress_on_a_terminal(dyck, tmp_path) -> None:
    file = write(tmp_path / "lines", "()\n" * 1000)
    ours, theirs = os.openpty()
    done = subprocess.run(
        [*COMMAND, "accept", "-g", str(dyck), "--tokens", "chars", str(file)],
        stdout=subprocess.PIPE,
        stderr=theirs,
        timeout=60,
    )
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # that of a terminal without its other end
        while piece := os.read(ours, 1 << 16):
            shown += piece
    os.close(ours)
    assert done.stdout == b"1\t()\n" * 1000
    assert b"1,000 lines" in shown
    assert b"100%" in shown


def test_an_interrupt_while_the_input_waits(dyck) -> None:
    """Ctrl-C brings no word of threads or leaks, though standard input stays open."""
    process = spawn("accept", "-g", dyck, "--tokens", "chars")
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdin, process.stdout, process.stderr:
        process.stdin.write(b"()\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"1\t()\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
        assert process.stderr.read() == b"ckyparse: interrupted\n"


def test_an_interrupt_while_nobody_reads(dyck, tmp_path) -> None:
    """The pipe is full, so that the thread that writes is stuck."""
    file = write(tmp_path / "lines", "()\n" * 400_000)
    process = spawn("accept", "-g", dyck, "--tokens", "chars", file)
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdin, process.stdout, process.stderr:
        assert process.stdout.read(4) == b"1\t()"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
        assert process.stderr.read() == b"ckyparse: interrupted\n"


def test_a_pipe_that_is_closed_ends_it(dyck, tmp_path) -> None:
    file = write(tmp_path / "lines", "()\n" * 400_000)
    process = spawn("accept", "-g", dyck, "--tokens", "chars", file)
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdin, process.stderr:
        process.stdout.read(4)
        process.stdout.close()
        assert process.wait(timeout=60) == -signal.SIGPIPE
        assert process.stderr.read() == b""


def test_a_full_disk_is_told(dyck) -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full")
    with open("/dev/full", "wb") as full:
        process = spawn("accept", "-g", dyck, "--tokens", "chars", stdout=full)
        _, err = process.communicate(b"()\n", timeout=60)
    assert process.returncode == 2
    assert err.startswith(b"ckyparse: cannot write standard output: ")


# --- the parts -----------------------------------------------------------------------


def test_a_channel_is_bounded_and_keeps_the_order() -> None:
    channel: Channel[int] = Channel(2)
    found = []

    def receive() -> None:
        for item in channel:
            assert item - len(found) <= 0
            found.append(item)

    thread = threading.Thread(target=receive)
    thread.start()
    for i in range(1000):
        channel.put(i)
    channel.close()
    thread.join(timeout=60)
    assert found == list(range(1000))


def test_a_channel_stops_and_fails() -> None:
    channel: Channel[int] = Channel(1)
    channel.put(1)
    channel.stop()
    with pytest.raises(StoppedError):
        channel.put(2)
    assert list(channel) == []
    failing: Channel[int] = Channel(1)
    failing.put(1)
    failing.close(OSError("gone"))
    received = iter(failing)
    assert next(received) == 1
    with pytest.raises(OSError, match="gone"):
        next(received)


def test_a_block_waits_for_more_only_while_nobody_waits_for_it() -> None:
    read, written = os.pipe()
    hungry = threading.Event()
    with open(read, "rb", buffering=0) as stream, open(written, "wb", buffering=0) as pipe:
        reader = blocks_module._BlockReader("x", stream, hungry.is_set, 1 << 10)
        found = reader.blocks()
        pipe.write(b"one\ntwo\nthr")
        hungry.set()
        assert next(found).text.tobytes() == b"one\ntwo\n"
        hungry.clear()
        later = threading.Timer(
            0.1, lambda: (pipe.write(b"ee\n"), pipe.write(b"four"), pipe.close())
        )
        later.start()
        assert next(found).text.tobytes() == b"three\nfour"
        assert next(found, None) is None
        later.join()


def test_unreadable_files_are_blocks_that_tell(tmp_path) -> None:
    [block] = blocks([str(tmp_path / "none")], lambda: True, 100)
    assert (block.trouble, block.line) == ("No such file or directory", False)


def test_an_engine_that_cannot_say_which_is_too_long_fails(ckyparse, dyck, monkeypatch) -> None:
    """No endless loop where a string is too long that does not look so."""
    from ckyparse.parser import CKYParser

    def refuse(self, batch):
        raise TooLongError(0, 2, 2)

    monkeypatch.setattr(CKYParser, "accepts", refuse)
    done = ckyparse("accept", "-g", dyck, "--tokens", "chars", stdin=b"()\n")
    refused(done, "out of memory: string 1 has 2 tokens")
