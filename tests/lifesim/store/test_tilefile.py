"""Sub-universe files: written and read here, and read with nothing but h5py and zstandard."""

from __future__ import annotations

import contextlib
import math
import os
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import h5py
import numpy as np
import pytest
import xxhash
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from lifesim.errors import DamagedDataError
from lifesim.grid import BitGrid, Box
from lifesim.store import disk
from lifesim.store.make import from_grid, make_universe
from lifesim.store.tilefile import (
    Dataset,
    TileFormat,
    TileRecord,
    chunk_rows,
    datasets,
)
from lifesim.store.tilereader import TileReader
from lifesim.store.tilewriter import TileWriter
from lifesim.store.tiling import tile_universe
from tests.quick import examples
from tests.universes import whole_grid

PAGE = 4096
ZSTD = 32015
ATTRIBUTES = {"universe": "ab12", "generation": 10**6, "x": 64, "y": 3}
Contents = dict[str, np.ndarray]


@pytest.fixture(scope="module", autouse=True)
def on_a_real_disk(real_disk: Path) -> Iterator[None]:
    """Work where files are read and written past the system's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(real_disk))
        yield


def contents(box: Box, form: TileFormat, seed: int = 1) -> Contents:
    """Return noise for every dataset; a third of it zero, so that there is something to compress.
    Bits of cells beyond the last column are zero, as they always are."""
    rng = np.random.default_rng(seed)
    made = {}
    for s in datasets(box.width, box.height, form):
        most, shape = np.iinfo(s.dtype).max, (s.rows, *s.row_shape)
        data = rng.integers(0, most, shape, s.dtype, endpoint=True)
        data[rng.random(data.shape) < 0.3] = 0
        if s.name == "cells" and box.width % 64:
            data[..., -1] &= np.uint64((1 << box.width % 64) - 1)
        made[s.name] = data
    return made


def chunks(box: Box, form: TileFormat, made: Contents) -> Iterator[tuple[Dataset, int, np.ndarray]]:
    for s in datasets(box.width, box.height, form):
        for chunk in range(s.chunks):
            rows = made[s.name][chunk * s.chunk_rows : (chunk + 1) * s.chunk_rows]
            memory = disk.aligned(s.chunk_bytes(chunk))
            memory[:] = rows.reshape(-1).view(np.uint8)
            yield s, chunk, memory


def write(
    folder: str, box: Box, form: TileFormat, made: Contents, name: str = "tile.h5"
) -> TileRecord:
    writer = TileWriter(folder, name, box, form, ATTRIBUTES)
    for part in chunks(box, form, made):
        writer.write(*part)
    return writer.finish(12, (34,))


@contextmanager
def written(
    box: Box, form: TileFormat, seed: int = 1
) -> Iterator[tuple[str, TileRecord, Contents]]:
    made = contents(box, form, seed)
    with TemporaryDirectory() as folder:
        yield folder, write(folder, box, form, made), made


def assert_reads_back(
    folder: str, record: TileRecord, box: Box, form: TileFormat, made: Contents
) -> None:
    reader = TileReader(folder, record, box, form)
    for s, chunk, data in chunks(box, form, made):
        assert np.array_equal(reader.read(s, chunk), data)
        assert np.array_equal(reader.read(s, chunk, disk.aligned(len(data) + 2 * PAGE)), data)
        if form.compression == "none":
            assert reader.stored_hash(s, chunk) == xxhash.xxh3_64_intdigest(data)
    with h5py.File(os.path.join(folder, record.file), "r") as file:
        assert sum(reader.check()) == file["chunks"][:, 1].sum()


def assert_h5py_reads(
    folder: str, record: TileRecord, box: Box, form: TileFormat, made: Contents
) -> None:
    """Read as someone would who knows nothing but what the file says of itself."""
    path = os.path.join(folder, record.file)
    raw = Path(path).read_bytes()
    with h5py.File(path, "r") as file:
        assert dict(file.attrs) == ATTRIBUTES
        assert set(file) == {"chunks", *made}
        table = file["chunks"]
        assert table.dtype == np.uint64
        assert table.id.get_offset() == record.table
        assert f"{xxhash.xxh3_64_intdigest(table[:])}" == f"{int(record.table_hash, 16)}"
        row = 0
        for name, data in made.items():
            dataset = file[name]
            assert (dataset.shape, dataset.dtype) == (data.shape, data.dtype)
            step = dataset.chunks[0] if dataset.chunks else dataset_chunk_rows(box, form, name)
            for first in range(0, len(data), step):
                offset, count, checksum = (int(value) for value in table[row])
                stored = raw[offset : offset + count]
                assert xxhash.xxh3_64_intdigest(stored) == checksum
                assert (
                    stored_rows(dataset, first, stored, step)
                    == data[first : first + step].tobytes()
                )
                row += 1
            if form.compression == "none":
                assert dataset.chunks is None
                assert np.array_equal(dataset[:], data)
                if data.nbytes >= PAGE:
                    assert dataset.id.get_offset() % PAGE == 0
        assert row == len(table)


def dataset_chunk_rows(box: Box, form: TileFormat, name: str) -> int:
    return {s.name: s.chunk_rows for s in datasets(box.width, box.height, form)}[name]


def stored_rows(dataset: Any, first: int, stored: bytes, step: int) -> bytes:
    """Return what the stored bytes of a chunk that starts at row `first` stand for."""
    if dataset.chunks is None:
        return stored
    plist = dataset.id.get_create_plist()
    assert [plist.get_filter(i)[0] for i in range(plist.get_nfilters())] == [ZSTD]
    mask, frame = dataset.id.read_direct_chunk((first, *(0 for _ in dataset.shape[1:])))
    assert (mask, frame) == (0, stored)
    rows = zstandard.ZstdDecompressor().decompress(frame)
    row_bytes = math.prod(dataset.shape[1:]) * dataset.dtype.itemsize
    assert len(rows) == step * row_bytes  # HDF5's chunks are whole
    count = min(step, dataset.shape[0] - first) * row_bytes
    assert not any(rows[count:])
    return rows[:count]


SIZES = [(1, 1), (1, 9), (64, 8), (65, 1), (4096, 1), (1000, 100), (777, 333), (64, 4097)]
# Sizes of which the chunks are whole pages, or only some of them are, or none.
FORMS = [
    TileFormat(8, "none", 0),
    TileFormat(64, "none", 5),
    TileFormat(512, "none", 12),
    TileFormat(8, "zstd", 0),
    TileFormat(64, "zstd", 5),
    # States of which planes hold no others, as contents() are any bits.
    TileFormat(64, "none", 5, 4),
    TileFormat(8, "zstd", 5, 8),
]


def form_name(form: TileFormat) -> str:
    return f"{form.compression}-{form.chunk_rows}-{form.top}-{form.states}"


@pytest.mark.sample(32)
@pytest.mark.parametrize("form", FORMS, ids=form_name)
@pytest.mark.parametrize("size", SIZES)
def test_written_and_read(size: tuple[int, int], form: TileFormat) -> None:
    box = Box(64, 3, *size)
    with written(box, form) as (folder, record, made):
        assert os.listdir(folder) == ["tile.h5"]
        assert record.size == os.path.getsize(os.path.join(folder, "tile.h5"))
        assert (record.population, record.partials) == (12, (34,))
        assert_reads_back(folder, record, box, form, made)
        assert_h5py_reads(folder, record, box, form, made)


@settings(max_examples=examples(40))
@given(
    st.integers(1, 3000),
    st.integers(1, 300),
    st.builds(TileFormat, st.integers(1, 40).map(lambda n: 8 * n),
              st.sampled_from(["none", "zstd"]), st.sampled_from([0, 3, 6, 13]),
              st.sampled_from([2, 4, 256])),
    st.integers(0, 1000),
)  # fmt: skip
def test_any_size(width: int, height: int, form: TileFormat, seed: int) -> None:
    box = Box(0, 0, width, height)
    with written(box, form, seed) as (folder, record, made):
        assert_reads_back(folder, record, box, form, {**made})
        path = os.path.join(folder, record.file)
        with h5py.File(path, "r") as file:
            if form.compression == "none":
                for name, data in made.items():
                    assert np.array_equal(file[name][:], data)


def test_what_hdf5plugin_reads() -> None:
    pytest.importorskip("hdf5plugin")
    box, form = Box(0, 0, 777, 333), TileFormat(64, "zstd", 5)
    with (
        written(box, form) as (folder, record, made),
        h5py.File(os.path.join(folder, record.file), "r") as file,
    ):
        for name, data in made.items():
            assert np.array_equal(file[name][:], data)


@pytest.mark.parametrize("compression", ["none", "zstd"])
def test_where_the_system_has_no_direct_files(
    monkeypatch: pytest.MonkeyPatch, compression: str
) -> None:
    """The bytes are the very ones that direct writes make, and each is read the other's way."""
    box, form = Box(0, 0, 4096, 777), TileFormat(64, compression, 5)
    with written(box, form) as (folder, record, made):
        monkeypatch.delattr(os, "O_DIRECT", raising=False)
        other = write(folder, box, form, made, "other.h5")
        assert_reads_back(folder, record, box, form, made)
        assert_h5py_reads(folder, other, box, form, made)
        if compression == "none":
            one, two = (Path(folder, name).read_bytes() for name in ("tile.h5", "other.h5"))
            assert one == two
        monkeypatch.undo()
        assert_reads_back(folder, other, box, form, made)


