"""Write and read enumerations in HDF5 files, finished or to be gone on from.

The root has the attribute `type` = "Semigroup", a string of fixed length, and the numbers
`version`, `monoid`, `compare`, `hash_bits`, `seed`, `checked` and `finished`, all uint64. Its
datasets are those of EnumerationProblem and CayleyTables of kernels.transformations:
`generators` (m, degree), `points`, `starts` int64, and `first`, `suffix`, `prefix`, `last`,
`right`, `left` and `hashes`, then `digests` uint64 (chunks,) and `digest` uint64 (1,), all of them
contiguous. Numbers count from the empty word, number 0, even where the identity is no element.

checked: how many rules were found to hold for whole maps, where points are not all points.
digests: XXH3 of each chunk of CHUNK bytes of the datasets, in the order above; the last chunk of
each dataset may be shorter. So any part of a file can be read, and known to be undamaged, alone.
digest: XXH3 of the numbers version … checked and of all dimensions of the datasets, as uint64,
followed by `digests`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from bulkbits import hdf5
from kernels.transformations import Enumerator
from kernels.transformations.tables import check_tables

from .archive import TYPE, VERSION, Archive, Stored, StoredError, Summary, check_room, dtype_of
from .chunks import Chunked, chunk_count, root_digest
from .engines import EngineChoice
from .finished import Finished
from .running import EnumerationRunner

__all__ = ["Archive", "Stored", "StoredError", "Summary", "load", "save", "summary"]

_SLICE = 1 << 24  # bytes written at a time


def save(path: str | os.PathLike[str], enumerator: Enumerator, checked: int = 0) -> None:
    """Write an enumeration slice by slice, so that only a few megabytes are taken.

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
    kinds |= {
        name: (shape, np.dtype(dtype_of(name))) for name, shape in _shapes(enumerator).items()
    }
    count = sum(chunk_count(prod(shape) * dtype.itemsize) for shape, dtype in kinds.values())
    seals = {"digests": ((count,), np.dtype("<u8")), "digest": ((1,), np.dtype("<u8"))}
    numbered = numbers | {"finished": int(enumerator.finished)}
    attributes = {"type": np.bytes_(TYPE)} | {k: np.uint64(n) for k, n in numbered.items()}
    with hdf5.writing(path, {"": hdf5.Group(attributes, kinds | seals)}) as writer:
        digests: list[int] = []
        for name, (shape, dtype) in kinds.items():
            offset, hashed = 0, Chunked()
            for start, stop in _slices(shape, dtype):
                array = head.get(name)
                part = enumerator.array(name, start, stop) if array is None else array[start:stop]
                data = np.ascontiguousarray(part, dtype)
                hashed.update(_bytes(data))
                writer.write(name, data, offset)
                offset += data.nbytes
            digests += hashed.digests()
        sealed = np.array(digests, "<u8")
        digest = root_digest(numbers.values(), [shape for shape, _ in kinds.values()], sealed)
        writer.write("digests", sealed)
        writer.write("digest", np.array([digest], "<u8"))


def load(path: str | os.PathLike[str]) -> Stored:
    """Return all that a file holds, checked.

    Raises StoredError, in one line, where the file is something else or damaged, MemoryError
    before taking memory that is not there, and OSError as open() does.
    """
    with Archive(path) as archive, archive.errors():
        check_room(archive)
        stored = archive.stored()
        check_tables(stored.problem(memory=0), stored.tables)
        return stored


def open_stored(
    path: str | os.PathLike[str], engines: EngineChoice, memory: int
) -> EnumerationRunner:
    """Return what enumerates on from a file, or reads it as far as is asked for if it is finished.

    memory: bytes that it may take, 0 for what the engine takes by default. Raises as load() does.
    """
    archive = Archive(path)
    if archive.summary.finished:
        found = Finished.of(archive, memory)
        return EnumerationRunner(
            engines, found.problem, rules=archive.summary.checked, finished=found
        )
    with archive:
        check_room(archive)
        stored = archive.stored()
    problem = stored.problem(memory)
    try:
        return EnumerationRunner(engines, problem, tables=stored.tables)
    except ValueError as error:  # it checks the tables
        raise StoredError(archive.name, str(error)) from None


def summary(path: str | os.PathLike[str]) -> Summary:
    """Return what a file tells without its tables, which are not read; raises as load() does."""
    with Archive(path) as archive:
        return archive.summary


def nbytes_of(size: int, expanded: int, letters: int) -> int:
    """Return the bytes of a file of so many elements, `expanded` of which have their products."""
    return (4 * 4 + 16) * size + 2 * 4 * letters * expanded


def _slices(shape: tuple[int, ...], dtype: npt.DTypeLike) -> Iterator[tuple[int, int]]:
    """Yield slices of rows, none of them longer than _SLICE bytes but where one row is."""
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


def _bytes(array: npt.NDArray[Any]) -> Any:
    return array.reshape(-1).view(np.uint8)
