"""Universes that an enemy has made: every checksum is right, and nothing else need be."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zstandard

from lifesim.cli.info import command as info
from lifesim.errors import DamagedDataError, LifesimError
from lifesim.pauses import Progress
from lifesim.store.sealed import seal, unseal
from lifesim.store.tilefile import hash_of
from lifesim.store.tilereader import TileReader
from lifesim.store.universe import Universe
from lifesim.stream.verify import replay
from tests.lifesim.store.faults import CPU, Case, check, copy, in_child
from tests.lifesim.store.test_damage import stop_midway

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")

CASES = {
    "plain": Case(width=130, height=32, tiles=(2, 2), generations=3, phase=3),
    "zstd": Case(width=130, height=32, tiles=(2, 2), generations=3, phase=3, compression="zstd"),
    "between": Case(width=100, height=64, tiles=(1, 4), torus=False, generations=5),
    "states": Case(width=130, height=32, tiles=(2, 2), generations=3, phase=3, rule="3458/37/5"),
}
ROOM = 1 << 29  # bytes of address space beside what the tests take

DEEP = "[" * 100_000
ESCAPES = ("../../victim", "/etc/victim", "..", ".", "", "../tiles/0000-0000.0.h5", "a\0b")
VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 7, 9, 63, 64, 2**31, 2**63 - 1, 2**63, 2**64, -(2**63), 10**40,
    10**400, 0.5, float("nan"), float("inf"), -1e308, "", "0", "1", "-1", "torus", "\x1b[2J\n",
    "\ud800", "x" * 100_000, [], [[]], [0], [1], [-1], [0, 64], [0, 64, 130], [0, 2**62], [64, 0],
    [0, 0], ["0", "64"], [None] * 4, [True, False], [0.0, 64.0], {}, {"a": 1}, [[[[]]]], *ESCAPES,
)  # fmt: skip


@pytest.fixture(scope="module")
def templates(folder: Path) -> dict[str, Path]:
    made = {}
    for name, case in CASES.items():
        (folder / name).mkdir()
        made[name] = case.template(folder / name)
        if name == "between":
            stop_midway(case, made[name])
    return made


@pytest.fixture
def victim(tmp_path: Path) -> Iterator[Path]:
    """Return a file that names in a universe may point at, and that stays as it is."""
    path = tmp_path / "victim"
    path.write_text("precious")
    yield path
    assert path.read_text() == "precious"


def bounded(work: Callable[[], None]) -> None:
    """Do it in a process that has little memory and a minute."""

    def limited() -> None:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * resource.getpagesize() + ROOM
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        work()

    assert in_child(limited) == 0


def refused(path: Path, error: LifesimError) -> None:
    assert error.exit_code in (2, 4)
    assert len(str(error).splitlines()) == 1
    assert str(error).isprintable()
    assert len(str(error)) < 1000
    assert str(path) in str(error)


def advance(path: Path, case: Case) -> None:
    """Take up the run, which may be asked to go on for ever: a person interrupts it then."""
    left = 3

    def told(now: Progress) -> None:
        nonlocal left
        left -= 1
        if not left:
            raise KeyboardInterrupt

    with Universe.open(path, writing=True) as universe, contextlib.suppress(KeyboardInterrupt):
        life = case.life(universe)
        life.resume(progress=told)
        if universe.generation < case.generations:
            life.run(case.generations - universe.generation, progress=told)


def attempt(path: Path, case: Case) -> bool:
    """Do what a person does with a universe: it works, or there is one line of why not. Returns
    whether any of it worked."""
    any_worked = False
    works: list[Callable[[], object]] = [
        lambda: info.callback(str(path), True),
        lambda: advance(path, case),
        lambda: check(Universe.open(path)),
        lambda: Universe.open(path).grid(),
    ]
    for work in works:
        if works.index(work) == 2 and not any_worked:
            return False
        try:
            work()
            any_worked = True
        except LifesimError as error:
            refused(path, error)
    return any_worked


def places(facts: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield every place of some JSON, but of long lists only the first and last."""
    if at:
        yield at
    if isinstance(facts, dict):
        keys: Any = facts
    elif isinstance(facts, list):
        keys = sorted({0, len(facts) - 1}) if facts else ()
    else:
        return
    for key in keys:
        yield from places(facts[key], (*at, key))