def test_a_file_system_that_refuses_direct_files(monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.open

    def refusing(path: str, flags: int, mode: int = 0o777, **more: Any) -> int:
        if flags & getattr(os, "O_DIRECT", 0):
            raise OSError(22, "Invalid argument", path)
        return real(path, flags, mode, **more)

    monkeypatch.setattr(os, "open", refusing)
    box, form = Box(0, 0, 4096, 100), TileFormat(64, "none", 5)
    with written(box, form) as (folder, record, made):
        assert_reads_back(folder, record, box, form, made)


@pytest.mark.parametrize("compression", ["none", "zstd"])
@pytest.mark.parametrize("width", [500, 4096])
def test_many_threads_write_and_read(width: int, compression: str) -> None:
    """Chunks come in any order, neighbours at once, that share pages or do not."""
    box, form = Box(0, 0, width, 1501), TileFormat(8, compression, 5)
    made = contents(box, form)
    parts = list(chunks(box, form, made))
    np.random.default_rng(1).shuffle(parts)  # type: ignore[arg-type]
    with TemporaryDirectory() as folder, ThreadPoolExecutor(8) as threads:
        writer = TileWriter(folder, "tile.h5", box, form, ATTRIBUTES)
        for _ in threads.map(lambda part: writer.write(*part), parts):
            pass
        record = writer.finish(12, (34,))
        assert_h5py_reads(folder, record, box, form, made)
        reader = TileReader(folder, record, box, form)
        right = threads.map(lambda part: np.array_equal(reader.read(*part[:2]), part[2]), parts)
        assert all(right)


def test_data_that_are_not_aligned() -> None:
    box, form = Box(0, 0, 4096, 100), TileFormat(64, "none", 0)
    made = contents(box, form)
    with TemporaryDirectory() as folder:
        writer = TileWriter(folder, "tile.h5", box, form, ATTRIBUTES)
        for s, chunk, data in chunks(box, form, made):
            shifted = np.empty(len(data) + 1, np.uint8)[1:]
            shifted[:] = data
            writer.write(s, chunk, shifted)
        assert_reads_back(folder, writer.finish(12, (34,)), box, form, made)


# --- names and ends ---------------------------------------------------------------------


@pytest.mark.parametrize("compression", ["none", "zstd"])
def test_drafts(compression: str) -> None:
    """Two are made at a time of one file, neither of which takes its name; given up, one is
    gone."""
    box, form = Box(0, 0, 500, 100), TileFormat(64, compression, 0)
    made = contents(box, form)
    with TemporaryDirectory() as folder:
        writers = [
            TileWriter(folder, "tile.h5", box, form, ATTRIBUTES, draft) for draft in ("a", "b")
        ]
        for part in chunks(box, form, made):
            for writer in writers:
                writer.write(*part)
        records = [writer.finish(12, (34,)) for writer in writers]
        assert records[0] == records[1]
        assert sorted(os.listdir(folder)) == ["a", "b"]
        writers[0].drop()
        assert os.listdir(folder) == ["b"]
        os.rename(os.path.join(folder, "b"), os.path.join(folder, "tile.h5"))
        assert_reads_back(folder, records[1], box, form, made)


@pytest.mark.parametrize("compression", ["none", "zstd"])
def test_a_file_that_is_given_up(compression: str) -> None:
    box, form = Box(0, 0, 500, 100), TileFormat(64, compression, 5)
    made = contents(box, form)
    with TemporaryDirectory() as folder:
        for count in (0, 1, 99):
            writer = TileWriter(folder, "tile.h5", box, form, ATTRIBUTES)
            assert os.listdir(folder) == ["tile.h5.tmp"]
            for part in list(chunks(box, form, made))[:count]:
                writer.write(*part)
            writer.drop()
            assert os.listdir(folder) == []
            writer.drop()


@pytest.mark.parametrize("compression", ["none", "zstd"])
def test_what_comes_after_the_end(compression: str) -> None:
    box, form = Box(0, 0, 500, 100), TileFormat(64, compression, 5)
    made = contents(box, form)
    with TemporaryDirectory() as folder:
        writer = TileWriter(folder, "tile.h5", box, form, ATTRIBUTES)
        for part in chunks(box, form, made):
            writer.write(*part)
        record = writer.finish(12, (34,))
        with contextlib.suppress(IndexError):
            writer.finish(12, (34,))
        writer.drop()
        assert os.listdir(folder) == ["tile.h5"]
        assert_reads_back(folder, record, box, form, made)


@pytest.mark.parametrize("compression", ["none", "zstd"])
def test_no_file_stays_open(compression: str) -> None:
    box, form = Box(0, 0, 500, 100), TileFormat(64, compression, 5)
    before = len(os.listdir("/proc/self/fd"))
    with written(box, form) as (folder, record, _):
        for _ in range(5):
            TileReader(folder, record, box, form)
        TileWriter(folder, "b.h5", box, form, ATTRIBUTES).drop()
        os.truncate(os.path.join(folder, "tile.h5"), 100)
        with pytest.raises(DamagedDataError):
            TileReader(folder, record, box, form)
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_file_that_is_not_there() -> None:
    box, form = Box(0, 0, 500, 100), TileFormat(64, "none", 0)
    with written(box, form) as (folder, record, _):
        os.unlink(os.path.join(folder, "tile.h5"))
        with pytest.raises(DamagedDataError, match=r"tile\.h5: the file is missing"):
            TileReader(folder, record, box, form)


# --- damage -----------------------------------------------------------------------------


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "form", [TileFormat(8, "none", 5), TileFormat(8, "zstd", 5)], ids=form_name
)
def test_flipped_bits_are_seen(form: TileFormat) -> None:
    """A bit is flipped in every 7th byte, wherever it is."""
    box = Box(0, 0, 300, 60)
    with written(box, form) as (folder, record, _):
        path = os.path.join(folder, record.file)
        with open(path, "r+b", buffering=0) as file:
            whole = file.read()
            for place in range(0, len(whole), 7):
                os.pwrite(file.fileno(), bytes([whole[place] ^ 1 << place % 8]), place)
                with pytest.raises(DamagedDataError):
                    for _ in TileReader(folder, record, box, form).check():
                        pass
                os.pwrite(file.fileno(), whole[place : place + 1], place)
        for _ in TileReader(folder, record, box, form).check():
            pass


