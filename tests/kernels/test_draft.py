"""Drafts: files appear whole, and nothing is left of writers that were killed."""

from __future__ import annotations

import errno
import fcntl
import itertools
import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kernels import draft as drafts
from kernels.draft import Draft
from tests.interrupts import interrupted_at

ROOT = Path(__file__).parents[2]
WRITER = """
import sys
from kernels.draft import Draft
draft = Draft(sys.argv[1])
draft.append(b"half")
print("begun", flush=True)
sys.stdin.read()
draft.append(b" and half")
draft.finish()
"""


@contextmanager
def writer(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process amid writing; it finishes when its standard input ends."""
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "begun\n"
            yield process
        finally:
            process.kill()


def write(path: Path, data: bytes = b"new") -> None:
    with Draft(path) as draft:
        draft.append(data)


def left(folder: Path) -> list[str]:
    return sorted(name for name in os.listdir(folder) if name.startswith("."))


def test_the_next_save_removes_what_killed_writers_left(tmp_path: Path) -> None:
    path = tmp_path / "a.rle"
    path.write_bytes(b"old")
    for _ in range(3):
        with writer(path) as process:
            process.send_signal(signal.SIGKILL)
            process.wait()
        assert len(left(tmp_path)) == 1  # the killed one before was removed by this one
    assert path.read_bytes() == b"old"
    write(tmp_path / "a.rle.gz")  # another file's
    write(tmp_path / "a")
    assert len(left(tmp_path)) == 1
    write(path)
    assert left(tmp_path) == []
    assert path.read_bytes() == b"new"


def test_ctrl_c_leaves_nothing(tmp_path: Path) -> None:
    """An interrupt between any two instructions of Python leaves the whole file or none."""
    path = tmp_path / "a"
    methods = [
        vars(Draft)[name] for name in ("__init__", "_begin", "__enter__", "__exit__", "finish")
    ]
    for instruction in itertools.count():
        with interrupted_at(write, instruction, *methods) as came:
            write(path)
        assert set(os.listdir(tmp_path)) <= {"a"}
        if not came:
            break
        if path.exists():
            assert path.read_bytes() == b"new"
            path.unlink()
    assert instruction > 100
    assert path.read_bytes() == b"new"


def test_a_child_leaves_the_draft_of_its_parent(tmp_path: Path) -> None:
    path = tmp_path / "a"
    draft = Draft(path)
    child = os.fork()
    if not child:
        del draft
        os._exit(0)
    os.waitpid(child, 0)
    draft.append(b"new")
    draft.finish()
    assert path.read_bytes() == b"new"


def test_a_live_writer_keeps_its_draft(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with writer(path) as process:
        write(path, b"quick")
        own = Draft(path)  # this process's others, too
        write(path, b"quicker")
        assert len(left(tmp_path)) == 2
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait() == 0
        assert path.read_bytes() == b"half and half"
        own.append(b"own")
        own.finish()
    assert path.read_bytes() == b"own"
    assert left(tmp_path) == []


def test_drafts_of_other_machines_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Drafts of other machines stay: on a shared file system a lock may say nothing of them."""
    path = tmp_path / "a"
    kernel, host = drafts._here()
    other = {"elsewhere": "0" * 8, "before": "1" * 8}
    assert not set(other.values()) & {kernel, host}
    elsewhere = f".a.{other['elsewhere']}-{other['elsewhere']}-{'0' * 16}.tmp"
    before = f".a.{other['before']}-{host}-{'0' * 16}.tmp"  # before this machine began anew
    container = f".a.{kernel}-{other['before']}-{'0' * 16}.tmp"  # under another name
    for name in (elsewhere, before, container):
        (tmp_path / name).touch()
    write(path)
    assert left(tmp_path) == [elsewhere]


def test_only_drafts_are_removed(tmp_path: Path) -> None:
    kernel, host = drafts._here()
    folder, victim = tmp_path / "folder", tmp_path / "victim"
    folder.mkdir()
    victim.write_bytes(b"precious")

    def named(number: int, stem: str = "a[0-9]") -> Path:
        return folder / f".{stem}.{kernel}-{host}-{number:016x}.tmp"

    named(1).symlink_to(victim)
    named(2).mkdir()
    os.mkfifo(named(3))
    named(4).symlink_to(folder / "nothing")
    os.link(victim, named(5))
    named(6, "a5").touch()  # no pattern is meant
    (folder / ".a[0-9].tmp").touch()
    (folder / f".a[0-9].{kernel}-{host}-{7:016x}.tmp.gz").touch()
    before = set(os.listdir(folder)) - {named(5).name}
    write(folder / "a[0-9]")
    assert set(os.listdir(folder)) == before | {"a[0-9]"}
    assert victim.read_bytes() == b"precious"


def test_who_begins_while_another_sweeps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A draft that is taken for a dead one's, between its creation and its lock, is made anew."""
    path, taken = tmp_path / "a", []
    lock = fcntl.flock

    def sweeping(handle: int, operation: int) -> None:
        mine = [name for name in left(tmp_path) if name not in taken]
        if len(taken) < 3 and mine:
            taken.extend(mine)
            if len(taken) == 2:  # it is just being looked at
                other = os.open(tmp_path / mine[0], os.O_RDWR)
                lock(other, fcntl.LOCK_EX)
                try:
                    lock(handle, operation)
                finally:
                    os.unlink(tmp_path / mine[0])
                    os.close(other)
                return
            os.unlink(tmp_path / mine[0])
        lock(handle, operation)

    monkeypatch.setattr(fcntl, "flock", sweeping)
    write(path)
    assert len(taken) == 3
    assert path.read_bytes() == b"new"
    assert left(tmp_path) == []


def test_a_draft_that_is_finished_while_it_is_swept_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, lock = tmp_path / "a", fcntl.flock
    draft = Draft(path)
    draft.append(b"one")
    name = draft.temporary

    def finishing(handle: int, operation: int) -> None:
        if draft.is_open:
            draft.finish()
        lock(handle, operation)

    with monkeypatch.context() as patch:
        patch.setattr(fcntl, "flock", finishing)
        drafts._remove_dead(name)
    assert path.read_bytes() == b"one"


def test_where_there_are_no_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are written all the same, and nobody's are removed."""
    path = tmp_path / "a"

    def none(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", none)
    draft = Draft(path)
    write(path)
    assert len(left(tmp_path)) == 1
    draft.finish()
    assert left(tmp_path) == []


def test_many_threads_write_one_file(tmp_path: Path) -> None:
    path = tmp_path / "a"
    failed: list[BaseException] = []

    def some(data: bytes) -> None:
        try:
            for _ in range(30):
                write(path, data)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=some, args=(bytes([k]) * 1000,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert len(set(path.read_bytes())) == 1
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize(
    "name", ["x" * 255, "ä" * 127, "a b\n.rle", ".hidden", os.fsdecode(b"\xff")]
)
def test_names(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with writer(path) as process:
        process.kill()
        process.wait()
    before = set(os.listdir(tmp_path))
    assert len(before) == 1
    write(path)
    assert os.listdir(tmp_path) == [name]


def test_errors_name_the_path_that_was_given(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError) as told:
        Draft("no/a")
    assert told.value.filename == "no/a"
    with pytest.raises(FileNotFoundError):
        Draft("")
    for path in (".", "./", "no/"):
        with pytest.raises(IsADirectoryError):
            Draft(path)
    assert os.listdir() == []
    with pytest.raises(OSError, match="this is no regular file"):
        Draft(".", regular=True)
    with pytest.raises(OSError, match="this is no regular file"):
        Draft(os.devnull, regular=True)


def test_devices_and_pipes_are_written_to_as_they_are(tmp_path: Path) -> None:
    write(Path(os.devnull))
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    write(pipe)
    reader.join()
    assert got == [b"new"]
    assert os.listdir(tmp_path) == ["pipe"]


def test_a_pipe_that_has_a_name_in_proc_only() -> None:
    """A pipe is written to that is named in /proc alone, as /dev/stdout of a pipeline is."""
    code = "import sys; from tests.kernels.test_draft import write; write('/dev/stdout', b'new')"
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=ROOT)
    assert (done.returncode, done.stdout) == (0, b"new")


def test_streams(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o640)
    with Draft(path) as draft:
        stream = draft.stream()
        stream.write(b"one")
        stream.flush()
    assert path.read_bytes() == b"one"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    draft = Draft(path)
    stream = draft.stream()
    stream.write(b"lost")
    draft.drop()
    del stream  # its buffer goes nowhere, without a word
    assert path.read_bytes() == b"one"
    assert os.listdir(tmp_path) == ["a"]


def test_raw_files(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with Draft(path) as draft:
        with draft.raw() as raw:
            raw.seek(2)
            raw.write(b"one")
        assert draft.is_open
    assert path.read_bytes() == b"\0\0one"
    with pytest.raises(ZeroDivisionError), Draft(path):
        raise ZeroDivisionError
    assert path.read_bytes() == b"\0\0one"
    assert os.listdir(tmp_path) == ["a"]
