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
import xxhash

from kernels.memory import available_memory

from . import convert
from .draft import drafted
from .integer import IntArray

TYPE = "IntArray"


def save(path: str | os.PathLike[str], arrays: Mapping[str, IntArray], kind: str = TYPE) -> None:
    """Arrays by the name of their group, "" for the root. Nothing is left of a failure.

    kind: what the attribute `type` of the root says.
    """
    with drafted(path) as draft, h5py.File(draft, "w") as file:
        file.attrs["type"] = np.bytes_(kind)
        for name, array in arrays.items():
            _write(file.require_group(name) if name else file, array)


def _write(group: Any, array: IntArray) -> None:
    packed = convert.pack(array.numbers())
    group.attrs["type"] = np.bytes_(TYPE)
    group.create_dataset("limbs", data=packed.words, dtype="<u8")
    group.create_dataset("lengths", data=packed.lengths, dtype="<i8")
    signs = np.zeros(0, np.uint8)
    if packed.negative is not None:
        signs = np.packbits(packed.negative, bitorder="little")
        group.create_dataset("negative", data=signs)
    group.attrs["digest"] = _digest(packed.words, packed.lengths, signs)


def _digest(*parts: Any) -> np.uint64:
    digest = 0
    for part in parts:
        digest = xxhash.xxh3_64_intdigest(part.view(np.uint8), seed=digest)
    return np.uint64(digest)


def load(
    path: str | os.PathLike[str], names: Iterable[str], kind: str = TYPE
) -> dict[str, IntArray]:
    """Raises ValueError, in one line with the path, where the file is something else.

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
        raise ValueError(f"{where}: {reason}") from None


def _read(group: Any) -> IntArray:
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
        raise ValueError("the numbers are damaged: their digest is another")
    return IntArray.from_numbers(convert.ragged(words, counts, negative))


def _check_room(group: Any, nbytes: int) -> None:
    if nbytes > (free := available_memory()):
        raise MemoryError(f"{group.file.filename}: {nbytes:,} bytes, {free:,} are available")


def _attribute(group: Any, name: str, kind: str) -> Any:
    """None where there is none of that kind.

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
