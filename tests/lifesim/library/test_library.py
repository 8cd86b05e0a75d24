"""Libraries of patterns: what is read of files, what is found, and what is left out."""

from __future__ import annotations

import gzip
import os
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from lifesim import BitGrid, patterns
from lifesim.errors import LifesimError
from lifesim.library import KINDS, PatternEntry, PatternLibrary, names
from lifesim.library.drawing import drawn
from lifesim.library.folder import EXTENSIONS, PLAIN
from tests.lifesim.library.speeds import speed_text

GUN = """#N Toad gun
#O A. Nobody, November 1970
#C https://conwaylife.com/wiki/Toad
#C It fires toads.
#C Second sentence.
#C Kind: Gun
#C Period: 30
#C Speed: c/2 orthogonal
#C Lifespan: 12
#C Also: p30 gun; toader
x = 36, y = 9, rule = B36/S23:T100,50
3o!
"""


def written(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_extensions_are_those_that_are_read() -> None:
    plain = set(PLAIN)
    assert plain | {".zip"} == set(patterns.readable())
    assert set(EXTENSIONS) == plain | {f"{end}.gz" for end in plain} | {".zip"}


def test_all_facts_of_a_file(tmp_path: Path) -> None:
    path = written(tmp_path, "guns/toad-gun.rle", GUN)
    [entry] = PatternLibrary.of_folder(tmp_path)
    assert entry == PatternEntry(
        "guns/toad-gun", "Toad gun", "gun", "B36/S23:T100,50", str(path), "A. Nobody", 1970,
        36, 9, 30, "c/2 orthogonal", 12, "It fires toads.", ("p30 gun", "toader"),
    )  # fmt: skip
    assert entry.size == "36x9"
    for name in ("TOAD GUN", "toader", "P30-gun", "guns/toad-gun", "guns toad gun"):
        assert PatternLibrary.of_folder(tmp_path).find(name) == entry


@pytest.mark.parametrize(
    ("name", "text", "facts"),
    [
        ("a.cells", "!Name: Block\n!Author: Conway (1970)\n!Still.\nOO\nOO\n",
         ("Block", "Conway", 1970, "B3/S23", 2, "Still.")),
        ("b.lif", "#Life 1.05\n#D A block\n#N\n#P 0 0\n**\n**\n",
         ("b", "", None, "B3/S23", None, "A block")),
        ("c.mc", "[M2] (golly 3.3)\n#R B36/S23\n#N Named\n",
         ("Named", "", None, "B36/S23", None, "")),
        ("d.mcl", "#MCell 4.00\n#GAME Life\n#RULE 23/3\n#COLORS 5\n#D Text\n#L 2A\n",
         ("d", "", None, "23/3", None, "Text")),
        ("e.rle.gz", gzip.compress(GUN.encode()),
         ("Toad gun", "A. Nobody", 1970, "B36/S23:T100,50", 36, "It fires toads.")),
        ("f.rle", "", ("f", "", None, "B3/S23", None, "")),
        ("g.rle", b"\x1f\x8bdamaged", ("g", "", None, "B3/S23", None, "")),
        ("h.rle", "#N \x1b[31mred\n#O 3 May 1999\nx = 999999999999999999, y = 1\n",
         ("\N{REPLACEMENT CHARACTER}[31mred", "", 1999, "B3/S23", 999999999999999999, "")),
    ],
)  # fmt: skip
def test_files_of_others(
    name: str, text: str | bytes, facts: tuple[object, ...], tmp_path: Path
) -> None:
    written(tmp_path, name, text)
    [entry] = PatternLibrary.of_folder(tmp_path)
    found = entry.title, entry.discoverer, entry.year, entry.rule, entry.width, entry.about
    assert found == facts
    assert entry.kind == ("gun" if "gun" in entry.title else "other")


def test_a_long_head_is_cut(tmp_path: Path) -> None:
    written(tmp_path, "a.rle", "#N " + "n" * 10**6 + "\n")
    written(tmp_path, "b.rle", gzip.compress(b"#C " + b"0" * 10**7))
    first, second = PatternLibrary.of_folder(tmp_path)
    assert (first.title, second.title) == ("a", "b")


def test_links_and_pipes_are_looked_at_before_they_are_opened(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    inside = written(folder, "inside.rle", GUN)
    outside = written(tmp_path, "outside.rle", GUN)
    (folder / "loop").symlink_to(folder, target_is_directory=True)
    (folder / "nowhere.rle").symlink_to(tmp_path / "missing")
    (folder / "other.rle").symlink_to(inside)
    (folder / "secret.rle").symlink_to(outside)
    (folder / "zero.rle").symlink_to("/dev/zero")
    (folder / ".hidden.rle").write_text(GUN)
    (folder / "folder.rle").mkdir()
    os.mkfifo(folder / "pipe.rle")
    library = PatternLibrary.of_folder(folder)
    assert [entry.name for entry in library] == ["inside", "other"]
    assert [note.split("/")[-1] for note in library.notes] == [
        "nowhere.rle leads nowhere",
        "secret.rle is a link out of the folder: it is left out",
    ]


def test_equal_names_are_told_apart(tmp_path: Path) -> None:
    for name in ("a.rle", "a.cells", "a.rle.gz"):
        written(tmp_path, name, GUN)
    assert [entry.name for entry in PatternLibrary.of_folder(tmp_path)] == [
        "a", "a.rle", "a.rle.gz",
    ]  # fmt: skip


def test_files_are_read_as_they_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lifesim.library import library as module

    for number in range(20):
        written(tmp_path, f"{number:02}.rle", GUN)
    asked = []

    def entry_of(path: str, name: str) -> PatternEntry:
        asked.append(name)
        return PatternEntry(name, name, "other", "B3/S23", path)

    monkeypatch.setattr(module, "entry_of", entry_of)
    library = PatternLibrary.of_folder(tmp_path)
    assert asked == []
    assert [entry.name for entry in islice(library, 3)] == ["00", "01", "02"]
    assert asked == ["00", "01", "02"]
    assert len(list(library)) == len(list(library)) == len(asked) == 20


def test_a_folder_of_too_many_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from lifesim.library import folder

    monkeypatch.setattr(folder, "MOST_FILES", 4)
    for name in "abcdef":
        written(tmp_path, f"{name}.rle", GUN)
    library = PatternLibrary.of_folder(tmp_path)
    assert len(list(library)) == 4
    assert library.notes == (f"{tmp_path} holds more than 4 files: the others are left out",)


def test_what_is_no_folder(tmp_path: Path) -> None:
    with pytest.raises(LifesimError, match="is no folder"):
        PatternLibrary.of_folder(tmp_path / "missing")


def test_an_entry_whose_file_is_gone(tmp_path: Path) -> None:
    path = written(tmp_path, "a.rle", GUN)
    library = PatternLibrary.of_folder(tmp_path)
    [entry] = library
    assert library.read(entry).grid.population() == 3
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(LifesimError, match="no file any more"):
        library.read(entry)


def test_search(tmp_path: Path) -> None:
    def put(name: str, *facts: str, rule: str = "B3/S23") -> None:
        written(tmp_path, name + ".rle", "\n".join([*facts, f"x = 1, y = 1, rule = {rule}", "o!"]))

    put("glider", "#N Glider", "#C Kind: spaceship", "#C Speed: c/4 diagonal", "#C Period: 4")
    put(
        "gosper-gun",
        "#N Gosper glider gun",
        "#C Kind: gun",
        "#C Period: 30",
        "#O Bill Gosper, 1970",
    )
    put("queen-bee", "#N Queen bee shuttle", "#C Kind: oscillator", "#C Period: 30",
        "#C Half of a glider gun.")  # fmt: skip
    put("day-gun", "#N Gun of the day", "#C Kind: gun", "#C Period: 300", rule="Day & Night")
    library = PatternLibrary.of_folder(tmp_path)

    def found(text: str = "", **chosen: str) -> list[str]:
        return [entry.name for entry in library.search(text, **chosen)]

    assert found() == ["day-gun", "glider", "gosper-gun", "queen-bee"]
    assert found("glider") == ["glider", "gosper-gun", "queen-bee"]
    assert found("gun glider") == ["gosper-gun", "queen-bee"]
    assert found("p30") == ["gosper-gun", "queen-bee"]
    assert found("p30 GUN") == ["gosper-gun", "queen-bee"]
    assert found("gosper 1970") == ["gosper-gun"]
    assert found("c/4 diagonal") == ["glider"]
    assert found("gspr") == ["gosper-gun"]
    assert found("xyzzy") == []
    assert found(kind="gun") == ["day-gun", "gosper-gun"]
    assert found("gun", rule="b3678s34678") == ["day-gun"]
    assert found("gun", rule="Life", kind="gun") == ["gosper-gun"]
    for wrong in ({"kind": "cannon"}, {"rule": "B3/S29"}):
        with pytest.raises(LifesimError):
            library.search(**wrong)


def test_ours_are_whole_and_in_order() -> None:
    entries = list(PatternLibrary.of_ours())
    assert [KINDS.index(entry.kind) for entry in entries] == sorted(
        KINDS.index(entry.kind) for entry in entries
    )
    assert len({entry.name for entry in entries}) == len(entries)
    assert PatternLibrary.of_ours() is PatternLibrary.of_ours()
    gun = PatternLibrary.of_ours().find("Gosper glider gun")
    assert gun is not None
    assert gun.name == "gosper-gun"
    assert PatternLibrary.of_ours().nearest("gosper-gnu") == ["gosper-gun"]


def test_our_names_are_known_where_a_file_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    gun = PatternLibrary.of_ours().find("gosper-gun")
    assert gun is not None
    for name in ("gosper-gun", "Gosper glider gun", "GOSPER-GUN"):
        assert names.file_called(name) == gun.path
        assert patterns.read(name) == patterns.read(gun.path)
    written(tmp_path, "gosper-gun", "x = 3, y = 1\n3o!\n")
    assert names.file_called("gosper-gun") is None
    assert patterns.read("gosper-gun").grid.population() == 3
    for name in ("", "-", ".", "..", "data/glider", "./glider", "nothing-like-it", "glider.rle"):
        assert names.file_called(name) is None
    with pytest.raises(LifesimError, match="is glider "):
        patterns.read("glidr")
    with pytest.raises(LifesimError, match="is glider "):
        patterns.read("glider.rle")
    with pytest.raises(LifesimError, match=r"No such file or directory$"):
        patterns.read("nothing-like-it")


def test_pictures_in_letters_are_exact() -> None:
    glider = BitGrid.from_cells(3, 3, [(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)])
    assert drawn(glider, 3, 3) == [".O.", "..O", "OOO"]
    assert drawn(glider, 2, 1) == ["⠬⠆"]
    assert drawn(glider, 1, 1) == []
    states = BitGrid.from_states(np.array([[0, 1, 2, 11]], np.uint8))
    assert drawn(states, 4, 1) == [".O2*"]


@pytest.mark.parametrize(
    ("moved", "text"),
    [
        ((0, 0, 7), ""),
        ((1, 0, 1), "c orthogonal"),
        ((0, -2, 4), "c/2 orthogonal"),
        ((4, 0, 10), "2c/5 orthogonal"),
        ((-8, 8, 96), "c/12 diagonal"),
        ((2, 2, 1846), "c/923 diagonal"),
        ((1, -2, 6), "(2,1)c/6"),
        ((12, 4, 42), "(6,2)c/21"),
    ],
)
def test_speeds_in_words(moved: tuple[int, int, int], text: str) -> None:
    assert speed_text(*moved) == text
