"""Enumerations in files: what comes back, and what is found out about files that are none."""

from __future__ import annotations

import itertools
import os
import re
import signal
import struct
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import h5py
import numpy as np
import pytest
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.transformations import CayleyTables, EnumerationProblem, Enumerator, as_maps
from kernels.transformations.ref import ReferenceSemigroupEngine
from semigroups import archive, bihecke, files, full, zero_rook
from semigroups.chunks import CHUNK
from semigroups.files import StoredError
from tests.damage import flips
from tests.quick import examples
from tests.transformations_model import assert_equal_tables, make_problem


def begun(problem: EnumerationProblem, most: int | None = None) -> Enumerator:
    """most: how many numbers are expanded, all by default."""
    enumerator = ReferenceSemigroupEngine().start(problem)
    while not enumerator.finished and enumerator.expanded != most:
        enumerator.expand(1 if most is not None else 1000)
    return enumerator


def assert_stored(path: Path, enumerator: Enumerator, checked: int = 0) -> None:
    """Assert that the file has what the enumerator has, and goes on to the same end."""
    problem, stored = enumerator.problem, files.load(path)
    again = stored.problem(memory=problem.memory)
    for name in ("monoid", "compare", "seed", "hash_bits", "degree", "letters", "memory"):
        assert getattr(again, name) == getattr(problem, name), name
    np.testing.assert_array_equal(again.generators, problem.generators)
    assert again.generators.dtype == problem.generators.dtype
    np.testing.assert_array_equal(again.points, problem.points)
    assert again.points.dtype == np.uint32
    assert_equal_tables(stored.tables, enumerator.tables())
    told = stored.summary
    assert (told.size, told.expanded, told.starts, told.finished, told.checked) == (
        *(enumerator.size, enumerator.expanded, enumerator.starts, enumerator.finished),
        checked,
    )


