"""What workers do in these tests."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from bulkbits.cluster import worker


class TaskError(Exception):
    pass


def double(item: int, more: int = 0) -> int:
    return 2 * item + more


def told(item: int) -> int:
    worker.tell({"item": item})
    return item


def pid(item: int) -> int:
    time.sleep(0.05)
    return os.getpid()


def size(item: bytes) -> int:
    return len(item)


def fail(item: int) -> int:
    if item == 2:
        raise TaskError(f"{item} is bad")
    return item


def facts(item: int) -> tuple[str, int, int]:
    return worker.backend().name, worker.threads(), worker.memory()


def until_stopped(item: int, folder: str) -> int:
    """Leaves a file when it is told to stop. Item 0 is quick."""
    if not item:
        return item
    Path(folder, f"began-{item}").touch()
    end = time.monotonic() + 60
    while not worker.stopping() and time.monotonic() < end:
        time.sleep(0.02)
    if worker.stopping():
        Path(folder, f"stopped-{item}").touch()
    return item


def met(item: int, folder: str) -> int:
    """Waits until another task is under way, too. Returns which process it was."""
    Path(folder, f"met-{item}").touch()
    end = time.monotonic() + 60
    while len(list(Path(folder).glob("met-*"))) < 2:
        if time.monotonic() > end:
            raise TaskError("nobody came")
        time.sleep(0.02)
    return os.getpid()


def die_once(item: int, folder: str) -> int:
    """The first to come to item 3 is killed."""
    if item == 3:
        try:
            Path(folder, "died").touch(exist_ok=False)
        except FileExistsError:
            return item
        os.kill(os.getpid(), signal.SIGKILL)
    return item


def die(item: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def counted(item: int) -> int:
    """Return how many of these tasks the worker has run, this one included."""
    made: list[int] = worker.kept("counted", lambda: [0])
    made[0] += 1
    return made[0]


def sleep(item: float) -> float:
    time.sleep(item)
    return item


def identity(value: Any) -> Any:
    return value


def import_path() -> list[str]:
    return sys.path
