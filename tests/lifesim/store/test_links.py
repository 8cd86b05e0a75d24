"""Links, pipes and folders where files of a universe should be: nothing is followed."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lifesim.errors import DamagedDataError, LifesimError
from lifesim.store import disk
from lifesim.store.making import check_new
from lifesim.store.universe import Universe
from tests.lifesim.store.faults import Case, check, copy
from tests.lifesim.store.test_damage import stop_midway

CASE = Case(width=100, height=64, tiles=(1, 4), torus=False)

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


@pytest.fixture(scope="module")
def template(folder: Path) -> Path:
    """Return a universe between two generations, so that there are all kinds of files."""
    path = CASE.template(folder)
    stop_midway(CASE, path)
    return path


@pytest.fixture(autouse=True)
def _nothing_hangs() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise AssertionError("it hangs")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(30)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def all_works() -> dict[str, Callable[[Path], None]]:
    return {
        "look": lambda path: check(Universe.open(path)),
        "still": lambda path: Universe.open(path, still=True).close(),
        "run": CASE.advance,
    }


WORKS = all_works()


def snapshot(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path.relative_to(folder)): (
            path.stat().st_ino,
            path.read_bytes() if path.is_file() else b"",
        )
        for path in sorted(folder.rglob("*"))
    }


def files(path: Path) -> list[str]:
    tile = sorted(os.listdir(path / "tiles"))[0]
    return ["lock", "manifest.json", "journal.jsonl", "tiles", f"tiles/{tile}"]


@pytest.mark.parametrize("work", list(WORKS))
@pytest.mark.parametrize("which", range(5))
def test_links_are_not_followed(which: int, work: str, template: Path, tmp_path: Path) -> None:
    """A link is not followed even to what would be right: what they point at is somebody else's."""
    path = copy(template, tmp_path / "universe")
    name = files(path)[which]
    outside = tmp_path / "outside"
    outside.mkdir()
    shutil.move(path / name, outside / "target") if (path / name).exists() else None
    if not (outside / "target").exists():
        (outside / "target").write_text("precious")
    (path / name).symlink_to(outside / "target")
    before = snapshot(outside)
    if (work, which) in (("look", 0), ("still", 4)):
        WORKS[work](path)  # which does not open it
    else:
        with pytest.raises(DamagedDataError) as found:
            WORKS[work](path)
        assert str(path / name) in str(found.value)
        assert len(str(found.value).splitlines()) == 1
    assert snapshot(outside) == before


@pytest.mark.parametrize("work", ["still", "run"])
def test_a_dangling_lock_makes_nothing(work: str, template: Path, tmp_path: Path) -> None:
    path = copy(template, tmp_path / "universe")
    (path / "lock").unlink()
    (path / "lock").symlink_to(tmp_path / "made")
    with pytest.raises(DamagedDataError):
        WORKS[work](path)
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("name", ["manifest.json.tmp", "journal.jsonl.tmp", "draft"])
@pytest.mark.parametrize("hard", [False, True])
def test_drafts_are_made_anew(name: str, hard: bool, template: Path, tmp_path: Path) -> None:
    """A run writes drafts; one that is a link goes, and what it points at stays."""
    path = copy(template, tmp_path / "universe")
    CASE.advance(path)
    victim = tmp_path / "victim"
    victim.write_text("precious")
    if name == "draft":
        name = "tiles/0000-0000.9.h5.tmp"
    with Universe.open(path, writing=True) as universe:
        (os.link if hard else os.symlink)(victim, path / name)
        CASE.life(universe).run(1)
    assert victim.read_text() == "precious"
    check(Universe.open(path))


@pytest.mark.parametrize("work", ["still", "run"])
@pytest.mark.parametrize("which", range(5))
@pytest.mark.parametrize("what", ["pipe", "folder"])
def test_what_is_no_file(what: str, which: int, work: str, template: Path, tmp_path: Path) -> None:
    path = copy(template, tmp_path / "universe")
    name = files(path)[which]
    place = path / name
    if place.is_dir():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)
    os.mkfifo(place) if what == "pipe" else place.mkdir()

    def attempt() -> None:
        WORKS[work](path)
        check(Universe.open(path))

    with pytest.raises(LifesimError) as found:
        attempt()
    assert str(path) in str(found.value)


