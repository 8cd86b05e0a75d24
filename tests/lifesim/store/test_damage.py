"""Whatever becomes of the files of a universe: it is found, and said where."""

from __future__ import annotations

import os
import random
import shutil
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from lifesim.errors import DamagedDataError, LifesimError
from lifesim.store import disk
from lifesim.store.manifest import tile_line
from lifesim.store.sealed import seal, unseal
from lifesim.store.universe import Universe
from tests.lifesim.store.faults import Case, Faults, assert_one_line, check, copy, in_child

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")

CASES = {
    "plain": Case(width=130, height=32, tiles=(2, 2)),
    "zstd": Case(width=130, height=32, tiles=(2, 2), compression="zstd"),
    "between": Case(width=100, height=64, tiles=(1, 4), torus=False),
    "between-keep": Case(width=130, height=32, tiles=(2, 2), keep_previous=True),
}
PLAIN = CASES["plain"]
trail_of = lru_cache(Case.trail)


def case_of(path: Path) -> Case:
    return CASES[path.name]


@pytest.fixture(scope="module")
def templates(folder: Path) -> dict[str, Path]:
    """Return universes of one generation, and on the way to the next one, with a journal."""
    made = {}
    for name, case in CASES.items():
        (folder / name).mkdir()
        made[name] = case.template(folder / name)
        if name.startswith("between"):
            stop_midway(case, made[name])
    return made


def stop_midway(case: Case, path: Path, tiles: int = 3) -> None:
    """Kill a run after so many tiles of its first phase."""
    real = Universe.finish_tiles

    def finish_tiles(universe: Universe, finished: Iterable[tuple[int, Any]]) -> list[str]:
        assert universe.phase
        for one in finished:
            if len(universe.phase.done) == tiles:
                os.kill(os.getpid(), signal.SIGKILL)
            for superseded in real(universe, [one]):
                disk.remove(superseded)  # at once, so that none is left
        return []

    def work() -> None:
        Universe.finish_tiles = finish_tiles  # type: ignore[method-assign]
        case.advance(path)

    assert in_child(work) == signal.SIGKILL
    with Universe.open(path, writing=True) as universe:
        assert universe.phase
        assert len(universe.phase.done) == tiles


@pytest.fixture
def made(request: pytest.FixtureRequest, templates: dict[str, Path], folder: Path) -> Path:
    """Return a copy of one of them."""
    return copy(templates[request.param], folder / "copy" / request.param)


