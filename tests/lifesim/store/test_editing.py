"""Cells of universes on disk that are changed, undone and redone, whatever is killed meanwhile."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifesim.engine import Life
from lifesim.errors import DamagedDataError, LifesimError
from lifesim.grid import BitGrid, Box, GridError
from lifesim.pasting import Mode, clear, overwrite, pasted
from lifesim.rule import Rule
from lifesim.soup import Soup
from lifesim.store import editing
from lifesim.store.make import from_grid, make_universe
from lifesim.store.names import MOST_EDITS
from lifesim.store.sealed import seal, unseal
from lifesim.store.tiling import tile_universe
from lifesim.store.undo import EditLog
from lifesim.store.universe import Moved, Universe
from lifesim.stream.run import StreamedLife
from lifesim.stream.verify import check_facts, check_files
from tests.lifesim.store.faults import CPU, PARTED, Case, Faults, check, copy, in_child
from tests.quick import examples
from tests.universes import on_disk, whole_grid

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")

GLIDER = BitGrid.from_cells(3, 3, [(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)])
AGEING = Case(torus=False, compression="zstd", rule="3458/37/5")


def soup_of(width: int, height: int, rule: Rule, seed: int) -> BitGrid:
    grid = BitGrid(width, height, planes=rule.planes)
    Soup(0.3, seed).fill_grid(grid, rule.states)
    return grid


def right(universe: Universe, expected: BitGrid) -> None:
    """These cells are on the disk, with all that is kept of them, and nothing else is."""
    seen = Universe.open(universe.path)
    assert whole_grid(seen) == expected
    assert seen.population() == expected.population()
    problems: list[str] = []
    check_facts(seen, problems.append, lambda done, total: None)
    assert not problems
    tidy(seen)


def tidy(universe: Universe) -> None:
    edits = universe.manifest.edits
    files = {tile.file for tile in universe.manifest.tiles} | (edits.files if edits else set())
    assert set(os.listdir(universe.tiles_folder)) == files
    assert sorted(os.listdir(universe.path)) == ["lock", "manifest.json", "tiles"]


# --- what changes ----------------------------------------------------------------------


@st.composite
def boxes(draw: st.DrawFn, width: int = 150, height: int = 60) -> Box:
    x, y = draw(st.integers(0, width - 1)), draw(st.integers(0, height - 1))
    return Box(x, y, draw(st.integers(1, width - x)), draw(st.integers(1, height - y)))


STEPS = st.one_of(
    st.tuples(st.sampled_from(list(Mode)), boxes(), st.integers(0, 9)),
    st.tuples(st.just("clear"), boxes(), st.just(0)),
    st.tuples(st.sampled_from(["undo", "redo"]), st.just(None), st.just(0)),
)


@settings(max_examples=examples(12))
@given(
    st.sampled_from(["B3/S23", "3458/37/5", "B36/S2-i34"]),
    st.booleans(),
    st.sampled_from(["none", "zstd"]),
    st.booleans(),
    st.sampled_from([(1, 1), (2, 3), (1, 4)]),
    st.lists(STEPS, min_size=1, max_size=8),
    st.integers(0, 6),
)
def test_changes_are_those_of_grids(
    name: str,
    torus: bool,
    compression: str,
    pyramid: bool,
    tiles: tuple[int, int],
    steps: list[tuple[str, Box | None, int]],
    generations: int,
) -> None:
    rule = Rule.parse(name)
    now = soup_of(150, 60, rule, 1)
    undo: list[BitGrid] = []
    redo: list[BitGrid] = []
    with on_disk(
        now, tiles, torus=torus, rule=rule, compression=compression, pyramid=pyramid
    ) as universe:
        for what, box, seed in steps:
            before = now
            if what == "undo":
                assert bool(editing.undo(universe)) is bool(undo)
                if undo:
                    redo.append(now)
                    now = undo.pop()
            elif what == "redo":
                assert bool(editing.redo(universe)) is bool(redo)
                if redo:
                    undo.append(now)
                    now = redo.pop()
            else:
                assert box is not None
                now = before.copy()
                if what == "clear":
                    editing.clear(universe, box)
                    clear(now, box)
                else:
                    part = soup_of(box.width, box.height, rule, seed)
                    editing.paste(universe, part, (box.x, box.y), what)
                    new = pasted(before.crop(box), part, Mode(what), rule)
                    overwrite(now, new, box.x, box.y)
                if now != before:
                    undo.append(before)
                    redo.clear()
        right(universe, now)
        universe.close()
        with Universe.open(universe.path, writing=True) as again:
            life = Life(now, rule=rule, topology="torus" if torus else "plane", backend=CPU)
            life.run(generations)
            StreamedLife(again, [CPU], memory=1 << 26, generations=4).run(generations)
            right(again, life.grid())
            if generations:
                assert again.manifest.edits is None
                assert editing.undo(again) is None


def test_cells_that_change_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Box] = []
    really = editing.cells

    def cells(universe: Universe, box: Box) -> BitGrid:
        asked.append(box)
        return really(universe, box)

    monkeypatch.setattr(editing, "cells", cells)
    with on_disk(BitGrid(128, 64)) as universe:
        editing.paste(universe, GLIDER, (5, 6), "copy")
        editing.clear(universe, Box(5, 6, 9, 9))
        assert editing.change(
            universe, Box(7, 7, 1, 1), lambda old: GLIDER.crop(Box(1, 0, 1, 1)), "x"
        )
        assert not editing.change(universe, Box(7, 7, 1, 1), BitGrid.copy, "x")
        assert universe.population() == 1
    assert asked == [Box(5, 6, 3, 3), Box(5, 6, 9, 9), Box(7, 7, 1, 1), Box(7, 7, 1, 1)]


def test_quiet_tiles_are_not_taken_for_quiet_any_more() -> None:
    """A glider is put beside blocks whose tiles a phase has found to be steady."""
    grid = BitGrid(256, 512)
    for y in range(16, 512, 32):
        grid.paste(BitGrid.from_cells(2, 2, [(0, 0), (1, 0), (0, 1), (1, 1)]), 16, y)
    with on_disk(grid, (1, 8), pyramid=True) as universe:
        streamed = StreamedLife(universe, [CPU], memory=1 << 26, generations=12)
        streamed.run(24)
        assert all(universe.manifest.steady)
        editing.paste(universe, GLIDER, (100, 250))
        grid.paste(GLIDER, 100, 250)
        life = Life(grid, backend=CPU, generation=24)
        right(universe, grid)
        for _ in range(3):
            streamed = StreamedLife(universe, [CPU], memory=1 << 26, generations=12)
            streamed.run(36)
            life.run(36)
            right(universe, life.grid())


def plane_of(path: Path, grid: BitGrid, at: tuple[int, int], generation: int = 0) -> Universe:
    room = BitGrid(grid.width + 128, grid.height + 128)
    room.paste(grid, 64, 64)
    return make_universe(
        path,
        tile_universe(room.width, room.height, False, (2, 2)),
        from_grid(room),
        corner=(at[0] - 64, at[1] - 64),
        generation=generation,
    )


@pytest.mark.parametrize("generation", [0, 5])
def test_planes_without_bounds_get_room(tmp_path: Path, generation: int) -> None:
    with plane_of(tmp_path / "u", GLIDER, (10, -7), generation) as universe:
        start = universe.frame(), universe.digest()
        editing.paste(universe, GLIDER, (900, -500))
        assert universe.frame() == Box(10, -500, 893, 496)
        assert universe.population() == 10
        assert editing.cells(universe, Box(899, -501, 5, 5)).crop(Box(1, 1, 3, 3)) == GLIDER
        assert not editing.cells(universe, Box(10**6, 0, 4, 4)).population()
        editing.paste(universe, GLIDER, (-4000, 300))
        editing.clear(universe, Box(900, -500, 3, 3))
        assert universe.frame() == Box(-4000, -7, 4013, 310)
        assert [editing.undo(universe) is not None for _ in range(4)] == [True] * 3 + [False]
        assert (universe.frame(), universe.digest()) == start
        editing.redo(universe)
        editing.redo(universe)
        grid, frame = universe.grid(), universe.frame()
        assert universe.population() == 15
        tidy(Universe.open(universe.path))
        life = Life(grid, bounds=(0, 0), at=(frame.x, frame.y), topology="plane", backend=CPU)
        life.run(100)
        StreamedLife(universe, [CPU], memory=1 << 26).run(100)
        assert (universe.frame(), universe.digest()) == (life.frame(), life.digest())
        with pytest.raises(LifesimError, match="too far away"):
            editing.paste(universe, GLIDER, (1 << 40, 1 << 40))
        assert universe.population() == life.population()


def test_what_is_known_of_the_edge(tmp_path: Path) -> None:
    grid = BitGrid(128, 64)
    grid.paste(GLIDER, 50, 30)
    universe = make_universe(
        tmp_path / "u",
        tile_universe(128, 64, False, (1, 1)),
        from_grid(grid),
        edge=(0, None),
        origin="glider.rle at 50,30 (digest 1)",
    )
    with universe:
        editing.paste(universe, GLIDER, (10, 10))
        assert universe.manifest.edge == (0, None)
        assert universe.manifest.origin == "glider.rle at 50,30 (digest 1), edited"
        editing.paste(universe, GLIDER, (125, 20))
        assert universe.manifest.edge == (-1, 0)
        assert universe.manifest.origin.count("edited") == 1
        editing.undo(universe)
        assert universe.manifest.edge == (0, None)
        editing.undo(universe)
        assert universe.manifest.origin == "glider.rle at 50,30 (digest 1)"
        editing.redo(universe)
        assert universe.manifest.origin.endswith("edited")


def test_only_so_many_changes_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    most = 4
    monkeypatch.setattr(editing, "MOST_KEPT", most)
    with on_disk(BitGrid(64, 8)) as universe:
        for k in range(most + 3):
            editing.paste(universe, BitGrid.from_cells(1, 1, [(0, 0)]), (k % 64, k // 64))
        tidy(Universe.open(universe.path))
        count = 0
        while editing.undo(universe):
            count += 1
        assert count == most
        assert universe.population() == 3
        while editing.redo(universe):
            count -= 1
        assert count == 0
        assert universe.population() == most + 3


@pytest.mark.parametrize("at", [(0, 0), (900, 0)])
def test_the_numbers_of_changes_come_to_an_end(at: tuple[int, int], tmp_path: Path) -> None:
    with plane_of(tmp_path / "u", GLIDER, (0, 20)) as universe:
        full = replace(universe.manifest, edits=EditLog(MOST_EDITS))
        universe.directory.write_manifest(full)
        with pytest.raises(LifesimError, match="changed too often"):
            editing.paste(universe, GLIDER, at)
        assert universe.manifest == full
        assert Universe.open(universe.path).manifest == full
        tidy(universe)


# --- what is refused -------------------------------------------------------------------


def test_what_cannot_be_changed() -> None:
    grid = BitGrid(128, 64)
    with on_disk(grid) as universe:
        for at in ((126, 0), (-1, 0), (0, 62)):
            with pytest.raises(GridError, match="leave"):
                editing.paste(universe, GLIDER, at)
        with pytest.raises(GridError, match="state"):
            editing.paste(universe, BitGrid.from_states([[2]]), (0, 0))
        with pytest.raises(GridError):
            editing.clear(universe, Box(0, 0, 0, 4))
        with pytest.raises(ValueError, match="mode"):
            editing.paste(universe, GLIDER, (0, 0), "mode")
        editing.clear(universe, Box(0, 0, 128, 64))  # nothing is other
        assert universe.manifest.edits is None
        universe.begin_phase(3)
        with pytest.raises(LifesimError, match="on its way from generation 0 to 3"):
            editing.paste(universe, GLIDER, (0, 0))
        with pytest.raises(LifesimError, match="on its way"):
            editing.undo(universe)
    with on_disk(grid) as universe, pytest.raises(LifesimError, match="in use by process"):
        Universe.open(universe.path, writing=True)


def test_a_full_disk_is_found_out_before(monkeypatch: pytest.MonkeyPatch) -> None:
    with on_disk(BitGrid(128, 64)) as universe:
        monkeypatch.setattr("lifesim.store.disk.free_bytes", lambda folder: 100)
        with pytest.raises(LifesimError, match="are free"):
            editing.paste(universe, GLIDER, (0, 0))
        tidy(universe)


def test_a_change_that_a_full_disk_refuses_is_not_resumed() -> None:
    with on_disk(BitGrid(128, 64)) as universe:
        faults = Faults(1, errno.ENOSPC, names=("write_whole",))
        with faults.active(), pytest.raises(LifesimError, match=r"disk is full .*: make room$"):
            editing.paste(universe, GLIDER, (0, 0))
        universe.set_run((0, 8))
        faults = Faults(1, errno.ENOSPC, names=("write_whole",))
        with faults.active(), pytest.raises(LifesimError, match="go on with `lifesim resume`"):
            universe.begin_phase(4)
        universe.begin_phase(4)
        faults = Faults(1, errno.ENOSPC, names=("append",))
        with faults.active(), pytest.raises(LifesimError, match="go on with `lifesim resume`"):
            universe.finish_tiles([Moved(0, None)])


def test_who_looks_at_progress_may_end_it() -> None:
    grid = soup_of(128, 64, Rule.parse("B3/S23"), 1)
    with on_disk(grid, (1, 4)) as universe:

        def stop(done: int, total: int) -> None:
            assert total == 4
            if done == 2:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            editing.clear(universe, Box(0, 0, 128, 64), progress=stop)
        right(universe, grid)


def test_what_undoes_a_change_may_be_damaged() -> None:
    with on_disk(BitGrid(128, 64), (2, 1)) as universe:
        editing.paste(universe, GLIDER, (0, 0))
        editing.paste(universe, GLIDER, (60, 10))
        file = Path(universe.tiles_folder, "undo.2.zst")
        data = file.read_bytes()
        other = Path(universe.tiles_folder, "undo.1.zst").read_bytes()
        line = data.index(b"\n") + 1
        assert unseal(data[:line]) is not None
        digest = universe.digest()
        for bad in (
            *(data[:k] + bytes([data[k] ^ 4]) + data[k + 1 :] for k in range(0, len(data), 7)),
            *(data[:k] for k in range(0, len(data), 31)), data + b"x", other, b"",
        ):  # fmt: skip
            file.write_bytes(bad)
            with pytest.raises(DamagedDataError, match=r"undo\.2\.zst"):
                editing.undo(universe)
        file.unlink()
        with pytest.raises(LifesimError, match=r"undo\.2\.zst"):
            editing.undo(universe)
        os.symlink("/dev/zero", file)
        with pytest.raises(DamagedDataError, match="no file"):
            editing.undo(universe)
        file.unlink()
        assert universe.digest() == digest
        file.write_bytes(data)
        assert editing.undo(universe)
        assert universe.population() == 5


@pytest.mark.parametrize("asked", ["lifesim.store.undo", "lifesim.grid"])
def test_what_undoes_a_change_is_not_damaged_where_memory_is_short(
    asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with on_disk(BitGrid(128, 64)) as universe:
        editing.paste(universe, GLIDER, (0, 0))
        editing.clear(universe, Box(0, 0, 128, 64))
        size = os.path.getsize(Path(universe.tiles_folder, "undo.2.zst"))
        read_all: list[str] = []
        assert check_files(universe, read_all.append, lambda done, total: None).files == 3
        monkeypatch.setattr(
            f"{asked}.available_memory", lambda: 2 * size - 1 if "undo" in asked else 8
        )
        for read in (editing.undo, lambda _: check_files(universe, read_all.append, print)):
            with pytest.raises(GridError, match="memory"):
                read(universe)
        assert not read_all
        monkeypatch.undo()
        assert editing.undo(universe)


@pytest.mark.parametrize(
    "edits",
    [
        [], 7, {}, {"count": 2}, {"count": 2, "undo": [[3, "pasting"]], "redo": []},
        {"count": 2, "undo": [[0, "pasting"]], "redo": []},
        {"count": 2, "undo": [[1, "pasting"]], "redo": [[1, "pasting"]]},
        {"count": 2, "undo": [[1, "../../x"]], "redo": []},
        {"count": 2, "undo": [[1, "a\nb"]], "redo": []},
        {"count": 2, "undo": [[1, ["pasting"]]], "redo": []},
        {"count": 2, "undo": [1, 2], "redo": []},
        {"count": -1, "undo": [], "redo": []},
        {"count": True, "undo": [], "redo": []},
        {"count": 10**9 + 1, "undo": [], "redo": []},
        {"count": 500, "undo": [[k + 1, "pasting"] for k in range(101)], "redo": []},
    ],
)  # fmt: skip
def test_edits_that_nobody_has_written(edits: object) -> None:
    with on_disk(BitGrid(64, 8)) as universe:
        editing.paste(universe, GLIDER, (0, 0))
        path = Path(universe.path, "manifest.json")
        facts = unseal(path.read_bytes())
        assert facts is not None
        path.write_bytes(seal(facts | {"edits": edits}))
        with pytest.raises(DamagedDataError, match="manifest is damaged"):
            Universe.open(universe.path)
        path.write_bytes(seal(facts | {"version": 2}))
        with pytest.raises(DamagedDataError, match="a name that none of its files has"):
            Universe.open(universe.path)


# --- whatever is killed or refused -----------------------------------------------------

CASES = [Case(torus=True, compression="none"), AGEING]


class Scene:
    """A universe with a change that can be undone, and copies of it to change, undo or redo."""

    def __init__(self, case: Case, folder: Path) -> None:
        self.case = case
        self.path, self.spare = folder / "universe", folder / "spare"
        self.spare.mkdir()
        rule = Rule.parse(case.rule)
        self.part = soup_of(70, 30, rule, 9)
        self.template = case.template(folder)
        with Universe.open(self.template, writing=True) as universe:
            start = whole_grid(universe)
            editing.paste(universe, soup_of(20, 20, rule, 4), (60, 10))
            first = whole_grid(universe)
            editing.paste(universe, soup_of(9, 30, rule, 5), (120, 12))
            editing.undo(universe)
        second = first.copy()
        second.paste(soup_of(9, 30, rule, 5), 120, 12)
        put = first.copy()
        put.paste(self.part, 20, 5)
        self.grids = {"start": start, "now": first, "redo": second, "put": put}

    def do(self, what: str) -> Callable[[Universe], object]:
        return {
            "put": lambda universe: editing.paste(universe, self.part, (20, 5)),
            "start": editing.undo,
            "redo": editing.redo,
        }[what]

    def log(self, what: str) -> list[str]:
        copy(self.template, self.path)
        with Faults().active() as faults, Universe.open(self.path, writing=True) as universe:
            self.do(what)(universe)
        right(universe, self.grids[what])
        return faults.log


def acts(log: list[str]) -> Iterator[tuple[int, str]]:
    """Every step, and a way for it to be the last; of many writes in a row some."""
    for step, name in enumerate(log, 1):
        ways = ["before", *(["middle"] if name in PARTED else [])]
        if name in ("sync_folder", "append", "remove", "sync", "replace"):
            ways.append("power")
        if set(log[max(0, step - 3) : step + 2]) != {"write"} or step % 4 == 0:
            yield step, ways[step % len(ways)]
    yield len(log), "after"


@pytest.mark.parametrize(
    ("case", "what", "stride"),
    [
        (CASES[0], "put", 6),
        (CASES[1], "start", 9),
        *(
            pytest.param(case, what, 1, marks=pytest.mark.slow)
            for case in CASES
            for what in ("put", "start", "redo")
        ),
    ],
)
def test_killed_at_steps(case: Case, what: str, stride: int, tmp_path: Path) -> None:
    scene = Scene(case, tmp_path)
    log = scene.log(what)
    found, killed = set(), 0
    for step, act in list(acts(log))[::stride]:
        copy(scene.template, scene.path)
        for old in scene.spare.iterdir():
            old.unlink()
        faults = Faults(step, act, spare=scene.spare if act == "power" else None)

        def work(faults: Faults = faults) -> None:
            with faults.active(), Universe.open(scene.path, writing=True) as universe:
                scene.do(what)(universe)

        killed += in_child(work) != 0
        seen = Universe.open(scene.path)
        check(seen)
        cells = whole_grid(seen)
        assert cells in (scene.grids["now"], scene.grids[what])
        done = cells == scene.grids[what]
        found.add(done)
        with Universe.open(scene.path, writing=True) as universe:
            tidy(universe)
            if not done:
                scene.do(what)(universe)
            right(universe, scene.grids[what])
            if what != "start":
                editing.undo(universe)
                right(universe, scene.grids["now"])
    assert killed > 5
    assert found == {False, True}


@pytest.mark.parametrize(
    ("case", "stride"), [(CASES[0], 12), pytest.param(CASES[1], 1, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
def test_refused_at_steps(case: Case, stride: int, number: int, tmp_path: Path) -> None:
    """A disk that refuses leaves a universe in memory, and on itself, that goes on."""
    scene = Scene(case, tmp_path)
    for step in range(1, len(scene.log("put")) + 1, stride):
        copy(scene.template, scene.path)
        with Universe.open(scene.path, writing=True) as universe:
            faults = Faults(step, number)
            with faults.active(), suppress(LifesimError):
                scene.do("put")(universe)
            grid = whole_grid(universe)
            assert grid in (scene.grids["now"], scene.grids["put"])
            assert whole_grid(Universe.open(scene.path)) == grid
            if grid == scene.grids["now"]:
                scene.do("put")(universe)
        with Universe.open(scene.path, writing=True) as universe:
            right(universe, scene.grids["put"])


def test_killed_while_a_plane_gets_room(tmp_path: Path) -> None:
    template, path = tmp_path / "template", tmp_path / "universe"
    with plane_of(template, GLIDER, (0, 0)) as universe:
        before = universe.digest()
    copy(template, path)
    with Faults().active() as faults, Universe.open(path, writing=True) as universe:
        editing.paste(universe, GLIDER, (300, 300))
        after = universe.digest()
    for step, act in list(acts(faults.log))[::9]:
        copy(template, path)

        def work(step: int = step, act: str = act) -> None:
            way = "before" if act == "power" else act
            with Faults(step, way).active(), Universe.open(path, writing=True) as universe:
                editing.paste(universe, GLIDER, (300, 300))

        in_child(work)
        with Universe.open(path, writing=True) as universe:
            assert universe.digest() in (before, after)
            tidy(universe)
            if universe.digest() == before:
                editing.paste(universe, GLIDER, (300, 300))
            assert universe.digest() == after
            editing.undo(universe)
            assert universe.digest() == before


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
def test_refused_while_a_plane_gets_room(number: int, tmp_path: Path) -> None:
    """Refuse steps, then stop another change: memory and disk still have one universe."""
    template, path = tmp_path / "template", tmp_path / "universe"
    with plane_of(template, GLIDER, (0, 0)) as universe:
        before = universe.frame(), universe.digest()
    copy(template, path)
    with Universe.open(path, writing=True) as universe, Faults().active() as faults:
        editing.paste(universe, GLIDER, (300, 300))
        after = universe.frame(), universe.digest()

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    renames = {k for k, name in enumerate(faults.log, 1) if name == "replace"}
    steps = {*range(1, len(faults.log) + 1, 16), *renames, *(k + 1 for k in renames)}
    for step in sorted(steps):
        copy(template, path)
        with Universe.open(path, writing=True) as universe:
            with Faults(step, number).active(), suppress(LifesimError):
                editing.paste(universe, GLIDER, (300, 300))
            seen = Universe.open(path)
            assert universe.manifest == seen.manifest
            now = universe.frame(), universe.digest()
            assert now in (before, after)
            check(seen)
            with pytest.raises(KeyboardInterrupt):
                editing.paste(universe, GLIDER, (-100, -100), "xor", progress=stop)
            check(Universe.open(path))
            if now == before:
                editing.paste(universe, GLIDER, (300, 300))
            assert (universe.frame(), universe.digest()) == after
        with Universe.open(path, writing=True) as universe:
            tidy(universe)
            editing.undo(universe)
            assert (universe.frame(), universe.digest()) == before


def test_the_version_says_whether_older_programs_can_read_it() -> None:
    def version(universe: Universe) -> object:
        facts = unseal(Path(universe.path, "manifest.json").read_bytes())
        assert facts is not None
        return facts["version"]

    with on_disk(soup_of(130, 40, Rule.parse("B3/S23"), 3), (2, 1)) as universe:
        assert version(universe) == 2
        editing.paste(universe, GLIDER, (10, 10))
        assert version(universe) == 4
        StreamedLife(universe, [CPU], memory=1 << 26, generations=4).run(4)
        assert version(universe) == 2
        assert universe.manifest == replace(universe.manifest, edits=None)
        tidy(universe)
