"""Enumerations in HDF5 files, finished or to be gone on from.

The root has the attribute `type` = "Semigroup", a string of fixed length, and the numbers
`version`, `monoid`, `compare`, `hash_bits`, `seed`, `checked` and `finished`, all uint64. Its
datasets are those of kernels.transf.Problem and Tables: `generators` (m, degree), `points`,
`starts` int64, and `first`, `suffix`, `prefix`, `last`, `right`, `left` and `hashes`, then
`digest` uint64 (1,), all of them contiguous. Numbers count from the empty word, number 0, even
where the identity is no element.

checked: how many rules were found to hold for whole maps, where points are not all points.
digest: XXH3 of the numbers version … checked as uint64, then of the datasets in the order above,
each hashed with the digest before it as the seed.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt
import xxhash

from arith.draft import drafted
from kernels.memory import available_memory
from kernels.signals import undisturbed
from kernels.transf import Enumerator, Maps, Numbers, Problem, Tables, image_dtype
from kernels.transf.tables import check_tables

from .disk import Disk, put, short_errors

TYPE = "Semigroup"
VERSION = 1
_NUMBERS = ("version", "monoid", "compare", "hash_bits", "seed", "checked")
_HEAD = ("generators", "points", "starts")
_SLICE = 1 << 24  # bytes written or read at a time
_CHECKING = 64  # bytes an element that check_tables() takes for a while, besides `right` twice


class StoredError(ValueError):
    """A file that holds no enumeration; its text is one line, "S.h5: ..."."""


@dataclass(frozen=True, eq=False)
class Summary:
    """What a file tells without its tables.

    size, expanded, starts: as of an Enumerator. width: how many points rows are made of.
    checked: as above. nbytes: of all arrays.
    """

    degree: int
    letters: int
    width: int
    monoid: bool
    compare: bool
    hash_bits: int
    seed: int
    checked: int
    size: int
    expanded: int
    starts: list[int]
    nbytes: int

    @property
    def finished(self) -> bool:
        return self.expanded == self.size


@dataclass(frozen=True, eq=False)
class Stored:
    """An enumeration from a file; all its tables are checked, see check_tables()."""

    summary: Summary
    generators: Maps
    points: Numbers
    tables: Tables

    def problem(self, memory: int) -> Problem:
        """That its tables are of."""
        told = self.summary
        return Problem(
            self.generators,
            self.points,
            monoid=told.monoid,
            compare=told.compare,
            memory=memory,
            seed=told.seed,
            hash_bits=told.hash_bits,
        )


def save(path: str | os.PathLike[str], enumerator: Enumerator, checked: int = 0) -> None:
    """Slice by slice, so that only a few megabytes are taken.

    The file appears when it is whole: after a failure the one before is still there, and
    nothing else. Raises OSError with a short text.
    """
    problem = enumerator.problem
    numbers = {
        "version": VERSION,
        "monoid": int(problem.monoid),
        "compare": int(problem.compare),
        "hash_bits": problem.hash_bits,
        "seed": problem.seed,
        "checked": checked,
    }
    head = {
        "generators": problem.generators,
        "points": problem.points,
        "starts": np.array(enumerator.starts, np.int64),
    }
    kinds = {name: (array.shape, array.dtype.newbyteorder("<")) for name, array in head.items()}
    kinds |= {name: (shape, np.dtype(_dtype(name))) for name, shape in _shapes(enumerator).items()}
    attributes = numbers | {"finished": int(enumerator.finished)}
    with short_errors(path), drafted(path) as draft, open(draft, "xb+", buffering=0) as raw:
        with undisturbed():
            places = _lay_out(raw, attributes, kinds)
        digest = _begun(numbers.values())
        for name, (shape, dtype) in kinds.items():
            place, hashed = places[name], xxhash.xxh3_64(seed=digest)
            for start, stop in _slices(shape, dtype):
                array = head.get(name)
                part = enumerator.array(name, start, stop) if array is None else array[start:stop]
                data = _bytes(np.ascontiguousarray(part, dtype))
                hashed.update(data)
                put(raw, place, data)
                place += data.nbytes
            digest = hashed.intdigest()
        put(raw, places["digest"], _bytes(np.array([digest], "<u8")))


Kind = tuple[tuple[int, ...], np.dtype[Any]]  # shape and dtype of a dataset


def _lay_out(
    raw: io.FileIO, attributes: Mapping[str, int], kinds: Mapping[str, Kind]
) -> dict[str, int]:
    """Writes all but what is in the datasets; returns where that belongs in the file."""
    disk, places = Disk(raw), {}
    with h5py.File(disk, "w") as file:
        file.attrs["type"] = np.bytes_(TYPE)
        for name, number in attributes.items():
            file.attrs[name] = np.uint64(number)
        for name, (shape, dtype) in {**kinds, "digest": ((1,), np.dtype("<u8"))}.items():
            made = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            made.set_layout(h5py.h5d.CONTIGUOUS)
            made.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
            made.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
            made.set_obj_track_times(False)  # equal contents make equal files
            space, kind = h5py.h5s.create_simple(shape), h5py.h5t.py_create(dtype)
            dataset = h5py.h5d.create(file.id, name.encode(), kind, space, made)
            places[name] = dataset.get_offset() or 0  # None of empty ones
    disk.check()
    return places


def load(path: str | os.PathLike[str]) -> Stored:
    """Raises StoredError, in one line, where the file is something else or damaged.

    Raises MemoryError before taking memory that is not there, and OSError as open() does.
    """
    with _opened(path) as file:
        summary = _summary(file)
        needed = summary.nbytes + _CHECKING * summary.size + 2 * _dataset(file, "right").nbytes
        if needed > (free := available_memory()):
            raise MemoryError(f"{file.filename}: {needed:,} bytes, {free:,} are available")
        arrays = {name: _read(file, name) for name in (*_HEAD, *Tables.ARRAYS)}
        digest = _begun(int(file.attrs[name]) for name in _NUMBERS)
        for array in arrays.values():
            digest = _digest(array, digest)
        if _read(file, "digest").tolist() != [digest]:
            raise ValueError("damaged: its digest is another")
        generators, points, starts = (arrays.pop(name) for name in _HEAD)
        _check_below(generators, summary.degree, "generators have images")
        _check_below(points, summary.degree, "points are numbers")
        stored = Stored(summary, generators, points, Tables(starts.tolist(), **arrays))
        check_tables(stored.problem(memory=0), stored.tables)
        return stored


def summary(path: str | os.PathLike[str]) -> Summary:
    """Reads no tables, and so does not find out whether they are damaged; else as load()."""
    with _opened(path) as file:
        return _summary(file)


def _summary(file: Any) -> Summary:
    if _attribute(file, "type", "S") != TYPE.encode():
        raise ValueError("no semigroup is stored in it")
    version = _number(file, "version")
    if version != VERSION:
        raise ValueError(f"its format is of version {version}; this reads version {VERSION}")
    seed, bits, checked = (_number(file, name) for name in ("seed", "hash_bits", "checked"))
    if not 1 <= bits <= 128:
        raise ValueError(f"hash_bits is {bits}, not 1 to 128")
    letters, degree = _shape(file, "generators", 2)
    if not letters or not degree:
        raise ValueError(f"{letters} generators of degree {degree}")
    (width,), (size,), (expanded, _) = (
        _shape(file, name, ndim) for name, ndim in (("points", 1), ("first", 1), ("right", 2))
    )
    if not width:
        raise ValueError("no points")
    starts: list[int] = _read(file, "starts").tolist()
    found = Summary(
        degree=degree,
        letters=letters,
        width=width,
        monoid=_flag(file, "monoid"),
        compare=_flag(file, "compare"),
        hash_bits=bits,
        seed=seed,
        checked=checked,
        size=size,
        expanded=expanded,
        starts=starts,
        nbytes=sum(_dataset(file, name).nbytes for name in (*_HEAD, *Tables.ARRAYS)),
    )
    if _flag(file, "finished") != found.finished:
        raise ValueError("it says of itself both that it is finished and that it is not")
    return found


@contextlib.contextmanager
def _opened(path: str | os.PathLike[str]) -> Iterator[Any]:
    where = os.fspath(path)
    with open(where, "rb"):
        pass  # a plain OSError for what is missing or may not be read
    if not h5py.is_hdf5(where):
        raise StoredError(f"{where}: this is no HDF5 file")
    try:
        with h5py.File(where, "r") as file:
            yield file
    except (ValueError, KeyError, OSError, RuntimeError, TypeError) as error:
        reason = (str(error).strip("'\"").splitlines() or ["cannot be read"])[0]
        # Of HDF5's words what it says of the file.
        reason = re.sub(r"^(?:Unable to|Can't) synchronously [a-z ]+ \((.*)\)$", r"\1", reason)
        raise StoredError(f"{where}: {reason}") from None


def _slices(shape: tuple[int, ...], dtype: npt.DTypeLike) -> Iterator[tuple[int, int]]:
    """Of rows, none of which is longer than _SLICE bytes but where one row is."""
    row = np.dtype(dtype).itemsize * int(np.prod(shape[1:]))
    step = max(1, _SLICE // max(1, row))
    for start in range(0, shape[0], step):
        yield start, min(start + step, shape[0])


def _shapes(enumerator: Enumerator) -> dict[str, tuple[int, ...]]:
    size, letters = enumerator.size, enumerator.problem.letters
    return {
        **dict.fromkeys(("first", "suffix", "prefix", "last"), (size,)),
        "right": (enumerator.expanded, letters),
        "left": (enumerator.left_known, letters),
        "hashes": (size, 2),
    }


def _dtype(name: str) -> str:
    return {"hashes": "<u8", "digest": "<u8", "starts": "<i8"}.get(name, "<u4")


def _begun(numbers: Iterable[int]) -> int:
    return _digest(np.array(list(numbers), "<u8"), 0)


def _digest(array: npt.NDArray[Any], seed: int) -> int:
    little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    return xxhash.xxh3_64_intdigest(_bytes(little), seed=seed)


def _bytes(array: npt.NDArray[Any]) -> Any:
    return array.reshape(-1).view(np.uint8)


def _check_below(array: npt.NDArray[Any], degree: int, what: str) -> None:
    if (array >= degree).any():
        raise ValueError(f"{what} that are not below the degree, {degree}")


def _attribute(file: Any, name: str, kind: str) -> Any:
    """Strings of variable length lie in a heap, and HDF5 can loop for ever in a damaged one."""
    if name not in file.attrs or file.attrs.get_id(name).dtype.kind != kind:
        raise ValueError(f"no semigroup is stored in it: the attribute {name} is missing")
    value = file.attrs[name]
    if np.ndim(value):
        raise ValueError(f"the attribute {name} is an array")
    return value


def _number(file: Any, name: str) -> int:
    return int(_attribute(file, name, "u"))


def _flag(file: Any, name: str) -> bool:
    number = _number(file, name)
    if number > 1:
        raise ValueError(f"{name} is {number}, neither 0 nor 1")
    return bool(number)


def _shape(file: Any, name: str, ndim: int) -> tuple[int, ...]:
    dataset = file.get(name)
    if not isinstance(dataset, h5py.Dataset):
        raise ValueError(f"the dataset {name} is missing")
    if dataset.ndim != ndim:
        raise ValueError(f"{name} has {dataset.ndim} dimensions instead of {ndim}")
    shape: tuple[int, ...] = dataset.shape
    return shape


def _dataset(file: Any, name: str) -> Any:
    """Checked to be in the file in full."""
    _shape(file, name, 2 if name in ("generators", "right", "left", "hashes") else 1)
    dataset = file[name]
    expected = np.dtype(_dtype(name))
    if name == "generators":
        expected = np.dtype(image_dtype(dataset.shape[1]))
    if dataset.dtype != expected:
        raise ValueError(f"{name} is {dataset.dtype}, not {expected}")
    if dataset.nbytes > os.path.getsize(file.filename):
        raise ValueError(f"{name} {dataset.shape} is larger than the file")
    return dataset


def _read(file: Any, name: str) -> npt.NDArray[Any]:
    dataset = _dataset(file, name)
    result: npt.NDArray[Any] = np.empty(dataset.shape, dataset.dtype.newbyteorder("="))
    for start, stop in _slices(dataset.shape, dataset.dtype):
        dataset.read_direct(result[start:stop], np.s_[start:stop])
    return result
