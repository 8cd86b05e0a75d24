"""The manifest and the journal: round trips, and every kind of damage."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.ranges.rules import RangeRule
from kernels.tables.rules import TableRule
from lifesim.errors import DamagedDataError, LifesimError
from lifesim.rule import Rule
from lifesim.store.manifest import (
    Manifest,
    Phase,
    first_line,
    read_journal,
    read_manifest,
    tile_line,
    write_manifest,
)
from lifesim.store.names import TILE_NAME, draft_name, tile_name
from lifesim.store.sealed import seal, unseal
from lifesim.store.tilefile import TileFormat, TileRecord, table_bytes
from lifesim.store.tiling import Tiling, pyramid_top, tile_universe
from lifesim.store.undo import EditLog, UndoEntry
from lifesim.topology import Topology
from tests.damage import flips
from tests.quick import examples
from tests.strategies import rules
from tests.tables_contract import some_case

sums = st.integers(0, (1 << 128) - 1)
ageing = st.sampled_from(["/2/3", "12/2-a/6", f"MAP{'A' * 86}/9", "23/3/256"]).map(Rule.parse)
tables = st.sampled_from(
    [Rule.parse("WireWorld"), Rule.parse("Bugs"), Rule(some_case(3, 1).rule, "Some rule")]
)
hashes = st.integers(0, (1 << 64) - 1).map(lambda value: f"{value:016x}")


def record_of(
    draw: st.DrawFn,
    tiling: Tiling,
    form: TileFormat,
    tile: int,
    generations: st.SearchStrategy[int],
) -> TileRecord:
    """Return the facts of a file that the tile may have."""
    row, column = divmod(tile, tiling.across)
    box = tiling.box(tile)
    table = draw(st.integers(0, 1 << 50))
    rest = table_bytes(box.width, box.height, form)
    return TileRecord(
        file=tile_name(row, column, draw(generations)),
        size=draw(st.integers(table + rest, 1 << 51)),
        table=table,
        table_hash=draw(hashes),
        rest_hash=draw(hashes),
        population=draw(st.integers(0, box.width * box.height)),
        partials=tuple(draw(sums) for _ in range(form.planes)),
    )


@st.composite
def edit_logs(draw: st.DrawFn) -> EditLog:
    numbers = draw(st.lists(st.integers(1, 200), unique=True, max_size=6))
    entries = [UndoEntry(n, draw(st.sampled_from(["pasting", "random fill"]))) for n in numbers]
    cut = draw(st.integers(0, len(entries)))
    count = draw(st.integers(max(numbers, default=0), 300))
    return EditLog(count, tuple(entries[:cut]), tuple(entries[cut:]))


@st.composite
def manifests(draw: st.DrawFn, most: int = 4) -> Manifest:
    across, down = draw(st.integers(1, most)), draw(st.integers(1, most))
    tiling = tile_universe(
        64 * across - draw(st.integers(0, 63)),
        down + draw(st.integers(0, 99)),
        draw(st.booleans()),
        (across, down),
    )
    count, rule = len(tiling), draw(rules | ageing | tables)
    generation = draw(st.integers(0, 1000) | st.integers(0, 10**30))
    run = st.tuples(st.integers(0, generation), st.integers(generation + 1, 10**31))
    form = TileFormat(
        draw(st.integers(1, 9)) * 8,
        draw(st.sampled_from(["none", "zstd"])),
        draw(
            st.sampled_from([0, 3, 9, pyramid_top(tiling)]).map(partial(min, pyramid_top(tiling)))
        ),
        rule.states,
    )
    written = st.integers(0, generation)
    log = draw(st.none() | edit_logs())
    tiles = [record_of(draw, tiling, form, tile, written) for tile in range(count)]
    if log and log.count:
        row, column = divmod(count - 1, across)
        name = tile_name(row, column, draw(written), draw(st.integers(1, log.count)))
        tiles[-1] = replace(tiles[-1], file=name)
    return Manifest(
        draw(st.text("0123456789abcdef", min_size=1, max_size=32)),
        tiling,
        rule,
        generation,
        form,
        tuple(tiles),
        tuple(draw(st.lists(st.booleans(), min_size=count, max_size=count))),
        draw(st.integers(0, 10**6)),
        draw(st.none() | run),
        edits=log,
    )


def small(torus: bool = True) -> Manifest:
    tiles = tuple(
        TileRecord(tile_name(0, c, 7), 5000, 4096, "0" * 16, "f" * 16, 3, ((1 << 127) + c,))
        for c in range(2)
    )
    return Manifest(
        "ab12",
        Tiling((0, 64, 100), (0, 9), torus),
        Rule.parse("B36/S23"),
        7,
        TileFormat(8, "none", 3),
        tiles,
        (True, False),
        60,
        (7, 99),
    )


def journal(manifest: Manifest, *, done: int = 2) -> bytes:
    phase = Phase(manifest.generation, manifest.generation + 60, False)
    moved = [
        replace(tile, file=tile_name(0, c, phase.stop)) for c, tile in enumerate(manifest.tiles)
    ]
    lines = [tile_line(tile, (None, moved[tile])[tile % 2]) for tile in range(done)]
    return first_line(manifest, phase) + b"".join(lines)


# --- the manifest -----------------------------------------------------------------------


@settings(max_examples=examples(50))
@given(manifests())
def test_manifest_round_trip(manifest: Manifest) -> None:
    data = write_manifest(manifest)
    assert read_manifest(data, "m") == manifest
    facts = unseal(data)
    assert facts is not None
    is_of_version_5 = isinstance(manifest.rule.cells, TableRule | RangeRule)
    assert (facts["version"] == 5) == is_of_version_5
    assert (facts["width"], facts["height"]) == (manifest.tiling.width, manifest.tiling.height)
    assert facts["population"] == sum(tile.population for tile in manifest.tiles)


def test_what_a_manifest_sums_up() -> None:
    manifest = small(torus=False)
    assert manifest.topology is Topology.PLANE
    assert (manifest.population, manifest.stored_bytes) == (6, 10000)
    assert manifest.digest_sums == (1,)  # modulo 2^128


def test_two_states_are_written_as_ever() -> None:
    """Programs that know nothing of bit planes read them."""
    record = '["0000-000{}.7.h5",5000,4096,"0000000000000000","ffffffffffffffff",3,"8000000{}{}"]'
    first, second = (record.format(c, "0" * 24, c) for c in range(2))
    assert write_manifest(small()).decode() == (
        '{"checksum":"c27ee67cc6e66cbea39b2a3ef1c066ae","format":"lifesim universe","version":2,'
        '"id":"ab12","width":100,"height":9,"topology":"torus","rule":"B36/S23","origin":"",'
        '"generation":7,"population":6,"columns":[0,64,100],"rows":[0,9],"chunk_rows":8,'
        '"compression":"none","pyramid":3,"corner":null,"edge":null,"last":60,"run":[7,99],'
        f'"steady":"10","tiles":[{first},{second}]' + "}\n"
    )
    line = tile_line(1, small().tiles[1]).decode()
    assert line == f'{{"checksum":"772cf3d0625b087caf53ecabae551a92","tile":1,"record":{second}}}\n'


def test_every_flipped_bit_of_a_manifest_is_seen() -> None:
    for damaged in flips(write_manifest(small())):
        with pytest.raises(DamagedDataError, match=r"^m: the manifest is damaged"):
            read_manifest(damaged, "m")


def test_every_cut_of_a_manifest_is_seen() -> None:
    data = write_manifest(small())
    for end in range(len(data)):
        with pytest.raises(DamagedDataError):
            read_manifest(data[:end], "m")


def test_a_newer_manifest_and_another_format() -> None:
    facts = unseal(write_manifest(small()))
    assert facts is not None
    with pytest.raises(LifesimError, match="version 6 is newer"):
        read_manifest(seal({**facts, "version": 6, "rule": ["unheard of"]}), "m")
    with pytest.raises(DamagedDataError):
        read_manifest(seal({**facts, "format": "something else"}), "m")


# --- the journal ------------------------------------------------------------------------


@settings(max_examples=examples(50))
@given(manifests(), st.data(), st.booleans())
def test_journal_round_trip(manifest: Manifest, data: st.DataObject, keep: bool) -> None:
    count = len(manifest.tiling)
    start = manifest.generation
    phase = Phase(start, start + data.draw(st.integers(1, 10**20)), keep)
    tiles = st.lists(st.integers(0, count - 1), unique=True)
    for tile in data.draw(tiles):
        of = manifest.tiling, manifest.form, tile, st.just(phase.stop)
        phase.done[tile] = record_of(data.draw, *of) if data.draw(st.booleans()) else None
    lines = b"".join(tile_line(*item) for item in phase.done.items())
    whole = first_line(manifest, phase) + lines
    assert read_journal(whole, manifest, "j") == (phase, len(whole))
    later = replace(manifest, generation=phase.stop)
    assert read_journal(whole, later, "j") == (None, 0)


def test_a_journal_that_a_kill_cut_off() -> None:
    manifest = small()
    whole = journal(manifest)
    ends = [len(journal(manifest, done=done)) for done in range(3)]
    for end in range(ends[0], len(whole) + 1):
        phase, length = read_journal(whole[:end], manifest, "j")
        assert phase is not None
        assert len(phase.done) == sum(end >= at for at in ends[1:])
        assert length == max(at for at in ends if at <= end)


def test_every_flipped_bit_of_a_journal_is_seen() -> None:
    manifest = small()
    for damaged in flips(journal(manifest)):
        with pytest.raises(DamagedDataError, match=r"^j: the journal is damaged"):
            read_journal(damaged, manifest, "j")


def test_journals_that_do_not_belong() -> None:
    manifest = small()
    data = journal(manifest)
    with pytest.raises(DamagedDataError, match="of another universe"):
        read_journal(data, replace(manifest, id="cd34"), "j")
    with pytest.raises(DamagedDataError, match="starts at generation 7, the manifest is of 6"):
        read_journal(data, replace(manifest, generation=6), "j")
    for empty in (b"", b"\n", tile_line(0, None)):
        with pytest.raises(DamagedDataError, match="checksum of line 1"):
            read_journal(empty, manifest, "j")


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**40))
def test_names_of_tiles(row: int, column: int, generation: int) -> None:
    name = tile_name(row, column, generation)
    assert TILE_NAME.fullmatch(name)
    assert TILE_NAME.fullmatch(name + ".tmp")
    assert TILE_NAME.fullmatch(draft_name(name, uuid4().hex))
    others = ("manifest.json", name[:-1], name + ".tmp2", "x" + name, name.upper(), name + ".ab")
    for other in others:
        assert not TILE_NAME.fullmatch(other)
