"""Files of finished semigroups: read as far as is asked for, and never followed astray."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from kernels.transformations import SemigroupEngine
from semigroups import Semigroup, StoredError, archive, bihecke, chunks, full, zero_rook
from semigroups.archive import Archive
from semigroups.cli import main
from semigroups.engines import EngineChoice
from tests.commands import in_process
from tests.damage import flips
from tests.semigroups.test_files import seal


def no_engine(*given: Any, **options: Any) -> SemigroupEngine:
    raise AssertionError("an engine is started")


QUESTIONS: dict[str, Callable[[Semigroup], Any]] = {
    "size": lambda s: s.size,
    "levels": lambda s: s.levels,
    "certainty": lambda s: s.certainty,
    "base": lambda s: s.base,
    "repr": repr,
    "word": lambda s: [s.word(i) for i in range(s.size)],
    "words": lambda s: list(s.words()),
    "element": lambda s: [s.element(i).tolist() for i in (0, s.size - 1)],
    "elements": lambda s: s.elements(np.arange(s.size)).tolist(),
    "iter": lambda s: [x.tolist() for x in s],
    "positions": lambda s: s.positions(some_maps(s.degree)).tolist(),
    "identity": lambda s: s.contains_identity,
    "product": lambda s: s.product(np.arange(s.size), np.arange(s.size)[::-1]).tolist(),
    "right": lambda s: s.right_cayley.tolist(),
    "left": lambda s: s.left_cayley.tolist(),
    "rules": lambda s: list(s.rules),
    "idempotents": lambda s: s.idempotents.tolist(),
    "green": lambda s: [s.green(kind).of.tolist() for kind in ("R", "L", "J", "H", "D")],
    "gap": lambda s: s.to_gap(),
}


def some_maps(degree: int) -> np.ndarray:
    maps = np.random.default_rng(1).integers(0, degree, (200, degree))
    return np.concatenate([maps, maps // 2, np.arange(degree)[None]])


def saved(generators: Any, path: Path) -> Semigroup:
    made = Semigroup(generators, backend="reference")
    assert made.run()
    made.save(path)
    return made


CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "bihecke": (bihecke(3), {}),
    "full": (full(3), {"monoid": False}),
    "base": (zero_rook(3), {"base": [3]}),
    "auto": (zero_rook(3), {"base": "auto", "monoid": False}),
    "hash only": (bihecke(3), {"hash_only": True}),
    "one": ([[0]], {}),
    "constant": ([[1, 1]], {"monoid": False}),
}


@pytest.mark.sample(4)
@pytest.mark.parametrize("case", CASES)
def test_no_engine_is_needed(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    generators, options = CASES[case]
    made = Semigroup(generators, backend="reference", **options)
    expected = {name: ask(made) for name, ask in QUESTIONS.items()}
    made.save(tmp_path / "S.h5")
    monkeypatch.setattr(EngineChoice, "first", no_engine)
    for name, ask in QUESTIONS.items():  # each of a semigroup that was asked nothing else
        assert ask(Semigroup.load(tmp_path / "S.h5")) == expected[name], name
    found = Semigroup.load(tmp_path / "S.h5")
    assert {name: ask(found) for name, ask in QUESTIONS.items()} == expected
    found.save(tmp_path / "T.h5")
    assert (tmp_path / "T.h5").read_bytes() == (tmp_path / "S.h5").read_bytes()
    assert found.run()
    with pytest.raises(IndexError):
        found.word(found.size)


def test_unknown_maps_are_not_found(tmp_path: Path) -> None:
    saved(bihecke(4), tmp_path / "S.h5")
    found = Semigroup.load(tmp_path / "S.h5")
    assert found.size == 477
    assert found.positions(found.elements(np.arange(477))).tolist() == list(range(477))
    assert found.position(np.arange(24)[::-1]) is None
    assert [23] * 24 not in found or found.position([23] * 24) is not None


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> int:
    for module in (chunks, archive):
        monkeypatch.setattr(module, "CHUNK", 64)
    return 64


@pytest.fixture
def stored(tmp_path: Path, small_chunks: int) -> Path:
    saved(bihecke(4), tmp_path / "S.h5")
    return tmp_path / "S.h5"


def test_a_word_is_read_alone(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading a word takes only the chunks with its letters; damage elsewhere does not matter."""
    read: list[int] = []
    fill = Archive._fill

    def watched(self: Archive, data: Any, offset: int) -> None:
        read.append(data.nbytes)
        fill(self, data, offset)

    found = Semigroup.load(stored)
    monkeypatch.setattr(Archive, "_fill", watched)
    assert found.word(476) == (5, 1, 0, 2, 4, 3, 5, 4)
    assert 0 < sum(read) <= 2 * 8 * 64
    assert found.word(476) == (5, 1, 0, 2, 4, 3, 5, 4)
    assert len(read) <= 16  # kept
    with h5py.File(stored, "r+") as file:
        file["right"][100, 3] ^= 1
    found = Semigroup.load(stored)
    assert found.word(476) == (5, 1, 0, 2, 4, 3, 5, 4)
    with pytest.raises(StoredError, match=r"S.h5: damaged: its digest is another$"):
        len(found.rules)
    with h5py.File(stored, "r+") as file:
        file["suffix"][476] ^= 1
    with pytest.raises(StoredError, match=r"S.h5: damaged: its digest is another$"):
        Semigroup.load(stored).word(476)


def test_parts_of_any_length(stored: Path) -> None:
    with Archive(stored) as read, h5py.File(stored) as file:
        for name in archive.DATASETS:
            whole = file[name][:]
            for start, stop in ((0, None), (0, 1), (3, 5), (7, 40), (30, 31), (9, 9), (0, 10**9)):
                part = read.array(name, start, stop)
                assert np.array_equal(part, whole[start:stop]), name
                assert part.dtype == whole.dtype


