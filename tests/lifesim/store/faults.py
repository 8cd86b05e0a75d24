"""Universes whose every step on disk can fail, be cut short, or be the last of its process."""

from __future__ import annotations

import os
import shutil
import signal
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kernels.targets.choose import pick
from lifesim import BitGrid, Life
from lifesim.errors import LifesimError
from lifesim.rule import Rule
from lifesim.soup import Soup
from lifesim.store import disk
from lifesim.store.make import from_grid, make_universe
from lifesim.store.tiling import tile_universe
from lifesim.store.universe import Universe
from lifesim.stream.run import StreamedLife

CPU = pick("cpu", threads=1)
MEMORY = 1 << 26

CHANGES = (
    "write", "write_chunk", "append", "sync", "sync_folder", "make_folder", "replace", "remove",
    "truncate",
)  # fmt: skip
EFFECTS = (*CHANGES, "open_file", "read", "free_bytes", "write_whole")
PARTED = {"write", "append"}  # what can stop half-way
FILLING = {"write", "write_chunk", "append", "make_folder", "write_whole"}


class Faults:
    """Counts the effects of this process, and strikes at the one that is number `at`.

    act: "before", "after", "middle" kill the process around that effect; "power" undoes
    first what no sync has made lasting; an errno is raised, of half the effect where it can
    be parted, and if it lasts, of all later ones that need room.
    """

    def __init__(
        self,
        at: int = 0,
        act: str | int = "before",
        *,
        names: tuple[str, ...] = CHANGES,
        lasting: bool = False,
        spare: Path | None = None,
        watch: Callable[[str], None] | None = None,
    ) -> None:
        self.at, self.act, self.lasting = at, act, lasting
        self.log: list[str] = []
        self.names, self._watch = names, watch
        self._lock = threading.Lock()
        self._power = _Power(spare) if spare else None

    @contextmanager
    def active(self) -> Iterator[Faults]:
        real = [(name, getattr(disk, name)) for name in self.names]
        try:
            for name, function in real:
                setattr(disk, name, self._wrapped(name, function))
            yield self
        finally:
            for name, function in real:
                setattr(disk, name, function)

    def _wrapped(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def effect(*args: Any, **options: Any) -> Any:
            with self._lock:
                self.log.append(name)
                number = len(self.log)
            if self._watch:
                self._watch(name)
            late = self.lasting and self.at and number > self.at and name in FILLING
            if number == self.at or late:
                return self._strike(name, real, args, options)
            if self._power:
                return self._power.note(name, real, args, options)
            return real(*args, **options)

        return effect

    def _strike(
        self, name: str, real: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        if isinstance(self.act, int):
            if name in PARTED:
                _half(name, real, args)
            place = (args[0],) if isinstance(args[0], str) else ()
            raise OSError(self.act, os.strerror(self.act), *place)
        if self.act == "middle" and name in PARTED:
            _half(name, real, args)
        elif self.act == "after":
            real(*args, **options)
        elif self.act == "power":
            assert self._power
            self._power.cut()
        os.kill(os.getpid(), signal.SIGKILL)


def _half(name: str, real: Callable[..., Any], args: tuple[Any, ...]) -> None:
    if name == "append":
        real(args[0], args[1][: len(args[1]) // 2])
    else:
        data = memoryview(args[1]).cast("B")
        count = len(data) // 2
        if count >= disk.PAGE:
            count = count // disk.PAGE * disk.PAGE
        fd = os.open(f"/proc/self/fd/{args[0]}", os.O_WRONLY)  # not O_DIRECT
        os.pwrite(fd, data[:count], args[2])
        os.close(fd)


class _Power:
    """The memory of what a machine that loses power may forget: whatever no sync has followed."""

    def __init__(self, spare: Path) -> None:
        self._spare, self._count = spare, 0
        self._lasting: dict[str, int] = {}  # bytes of a file
        self._renames: list[tuple[str, str, str | None]] = []
        self._lock = threading.Lock()

    def note(
        self, name: str, real: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        if name == "write_chunk":  # writes, with a lock of HDF5 held
            return real(*args, **options)
        with self._lock:
            if name in ("append", "write"):
                path = os.readlink(f"/proc/self/fd/{args[0]}")
                start = os.path.getsize(path) if name == "append" else 0
                self._lasting[path] = min(self._lasting.get(path, start), start)
            elif name == "replace":
                source, target = map(os.path.realpath, args)
                backup = None
                if os.path.exists(target):
                    backup = str(self._spare / f"{self._count}")
                    os.link(target, backup)
                    self._count += 1
                self._renames.append((source, target, backup))
                if source in self._lasting:
                    self._lasting[target] = self._lasting.pop(source)
            result = real(*args, **options)
            if name == "sync":
                path = os.readlink(f"/proc/self/fd/{args[0]}")
                self._lasting.pop(path, None)
            elif name == "sync_folder":
                folder = os.path.realpath(args[0])
                self._renames = [r for r in self._renames if os.path.dirname(r[1]) != folder]
        return result

    def cut(self) -> None:
        self._lock.acquire()  # for good: no thread gets any further
        for path, count in self._lasting.items():
            if os.path.exists(path):
                os.truncate(path, count)
        for source, target, backup in reversed(self._renames):
            if os.path.exists(target):
                os.rename(target, source)
            if backup:
                os.link(backup, target)


def in_child(work: Callable[[], None], seconds: int = 60) -> int:
    """Do it in a forked process, and return 0, or the signal that killed it. Its errors are
    raised."""
    out, into = os.pipe()
    child = os.fork()
    if not child:
        signal.alarm(seconds)  # nothing may hang
        try:
            work()
        except BaseException:
            os.write(into, traceback.format_exc().encode())
        os._exit(0)
    os.close(into)
    with os.fdopen(out, "rb") as file:
        told = file.read().decode()
    status = os.waitpid(child, 0)[1]
    assert not told, told
    signal_ = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    assert signal_ in (0, signal.SIGKILL), f"signal {signal_}"
    return signal_


@dataclass(frozen=True)
class Case:
    """A small universe, and a run of it in phases."""

    torus: bool = True
    compression: str = "none"
    keep_previous: bool = False
    pyramid: bool = True
    width: int = 130
    height: int = 48
    tiles: tuple[int, int] = (2, 3)
    phase: int | None = 5
    generations: int = 8
    quiet: bool = False
    seed: int = 1
    rule: str = "B3/S23"

    @property
    def grid(self) -> BitGrid:
        if self.quiet:
            return ash(self.width, self.height)
        rule = Rule.parse(self.rule)
        grid = BitGrid(self.width, self.height, planes=rule.planes)
        Soup(0.4, self.seed).fill_grid(grid, rule.states)
        return grid

    def make(self, path: Path) -> Universe:
        return make_universe(
            path,
            tile_universe(self.width, self.height, self.torus, self.tiles),
            from_grid(self.grid),
            rule=Rule.parse(self.rule),
            compression=self.compression,
            pyramid=self.pyramid,
        )

    def template(self, folder: Path) -> Path:
        """Return the universe at generation 0, for copies."""
        path = folder / "template"
        self.make(path).close()
        return path

    def life(self, universe: Universe) -> StreamedLife:
        return StreamedLife(
            universe,
            [CPU],
            memory=MEMORY,
            generations=self.phase,
            keep_previous=self.keep_previous,
        )

    def trail(self) -> dict[int, tuple[str, int]]:
        """Return digest and population of every generation, of a run in memory that nothing
        disturbs."""
        topology = "torus" if self.torus else "plane"
        life = Life(self.grid, rule=self.rule, topology=topology, backend=CPU)
        found = {}
        for generation in range(self.generations + 1):
            found[generation] = life.digest(), life.grid().population()
            life.run(1)
        return found

    def go_on(self, universe: Universe) -> None:
        """Run to the end, from wherever it is."""
        life = self.life(universe)
        life.resume()
        if universe.generation < self.generations:
            assert universe.generation == 0  # nothing but the start of a run is forgotten
            life.run(self.generations)

    def advance(self, path: Path) -> None:
        with Universe.open(path, writing=True) as universe:
            self.go_on(universe)

    def inspect(self, path: Path, trail: dict[int, tuple[str, int]]) -> Universe:
        """Assert that what anybody sees of a universe at any moment is right."""
        universe = Universe.open(path)
        if universe.is_whole:
            assert not universe.journal.removed_files()
            assert (universe.digest(), universe.population()) == trail[universe.generation]
        else:
            assert not self.keep_previous
        check(universe)
        return universe

    def conclude(self, path: Path, trail: dict[int, tuple[str, int]]) -> None:
        """Go on to the end, where all is as if nothing had happened."""
        with Universe.open(path, writing=True) as universe:
            self.go_on(universe)
            self.verify(universe, trail)

    def verify(self, universe: Universe, trail: dict[int, tuple[str, int]]) -> None:
        assert universe.generation == self.generations
        assert universe.manifest.run is None
        assert (universe.digest(), universe.population()) == trail[self.generations]
        check(universe)
        assert_tidy(universe)


def check(universe: Universe) -> None:
    """Read every file of the manifest's generation, and of the one that is on its way."""
    gone = universe.journal.removed_files()
    for tile in range(len(universe.tiling)):
        for newest in (False, True):
            if newest <= bool(universe.phase) and (
                newest or universe.record(tile).file not in gone
            ):
                for _ in universe.reader(tile, newest=newest).check():
                    pass


def assert_tidy(universe: Universe) -> None:
    """Assert that there is no file but those that belong there."""
    assert sorted(os.listdir(universe.path)) == ["lock", "manifest.json", "tiles"]
    files = sorted(tile.file for tile in universe.manifest.tiles)
    assert sorted(os.listdir(universe.tiles_folder)) == files


def assert_one_line(error: LifesimError, path: Path) -> None:
    assert "\n" not in str(error)
    assert str(path) in str(error)


def copy(template: Path, path: Path) -> Path:
    shutil.rmtree(path, ignore_errors=True)
    path.parent.mkdir(exist_ok=True)
    shutil.copytree(template, path)
    return path


def ash(width: int, height: int, glider: tuple[int, int] | None = (20, 20)) -> BitGrid:
    """Return blocks and blinkers, and a glider on its way between them, down and to the right."""
    cells = np.zeros((height, width), bool)
    for y in range(8, height - 4, 16):
        for x in range(8, width - 4, 16):
            if abs(x - y) < 24:
                continue
            if (x // 16 + y // 16) % 2:
                cells[y : y + 2, x : x + 2] = True
            else:
                cells[y, x : x + 3] = True
    if glider:
        x, y = glider
        cells[y, x + 1] = cells[y + 1, x + 2] = cells[y + 2, x : x + 3] = True
    return BitGrid.from_bool(cells)
