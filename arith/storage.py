"""Arrays of numbers in HDF5 files.

An IntArray is a group (the root for IntArray.save) with the attribute `type` =
"IntArray", a string of fixed length, and 1-D datasets: `limbs` uint64, the words of all
numbers, the lowest first; `lengths` int64, words of each; `negative` uint8, 8 signs to a
byte, the first in the lowest bit, left out where no number is negative. The attribute
`digest` is XXH3 of limbs, lengths and signs, each hashed with the digest before it as
the seed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt
import xxhash

from bulkbits import hdf5
from bulkbits.exit_codes import DamagedFileError
from kernels.bignum.numbers import Numbers
from kernels.targets.memory import available_memory

from . import convert
from .memory import NotEnoughMemoryError

TYPE = "IntArray"


def save(path: str | os.PathLike[str], batches: Mapping[str, Numbers], kind: str = TYPE) -> None:
    """Write batches of integers to a file that appears when it is whole. Raises OSError.

    batches: by the name of their group, "" for the root. kind: what the attribute `type` of the
    root says.
    """
    parts = {name: _parts(numbers) for name, numbers in batches.items()}
    groups = {name: _group(each) for name, each in parts.items()}
    if "" not in groups:
        groups = {"": hdf5.Group({"type": np.bytes_(kind)})} | groups
    with hdf5.writing(path, groups) as writer:
        for name, each in parts.items():
            for key, array in each.items():
                writer.write(f"{name}/{key}" if name else key, array)


def _parts(numbers: Numbers) -> dict[str, npt.NDArray[Any]]:
    """Return the datasets of a group."""
    packed = convert.pack(numbers)
    parts = {"limbs": packed.words.astype("<u8", copy=False)}
    assert packed.lengths is not None
    parts["lengths"] = packed.lengths.astype("<i8", copy=False)
    if packed.negative is not None:
        parts["negative"] = np.packbits(packed.negative, bitorder="little")
    return parts


def _group(parts: Mapping[str, npt.NDArray[Any]]) -> hdf5.Group:
    kinds = {name: (part.shape, part.dtype) for name, part in parts.items()}
    signs = parts.get("negative", np.zeros(0, np.uint8))
    digest = _digest(parts["limbs"], parts["lengths"], signs)
    return hdf5.Group({"type": np.bytes_(TYPE), "digest": digest}, kinds)


def _digest(*parts: Any) -> np.uint64:
    digest = 0
    for part in parts:
        digest = xxhash.xxh3_64_intdigest(part.view(np.uint8), seed=digest)
    return np.uint64(digest)


def load(
    path: str | os.PathLike[str], names: Iterable[str], kind: str = TYPE
) -> dict[str, Numbers]:
    """Read batches of integers by the names of their groups.

    Raises ValueError, in one line with the path, where the file is something else, and its
    subclass DamagedFileError where it is damaged.

    Raises MemoryError before taking memory that is not there, and OSError as open() does.
    """
    where = os.fspath(path)
    with open(where, "rb"):
        pass  # a plain OSError for what is missing or may not be read
    try:
        with h5py.File(where, "r") as file:
            if _attribute(file, "type", "S") != kind.encode():
                raise ValueError(f"no {kind} is stored in it")
            return {name: _read(file[name] if name else file) for name in names}
    except (ValueError, KeyError, OSError, RuntimeError, TypeError) as error:
        reason = str(error).strip('"').splitlines()[0]
        kind_of_error = DamagedFileError if isinstance(error, DamagedFileError) else ValueError
        raise kind_of_error(f"{where}: {reason}") from None


def _read(group: Any) -> Numbers:
    limbs, lengths = _dataset(group, "limbs", "u8"), _dataset(group, "lengths", "i8")
    # A damaged file may tell of any size: nothing is read that the rest contradicts.
    _check_room(group, 2 * lengths.nbytes)
    counts = lengths[:]
    convert.check_lengths(counts, len(limbs))
    _check_room(group, limbs.nbytes + limbs.nbytes // 8)
    signs, negative = np.zeros(0, np.uint8), None
    if "negative" in group:
        bits = _dataset(group, "negative", "u1")
        if len(bits) != -(-len(lengths) // 8):
            raise ValueError(f"{len(bits)} bytes of signs for {len(lengths)} numbers")
        signs = bits[:]
        negative = np.unpackbits(signs, count=len(lengths), bitorder="little").view(np.bool_)
    words = limbs[:]
    if _attribute(group, "digest", "u") != _digest(words, counts, signs):
        raise DamagedFileError("the numbers are damaged: their digest is another")
    return convert.ragged(words, counts, negative)


def _check_room(group: Any, nbytes: int) -> None:
    if nbytes > (free := available_memory()):
        raise NotEnoughMemoryError(group.file.filename, nbytes, free)


def _attribute(group: Any, name: str, kind: str) -> Any:
    """Return an attribute, None where there is none of that kind.

    Strings of variable length lie in a heap, and HDF5 can loop for ever in one that is damaged.
    """
    if name not in group.attrs or group.attrs.get_id(name).dtype.kind != kind:
        return None
    value = group.attrs[name]
    return value if np.ndim(value) == 0 else None


def _dataset(group: Any, name: str, dtype: str) -> Any:
    dataset = group[name]
    if not isinstance(dataset, h5py.Dataset) or dataset.ndim != 1 or dataset.dtype != dtype:
        raise ValueError(f"{name} is no one-dimensional dataset of {dtype}")
    return dataset