def test_another_file_in_its_place() -> None:
    box, form = Box(0, 0, 300, 60), TileFormat(8, "none", 5)
    with written(box, form) as (folder, record, _):
        write(folder, box, form, contents(box, form, 2))
        with pytest.raises(DamagedDataError, match="another file in its place"):
            TileReader(folder, record, box, form)


# --- how chunks are cut -----------------------------------------------------------------


@given(st.integers(1, 1 << 20).map(lambda words: 8 * words))
def test_chunk_rows(row_bytes: int) -> None:
    rows = chunk_rows(row_bytes)
    size = rows * row_bytes
    assert rows > 0
    assert rows % 8 == 0
    least = math.lcm(8 * row_bytes, PAGE)  # whole pages of whole blocks of the pyramid
    if least <= 16 << 20:
        assert size % PAGE == 0
        assert size <= max(4 << 20, least)
    else:
        assert size <= max(4 << 20, 8 * row_bytes)
    assert size >= 2 << 20


@given(
    st.integers(1, 10**6),
    st.integers(1, 10**6),
    st.integers(1, 100).map(lambda n: 8 * n),
    st.sampled_from([0, *range(3, 21)]),
)
def test_datasets(width: int, height: int, rows: int, top: int) -> None:
    found = datasets(width, height, TileFormat(rows, "none", top))
    assert [s.name for s in found] == ["cells", *(f"s{k}" for k in range(3, top + 1))]
    first = 0
    for s in found:
        assert s.first == first
        first += s.chunks
        assert sum(s.chunk_bytes(chunk) for chunk in (0, s.chunks - 1)[: s.chunks]) > 0
        assert (s.chunks - 1) * s.chunk_rows < s.rows <= s.chunks * s.chunk_rows
        assert (s.chunks - 1) * s.chunk_rows * s.row_bytes + s.chunk_bytes(s.chunks - 1) == (
            s.rows * s.row_bytes
        )
    for k, s in enumerate(found[1:], 3):
        assert (s.rows, s.columns) == (math.ceil(height / 2**k), math.ceil(width / 2**k))


def test_levels_of_several_chunks(tmp_path: Path) -> None:
    """The chunks are of full size, as make_universe cuts them."""
    rng = np.random.default_rng(1)
    grid = BitGrid(9000, 10001)
    grid.words[:] = rng.integers(0, 1 << 64, grid.words.shape, np.uint64)
    grid.words[:, -1] &= np.uint64((1 << 9000 % 64) - 1)
    with make_universe(
        tmp_path / "u", tile_universe(9000, 10001, True, (1, 1)), from_grid(grid)
    ) as universe:
        reader = universe.reader(0)
        assert reader.sets[0].chunks > 2
        assert reader.sets[1].chunks > 1
        path = reader.path
        assert np.array_equal(whole_grid(universe).words, grid.words)
        with h5py.File(path, "r") as file:
            assert np.array_equal(file["cells"][:], grid.words)
