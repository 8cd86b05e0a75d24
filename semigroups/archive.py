"""Read files of enumerations as far as is asked for; see files for what is in them.

Nothing in a file is believed before its digest is checked, and what is read of it is checked for
what could lead astray, as anybody can compute a digest.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any, cast

import h5py
import numpy as np
import numpy.typing as npt

from bulkbits.exit_codes import DamagedFileError, ExitCode
from kernels.targets.memory import available_memory
from kernels.transformations import CayleyTables, EnumerationProblem, Maps, NumberArray, image_dtype

from .chunks import CHUNK, DAMAGED, check_chunks, chunk_count, root_digest

TYPE = "Semigroup"
VERSION = 2
NUMBERS = ("version", "monoid", "compare", "hash_bits", "seed", "checked")
_HEAD = ("generators", "points", "starts")
DATASETS = (*_HEAD, *CayleyTables.ARRAYS)
_SLICE = 1 << 24  # bytes read at a time
_KEPT = 64  # chunks that are kept of those read last
_CHECKING = 8 << 20  # bytes that check_tables() takes for a while


class StoredError(ValueError):
    """Raised where a file holds no enumeration, or a damaged one; one line, "S.h5: ...".

    path: the file. reason: what is wrong with it. is_damaged: a digest is another than it was.
    """

    def __init__(self, path: str, reason: str, is_damaged: bool = False) -> None:
        super().__init__(f"{path}: {reason}")
        self.path, self.reason, self.is_damaged = path, reason, is_damaged

    @property
    def exit_code(self) -> ExitCode:
        """Return the code that a command ends with."""
        return ExitCode.DAMAGED if self.is_damaged else ExitCode.BAD_INPUT

    def __reduce__(self) -> tuple[Any, ...]:
        """Take apart for a copy or pickle."""
        return type(self), (self.path, self.reason, self.is_damaged), vars(self)


@dataclass(frozen=True, eq=False)
class Summary:
    """Holds what a file tells without its tables.

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
        """True if all elements were found."""
        return self.expanded == self.size

    def problem(self, generators: Maps, points: NumberArray, memory: int) -> EnumerationProblem:
        """Return the problem that was enumerated."""
        return EnumerationProblem(
            generators,
            points,
            monoid=self.monoid,
            compare=self.compare,
            memory=memory,
            seed=self.seed,
            hash_bits=self.hash_bits,
        )


@dataclass(frozen=True, eq=False)
class Stored:
    """Holds all of an enumeration from a file.

    load() has checked its tables, see check_tables().
    """

    summary: Summary
    generators: Maps
    points: NumberArray
    tables: CayleyTables

    def problem(self, memory: int) -> EnumerationProblem:
        """Return the problem that its tables are of."""
        return self.summary.problem(self.generators, self.points, memory)