@pytest.mark.parametrize("name", ["lock", "journal.jsonl"])
def test_hard_links_to_what_is_changed_in_place(name: str, template: Path, tmp_path: Path) -> None:
    path = copy(template, tmp_path / "universe")
    victim = tmp_path / "victim"
    (path / name).touch()
    os.link(path / name, victim)
    before = victim.read_bytes() or b"precious"
    victim.write_bytes(before)
    with pytest.raises(LifesimError, match="hard link") as found:
        CASE.advance(path)
    assert str(path / name) in str(found.value)
    assert victim.read_bytes() == before
    victim.unlink()


def test_copies_of_hard_links_are_read_and_run(template: Path, tmp_path: Path) -> None:
    """The copies are as `cp -al` makes them: files of tiles are replaced, and never changed."""
    path = copy(template, tmp_path / "universe")
    CASE.advance(path)
    other = tmp_path / "other"
    shutil.copytree(path, other, copy_function=os.link)
    (other / "lock").unlink()
    before = snapshot(path)
    with Universe.open(other, writing=True) as universe:
        CASE.life(universe).run(3)
    after = snapshot(path)
    assert after == before
    check(Universe.open(path))


# --- sweeping ---------------------------------------------------------------------------


def test_tiles_that_are_another_universe_s(template: Path, tmp_path: Path) -> None:
    other = copy(template, tmp_path / "other")
    before = snapshot(other)
    path = copy(template, tmp_path / "universe")
    CASE.advance(path)
    shutil.rmtree(path / "tiles")
    (path / "tiles").symlink_to(other / "tiles")
    for work in WORKS.values():
        with pytest.raises(DamagedDataError):
            work(path)
    assert snapshot(other) == before


def test_a_new_universe_sweeps_no_other(template: Path, tmp_path: Path) -> None:
    """There is a folder that seems to be what a kill has left of one in the making."""
    other = copy(template, tmp_path / "other")
    before = snapshot(other)
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "tiles").symlink_to(other / "tiles")
    with pytest.raises(LifesimError, match="not empty"):
        check_new(str(tmp_path / "new"))
    with pytest.raises(LifesimError, match="not empty"):
        CASE.make(tmp_path / "new")
    assert snapshot(other) == before


def test_a_folder_that_becomes_a_link(
    template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It becomes one while a run goes on: the next file is not made elsewhere, and none is removed
    there."""
    path = copy(template, tmp_path / "universe")
    other = copy(template, tmp_path / "other")
    before = snapshot(other)
    real, swapped = disk.replace, []

    def replace(source: str, target: str) -> None:
        real(source, target)
        if target.endswith(".h5") and not swapped:
            swapped.append(target)
            (path / "tiles").rename(tmp_path / "away")
            (path / "tiles").symlink_to(other / "tiles")

    monkeypatch.setattr(disk, "replace", replace)
    with pytest.raises(DamagedDataError):
        CASE.advance(path)
    assert swapped
    assert snapshot(other) == before


def test_sweeping_spares_what_is_not_its_own(template: Path, tmp_path: Path) -> None:
    path = copy(template, tmp_path / "universe")
    CASE.advance(path)
    own = ["0003-0000.5.h5", "0000-0000.8.h5.tmp", "0001-0000.7.h5.ab12.tmp"]
    strange = ["0004-0000.5.h5", "0000-0001.5.h5", "0000-0000.9999.h5", "00000-0000.5.h5",
               "0000-0000.05.h5", "notes.txt"]  # fmt: skip
    for name in (*own, *strange):
        (path / "tiles" / name).write_text("x")
    (path / "tiles" / "0002-0000.5.h5").mkdir()
    with Universe.open(path, writing=True):
        there = set(os.listdir(path / "tiles"))
    assert {*strange, "0002-0000.5.h5"} <= there
    assert not {*own} & there


def test_a_user_s_own_link_to_a_universe(template: Path, tmp_path: Path) -> None:
    """Whoever names a link means what it points at; also if it is called `tiles`."""
    path = copy(template, tmp_path / "universe")
    (tmp_path / "tiles").symlink_to(path)
    CASE.advance(tmp_path / "tiles")
    check(Universe.open(tmp_path / "tiles"))
