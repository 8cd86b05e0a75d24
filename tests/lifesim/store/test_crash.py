"""Whatever is killed or refused, whenever: a universe on disk goes on to the right end."""

from __future__ import annotations

import errno
import gc
import os
import random
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from lifesim.errors import LifesimError
from lifesim.rule import Rule
from lifesim.store import disk
from lifesim.store.manifest import Manifest
from lifesim.store.universe import Universe
from lifesim.stream.phase import Tally
from tests.interrupts import assert_threads_end
from tests.lifesim.store.faults import (
    CPU,
    EFFECTS,
    PARTED,
    Case,
    Faults,
    ash,
    assert_one_line,
    assert_tidy,
    check,
    copy,
    in_child,
)

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")

SMALL = [
    Case(torus=True, compression="none"),
    Case(torus=False, compression="zstd", keep_previous=True),
]
ONE_QUICKLY = [SMALL[0], pytest.param(SMALL[1], marks=pytest.mark.slow)]
CASES = [
    Case(torus=torus, compression=compression, keep_previous=keep, pyramid=pyramid)
    for torus in (True, False)
    for compression in ("none", "zstd")
    for keep in (False, True)
    for pyramid in (True, False)
]
SOME = [
    Case(torus=True, compression="none", keep_previous=True, pyramid=False),
    Case(torus=False, compression="none", keep_previous=False, pyramid=True),
    Case(torus=True, compression="zstd", keep_previous=False, pyramid=True),
    Case(torus=False, compression="zstd", keep_previous=True, pyramid=False),
]
OTHERS = [case for case in CASES if case not in SOME]
AGEING = Case(torus=False, compression="zstd", rule="3458/37/5")
# Each has other steps than the rest, so that together they leave out few.
STEPS = [(SOME[0], 7), (SOME[1], 7), (SOME[2], 7), (SOME[3], 3), (AGEING, 7)]
QUIET = Case(width=256, height=192, tiles=(1, 3), phase=12, generations=36, quiet=True, torus=False)


def name_of(case: Case) -> str:
    words = [
        "torus" if case.torus else "plane",
        case.compression,
        "keep" if case.keep_previous else "replace",
        "pyramid" if case.pyramid else "flat",
        *([f"{Rule.parse(case.rule).states}-states"] if case.rule != "B3/S23" else []),
    ]
    return "-".join(words)


def kills(log: list[str], *, power: bool = True) -> Iterator[tuple[int, str]]:
    """Yield every step in turn, and every way for it to be the last."""
    for step, name in enumerate(log, 1):
        yield step, "before"
        if name in PARTED:
            yield step, "middle"
        if power and name in ("sync_folder", "append", "remove", "sync"):
            yield step, "power"
    yield len(log), "after"


def marked(log: list[str]) -> list[int]:
    """Return some of many writes in a row, which lay out a file that has no name yet; else each."""
    return [
        step
        for step in range(1, len(log) + 1)
        if set(log[max(0, step - 3) : step + 2]) != {"write"} or step % 4 == 0
    ]


def name_of_steps(value: Case | int) -> str:
    if isinstance(value, Case):
        return name_of(value)
    return {1: "each", 2: "every-other"}.get(value, f"every-{value}th")


def by_steps(default: int) -> pytest.MarkDecorator:
    """Return some of the steps, and when there is time, many."""
    return pytest.mark.parametrize(
        "stride", [default, pytest.param(2, marks=pytest.mark.slow)], ids=name_of_steps
    )


