"""Results that cannot be saved where they were to be."""

from __future__ import annotations

import fcntl
import io
import os
import signal
import subprocess
import sys
import tempfile
import termios
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import click
import pytest

from bulkbits import files, keeping
from bulkbits.keeping import Kept, keep
from bulkbits.stopping import Stop


class Full:
    """Saves in folders that are not full; paths: where it was tried."""

    def __init__(self, *full: Path) -> None:
        self.full, self.paths = full, list[Path]()

    def __call__(self, path: str) -> None:
        self.paths.append(Path(path))
        if Path(path).absolute().parent in self.full:
            raise OSError(28, "No space left on device")
        Path(path).write_bytes(b"saved")


@pytest.fixture
def spare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files."""
    folder = tmp_path / "spare"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def asked(monkeypatch: pytest.MonkeyPatch, *answers: str) -> None:
    """A terminal, and what a person says there."""
    monkeypatch.setattr(keeping, "_is_asked", lambda: True)
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{answer}\n" for answer in answers)))


def test_where_it_was_to_be(tmp_path: Path, spare: Path) -> None:
    path = str(tmp_path / "a")
    assert keep(path, Full(), OSError) == Kept(path)
    assert os.listdir(spare) == []


def test_without_a_terminal_it_is_kept_for_later(tmp_path: Path, spare: Path) -> None:
    path = tmp_path / ("x" * 200 + ".rle")
    kept = keep(str(path), Full(tmp_path), OSError)
    assert kept.path is not None
    assert Path(kept.path).parent == spare
    assert kept.path.endswith("x.rle")
    told = f"cannot write {path}: No space left on device; it is saved in {kept.path}"
    assert kept.error == told
    assert Path(kept.path).read_bytes() == b"saved"


def test_nowhere(tmp_path: Path, spare: Path) -> None:
    kept = keep(str(tmp_path / "a"), Full(tmp_path, spare), OSError)
    assert kept.path is None
    assert kept.error.count("No space left on device") == 2
    with pytest.raises(OSError, match="No space"):
        keep(str(tmp_path / "a"), Full(tmp_path), KeyError)


def test_a_person_names_another_file(tmp_path: Path, spare: Path, monkeypatch, capsys) -> None:
    there, good = spare / "there", spare / "good"
    there.write_bytes(b"precious")
    save = Full(tmp_path)
    asked(monkeypatch, str(tmp_path / "b"), str(there), f" {good} ")
    assert keep(str(tmp_path / "a"), save, OSError) == Kept(str(good))
    assert save.paths == [tmp_path / "a", tmp_path / "b", good]
    assert there.read_bytes() == b"precious"
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == f"cannot write {tmp_path / 'a'}: No space left on device"
    assert lines[1].startswith("Another file to save it in (empty: give it up): ")
    assert f"cannot write {there}: there is a file of that name" in "".join(lines)


def full_disk(monkeypatch: pytest.MonkeyPatch, room: int, good: Path) -> None:
    """Let only so many bytes be written, but any number in one folder."""
    write = os.write

    def some(fd: int, data: memoryview) -> int:
        nonlocal room
        if os.readlink(f"/proc/self/fd/{fd}").startswith(str(good)):
            return write(fd, data)
        if not room:
            raise OSError(28, "No space left on device")
        count = write(fd, data[:room])
        room -= count
        return count

    monkeypatch.setattr(os, "write", some)


@pytest.mark.parametrize("room", [0, 1, (1 << 20) + 5, 5 << 19])
def test_a_stream_goes_on_elsewhere(tmp_path: Path, spare: Path, monkeypatch, room: int) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")
    parts = [bytes([k]) * (1 << 19) for k in range(6)]
    full_disk(monkeypatch, room, spare)
    with pytest.raises(click.ClickException) as told, files.writing(str(path)) as stream:
        stream.writelines(parts)
    (name,) = os.listdir(spare)
    says = f"cannot write {path}: No space left on device; it is saved in {spare / name}"
    assert told.value.message == says
    assert name.endswith("-a.txt")
    assert (spare / name).read_bytes() == b"".join(parts)
    assert path.read_bytes() == b"old"
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "spare"]


def test_a_stream_goes_on_where_a_person_says(tmp_path: Path, spare: Path, monkeypatch) -> None:
    full_disk(monkeypatch, 1000, spare)
    asked(monkeypatch, str(tmp_path / "b"), str(spare / "c"))
    with files.writing(str(tmp_path / "a")) as stream:
        for _ in range(3):
            stream.write(b"x" * (1 << 20))
    assert (spare / "c").read_bytes() == b"x" * (3 << 20)
    assert os.listdir(tmp_path) == ["spare"]


def test_a_stream_that_can_go_on_nowhere(tmp_path: Path, spare: Path, monkeypatch) -> None:
    full_disk(monkeypatch, 1000, tmp_path / "none")
    says = "cannot write .*/a: No space left on device; and cannot write .*-a: No space"
    with pytest.raises(click.ClickException, match=says), files.writing(f"{tmp_path}/a") as stream:
        stream.write(b"x" * (1 << 21))
    assert os.listdir(tmp_path) == ["spare"]
    assert os.listdir(spare) == []


def test_a_full_device_is_an_error(spare: Path) -> None:
    says = "^/dev/full: No space left on device"
    with pytest.raises(click.ClickException, match=says), files.writing("/dev/full") as stream:
        stream.write(b"x")
    assert os.listdir(spare) == []


def test_a_stream_whose_block_fails(tmp_path: Path, spare: Path, monkeypatch) -> None:
    full_disk(monkeypatch, 1000, spare)

    def parts() -> Iterator[bytes]:
        yield b"x" * (3 << 20)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), files.writing(str(tmp_path / "a")) as stream:
        stream.writelines(parts())
    assert os.listdir(tmp_path) == ["spare"]
    assert os.listdir(spare) == []


@pytest.mark.parametrize("answers", [[""], []])
def test_a_person_gives_it_up(tmp_path: Path, spare: Path, monkeypatch, answers) -> None:
    asked(monkeypatch, *answers)
    path = str(tmp_path / "a")
    kept = keep(path, Full(tmp_path), OSError)
    assert kept == Kept(None, f"cannot write {path}: No space left on device")
    assert os.listdir(spare) == []


def test_ctrl_c_as_the_question_is_shown(tmp_path: Path, monkeypatch) -> None:
    """Ctrl-C counts from the question on, though until then it was a request to stop."""
    monkeypatch.setattr(keeping, "_is_asked", lambda: True)
    monkeypatch.setattr(click, "echo", lambda *_, **__: os.kill(os.getpid(), signal.SIGINT))
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n"))
    with Stop() as stop, pytest.raises(KeyboardInterrupt):
        keep(str(tmp_path / "a"), Full(tmp_path), OSError)
    assert not stop.asked


PROMPTED = """
import sys
from bulkbits.keeping import keep
from bulkbits.stopping import Stop

def save(path):
    if path == "bad":
        raise OSError(28, "No space left on device")
    print("saved in", path)

with Stop():
    try:
        print(keep("bad", save, OSError))
    except KeyboardInterrupt:
        print("interrupted")
"""


@pytest.mark.parametrize(
    ("typed", "says"), [(b"good\n", "saved in good"), (b"\x03", "interrupted")]
)
def test_at_a_terminal(typed: bytes, says: str) -> None:
    """Ctrl-C ends the waiting at once, even amid what makes a request of it."""
    ours, theirs = os.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", PROMPTED],
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
        start_new_session=True,
        preexec_fn=partial(fcntl.ioctl, theirs, termios.TIOCSCTTY, 0),
    ) as process:
        os.close(theirs)
        shown = b""
        while not shown.endswith(b"give it up): "):
            shown += os.read(ours, 1000)
        os.write(ours, typed)
        assert process.stdout is not None
        assert process.stdout.readline() == f"{says}\n"
    os.close(ours)