@pytest.fixture(autouse=True)
def _nothing_hangs() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise AssertionError("it hangs")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(100)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def of(name: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("made", [name], indirect=True)


everywhere = pytest.mark.parametrize("made", list(CASES), indirect=True)


def look(path: Path) -> None:
    """Open a universe, and read all of it."""
    check(Universe.open(path))


def assert_found(path: Path, file: Path, work: Callable[[Path], None] = look) -> None:
    with pytest.raises(DamagedDataError) as found:
        work(path)
    assert found.value.exit_code == 4
    assert_one_line(found.value, file)


def assert_found_or_right(path: Path) -> None:
    """Assert that a run finds it, or it does no harm."""
    case = case_of(path)
    threads = threading.enumerate()
    try:
        with Universe.open(path, writing=True) as universe:
            case.go_on(universe)
            assert (universe.digest(), universe.population()) == trail_of(case)[case.generations]
    except DamagedDataError as error:
        assert_one_line(error, path)
    assert threading.enumerate() == threads


def files_of(path: Path) -> list[Path]:
    return sorted((path / "tiles").iterdir())


# --- bits ------------------------------------------------------------------------------


def flipped(file: Path, places: range, bits: range) -> Iterator[tuple[int, int]]:
    """Have the file with a bit flipped, one after the other."""
    data = file.read_bytes()
    with open(file, "r+b", buffering=0) as out:
        for place in places:
            for bit in bits:
                chosen = (bit + 3 * place) % 8
                os.pwrite(out.fileno(), bytes([data[place] ^ 1 << chosen]), place)
                yield place, chosen
            os.pwrite(out.fileno(), data[place : place + 1], place)


def flip_texts(path: Path, bits: range) -> None:
    for name in ("manifest.json", "journal.jsonl"):
        file = path / name
        if file.exists():
            for _ in flipped(file, range(file.stat().st_size), bits):
                assert_found(path, file)
    look(path)


@pytest.mark.sample(3)
@everywhere
def test_bits_of_manifest_and_journal(made: Path) -> None:
    flip_texts(made, range(1))


@pytest.mark.slow
@everywhere
def test_every_bit_of_manifest_and_journal(made: Path) -> None:
    flip_texts(made, range(8))


def flip_tiles(path: Path, strides: list[int]) -> None:
    universe = Universe.open(path)
    gone = universe.journal.removed_files()
    wanted = {
        universe.record(tile, newest=newest).file: (tile, newest)
        for tile in range(len(universe.tiling))
        for newest in (True, False)
    }
    assert sorted(set(wanted) - gone) == [file.name for file in files_of(path)]
    for file, stride in zip(files_of(path), strides * 9, strict=False):
        tile, newest = wanted[file.name]

        def read(path: Path, tile: int = tile, newest: bool = newest) -> None:
            for _ in universe.reader(tile, newest=newest).check():
                pass

        for _ in flipped(file, range(0, file.stat().st_size, stride), range(1)):
            assert_found(path, file, read)
    look(path)


@pytest.mark.sample(1)
@everywhere
def test_bits_of_tiles(made: Path) -> None:
    flip_tiles(made, [3, 53])


@pytest.mark.slow
@everywhere
def test_bits_of_every_byte_of_tiles(made: Path) -> None:
    flip_tiles(made, [1])


@pytest.mark.sample(1)
@everywhere
def test_runs_over_damage(made: Path, tmp_path: Path) -> None:
    """A run stops at what it reads, and nothing of it gets into the next generation."""
    rng = random.Random(1)
    for _ in range(40):
        path = copy(made, tmp_path / made.name)
        file = rng.choice(files_of(path))
        data = bytearray(file.read_bytes())
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        file.write_bytes(data)
        assert_found_or_right(path)


# --- files -----------------------------------------------------------------------------


def missing(file: Path, other: Path) -> None:
    file.unlink()


def half(file: Path, other: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def shorter(file: Path, other: Path) -> None:
    os.truncate(file, file.stat().st_size - 1)


def longer(file: Path, other: Path) -> None:
    with open(file, "ab") as out:
        out.write(b"\0")


def much_longer(file: Path, other: Path) -> None:
    os.truncate(file, 1 << 20)


def empty(file: Path, other: Path) -> None:
    os.truncate(file, 0)


def zeros(file: Path, other: Path) -> None:
    file.write_bytes(bytes(file.stat().st_size))


def swapped(file: Path, other: Path) -> None:
    second = files_of(file.parent.parent)[-1]
    file.rename(file.with_suffix(".third"))
    second.rename(file)
    file.with_suffix(".third").rename(second)


def of_another_universe(file: Path, other: Path) -> None:
    """Return a file of the same cells at the same place and generation."""
    shutil.copy(other / "tiles" / file.name, file)


def a_folder(file: Path, other: Path) -> None:
    file.unlink()
    file.mkdir()


def a_pipe(file: Path, other: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def a_link_to_nowhere(file: Path, other: Path) -> None:
    file.unlink()
    file.symlink_to("nowhere")


HARMS = [
    missing, half, shorter, longer, much_longer, empty, zeros, swapped, of_another_universe,
    a_folder, a_pipe, a_link_to_nowhere,
]  # fmt: skip


@pytest.fixture(scope="module")
def other(folder: Path) -> Path:
    (folder / "other").mkdir()
    return PLAIN.template(folder / "other")


@pytest.mark.parametrize("harm", HARMS)
@of("plain")
def test_harm_to_a_tile(
    harm: Callable[[Path, Path], None], made: Path, other: Path, tmp_path: Path
) -> None:
    file = files_of(made)[0]
    harm(file, other)
    assert_found(made, file)
    assert_found_or_right(copy_of_all(made, tmp_path / made.name))


def copy_of_all(path: Path, target: Path) -> Path:
    """Copy as copy() does, pipes and links too."""
    in_shell = os.spawnlp(os.P_WAIT, "cp", "cp", "-a", str(path), str(target))
    assert in_shell == 0
    return target


@pytest.mark.sample(4)
@pytest.mark.parametrize("harm", [h for h in HARMS if h is not of_another_universe])
@pytest.mark.parametrize("made", ["between", "between-keep", "zstd"], indirect=True)
def test_harm_to_any_tile(
    harm: Callable[[Path, Path], None], made: Path, other: Path, tmp_path: Path
) -> None:
    for number in range(len(files_of(made)) - 1):
        (tmp_path / str(number)).mkdir()
        path = copy_of_all(made, tmp_path / str(number) / made.name)
        file = files_of(path)[number]
        harm(file, other)
        with pytest.raises(DamagedDataError) as found:
            look(path)
        if harm is not swapped:
            assert_one_line(found.value, file)
        assert_found_or_right(path)


@of("plain")
def test_tile_of_another_generation(made: Path, tmp_path: Path) -> None:
    """It is found even where its cells are the same."""
    case = Case(width=128, height=128, tiles=(2, 2), generations=2, phase=2)
    for here, grid_seed in ((made, None), (tmp_path / "still", 0)):
        if grid_seed == 0:
            copy(case.template(tmp_path), here)
        later = copy(here, tmp_path / "later")
        (case if grid_seed == 0 else PLAIN).advance(later)
        for mine, theirs in zip(files_of(here), files_of(later), strict=True):
            kept = mine.read_bytes()
            mine.write_bytes(theirs.read_bytes())
            assert_found(here, mine)
            mine.write_bytes(kept)


@of("plain")
def test_no_tiles_at_all(made: Path) -> None:
    shutil.rmtree(made / "tiles")
    assert_found(made, made / "tiles")
    assert_found(made, made / "tiles", open_for_writing)
    (made / "tiles").write_bytes(b"")
    assert_found(made, made / "tiles")
    assert_found(made, made / "tiles", open_for_writing)


def open_for_writing(path: Path) -> None:
    Universe.open(path, writing=True).close()


# --- manifest --------------------------------------------------------------------------


@of("plain")
def test_torn_manifest(made: Path) -> None:
    file = made / "manifest.json"
    data = file.read_bytes()
    for length in range(len(data)):
        file.write_bytes(data[:length])
        assert_found(made, file)
    for more in (b"\n", b" ", data):
        file.write_bytes(data + more)
        assert_found(made, file)


@of("plain")
def test_manifest_of_another_universe(made: Path, other: Path) -> None:
    shutil.copy(other / "manifest.json", made / "manifest.json")
    assert_found(made, made / "tiles")


@of("plain")
def test_manifest_of_another_generation(made: Path, tmp_path: Path) -> None:
    later = copy(made, tmp_path / "later")
    PLAIN.advance(later)
    shutil.copy(made / "manifest.json", later / "manifest.json")
    assert_found(later, later / "tiles")
    assert_found(later, later / "tiles", open_for_writing)
    assert len(files_of(later)) == 4  # nothing was tidied away


@of("plain")
def test_newer_version(made: Path) -> None:
    file = made / "manifest.json"
    facts = unseal(file.read_bytes())
    assert facts
    file.write_bytes(seal(facts | {"version": 6}))
    assert_refused(made, "version 6 is newer")


def assert_refused(path: Path, match: str) -> None:
    """Assert that it is refused with a line that has nothing to do with damage, and nothing is
    changed."""
    before = sorted(path.rglob("*")) if path.is_dir() else None
    for options in ({}, {"writing": True}, {"still": True}):
        with pytest.raises(LifesimError, match=match) as refusal:
            Universe.open(path, **options)
        assert refusal.value.exit_code == 2
        assert_one_line(refusal.value, path)
    if before is not None:
        assert sorted(path.rglob("*")) == before


@pytest.mark.parametrize("harm", [missing, a_folder, a_pipe, a_link_to_nowhere])
@of("plain")
def test_no_manifest(harm: Callable[[Path, Path], None], made: Path) -> None:
    harm(made / "manifest.json", made)
    assert_refused(made, "no universe: it has no manifest.json")


def test_no_universe(tmp_path: Path) -> None:
    assert_refused(tmp_path / "nothing", "no universe directory")
    assert_refused(tmp_path, "no universe: it has no")
    (tmp_path / "file").write_text("hello")
    assert_refused(tmp_path / "file", "no universe directory")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "notes.txt").write_text("mine")
    assert_refused(tmp_path / "folder", "no universe: it has no")
    with pytest.raises(LifesimError, match="not empty"):
        PLAIN.make(tmp_path / "folder")
    assert (tmp_path / "folder" / "notes.txt").read_text() == "mine"
    os.mkfifo(tmp_path / "pipe")
    assert_refused(tmp_path / "pipe", "no universe directory")
    with pytest.raises(LifesimError, match="there is a file"):
        PLAIN.make(tmp_path / "pipe")


# --- journal ---------------------------------------------------------------------------


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["between", "between-keep"])
def test_torn_journal(name: str, templates: dict[str, Path], tmp_path: Path) -> None:
    """The part that a kill cuts off was not written; what is missing besides is found, and nothing
    is removed before it is."""
    template, case, trail = templates[name], CASES[name], trail_of(CASES[name])
    data = (template / "journal.jsonl").read_bytes()
    last = data[:-1].rindex(b"\n") + 1
    lengths = sorted({*range(0, len(data), 29), last, last - 1, last + 1, len(data) - 1})
    for length in lengths:
        path = copy(template, tmp_path / "universe")
        os.truncate(path / "journal.jsonl", length)
        try:
            with Universe.open(path, writing=True) as universe:
                case.go_on(universe)
                case.verify(universe, trail)
        except DamagedDataError as error:
            assert_one_line(error, path)
            (path / "journal.jsonl").write_bytes(data)
            case.conclude(path, trail)
        else:
            assert length


@of("between")
def test_lost_journal(made: Path, tmp_path: Path) -> None:
    journal = made / "journal.jsonl"
    assert Universe.open(made).journal.removed_files()
    shutil.move(journal, tmp_path / "journal.jsonl")
    assert_found(made, made / "tiles")
    assert_found(made, made / "tiles", open_for_writing)
    shutil.move(tmp_path / "journal.jsonl", journal)
    case_of(made).conclude(made, trail_of(case_of(made)))


@of("between-keep")
def test_lost_journal_of_a_run_that_keeps(made: Path) -> None:
    (made / "journal.jsonl").unlink()
    trail = trail_of(case_of(made))
    assert Universe.open(made).digest() == trail[0][0]
    case_of(made).conclude(made, trail)


@pytest.mark.parametrize("harm", [empty, zeros, a_folder, a_pipe])
@of("between")
def test_harm_to_the_journal(harm: Callable[[Path, Path], None], made: Path) -> None:
    harm(made / "journal.jsonl", made)
    assert_found(made, made / "journal.jsonl")
    assert_found(made, made / "journal.jsonl", open_for_writing)


@of("plain")
def test_journal_that_is_not_its_own(made: Path, other: Path, tmp_path: Path) -> None:
    stranger = copy(other, tmp_path / "universe")
    stop_midway(PLAIN, stranger)
    shutil.copy(stranger / "journal.jsonl", made / "journal.jsonl")
    assert_found(made, made / "journal.jsonl")
    with pytest.raises(DamagedDataError, match="of another universe"):
        look(made)


@of("between")
def test_journal_of_another_phase(made: Path, tmp_path: Path) -> None:
    """A later one is wrong here; an earlier one is over."""
    early = (made / "journal.jsonl").read_bytes()
    later = copy(made, tmp_path / "later")
    with Universe.open(later, writing=True) as universe:
        universe.set_run((0, 5))
        case_of(made).life(universe).resume()
        assert universe.generation == 5
        universe.begin_phase(3)
    late = (later / "journal.jsonl").read_bytes()
    assert late != early
    (later / "journal.jsonl").write_bytes(early)
    look(later)
    assert Universe.open(later).digest() == trail_of(case_of(made))[5][0]
    (made / "journal.jsonl").write_bytes(late)
    assert_found(made, made / "journal.jsonl")


@pytest.mark.parametrize("tile", [4, 10**6, -1])
@of("between")
def test_journal_of_tiles_that_are_not_there(tile: int, made: Path) -> None:
    universe = Universe.open(made)
    assert universe.phase
    with open(made / "journal.jsonl", "ab") as journal:
        journal.write(tile_line(tile, universe.phase.done[0]))
    assert_found(made, made / "journal.jsonl")


# --- while a run goes on ------------------------------------------------------------------


def test_files_that_go_away(tmp_path: Path) -> None:
    """They are deleted at any moment of a run: it stops and names one, or had no need of them."""
    case = Case(width=256, height=128, tiles=(2, 8), phase=2, generations=10)
    template, trail = case.template(tmp_path), case.trail()
    rng, threads = random.Random(5), threading.enumerate()
    stopped = 0
    for _ in range(12):
        stopped += files_go_away(case, copy(template, tmp_path / "universe"), trail, rng)
        assert threading.enumerate() == threads
    assert stopped >= 2  # how many depends on how soon each file is wanted again


def files_go_away(case: Case, path: Path, trail: dict[int, Any], rng: random.Random) -> bool:
    """Remove two, by a thread of its own, at one of some 60 syncs of folders, and return whether
    the run stopped."""
    due, left, gone = threading.Event(), rng.randrange(90), list[str]()

    def watch(name: str) -> None:
        nonlocal left
        left -= 1
        if left <= 0:
            due.set()

    def delete() -> None:
        due.wait()
        tiles = [file for file in files_of(path) if file.suffix == ".h5"]
        for file in rng.sample(tiles, 2):
            gone.append(file.name)
            file.unlink(missing_ok=True)

    thread = threading.Thread(target=delete)
    with (
        Universe.open(path, writing=True) as universe,
        Faults(watch=watch, names=("sync_folder",)).active(),
    ):
        thread.start()
        try:
            case.go_on(universe)
        except DamagedDataError as error:
            assert_one_line(error, path)
            assert any(f"{name}: the file is missing" in str(error) for name in gone)  # noqa: PT017
            return True
        finally:
            due.set()
            thread.join()
        assert universe.digest() == trail[10][0]
        return False


@of("plain")
def test_file_that_goes_between_phases(made: Path) -> None:
    """The next phase of a run misses a file."""

    def watch(name: str) -> None:
        files = [file for file in files_of(made) if file.name.endswith(".5.h5")]
        if len(files) == 4:
            files[2].unlink()

    with (
        Universe.open(made, writing=True) as universe,
        Faults(watch=watch, names=("sync_folder",)).active(),
        pytest.raises(DamagedDataError, match=r"0001-0000\.5\.h5: the file is missing"),
    ):
        PLAIN.go_on(universe)


# --- what may not be read ------------------------------------------------------------------


@pytest.mark.parametrize("what", ["tile", "tiles", "manifest.json", "journal.jsonl"])
@pytest.mark.parametrize("name", ["between-keep"])
def test_no_permission(what: str, name: str, templates: dict[str, Path], folder: Path) -> None:
    path = copy(templates[name], folder / "universe")
    for place in (path, *path.rglob("*")):
        place.chmod(0o777 if place.is_dir() else 0o666)
    file = files_of(path)[0] if what == "tile" else path / what
    file.chmod(0)

    def attempt() -> None:
        if os.getuid() == 0:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
        with pytest.raises(LifesimError, match="Permission denied") as refusal:
            look(path)
        assert_one_line(refusal.value, file)
        assert refusal.value.exit_code == 2
        with (
            pytest.raises(LifesimError, match="Permission denied") as refusal,
            Universe.open(path, writing=True) as universe,
        ):
            CASES[name].go_on(universe)
        assert_one_line(refusal.value, path)

    try:
        assert in_child(attempt) == 0
    finally:
        file.chmod(0o777)


@of("plain")
def test_read_only_universe(made: Path) -> None:
    """Somebody who may not write can read, and keeps writers out if the lock is there."""
    for place in (made, *made.rglob("*")):
        place.chmod(0o555 if place.is_dir() else 0o444)

    def attempt(locked: bool) -> None:
        if os.getuid() == 0:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
        look(made)
        with Universe.open(made, still=True) as universe:
            check(universe)
        with pytest.raises(LifesimError, match="Permission denied"):
            Universe.open(made, writing=True)

    try:
        assert in_child(lambda: attempt(True)) == 0
        made.chmod(0o755)
        (made / "lock").unlink()
        made.chmod(0o555)
        assert in_child(lambda: attempt(False)) == 0
    finally:
        for place in (made, made / "tiles"):
            place.chmod(0o755)


@pytest.mark.parametrize("harm", [a_folder, a_pipe, zeros, empty])
@of("plain")
def test_harm_to_the_lock(harm: Callable[[Path, Path], Any], made: Path) -> None:
    """A harmed lock makes nothing hang; what is in the lock does not matter."""
    harm(made / "lock", made)
    look(made)
    if harm in (zeros, empty):
        with Universe.open(made, still=True), pytest.raises(LifesimError, match="another process"):
            Universe.open(made, writing=True)
        PLAIN.conclude(made, trail_of(PLAIN))
        return
    try:
        with Universe.open(made, writing=True) as universe:
            PLAIN.go_on(universe)
            assert universe.digest() == trail_of(PLAIN)[PLAIN.generations][0]
    except LifesimError as error:
        assert_one_line(error, made / "lock")