class Scene:
    """A case, and copies of its universe to play with."""

    def __init__(self, case: Case, folder: Path) -> None:
        self.case, self.folder = case, folder
        self.template, self.trail = case.template(folder), case.trail()
        self.path = folder / "universe"
        self.spare = folder / "spare"
        self.spare.mkdir()
        self.count = 0  # of kills

    def log(self, names: tuple[str, ...] = ()) -> list[str]:
        """Return the steps of an undisturbed run."""
        copy(self.template, self.path)
        with Faults(names=names or Faults().names).active() as faults:
            self.case.conclude(self.path, self.trail)
        return faults.log

    def kill(self, step: int, act: str) -> bool:
        """Go on, in a process that is killed at that step, unless it is done before."""
        for old in self.spare.iterdir():
            old.unlink()
        faults = Faults(step, act, spare=self.spare if act == "power" else None)

        def work() -> None:
            with faults.active():
                self.case.advance(self.path)

        killed = in_child(work) != 0
        self.count += killed
        self.case.inspect(self.path, self.trail)
        return killed

    def resume(self, rng: random.Random, log: list[str], times: int) -> None:
        """Go on to the end, killed so many times on the way."""
        for _ in range(times):
            step = rng.randint(1, max(2, len(log) // 2))
            self.kill(step, rng.choice(["before", "middle", "after", "power"]))
        self.case.conclude(self.path, self.trail)


def killed_at_steps(case: Case, folder: Path, stride: int) -> int:
    """Kill at each of so many steps, in one of the ways, and return the number of kills."""
    scene, rng = Scene(case, folder), random.Random(1)
    log = scene.log()
    ways: dict[int, list[str]] = {}
    for step, act in kills(log):
        ways.setdefault(step, []).append(act)
    for number, step in enumerate(marked(log)[::stride]):
        acts, before = ways[step], log[:step].count(log[step - 1])
        copy(scene.template, scene.path)
        scene.kill(step, acts[before % len(acts)])
        scene.resume(rng, log, 2 if number % 8 == 0 else 0)
    return scene.count


@pytest.mark.parametrize("case", ONE_QUICKLY, ids=name_of)
def test_killed_at_steps(case: Case, tmp_path: Path) -> None:
    assert killed_at_steps(case, tmp_path, 5) > 20


@pytest.mark.slow
@pytest.mark.parametrize(("case", "stride"), [*STEPS, (QUIET, 3)], ids=name_of_steps)
def test_killed_at_many_steps(case: Case, stride: int, tmp_path: Path) -> None:
    assert killed_at_steps(case, tmp_path, stride) > 25


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "case",
    [*SOME, QUIET, AGEING, *(pytest.param(case, marks=pytest.mark.slow) for case in OTHERS)],
    ids=name_of,
)
def test_killed_again_and_again(case: Case, tmp_path: Path) -> None:
    """Processes that each manage a few steps, then one that is left alone."""
    scene, rng = Scene(case, tmp_path), random.Random(3)
    log = scene.log()
    copy(scene.template, scene.path)
    while scene.count < 12:
        act = rng.choice(["before", "middle", "after", "power"])
        if not scene.kill(rng.randint(1, len(log) // 4), act):  # it is at the end
            case.conclude(scene.path, scene.trail)
            copy(scene.template, scene.path)
    case.conclude(scene.path, scene.trail)


@by_steps(6)
@pytest.mark.parametrize("case", ONE_QUICKLY, ids=name_of)
def test_killed_while_it_is_made(case: Case, stride: int, tmp_path: Path) -> None:
    path, trail = tmp_path / "universe", case.trail()
    with Faults().active() as faults:
        case.make(path).close()
    count, some = 0, set(marked(faults.log))
    ways = [way for way in kills(faults.log, power=False) if way[0] in some]
    for step, act in ways[::stride]:
        shutil.rmtree(path, ignore_errors=True)

        def work(step: int = step, act: str = act) -> None:
            with Faults(step, act).active():
                case.make(path).close()

        count += in_child(work) != 0
        if not path.exists():
            continue
        if (path / "manifest.json").exists():
            with pytest.raises(LifesimError, match="not empty"):
                case.make(path)
        else:
            refusal_of(str(path))
            case.make(path).close()
        with Universe.open(path, writing=True) as made:
            assert made.digest() == trail[0][0]
            check(made)
            assert_tidy(made)
    assert count == len(ways[::stride]) > 10


@pytest.mark.sample(1)
@pytest.mark.parametrize("keep_previous", [False, True])
def test_killed_at_any_moment(keep_previous: bool, tmp_path: Path) -> None:
    """The clock says when, while somebody looks on."""
    killed_by_the_clock(keep_previous, tmp_path, 8)


@pytest.mark.slow
@pytest.mark.parametrize("keep_previous", [False, True])
def test_killed_at_any_moment_for_long(keep_previous: bool, tmp_path: Path) -> None:
    killed_by_the_clock(keep_previous, tmp_path, 30)


def killed_by_the_clock(keep_previous: bool, tmp_path: Path, times: int) -> None:
    case = Case(
        width=640, height=640, tiles=(3, 10), phase=2, generations=30, keep_previous=keep_previous
    )
    template, trail = case.template(tmp_path), case.trail()
    path = copy(template, tmp_path / "universe")
    rng, count = random.Random(4), 0
    while count < times:
        child = os.fork()
        if not child:
            try:
                case.advance(path)
            except BaseException:
                os._exit(1)
            os._exit(0)
        end = time.monotonic() + rng.uniform(0.005, 0.15)
        while time.monotonic() < end:
            universe = Universe.open(path)
            if universe.is_whole:
                assert (universe.digest(), universe.population()) == trail[universe.generation]
        os.kill(child, signal.SIGKILL)
        assert os.waitpid(child, 0)[1] in (0, signal.SIGKILL)
        count += 1
        if case.inspect(path, trail).generation == case.generations:
            case.conclude(path, trail)
            copy(template, path)
    case.conclude(path, trail)


@pytest.mark.sample(1)
@pytest.mark.parametrize("compression", ["none", "zstd"])
def test_room_that_a_run_takes(compression: str, tmp_path: Path) -> None:
    """It takes, without the generation before, the universe and a few rows of it."""
    case = Case(width=640, height=1280, tiles=(2, 32), compression=compression, generations=15)
    with case.make(tmp_path / "universe") as universe:
        folder = universe.tiles_folder
        whole = sum(tile.size for tile in universe.manifest.tiles)
        most = whole

        def watch(name: str) -> None:
            nonlocal most
            with os.scandir(folder) as entries:
                sizes = []
                for entry in entries:
                    try:
                        sizes.append(entry.stat().st_size)
                    except FileNotFoundError:  # renamed just now
                        sizes.append(whole // 64)
            most = max(most, sum(sizes))

        with Faults(watch=watch, names=("replace", "remove", "sync")).active():
            case.go_on(universe)
        case.verify(universe, case.trail())
    row = whole / 32
    assert whole < most <= whole + 10 * row  # 4 or 5, where no thread is kept waiting


# --- what the system refuses -------------------------------------------------------------

ERRORS = (errno.ENOSPC, errno.EIO, errno.EACCES)


def refused(
    scene: Scene, step: int, error: int, *, lasting: bool, names: tuple[str, ...] = EFFECTS
) -> bool:
    """Have one step of a run refused: the error is for people, and the run can go on, in the same
    process or in another one."""
    case, path = scene.case, copy(scene.template, scene.path)
    threads = threading.active_count()
    universe, refusal = None, None
    with Faults(step, error, names=names, lasting=lasting).active() as faults:
        try:
            universe = Universe.open(path, writing=True)
            case.go_on(universe)
        except LifesimError as error_:
            refusal = error_
    assert_threads_end(threads)
    if refusal:
        assert_one_line(refusal, path)
        assert refusal.exit_code == 2
    if universe:
        case.inspect(path, scene.trail)
        if step % 2:
            case.go_on(universe)
        universe.close()
    case.conclude(path, scene.trail)
    return bool(refusal) or len(faults.log) < step


def refused_at_steps(case: Case, folder: Path, stride: int) -> None:
    scene, rng = Scene(case, folder), random.Random(6)
    log = scene.log(EFFECTS)
    for number, step in enumerate(marked(log)[::stride]):
        error = ERRORS[number % 3]
        lasting = error == errno.ENOSPC or rng.random() < 0.3
        assert refused(scene, step, error, lasting=lasting), f"{log[step - 1]} {step}"


@pytest.mark.parametrize("case", ONE_QUICKLY, ids=name_of)
def test_refused_at_steps(case: Case, tmp_path: Path) -> None:
    refused_at_steps(case, tmp_path, 7)


@pytest.mark.slow
@pytest.mark.parametrize(("case", "stride"), [*STEPS, (QUIET, 3)], ids=name_of_steps)
def test_refused_at_many_steps(case: Case, stride: int, tmp_path: Path) -> None:
    refused_at_steps(case, tmp_path, stride)


def test_line_cut_short_by_a_full_disk(tmp_path: Path) -> None:
    """The part that is left of it is in nobody's way, whoever reads the journal later."""
    scene = Scene(SMALL[0], tmp_path)
    case, path = scene.case, scene.path
    for step in range(1, len(scene.log(("append",))) + 1):
        with Universe.open(copy(scene.template, path), writing=True) as universe:
            try:
                with Faults(step, errno.ENOSPC, names=("append",)).active():
                    case.go_on(universe)
            except LifesimError as error:
                assert "full" in str(error)  # noqa: PT017
            with Faults(watch=lambda name: Universe.open(path).close()).active():
                case.go_on(universe)
            case.verify(universe, scene.trail)


def test_refused_where_phases_are_chosen(tmp_path: Path) -> None:
    """Looking for quiet samples reads files too."""
    scene = Scene(Case(phase=None, tiles=(1, 3), height=600), tmp_path)
    log = scene.log(EFFECTS)
    for step in range(1, min(len(log), 40), 2):
        assert refused(scene, step, errno.EIO, lasting=False), f"{log[step - 1]} {step}"


@by_steps(4)
@pytest.mark.parametrize("case", ONE_QUICKLY, ids=name_of)
def test_refused_while_it_is_made(case: Case, stride: int, tmp_path: Path) -> None:
    path = tmp_path / "universe"
    with Faults(names=EFFECTS).active() as faults:
        case.make(path).close()
    shutil.rmtree(path)
    threads = threading.active_count()
    for number, step in enumerate(marked(faults.log)[::stride]):
        error = ERRORS[number % 3]
        with (
            Faults(step, error, names=EFFECTS, lasting=error == errno.ENOSPC).active(),
            pytest.raises(LifesimError) as refusal,
        ):
            case.make(path)
        assert_one_line(refusal.value, path.parent)
        assert_threads_end(threads)
        assert not path.exists(), faults.log[step - 1]
    case.make(path).close()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=400k", "none", str(folder)], capture_output=True
    )
    if done.returncode:
        pytest.skip("nothing may be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.sample(5)
@pytest.mark.parametrize("compression", ["none", "zstd"])
@pytest.mark.parametrize("room", [4, 33, 64, 93, 124, 144])
def test_full_disk(
    compression: str, room: int, small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is a real one, with so many KiB of room: HDF5 meets it too."""
    case = Case(compression=compression, keep_previous=True, height=2048, width=256)
    path, trail = small_disk / "universe", case.trail()
    universe = case.make(path)
    free = disk.free_bytes(str(small_disk))
    (small_disk / "filler").write_bytes(bytes(max(0, free - (room << 10))))
    opened = len(os.listdir("/proc/self/fd"))
    if room < 100:
        with pytest.raises(LifesimError, match="too full: the next phase needs") as refusal:
            case.go_on(universe)
        assert_one_line(refusal.value, path)
    # Now nobody looks how much room there is.
    monkeypatch.setattr(disk, "free_bytes", lambda folder: 1 << 40)
    with pytest.raises(LifesimError, match=r"full .*make room and go on") as refusal:
        case.go_on(universe)
    assert_one_line(refusal.value, path)
    case.inspect(path, trail)
    with pytest.raises(LifesimError, match=r"make room$"):
        case.make(small_disk / "another")
    assert not (small_disk / "another").exists()
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) <= opened + 1  # the journal's
    if room % 8:
        universe.close()
    subprocess.run(["mount", "-o", "remount,size=8m", str(small_disk)], check=True)
    if not room % 8:
        case.go_on(universe)
        universe.close()
    case.conclude(path, trail)


# --- locks -----------------------------------------------------------------------------


@pytest.fixture
def universe(tmp_path: Path) -> Iterator[Universe]:
    with Case().make(tmp_path / "universe") as universe:
        yield universe


def refusal_of(path: str, **options: bool) -> str:
    with pytest.raises(LifesimError) as refusal:
        Universe.open(path, **options)
    assert refusal.value.exit_code == 2
    assert_one_line(refusal.value, Path(path))
    return str(refusal.value)


def test_one_writer(universe: Universe) -> None:
    def other() -> None:
        told = refusal_of(universe.path, writing=True)
        assert f"process {owner} on {os.uname().nodename}" in told
        assert f"process {owner} on" in refusal_of(universe.path, still=True)
        Universe.open(universe.path).close()

    owner = os.getpid()
    other()
    assert in_child(other) == 0
    universe.close()
    with Universe.open(universe.path, writing=True):
        refusal_of(universe.path, writing=True)


def test_killed_owner(tmp_path: Path) -> None:
    path = Case().template(tmp_path)
    out, into = os.pipe()
    child = os.fork()
    if not child:
        Universe.open(path, writing=True)
        os.write(into, b".")
        signal.pause()
    os.read(out, 1)
    assert f"process {child} on" in refusal_of(str(path), writing=True)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    Universe.open(path, writing=True).close()


@pytest.mark.parametrize("locked", [True, False])
def test_still(locked: bool, universe: Universe) -> None:
    universe.close()
    if not locked:
        os.unlink(os.path.join(universe.path, "lock"))
    with Universe.open(universe.path, still=True), Universe.open(universe.path, still=True):
        in_child(lambda: Universe.open(universe.path, still=True).close())
        refusal_of(universe.path, writing=True)
        Universe.open(universe.path)
    with Universe.open(universe.path, writing=True):
        refusal_of(universe.path, still=True)


def test_two_makers(universe: Universe, tmp_path: Path) -> None:
    with pytest.raises(LifesimError, match="not empty"):
        Case().make(Path(universe.path))
    (tmp_path / "universe" / "manifest.json").rename(tmp_path / "manifest.json")
    with pytest.raises(LifesimError, match=f"in use by process {os.getpid()}"):
        Case().make(Path(universe.path))
    (tmp_path / "manifest.json").rename(tmp_path / "universe" / "manifest.json")
    check(universe)


# --- tiles that become what they are -----------------------------------------------------

ASH = Case(width=768, height=640, tiles=(4, 4), phase=60, generations=900, quiet=True, torus=False)


def quiet_run(case: Case, path: Path, trail: dict[int, tuple[str, int]]) -> list[Tally]:
    """Run phase by phase, and assert that the digests are those of the run in memory."""
    tallies = []
    with case.make(path) as universe:
        life = case.life(universe)
        while universe.generation < case.generations:
            files = [tile.file for tile in universe.manifest.tiles]
            begun = universe.generation
            linked = universe.manifest.linked_after(60) if universe.manifest.last else set()
            life.run(60)
            assert universe.generation == begun + 60
            assert (universe.digest(), universe.population()) == trail[universe.generation]
            if len(linked) == len(universe.tiling):  # nothing but the generation changed
                continue
            tally = life.tallies[-1][1]
            assert tally.linked == len(linked)
            assert tally.linked + tally.computed + tally.unchanged == len(universe.tiling)
            now = [tile.file for tile in universe.manifest.tiles]
            assert all(now[tile] == files[tile] for tile in linked)
            tallies.append(tally)
        check(universe)
        assert_tidy(universe)
    return tallies


@pytest.fixture(scope="module")
def ash_trail() -> dict[int, tuple[str, int]]:
    from lifesim import Life

    life = Life(ASH.grid, topology="plane", backend=CPU)
    found = {}
    for generation in range(0, ASH.generations + 1, 60):
        found[generation] = life.digest(), life.grid().population()
        life.run(60)
    return found


@pytest.mark.parametrize("compression", ["none", "zstd"])
def test_linked_tiles(
    compression: str, tmp_path: Path, ash_trail: dict[int, tuple[str, int]]
) -> None:
    case = Case(**{**vars_of(ASH), "compression": compression})
    tallies = quiet_run(case, tmp_path / "universe", ash_trail)
    assert tallies[0].linked == 0
    assert all(0 < tally.linked < 16 for tally in tallies[1:4])
    assert len({tally.linked for tally in tallies}) > 2  # the glider passes


def vars_of(case: Case) -> dict[str, object]:
    return {name: getattr(case, name) for name in case.__dataclass_fields__}


def without_halo(manifest: Manifest, generations: int) -> set[int]:
    last = manifest.last
    if not last or generations % last:
        return set()
    return {int(i) for i in np.flatnonzero(manifest.steady)}


def beside_activity(manifest: Manifest, generations: int) -> set[int]:
    below = {tile + manifest.tiling.across for tile in range(len(manifest.tiling))
             if not manifest.steady[tile]}  # fmt: skip
    return REAL(manifest, generations) | (without_halo(manifest, generations) & below)


REAL = Manifest.linked_after


@pytest.mark.parametrize("wrong", [without_halo, beside_activity])
def test_wrong_links_would_be_found(
    wrong: object,
    tmp_path: Path,
    ash_trail: dict[int, tuple[str, int]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Manifest, "linked_after", wrong)
    with pytest.raises(AssertionError, match="=="):
        quiet_run(ASH, tmp_path / "universe", ash_trail)


def test_jump_over_what_repeats(tmp_path: Path) -> None:
    """Quiet generations are jumped over: they are not computed, and no file is written."""
    case = Case(width=256, height=256, tiles=(2, 2), phase=60)
    from lifesim import Life
    from lifesim.store.make import from_grid, make_universe
    from lifesim.store.tiling import tile_universe

    grid = ash(256, 256, glider=None)
    path = tmp_path / "universe"
    with make_universe(path, tile_universe(256, 256, True, (2, 2)), from_grid(grid)) as universe:
        files = os.listdir(universe.tiles_folder)
        life = case.life(universe)
        life.run(60 * 10**6 + 1)
        assert universe.generation == 60 * 10**6 + 1
        assert len(life.tallies) == 2
        reference = Life(grid, topology="torus", backend=CPU)
        reference.run(1)
        assert universe.digest() == reference.digest()
        assert len(os.listdir(universe.tiles_folder)) == len(files) == 4
        check(universe)


def test_readers_close_what_they_open(tmp_path: Path) -> None:
    """No file is left open by what fails or succeeds."""
    scene = Scene(SMALL[0], tmp_path)
    log = scene.log(EFFECTS)
    refused(scene, 1, errno.EIO, lasting=False)
    gc.collect()  # errors that a thread met refer to it, and it to them
    before = len(os.listdir("/proc/self/fd"))
    for step in range(1, len(log), 41):
        refused(scene, step, errno.EIO, lasting=False)
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) <= before