def test_what_is_stored_comes_back(tmp_path) -> None:
    path = tmp_path / "S.h5"
    wide = as_maps([np.roll(np.arange(300), 7), np.arange(300) // 2])
    problems = [
        make_problem(bihecke(3)),
        make_problem(full(3), monoid=False, seed=2**64 - 1),
        make_problem(zero_rook(3), [17, 3], compare=False, hash_bits=70),
        make_problem([[0]]),
        make_problem(wide[1:], monoid=False),
        make_problem([np.arange(66_000) // 2]),
    ]
    for problem in problems:
        for checked, most in ((0, 0), (0, 1), (7, None)):
            enumerator = begun(problem, most)
            files.save(path, enumerator, checked)
            assert_stored(path, enumerator, checked)
            assert os.listdir(tmp_path) == ["S.h5"]


@settings(max_examples=examples(25))
@given(data=st.data())
def test_at_every_place(data, tmp_path_factory) -> None:
    degree = data.draw(st.integers(1, 4))
    images = st.lists(st.integers(0, degree - 1), min_size=degree, max_size=degree)
    generators = data.draw(st.lists(images, min_size=1, max_size=3))
    problem = make_problem(generators, monoid=data.draw(st.booleans()))
    size = begun(problem).size
    enumerator = begun(problem, data.draw(st.integers(0, size)))
    path = tmp_path_factory.mktemp("files") / "S.h5"
    files.save(path, enumerator)
    assert_stored(path, enumerator)
    stored = files.load(path)
    on = ReferenceSemigroupEngine().start(stored.problem(1 << 30), stored.tables)
    while not on.finished:
        on.expand(5)
    assert_equal_tables(on.tables(), begun(problem).tables())


def test_slices(tmp_path, monkeypatch) -> None:
    """However long the slices are, the file is the same, and only a slice is asked for."""
    enumerator, asked = begun(make_problem(bihecke(3))), []
    array = enumerator.array

    def watched(name: str, start: int = 0, stop: int | None = None):
        part = array(name, start, stop)
        asked.append((name, part.nbytes))
        return part

    files.save(tmp_path / "whole", enumerator)
    monkeypatch.setattr(enumerator, "array", watched)
    for size in (1, 100):
        asked.clear()
        monkeypatch.setattr(files, "_SLICE", size)
        files.save(tmp_path / "sliced", enumerator)
        assert {name for name, _ in asked} == set(CayleyTables.ARRAYS)
        assert max(nbytes for _, nbytes in asked) <= max(size, 16)  # one row of each is longer
        assert_stored(tmp_path / "sliced", enumerator)
        assert (tmp_path / "sliced").read_bytes() == (tmp_path / "whole").read_bytes()


def test_saving_takes_little_memory(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(files, "_SLICE", 1 << 14)
    enumerator = begun(make_problem(full(4)))
    files.save(tmp_path / "S.h5", enumerator)  # what is imported once
    tracemalloc.start()
    try:
        files.save(tmp_path / "S.h5", enumerator)
        assert tracemalloc.get_traced_memory()[1] < 1 << 18
    finally:
        tracemalloc.stop()


def test_the_file_before_stays_until_the_new_one_is_whole(tmp_path, monkeypatch) -> None:
    path, enumerator = tmp_path / "S.h5", begun(make_problem(bihecke(3)))
    files.save(path, enumerator)
    before = path.read_bytes()
    array = enumerator.array
    for error in (MemoryError, KeyboardInterrupt, OSError):

        def failing(name: str, start: int = 0, stop: int | None = None, error=error):
            if name == "left":
                raise error
            return array(name, start, stop)

        monkeypatch.setattr(enumerator, "array", failing)
        with pytest.raises(error):
            files.save(path, enumerator)
        assert os.listdir(tmp_path) == ["S.h5"]
        assert path.read_bytes() == before


def test_where_nothing_can_be_written(tmp_path) -> None:
    enumerator = begun(make_problem([[0]]))
    with pytest.raises(FileNotFoundError, match=r"\[Errno 2\] No such file or directory: '.*S.h5'"):
        files.save(tmp_path / "no" / "S.h5", enumerator)
    with pytest.raises(OSError, match="this is no regular file"):
        files.save(tmp_path, enumerator)
    if os.path.exists("/dev/full"):
        with pytest.raises(OSError, match="this is no regular file"):
            files.save("/dev/full", enumerator)


FULL = """
import os, resource, sys
from kernels.transformations.ref import ReferenceSemigroupEngine
from semigroups import bihecke, files
from tests.transformations_model import make_problem

enumerator = ReferenceSemigroupEngine().start(make_problem(bihecke(3)))
while not enumerator.finished:
    enumerator.expand(100)
files.save(sys.argv[1], enumerator)
size = os.path.getsize(sys.argv[1])
for limit in [*range(0, size, size // 40), size - 1]:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        files.save(sys.argv[1], enumerator)
    except OSError as error:
        assert error.filename == sys.argv[1]
        print(error.strerror)
"""


def test_a_full_disk(tmp_path) -> None:
    """Wherever it gets full: one error, and HDF5 says nothing."""
    path, enumerator = tmp_path / "S.h5", begun(make_problem(bihecke(3)))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", FULL, str(path)],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert set(done.stdout.splitlines()) == {"File too large"}
    assert len(done.stdout.splitlines()) > 40
    assert os.listdir(tmp_path) == ["S.h5"]
    assert_stored(path, enumerator)


def test_nothing_is_left_of_a_save_that_is_interrupted(tmp_path) -> None:
    code = (
        "import sys\n"
        "from kernels.transformations.ref import ReferenceSemigroupEngine\n"
        "from semigroups import bihecke, files\n"
        "from tests.transformations_model import make_problem\n"
        "files._SLICE = 1\n"
        "enumerator = ReferenceSemigroupEngine().start(make_problem(bihecke(3)))\n"
        "while not enumerator.finished: enumerator.expand(100)\n"
        "try:\n"
        "    while True: files.save(sys.argv[1], enumerator)\n"
        "except KeyboardInterrupt: print('interrupted')\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "S.h5")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    ) as process:
        while not any(tmp_path.iterdir()):
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "interrupted\n", "")
    assert set(os.listdir(tmp_path)) <= {"S.h5"}


# --- files that are none ----------------------------------------------------------


@pytest.fixture
def stored(tmp_path) -> Path:
    files.save(tmp_path / "S.h5", begun(make_problem(bihecke(3)), 10))
    return tmp_path / "S.h5"


def refused(path: Path, says: str) -> None:
    with pytest.raises(StoredError, match=says) as caught:
        files.load(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert len(str(caught.value).splitlines()) == 1
    assert isinstance(caught.value, ValueError)


def test_other_files(tmp_path) -> None:
    path = tmp_path / "S.h5"
    with pytest.raises(FileNotFoundError):
        files.load(path)
    with pytest.raises(IsADirectoryError):
        files.load(tmp_path)
    for data in (b"", b"[[0]]\n"):
        path.write_bytes(data)
        refused(path, r": this is no HDF5 file$")
    path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    refused(path, r"S\.h5: (?!.*synchronously)")
    with h5py.File(path, "w") as file:
        file["first"] = [1, 2]
    refused(path, "no semigroup is stored in it")
    with h5py.File(path, "w") as file:
        file.attrs["type"] = np.bytes_("IntArray")
    refused(path, "no semigroup is stored in it")
    with h5py.File(path, "w") as file:
        file.attrs["type"] = "Semigroup"  # a string of variable length
    refused(path, "no semigroup is stored in it")


def test_truncated_files(stored) -> None:
    data = stored.read_bytes()
    for size in range(0, len(data), 97):
        stored.write_bytes(data[:size])
        refused(stored, ".")
        with pytest.raises(StoredError):
            files.summary(stored)


NUMBERS = ("version", "monoid", "compare", "hash_bits", "seed", "checked", "finished")
DATASETS = ("generators", "points", "starts", *CayleyTables.ARRAYS)
ALL = (*DATASETS, "digests", "digest")


@pytest.mark.parametrize("name", NUMBERS)
def test_attributes(stored, name) -> None:
    def changed(value: object) -> None:
        with h5py.File(stored, "r+") as file:
            if name in file.attrs:
                del file.attrs[name]
            if value is not None:
                file.attrs[name] = value

    told = {
        "version": "version 77; this reads version 2",
        "hash_bits": "hash_bits is 77000",
        "finished": "finished is 77",
    }
    says = {"monoid": "monoid is 77", "compare": "compare is 77"} | told
    changed(np.uint64(77000 if name == "hash_bits" else 77))
    refused(stored, says.get(name, "damaged: its digest is another"))
    changed(np.array([1, 2], np.uint64))
    refused(stored, f"the attribute {name} is an array")
    for value in (None, np.int64(1), "text", np.float64(1)):
        changed(value)
        refused(stored, f"the attribute {name} is missing")


def test_what_contradicts_itself(stored) -> None:
    with h5py.File(stored, "r+") as file:
        file.attrs["finished"] = np.uint64(1)
    refused(stored, "both that it is finished and that it is not")


@pytest.mark.sample(8)
@pytest.mark.parametrize("name", ALL)
def test_datasets(stored, name) -> None:
    with h5py.File(stored) as file:
        array = file[name][:]

    def changed(value: object) -> None:
        with h5py.File(stored, "r+") as file:
            if name in file:
                del file[name]
            if value is not None:
                file[name] = value

    changed(None)
    refused(stored, f"the dataset {name} is missing")
    changed(array.reshape(1, *array.shape))
    refused(stored, rf"{name} has \d dimensions instead of \d")
    for dtype in (np.float64, ">u2", np.int16, "S3"):
        changed(array.astype(dtype))
        refused(stored, rf"{name} is .*, not ")
    with h5py.File(stored, "r+") as file:
        del file[name]
        file.create_group(name)
    refused(stored, f"the dataset {name} is missing")
    for other in (array[:-1], np.concatenate([array, array[-1:]]), array[:0]):
        changed(other)
        refused(stored, ".")
    with h5py.File(stored, "r+") as file:
        del file[name]
        shape = (1 << 40, *array.shape[1:])
        file.create_dataset(name, shape, array.dtype, chunks=(1 << 10, *array.shape[1:]))
    tracemalloc.start()
    try:
        refused(stored, ".")
        assert tracemalloc.get_traced_memory()[1] < 1 << 24
    finally:
        tracemalloc.stop()


def resealed(path: Path, name: str, place: tuple[int, ...], value: int) -> None:
    """One number changed, as by somebody who computes the digest anew."""
    with h5py.File(path, "r+") as file:
        array = file[name][:]
        array[place] = value
        file[name][...] = array
        seal(file)


def seal(file: h5py.File, chunk: int = CHUNK) -> None:
    """Compute all digests anew."""
    digests: list[int] = []
    for each in DATASETS:
        data = file[each][:].tobytes()
        parts = (data[k : k + chunk] for k in range(0, len(data), chunk))
        digests += [xxhash.xxh3_64_intdigest(part) for part in parts]
    file["digests"][:] = digests
    numbers = [int(file.attrs[name]) for name in NUMBERS[:-1]]
    numbers += [length for name in DATASETS for length in file[name].shape]
    head = struct.pack(f"<{len(numbers) + len(digests)}Q", *numbers, *digests)
    file["digest"][0] = xxhash.xxh3_64_intdigest(head)


@pytest.mark.parametrize(
    ("name", "place", "value", "says"),
    [
        ("generators", (0, 0), 6, "generators have images that are not below the degree, 6"),
        ("points", (0,), 6, "points are numbers that are not below the degree, 6"),
        ("starts", (1,), 2, "the levels are not"),
        ("starts", (2,), -5, "the levels are not"),
        ("first", (3,), 4, "first names a generator that is not there"),
        ("suffix", (3,), 3, "a suffix is not of the level before"),
        ("prefix", (0,), 0, "prefix of the empty word is a number"),
        ("last", (3,), 2**32 - 1, "last names a generator that is not there"),
        ("right", (0, 0), 3, "a word's product is another element"),
        ("left", (0, 0), 2**32 - 1, "left names an element that is not there"),
    ],
)
def test_contents(stored, name, place, value, says) -> None:
    with h5py.File(stored, "r+") as file:
        file[name][place] = value
    refused(stored, "damaged: its digest is another")
    resealed(stored, name, place, value)
    refused(stored, says)


def test_more_than_memory_holds(stored, monkeypatch) -> None:
    needed = files.summary(stored).nbytes
    monkeypatch.setattr(archive, "available_memory", lambda: needed)
    with pytest.raises(MemoryError, match=rf"S.h5: [\d,]+ bytes, {needed:,} are available"):
        files.load(stored)
    assert files.summary(stored).nbytes == needed


def unlike(path: Path, data: bytes, enumerator: Enumerator) -> str | None:
    """Return what is said of a file, None where it is as it was."""
    path.write_bytes(data)
    try:
        assert_stored(path, enumerator)
    except StoredError as error:
        return str(error)
    return None


def check_flips(path: Path, every: int) -> None:
    enumerator = begun(make_problem(bihecke(3)), 10)
    files.save(path, enumerator)
    data = path.read_bytes()
    said = [unlike(path, bad, enumerator) for bad in itertools.islice(flips(data), 0, None, every)]
    told = [text for text in said if text]
    assert len(told) > len(said) // 8  # most of the rest is what HDF5 leaves room for
    assert all(
        len(text.splitlines()) == 1 and re.match(re.escape(f"{path}: "), text) for text in told
    )


def test_a_flipped_bit_is_found_or_harmless(tmp_path) -> None:
    check_flips(tmp_path / "S.h5", 797)


@pytest.mark.slow
def test_many_flipped_bits_are_found_or_harmless(tmp_path) -> None:
    check_flips(tmp_path / "S.h5", 29)
