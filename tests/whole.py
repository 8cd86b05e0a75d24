"""What a power cut would leave: the order in which files are written, synced and renamed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest


@dataclass
class Recorder:
    """events: ("sync", inode, contents), ("sync folder", inode) and ("replace", inode, contents,
    target), as they come, of whatever this process does."""

    events: list[tuple[Any, ...]] = field(default_factory=list)

    def check(self, path: Path) -> None:
        """It took its name once all of it was on the disk, and the name was synced after it."""
        contents, folder = path.read_bytes(), os.stat(path.parent).st_ino
        target = os.path.realpath(path)
        named = [k for k, event in enumerate(self.events) if event[0::3] == ("replace", target)]
        assert named, f"{path} did not take its name at once"
        at = named[-1]
        _, inode, renamed, _ = self.events[at]
        assert inode == os.stat(path).st_ino
        assert renamed == contents, f"{path} was written to under its name"
        before = [event for event in self.events[:at] if event[:2] == ("sync", inode)]
        assert before, f"{path} took its name unsynced"
        assert before[-1][2] == contents, f"{path} was written to after it was synced"
        after = self.events[at + 1 :]
        assert ("sync folder", folder) in after, f"the name {path} was not synced"


@contextmanager
def recorded(monkeypatch: pytest.MonkeyPatch) -> Iterator[Recorder]:
    recorder = Recorder()
    sync, replace = os.fsync, os.replace

    def contents(path: str) -> bytes:
        return Path(path).read_bytes()

    def fsync(fd: int) -> None:
        sync(fd)
        facts = os.fstat(fd)
        if os.path.isdir(f"/proc/self/fd/{fd}"):
            recorder.events.append(("sync folder", facts.st_ino))
        else:
            recorder.events.append(("sync", facts.st_ino, contents(f"/proc/self/fd/{fd}")))

    def placed(path: Any, folder: int | None) -> str:
        """A path that may be relative to an open folder."""
        return os.fspath(path) if folder is None else f"/proc/self/fd/{folder}/{path}"

    def renamed(source: Any, target: Any, **options: Any) -> None:
        where = placed(source, options.get("src_dir_fd"))
        named = os.path.realpath(placed(target, options.get("dst_dir_fd")))
        event = ("replace", os.stat(where).st_ino, contents(where), named)
        replace(source, target, **options)
        recorder.events.append(event)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fsync)
        patch.setattr(os, "replace", renamed)
        patch.setattr(os, "rename", renamed)
        yield recorder