def changed(facts: Any, place: tuple[Any, ...], value: Any) -> Any:
    """Return a copy with another value there; MISSING takes it away, TWICE repeats it."""
    copied = json.loads(json.dumps(facts))
    holder = copied
    for key in place[:-1]:
        holder = holder[key]
    if value is MISSING:
        del holder[place[-1]]
    elif value is TWICE:
        holder.insert(place[-1], holder[place[-1]])
    else:
        holder[place[-1]] = value
    return copied


MISSING, TWICE = object(), object()


def variants(facts: Any) -> Iterator[tuple[str, Any]]:
    for place in places(facts):
        repeated = (TWICE,) if isinstance(place[-1], int) else ()
        for value in (*VALUES, MISSING, *repeated):
            yield f"{place}: {value!r:.60}", changed(facts, place, value)


def tree(folder: Path) -> dict[str, bytes]:
    """Return all that lies around the universe, which is `folder / "universe"`."""
    return {
        str(path): path.read_bytes() if path.is_file() else b""
        for path in folder.rglob("*")
        if folder / "universe" not in (path, *path.parents)
    }


def try_lines(template: Path, folder: Path, case: Case, name: str, number: int) -> None:
    """Try each change of a line of a universe's file, resealed."""
    lines = (template / name).read_bytes().splitlines(keepends=True)
    facts = unseal(lines[number])
    assert facts
    path, outside, whole = copy(template, folder / "universe"), tree(folder), 0
    for what, variant in variants(facts):
        changed_lines = [*lines[:number], seal(variant), *lines[number + 1 :]]
        (path / name).write_bytes(b"".join(changed_lines))
        try:
            if attempt(path, case):
                whole += 1
                copy(template, path)
        except BaseException as error:
            error.add_note(f"{name}, line {number + 1}, {what}")
            raise
        assert tree(folder) == outside, what
    assert whole < 64  # nearly nothing of it may be taken for good (corner, edge: None, or missing)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "name",
    [
        "plain",
        "between",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("zstd", "states")),
    ],
)
def test_resealed_manifests(
    name: str, templates: dict[str, Path], tmp_path: Path, victim: Path
) -> None:
    bounded(lambda: try_lines(templates[name], tmp_path, CASES[name], "manifest.json", 0))


@pytest.mark.parametrize("line", [0, 1])
def test_resealed_journals(
    line: int, templates: dict[str, Path], tmp_path: Path, victim: Path
) -> None:
    case = CASES["between"]
    bounded(lambda: try_lines(templates["between"], tmp_path, case, "journal.jsonl", line))


# --- names ------------------------------------------------------------------------------

