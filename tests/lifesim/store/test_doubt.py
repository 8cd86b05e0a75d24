"""What a universe in memory is where the rename of its manifest was made, but then refused."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from lifesim.engine import Life
from lifesim.errors import LifesimError
from lifesim.grid import BitGrid, Box
from lifesim.soup import random_grid
from lifesim.store import directory, disk, editing
from lifesim.store.universe import Universe
from lifesim.stream.run import StreamedLife
from tests.lifesim.store.faults import CPU, check
from tests.universes import on_disk, whole_grid

ONE = BitGrid.from_cells(1, 1, [(0, 0)])


@pytest.fixture
def universe() -> Iterator[Universe]:
    with on_disk(random_grid(128, 64, 0.3, 7), (2, 1)) as universe:
        yield universe


def refuse_syncs(
    universe: Universe, monkeypatch: pytest.MonkeyPatch, times: tuple[int, ...]
) -> None:
    """Have the folder of the universe refuse to be synced, of all times at these, from 1."""
    really, count = disk.sync_folder, 0

    def sync_folder(path: str) -> None:
        nonlocal count
        count += path == universe.path
        if path == universe.path and count in times:
            raise OSError(errno.EIO, os.strerror(errno.EIO), path)
        really(path)

    monkeypatch.setattr(disk, "sync_folder", sync_folder)


def same(universe: Universe) -> Universe:
    """Assert that the universe in memory is the one on the disk, and return the latter."""
    seen = Universe.open(universe.path)
    check(seen)
    assert (universe.manifest, universe.phase) == (seen.manifest, seen.phase)
    return seen


def test_a_change_whose_rename_was_made(
    universe: Universe, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse_syncs(universe, monkeypatch, (1,))
    with pytest.raises(LifesimError, match="Input/output error"):
        editing.clear(universe, Box(0, 0, 128, 64))
    assert same(universe).population() == 0
    editing.paste(universe, ONE, (3, 3))
    assert same(universe).population() == 1


def test_a_phase_whose_rename_was_made(universe: Universe, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = Life(whole_grid(universe), backend=CPU)
    expected.run(8)
    refuse_syncs(universe, monkeypatch, (3,))  # after those for the run and for the journal
    life = StreamedLife(universe, [CPU], memory=1 << 26, generations=4)
    with pytest.raises(LifesimError, match="Input/output error"):
        life.run(8)
    assert same(universe).generation == 4
    life.resume()
    assert same(universe).generation == 8
    assert whole_grid(universe) == expected.grid()


def test_nothing_is_changed_while_nobody_knows(
    universe: Universe, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = whole_grid(universe)
    files = universe.directory.names_there()
    with monkeypatch.context() as patch:
        refuse_syncs(universe, patch, (1,))

        def unreadable(path: str) -> bytes:
            raise OSError(errno.EIO, os.strerror(errno.EIO), path)

        patch.setattr(directory, "manifest_bytes", unreadable)
        with pytest.raises(LifesimError, match="Input/output error"):
            editing.clear(universe, Box(0, 0, 128, 64))
    assert whole_grid(universe) == before
    for change in (
        lambda: editing.paste(universe, ONE, (3, 3)),
        lambda: editing.undo(universe),
        lambda: universe.begin_phase(2),
        lambda: universe.set_run((0, 7)),
    ):
        with pytest.raises(LifesimError, match="open the universe again"):
            change()
    universe.journal.sweep()
    assert universe.directory.names_there() > files
    assert Universe.open(universe.path).population() == 0
    universe.close()
    with Universe.open(universe.path, writing=True) as again:
        assert same(again).population() == 0
        editing.undo(again)
        assert whole_grid(again) == before


def test_nothing_is_removed_that_a_failed_disk_may_bring_back(
    universe: Universe, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = Path(universe.path, "manifest.json").read_bytes()
    before = whole_grid(universe)
    refuse_syncs(universe, monkeypatch, (1, 2))
    with pytest.raises(LifesimError, match="Input/output error"):
        editing.clear(universe, Box(0, 0, 128, 64))
    Path(universe.path, "manifest.json").write_bytes(old)  # the machine has lost power
    universe.close()
    with Universe.open(universe.path, writing=True) as again:
        assert whole_grid(again) == before
