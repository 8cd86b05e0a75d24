"""What may be overwritten."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bulkbits.overwriting import begins, check_target, check_there

KIND = begins("list of a's", lambda head: not head.strip(b"a\n"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_is_replaced(folder: Path) -> None:
    check_target("-", KIND)
    check_target("new", KIND)
    for name, data in (("empty", b""), ("like", b"a\naa\n"), ("other", b"b")):
        (folder / name).write_bytes(data)
    check_target("empty", KIND)
    check_target("like", KIND)
    check_target("other", KIND, force=True)
    for check in (check_target, check_there):
        with pytest.raises(FileExistsError) as told:
            check("other", KIND)
        assert told.value.strerror == "it is no list of a's: --force overwrites it"
    assert sorted(os.listdir()) == ["empty", "like", "other"]


def test_only_the_beginning_is_looked_at(folder: Path) -> None:
    (folder / "long").write_bytes(b"a" * (1 << 16) + b"b")
    check_target("long", KIND)


def test_inputs_are_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "like").write_bytes(b"a")
    os.link("like", "linked")
    os.symlink("like", "link")
    for name in ("like", "linked", "link", "./like"):
        with pytest.raises(FileExistsError, match="it is read, too: --force overwrites it"):
            check_target(name, KIND, inputs=["-", "no", "like"])
        check_target(name, KIND, inputs=["like"], force=True)
    check_target("like", KIND, inputs=["no", "."])
    fstat = os.fstat
    monkeypatch.setattr(os, "fstat", lambda fd: fstat(fd) if fd else os.stat("like"))
    with pytest.raises(FileExistsError, match="it is read, too"):
        check_target("link", KIND, inputs=["-"])


def test_what_is_no_file(folder: Path) -> None:
    os.mkfifo("pipe")
    for path in ("pipe", os.devnull):
        check_target(path, KIND, inputs=[path])
        check_there(path, KIND, inputs=[path])
        with pytest.raises(OSError, match="this is no regular file"):
            check_target(path, KIND, regular=True)
    with pytest.raises(IsADirectoryError, match="this is a directory"):
        check_target(".", KIND, force=True)
    with pytest.raises(FileNotFoundError):
        check_target("no/a", KIND, force=True)
    with pytest.raises(NotADirectoryError):
        check_target("pipe/a", KIND, force=True)
    with pytest.raises(OSError, match="too long"):
        check_target("x" * 256, KIND, force=True)
    assert os.listdir() == ["pipe"]