NAMES = [
    *ESCAPES, "manifest.json", "0000-0000.0.h5/", "./0000-0000.0.h5", "0000-0000.0.h5\n",
    "0000-0000.00.h5", "00000-0000.0.h5", "0000-0001.0.h5", "0009-0000.0.h5", "0000-0000.-1.h5",
    "0000-0000.0.h5.tmp", "0000-0000.1.h5", "٠٠٠٠-0000.0.h5",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_names_that_are_no_tile_s(
    name: str, templates: dict[str, Path], tmp_path: Path, victim: Path
) -> None:
    path = copy(templates["plain"], tmp_path / "a" / "universe")
    facts = unseal((path / "manifest.json").read_bytes())
    assert facts
    facts["tiles"][0][0] = name
    (path / "manifest.json").write_bytes(seal(facts))
    for options in ({}, {"writing": True}, {"still": True}):
        with pytest.raises(DamagedDataError, match="the manifest is damaged") as found:
            Universe.open(path, **options)
        refused(path, found.value)


@pytest.mark.parametrize("name", NAMES)
def test_names_in_the_journal_that_are_no_tile_s(
    name: str, templates: dict[str, Path], tmp_path: Path, victim: Path
) -> None:
    path = copy(templates["between"], tmp_path / "a" / "universe")
    lines = (path / "journal.jsonl").read_bytes().splitlines(keepends=True)
    facts = unseal(lines[1])
    assert facts
    facts["record"][0] = name
    lines[1] = seal(facts)
    (path / "journal.jsonl").write_bytes(b"".join(lines))
    for options in ({}, {"writing": True}, {"still": True}):
        with pytest.raises(DamagedDataError, match="line 2") as found:
            Universe.open(path, **options)
        refused(path, found.value)


def test_a_name_of_another_universe_is_not_removed(
    templates: dict[str, Path], tmp_path: Path
) -> None:
    """The fault was that a run removed what the manifest calls an old file of its own."""
    for name in ("../../victim", str(tmp_path / "victim")):
        path = copy(templates["plain"], tmp_path / "universe")
        victim = tmp_path / "victim"
        os.link(next((path / "tiles").iterdir()), victim)
        facts = unseal((path / "manifest.json").read_bytes())
        assert facts
        facts["tiles"][0][0] = name
        (path / "manifest.json").write_bytes(seal(facts))
        with pytest.raises(DamagedDataError):
            CASES["plain"].advance(path)
        assert victim.exists()
        victim.unlink()


# --- JSON itself ------------------------------------------------------------------------


def sealed_text(body: bytes) -> bytes:
    """Return a line of which the checksum is right, whatever follows it."""
    from lifesim.store.sealed import _BLANK, HEAD, _hash

    blank = HEAD + _BLANK + b'",' + body + b"\n"
    return blank.replace(_BLANK, _hash(blank), 1)


@pytest.mark.parametrize(
    "body",
    [b"", b"}", b'"a":' + DEEP.encode(), b'"a":' + b"9" * 10_000 + b"}", b'"a":"\xff"}',
     b'"a":1}}', b'"a":1,', b"\0" * 100, b'"format":"lifesim universe"}'],
    ids=["nothing", "empty", "deep", "digits", "utf-8", "more", "less", "zeros", "format"],
)  # fmt: skip
def test_sealed_text_that_is_no_json(
    body: bytes, templates: dict[str, Path], tmp_path: Path
) -> None:
    for template, name in (("plain", "manifest.json"), ("between", "journal.jsonl")):
        path = copy(templates[template], tmp_path / "universe")
        (path / name).write_bytes(sealed_text(body))
        with pytest.raises(DamagedDataError) as found:
            Universe.open(path)
        refused(path, found.value)


@pytest.mark.parametrize("name", ["manifest.json", "journal.jsonl"])
def test_endless_texts(name: str, templates: dict[str, Path], tmp_path: Path) -> None:
    """The files have holes: they are of any length, and nothing is on the disk."""
    path = copy(templates["between"], tmp_path / "universe")

    def work() -> None:
        for length in (1 << 30, 1 << 40):
            os.truncate(path / name, length)
            with pytest.raises(DamagedDataError):
                Universe.open(path)

    bounded(work)


def test_a_lock_that_says_rubbish(templates: dict[str, Path], tmp_path: Path) -> None:
    path = copy(templates["plain"], tmp_path / "universe")
    texts = (b"\xff", DEEP.encode(), b"{}", b"[]",
             b'{"pid":"\x1b[2J","host":[],"command":1,"since":""}',
             b'{"pid":"\\n","host":"a\\u001b","command":"\\n\\n","since":"x"}')  # fmt: skip
    with Universe.open(path, writing=True):
        for text in texts:
            (path / "lock").write_bytes(text)
            with pytest.raises(LifesimError, match="in use by") as found:
                Universe.open(path, writing=True)
            refused(path, found.value)


@pytest.mark.parametrize(
    "origin",
    ["soup of density 1/0, seed 1", "soup of density 1e999999999, seed 1",
     "soup of density 2, seed 1", "soup of density 1/, seed 1",
     "soup of density 0.5, seed " + "9" * 900,
     "soup of density 0.5, seed 99999999999999999999", "soup of density e, seed 1", "\x1b[2J"],
)  # fmt: skip
def test_origins_that_no_soup_has(origin: str, templates: dict[str, Path], tmp_path: Path) -> None:
    """Somebody who makes samples of a universe again is told that there are none."""
    path = copy(templates["plain"], tmp_path / "universe")
    facts = unseal((path / "manifest.json").read_bytes())
    assert facts
    (path / "manifest.json").write_bytes(seal(facts | {"origin": origin}))
    with pytest.raises(LifesimError):
        replay(Universe.open(path), CPU, 1, lambda line: None)


# --- files of tiles ---------------------------------------------------------------------

Table = np.ndarray


def reseal_tile(
    path: Path, change: Callable[[Table], None], data: Callable[[bytearray, Table], None] | None
) -> Path:
    """Change the first tile's table of chunks, and its bytes, and make all checksums right."""
    with Universe.open(path) as universe:
        record = universe.record(0)
        count = len(TileReader(universe.tiles_folder, record, universe.tiling.box(0),
                               universe.manifest.form)._table)  # fmt: skip
    file = path / "tiles" / record.file
    content = bytearray(file.read_bytes())
    end = record.table + 24 * count
    table = np.frombuffer(bytes(content[record.table : end]), np.uint64).reshape(-1, 3).copy()
    if data:
        data(content, table)
        for row, (start, length, _) in enumerate(table.tolist()):
            table[row, 2] = hash_of(bytes(content[start : start + length]))
    change(table)
    content[record.table : end] = table.tobytes()
    file.write_bytes(content)
    facts = unseal((path / "manifest.json").read_bytes())
    assert facts
    facts["tiles"][0][3] = f"{hash_of(table.tobytes()):016x}"
    facts["tiles"][0][1] = len(content)
    (path / "manifest.json").write_bytes(seal(facts))
    return file


@pytest.mark.sample(9)
@pytest.mark.parametrize("name", ["plain", "zstd"])
@pytest.mark.parametrize("column", [0, 1])
@pytest.mark.parametrize("value", [2**64 - 1, 2**63, 2**63 - 1, 2**40, 10**6])
@pytest.mark.parametrize("row", [0, -1])
def test_chunks_that_lie_elsewhere(
    row: int, value: int, column: int, name: str, templates: dict[str, Path], tmp_path: Path
) -> None:
    path = copy(templates[name], tmp_path / "universe")

    def change(table: Table) -> None:
        table[row, column] = value

    file = reseal_tile(path, change, None)

    def work() -> None:
        for look in (lambda: check(Universe.open(path)), lambda: advance(path, CASES[name])):
            with pytest.raises(DamagedDataError) as found:
                look()
            refused(file, found.value)

    bounded(work)


def frame_of(size: int, told: int | None) -> bytes:
    """Return a frame of zeros that says it is of another size."""
    frame = zstandard.ZstdCompressor(write_content_size=told is not None).compress(bytes(size))
    if told is None:
        return frame
    # Magic, descriptor with 8 bytes of content size and a single segment, then blocks.
    plain = zstandard.ZstdCompressor(write_content_size=False).compress(bytes(size))
    return frame[:4] + b"\xe0" + told.to_bytes(8, "little") + plain[6:]


@pytest.mark.parametrize(
    "frame",
    [b"", b"x", b"x" * 50, frame_of(128, None), frame_of(1 << 20, 128), frame_of(128, 1 << 40),
     frame_of(128, 1 << 62), frame_of(64, 64), frame_of(128, 128)[:-3]],
    ids=["empty", "short", "noise", "unsaid", "more", "huge", "endless", "less", "cut"],
)  # fmt: skip
def test_frames_that_lie(frame: bytes, templates: dict[str, Path], tmp_path: Path) -> None:
    path = copy(templates["zstd"], tmp_path / "universe")

    def data(content: bytearray, table: Table) -> None:
        table[0, 0], table[0, 1] = len(content), len(frame)
        content += frame

    file = reseal_tile(path, lambda table: None, data)

    def work() -> None:
        for look in (lambda: check(Universe.open(path)), lambda: advance(path, CASES["zstd"])):
            with pytest.raises(DamagedDataError) as found:
                look()
            refused(file, found.value)

    bounded(work)


def test_cells_beyond_the_last_column(templates: dict[str, Path], tmp_path: Path) -> None:
    path = copy(templates["between"], tmp_path / "universe")
    shutil.rmtree(path)
    CASES["between"].make(path).close()

    def data(content: bytearray, table: Table) -> None:
        content[int(table[0, 0]) + 15] |= 0x80  # column 127 of 100

    file = reseal_tile(path, lambda table: None, data)
    for look in (lambda: check(Universe.open(path)), lambda: Universe.open(path).grid(),
                 lambda: advance(path, CASES["between"])):  # fmt: skip
        with pytest.raises(DamagedDataError, match="beyond its last column") as found:
            look()
        refused(file, found.value)


@pytest.mark.parametrize("state", [5, 6, 7])
def test_states_that_the_rule_does_not_have(
    state: int, templates: dict[str, Path], tmp_path: Path
) -> None:
    """A cell at the end of the last row of a tile is in one of them."""
    path = copy(templates["states"], tmp_path / "universe")

    def data(content: bytearray, table: Table) -> None:
        end = int(table[0, 0] + table[0, 1])
        for plane in range(3):
            content[end - 8 * (3 - plane) + 7] |= (state >> plane & 1) << 7

    file = reseal_tile(path, lambda table: None, data)
    for look in (lambda: check(Universe.open(path)), lambda: Universe.open(path).grid(),
                 lambda: advance(path, CASES["states"])):  # fmt: skip
        with pytest.raises(DamagedDataError, match=f"in state {state}, where the rule") as found:
            look()
        refused(file, found.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 2}, "planes are not those of the rule"),
        ({"planes": 2}, "planes are not those of the rule"),
        ({"planes": 1}, "planes is out of range"),
        ({"planes": 9}, "planes is out of range"),
        ({"planes": None}, "planes is no integer"),
        ({"rule": "3458/37/9"}, "planes are not those of the rule"),
        ({"rule": "B3/S23"}, "planes are not those of the rule"),
        ({"rule": "WireWorld"}, "planes are not those of the rule"),
        ({"rule": "Unheard"}, "rule is none"),
        ({"rule": "Bugs"}, "planes are not those of the rule"),
    ],
)
def test_planes_that_are_not_the_rule_s(
    change: dict[str, Any], message: str, templates: dict[str, Path], tmp_path: Path
) -> None:
    path = copy(templates["states"], tmp_path / "universe")
    facts = unseal((path / "manifest.json").read_bytes())
    assert facts
    assert (facts["version"], facts["planes"]) == (3, 3)
    (path / "manifest.json").write_bytes(seal(facts | change))
    with pytest.raises(DamagedDataError, match=message) as found:
        Universe.open(path)
    refused(path, found.value)