@dataclass(frozen=True)
class DatasetPlace:
    """Tells where a dataset is in the file, in one piece. chunk: the first of its chunks."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    offset: int
    chunk: int = 0

    @property
    def nbytes(self) -> int:
        """Bytes of the dataset."""
        return prod(self.shape) * self.dtype.itemsize


class Archive:
    """Reads a file in parts, for any number of threads.

    summary: what it tells; of that the digest is checked. Of all else it is as it is read:
    array() raises StoredError for what is damaged.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.name = os.fspath(path)
        self._file = os.open(self.name, os.O_RDONLY | os.O_CLOEXEC)
        self.close = weakref.finalize(self, os.close, self._file)
        try:
            if stat.S_ISDIR(os.fstat(self._file).st_mode):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), self.name)
            if not h5py.is_hdf5(self.name):
                raise StoredError(self.name, "this is no HDF5 file")
            with self.errors():
                # Closed again at once: HDF5 locks a file as long as it has it open.
                with h5py.File(self.name, "r") as file:
                    told = os.fstat(self._file)
                    if not os.path.samestat(told, os.fstat(file.id.get_vfd_handle())):
                        raise ValueError("another file took its place as it was opened")
                    summary, places = _summary(file, told.st_size)
                    numbers = [int(file.attrs[name]) for name in NUMBERS]
                self._begin(places, numbers)
                self.summary = replace(summary, starts=self.array("starts").tolist())
        except BaseException:
            self.close()
            raise

    def _begin(self, places: dict[str, DatasetPlace], numbers: list[int]) -> None:
        """Check the digests of chunks by that of them all."""
        count = 0
        for name in DATASETS:
            places[name] = replace(places[name], chunk=count)
            count += chunk_count(places[name].nbytes)
        self._places = places
        self._kept: dict[int, npt.NDArray[np.uint8]] = {}
        if places["digests"].shape != (count,) or places["digest"].shape != (1,):
            raise DamagedFileError(DAMAGED)
        self._digests = self._raw("digests").view("<u8")
        shapes = [places[name].shape for name in DATASETS]
        if self._raw("digest").view("<u8")[0] != root_digest(numbers, shapes, self._digests):
            raise DamagedFileError(DAMAGED)

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of a dataset."""
        return self._places[name].shape

    def array(self, name: str, start: int = 0, stop: int | None = None) -> npt.NDArray[Any]:
        """Return rows start … stop - 1 of a dataset, all by default, which are undamaged."""
        place = self._places[name]
        start, stop, _ = slice(start, stop).indices(place.shape[0])
        shape = (max(0, stop - start), *place.shape[1:])
        row = prod(place.shape[1:]) * place.dtype.itemsize
        with self.errors():
            data = self._part(place, start * row, start * row + prod(shape) * place.dtype.itemsize)
        found = data.view(place.dtype).reshape(shape)
        return found.astype(place.dtype.newbyteorder("="), copy=False)

    @cached_property
    def generators(self) -> Maps:
        """Return the generators, whose images are checked to be points."""
        return self._points_of("generators", "generators have images")

    @cached_property
    def points(self) -> NumberArray:
        """Return the points whose images are rows, checked to be points."""
        return self._points_of("points", "points are numbers")

    def stored(self) -> Stored:
        """Return all that there is, undamaged; what it says is still to be checked."""
        arrays = {name: self.array(name) for name in CayleyTables.ARRAYS}
        tables = CayleyTables(self.summary.starts, **arrays)
        return Stored(self.summary, self.generators, self.points, tables)

    @contextlib.contextmanager
    def errors(self) -> Iterator[None]:
        """Make what goes wrong with the file a StoredError."""
        try:
            yield
        except StoredError:
            raise
        except (ValueError, KeyError, OSError, RuntimeError, TypeError) as error:
            reason = (str(error).strip("'\"").splitlines() or ["cannot be read"])[0]
            # HDF5 says in brackets what is wrong with the file.
            pattern = r"^(?:Unable to|Can't) synchronously [a-z ]+ \((.*)\)$"
            reason = re.sub(pattern, r"\1", reason)
            is_damaged = isinstance(error, DamagedFileError)
            raise StoredError(self.name, reason, is_damaged) from None

    def _points_of(self, name: str, what: str) -> npt.NDArray[Any]:
        array = self.array(name)
        with self.errors():
            if (array >= self.summary.degree).any():
                degree = self.summary.degree
                raise ValueError(f"{what} that are not below the degree, {degree}")
        return array

    def _part(self, place: DatasetPlace, start: int, stop: int) -> npt.NDArray[np.uint8]:
        """Return bytes start … stop - 1 of a dataset; all chunks that have some are checked."""
        first, last = start // CHUNK, chunk_count(stop)
        if start >= stop:
            return np.empty(0, np.uint8)
        begin = first * CHUNK
        if last - first == 1:
            data = self._kept.get(place.chunk + first)
            if data is None:
                data = self._checked(place, first, last)
                self._kept[place.chunk + first] = data
                if len(self._kept) > _KEPT:
                    with contextlib.suppress(KeyError, StopIteration, RuntimeError):
                        del self._kept[next(iter(self._kept))]  # others may be at it too
        else:
            data = self._checked(place, first, last)
        return data[start - begin : stop - begin]

    def _checked(self, place: DatasetPlace, first: int, last: int) -> npt.NDArray[np.uint8]:
        begin, end = first * CHUNK, min(last * CHUNK, place.nbytes)
        data = np.empty(end - begin, np.uint8)
        for start in range(0, end - begin, _SLICE):
            part = data[start : start + _SLICE]
            self._fill(part, place.offset + begin + start)
            chunk = place.chunk + first + start // CHUNK
            check_chunks(part, self._digests[chunk : chunk + chunk_count(len(part))])
        return data

    def _raw(self, name: str) -> npt.NDArray[np.uint8]:
        data = np.empty(self._places[name].nbytes, np.uint8)
        self._fill(data, self._places[name].offset)
        return data

    def _fill(self, data: npt.NDArray[np.uint8], offset: int) -> None:
        left = memoryview(cast(Any, data))
        while left:
            count = os.preadv(self._file, [left], offset)
            if not count:
                raise ValueError("damaged: it is shorter than it was")
            left, offset = left[count:], offset + count


def check_room(archive: Archive, memory: int = 0) -> None:
    """Raise MemoryError where there is not enough memory to read all tables and check them.

    memory: bytes that may be taken; 0 for what there is.
    """
    needed = archive.summary.nbytes + _CHECKING
    if memory and needed > memory:
        raise MemoryError(f"{archive.name}: {needed:,} bytes, memory (--memory) is {memory:,}")
    if needed > (free := available_memory()):
        raise MemoryError(f"{archive.name}: {needed:,} bytes, {free:,} are available")


def _summary(file: Any, size_of_file: int) -> tuple[Summary, dict[str, DatasetPlace]]:
    """Return what a file tells, and where its datasets are."""
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
    places = {name: _place(file, name, size_of_file) for name in (*DATASETS, "digests", "digest")}
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
        starts=[],  # to be read
        nbytes=sum(places[name].nbytes for name in DATASETS),
    )
    if _flag(file, "finished") != found.finished:
        raise ValueError("it says of itself both that it is finished and that it is not")
    return found, places


def dtype_of(name: str) -> str:
    """Return the dtype of a dataset by its name, but for the generators'."""
    return {"hashes": "<u8", "digests": "<u8", "digest": "<u8", "starts": "<i8"}.get(name, "<u4")


def _attribute(file: Any, name: str, kind: str) -> Any:
    """Return an attribute of that kind of dtype.

    Strings of variable length lie in a heap, and HDF5 can loop for ever in a damaged one.
    """
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


def _place(file: Any, name: str, size_of_file: int) -> DatasetPlace:
    """Return where a dataset is, checked to be in the file in full."""
    shape = _shape(file, name, 2 if name in ("generators", "right", "left", "hashes") else 1)
    dataset = file[name]
    expected = np.dtype(dtype_of(name))
    if name == "generators":
        expected = np.dtype(image_dtype(shape[1])).newbyteorder("<")
    if dataset.dtype != expected:
        raise ValueError(f"{name} is {dataset.dtype}, not {expected}")
    place = DatasetPlace(shape, expected, dataset.id.get_offset() or 0)
    if place.nbytes > size_of_file:
        raise ValueError(f"{name} {shape} is larger than the file")
    if place.nbytes and (not place.offset or place.offset + place.nbytes > size_of_file):
        raise ValueError(f"{name} is not in the file in one piece")
    return place