def test_another_file_in_its_place(stored: Path) -> None:
    """An open semigroup stays what it was; and the file is not locked."""
    found = Semigroup.load(stored)
    saved(full(3), stored)
    assert found.word(476) == (5, 1, 0, 2, 4, 3, 5, 4)
    assert Semigroup.load(stored).size == 27
    os.truncate(stored, 100)
    with pytest.raises(StoredError):
        Semigroup.load(stored)


def test_a_file_that_becomes_shorter(stored: Path) -> None:
    found = Semigroup.load(stored)
    os.truncate(stored, 5000)
    with pytest.raises(StoredError, match=r"S\.h5: damaged: it is shorter than it was"):
        found.idempotents  # noqa: B018


@pytest.mark.sample(6)
@pytest.mark.parametrize(
    ("name", "place", "value", "question", "says"),
    [
        ("suffix", 476, 476, "word", "a suffix is not of the level before"),
        ("suffix", 476, 2**32 - 1, "word", "a suffix is not of the level before"),
        ("suffix", 2, 1, "word", "a suffix is not of the level before"),
        ("first", 476, 6, "word", "first names a generator that is not there"),
        ("first", 476, 6, "elements", "first names a generator that is not there"),
        ("suffix", 476, 476, "words", "a suffix is not of the level before"),
        ("right", (9, 2), 477, "rules", "right names an element that is not there"),
        ("left", (9, 2), 477, "idempotents", "left names an element that is not there"),
        ("hashes", (9, slice(None)), 0, "position", "two elements have the same hash"),
        ("hashes", (slice(None), slice(None)), 7, "position", "two elements have the same hash"),
    ],
)
def test_what_leads_astray(
    stored: Path, name: str, place: Any, value: int, question: str, says: str
) -> None:
    """Somebody has changed it and sealed it anew."""
    ask = QUESTIONS | {"word": lambda s: s.word(int(np.max(place))), "position": position_of_all}
    with h5py.File(stored, "r+") as file:
        array = file[name][:]
        array[place] = value
        if name == "hashes":
            array[10] = value
        file[name][...] = array
        seal(file, 64)
    found = Semigroup.load(stored)
    with pytest.raises(StoredError, match=rf"^{re.escape(str(stored))}: {says}$"):
        ask[question](found)


def position_of_all(found: Semigroup) -> int | None:
    return found.position(range(24))


@pytest.mark.parametrize("starts", [[0, 2], [0, 1, 7, 7], [0, 1, 600], [0, 1], [1, 2], [0, 1, -5]])
def test_levels_that_cannot_be(stored: Path, starts: list[int]) -> None:
    with h5py.File(stored, "r+") as file:
        array = file["starts"][:]
        array[: len(starts)] = starts
        array[len(starts) :] = array[-1]
        file["starts"][...] = array
        seal(file, 64)
    with pytest.raises(StoredError, match=r"S\.h5: the levels are not those of so many "):
        Semigroup.load(stored)


def test_what_is_not_in_one_piece(stored: Path) -> None:
    with h5py.File(stored, "r+") as file:
        array = file["left"][:]
        del file["left"]
        file.create_dataset("left", data=array, chunks=(10, 6))
    with pytest.raises(StoredError, match="left is not in the file in one piece"):
        Semigroup.load(stored)
    other = stored.with_name("raw")
    other.write_bytes(array.tobytes())
    with h5py.File(stored, "r+") as file:
        del file["left"]
        external = [(str(other), 0, array.nbytes)]
        file.create_dataset("left", array.shape, array.dtype, external=external)
    with pytest.raises(StoredError, match="left is not in the file in one piece"):
        Semigroup.load(stored)


def test_a_flipped_bit_is_found_or_harmless(tmp_path: Path) -> None:
    path = tmp_path / "S.h5"
    made = saved(bihecke(3), path)
    asked = ("size", "word", "positions", "rules", "left")
    expected = {name: QUESTIONS[name](made) for name in asked}
    said = []
    for bad in itertools.islice(flips(path.read_bytes()), 0, None, 1999):
        path.write_bytes(bad)
        try:
            found = Semigroup.load(path, backend="reference")
            assert {name: QUESTIONS[name](found) for name in asked} == expected
        except StoredError as error:
            said.append(str(error))
    assert len(said) > 3
    assert all(len(text.splitlines()) == 1 for text in said)


@pytest.mark.parametrize(
    ("command", "name", "place", "says"),
    [
        (["words", "S.h5", "476"], "suffix", 476, "a suffix is not of the level before"),
        (["words", "S.h5"], "suffix", 476, "a word does not end"),
        (["words", "S.h5"], "first", 476, "first names a generator that is not there"),
        (["resume", "S.h5", "--rules", "--quiet"], "right", (9, 2), "right names an element "),
        (["find", "S.h5", "maps.json"], "first", 476, "first names a generator that is not there"),
    ],
)
def test_commands_say_it_in_one_line(
    command: list[str],
    name: str,
    place: Any,
    says: str,
    stored: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    element = Semigroup.load(stored).element(476)
    stored.with_name("maps.json").write_text(f"[{element.tolist()}]")
    with h5py.File(stored, "r+") as file:
        array = file[name][:]
        array[place] = 477
        file[name][...] = array
        seal(file, 64)
    monkeypatch.chdir(stored.parent)
    done = in_process("semigroups", main, capsys, monkeypatch)(*command)
    assert (done.code, len(done.err.splitlines())) == (2, 1), done
    assert says in done.err
    assert "S.h5: " in done.err