def test_planes_of_two_states(templates: dict[str, Path], tmp_path: Path) -> None:
    """A universe of two states says nothing of planes, and is of the version before."""
    path = copy(templates["plain"], tmp_path / "universe")
    facts = unseal((path / "manifest.json").read_bytes())
    assert facts
    assert facts["version"] == 2
    assert "planes" not in facts
    (path / "manifest.json").write_bytes(seal(facts | {"version": 3, "planes": 1}))
    with pytest.raises(DamagedDataError, match="planes is out of range"):
        Universe.open(path)


@pytest.mark.sample(2)
@pytest.mark.parametrize("compression", ["none", "zstd"])
@pytest.mark.parametrize("cells", [(64, 2**38), (2**40, 8), (2**45, 2**16), (64, 2**55)])
def test_tiles_that_would_take_all_memory(
    cells: tuple[int, int], compression: str, templates: dict[str, Path], tmp_path: Path
) -> None:
    """A small file with a hole, of a tile that the manifest says is huge."""
    path = copy(templates["plain"], tmp_path / "universe")
    width, height = cells
    facts = unseal((path / "manifest.json").read_bytes())
    assert facts
    row = max(8, width // 8)
    size = 1 << 42
    facts |= {"width": width, "height": height, "columns": [0, width], "rows": [0, height],
              "population": 1, "pyramid": 0, "compression": compression, "steady": "0",
              "chunk_rows": max(8, (1 << 24) // row // 8 * 8),
              "tiles": [["0000-0000.0.h5", size, 4096, *["0" * 16] * 2, 1, "0" * 32]]}  # fmt: skip
    (path / "manifest.json").write_bytes(seal(facts))
    file = path / "tiles" / "0000-0000.0.h5"
    try:
        os.truncate(file, size)
    except OSError:
        pytest.skip("the file system has no files so large")

    def work() -> None:
        looks: list[Callable[[], object]] = [
            lambda: check(Universe.open(path)),
            lambda: Universe.open(path).grid(),
        ]
        if (width, compression) == (2**40, "zstd"):  # rates take a while to be measured
            looks.append(lambda: advance(path, CASES["plain"]))
        for look in looks:
            with pytest.raises(LifesimError) as found:
                look()
            assert len(str(found.value).splitlines()) == 1

    bounded(work)


def test_hdf5_is_given_no_file_of_others(templates: dict[str, Path], tmp_path: Path) -> None:
    """Links, external data, filters and shapes that it would follow are nobody's concern."""
    program = """if True:
        import sys
        sys.modules["h5py"] = None  # importing it fails
        from lifesim.cli import group
        group(sys.argv[1:])
    """
    path = copy(templates["plain"], tmp_path / "universe")
    for args in (["info"], ["verify", "--recompute"], ["render", "--out", str(tmp_path / "a.png")]):
        command = [sys.executable, "-c", program, args[0], str(path), *args[1:]]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
