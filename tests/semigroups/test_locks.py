"""Test that who asks while another is at it waits: each call that takes the lock is seen to."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernels.transformations import Enumerator
from semigroups import Family, Semigroup
from semigroups.finished import Finished
from tests.semigroups.stepping import Small, assert_part, made
from tests.transformations_oracle import enumerate_maps
from tests.waiting import until

BIHECKE = Family.parse("bihecke:4")


class Watched:
    """Wraps a lock that tells whether somebody waits for it."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self.waited_for = threading.Event()

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            self.waited_for.set()
            self._lock.acquire()

    def __exit__(self, *reason: object) -> None:
        self._lock.release()


CALLS: dict[str, Callable[[Semigroup, Path], Any]] = {
    "run": lambda found, _: found.run(),
    "finished": lambda found, _: found.finished,
    "set_memory": lambda found, _: setattr(found, "memory", 1 << 29),
    "engine": lambda found, _: found.backend,
    "save": lambda found, folder: found.save(folder / "S.h5"),
    "current_size": lambda found, _: found.current_size,
    "current_levels": lambda found, _: found.current_levels,
    "elements": lambda found, _: found.elements(np.arange(3)),
    "word": lambda found, _: found.word(3),
    "current_positions": lambda found, _: found.current_positions([range(24)]),
    "starts": lambda found, _: found._structure._starts,
    "array": lambda found, _: found._structure._array("right"),
    "pickle": lambda found, _: found.__reduce__(),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_lock_is_waited_for(name: str, tmp_path: Path) -> None:
    found = made(BIHECKE)
    found.run(limit=100)
    lock, runner = Watched(), found._enumeration.runner
    runner.lock = lock  # type: ignore[assignment]
    before = runner._enumerator, runner._memory
    with lock:
        thread = threading.Thread(target=CALLS[name], args=(found, tmp_path))
        thread.start()
        until(lambda: lock.waited_for.is_set() or not thread.is_alive())
        assert thread.is_alive()
        assert (runner._enumerator, runner._memory) == before  # nothing is done before
        assert not list(tmp_path.iterdir())
    thread.join(60)
    assert not thread.is_alive()


@pytest.mark.parametrize("name", ["elements", "word"])
def test_the_lock_is_taken_again(name: str, tmp_path: Path) -> None:
    """Numbers are looked at before, and that lock is given back."""
    found = made(BIHECKE)
    found.run(limit=100)
    lock = Watched()
    known = found._enumeration.known

    def alone(numbers: Any) -> Any:
        chosen = known(numbers)
        found._enumeration.runner.lock = lock  # type: ignore[assignment]
        return chosen

    found._enumeration.known = alone  # type: ignore[method-assign]
    with lock:
        thread = threading.Thread(target=CALLS[name], args=(found, tmp_path))
        thread.start()
        until(lambda: lock.waited_for.is_set() or not thread.is_alive())
        assert thread.is_alive()
    thread.join(60)


def test_the_first_to_ask_begins() -> None:
    """Another that comes meanwhile waits, and begins nothing anew."""
    engine = Small()
    found = made(BIHECKE, engine)
    lock = Watched()
    found._enumeration.runner.lock = lock  # type: ignore[assignment]
    with lock:
        thread = threading.Thread(target=lambda: found._enumeration.runner.enumerator)
        thread.start()
        until(lambda: lock.waited_for.is_set() or not thread.is_alive())
        assert thread.is_alive()
        begun = found._enumeration.runner.enumerator
    thread.join(60)
    assert found._enumeration.runner.enumerator is begun
    assert len(engine.problems) == 1


def test_a_file_is_read_once(tmp_path: Path) -> None:
    saved = made(BIHECKE)
    assert saved.run()
    saved.save(tmp_path / "S.h5")
    found = Semigroup.load(tmp_path / "S.h5")._enumeration.runner.enumerator
    assert isinstance(found, Finished)
    lock = Watched()
    found._lock = lock  # type: ignore[assignment]
    with lock:
        thread = threading.Thread(target=found.array, args=("right",))
        thread.start()
        until(lambda: lock.waited_for.is_set() or not thread.is_alive())
        assert thread.is_alive()
    thread.join(60)


def test_steps_questions_and_savings_at_once(tmp_path: Path) -> None:
    """Whatever is done meanwhile, all that is found is right, and so is every file."""
    expected = enumerate_maps(BIHECKE.generators())
    found = made(BIHECKE, Small(20, lambda enumerator: check(enumerator)))
    busy = threading.Lock()

    def check(enumerator: Enumerator) -> None:
        assert busy.acquire(blocking=False), "two steps at once"
        busy.release()

    def run(k: int) -> None:
        while not found.run(limit=found.current_size + 20) and found.current_size < 400:
            pass

    def save(k: int) -> None:
        for i in range(3):
            path = tmp_path / f"{k}-{i}.h5"
            found.save(path)
            assert_part(Semigroup.load(path, backend="reference"), expected)

    def ask(k: int) -> None:
        for _ in range(10):
            size = found.current_size
            assert found.current_size >= size
            assert np.array_equal(found.elements(np.arange(size)), expected.elements[:size])
            found.memory = (1 << 30) + k

    with ThreadPoolExecutor(6) as pool:
        tasks = [pool.submit(task, k) for k, task in enumerate((run, run, save, save, ask, ask))]
        for task in tasks:
            task.result(120)
    assert found.size == 477
    assert_part(found, expected)
