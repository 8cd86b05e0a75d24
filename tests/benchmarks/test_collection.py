"""A part of Golly's collection against bgolly, by the program that compares all of it."""

from __future__ import annotations

import os
import shutil
import zipfile
from pathlib import Path

import pytest

from benchmarks import collection
from lifesim import patterns

FOLDER = Path(os.environ.get("GOLLY_PATTERNS", "/usr/share/golly/Patterns"))
BGOLLY = shutil.which("bgolly")


@pytest.mark.slow
@pytest.mark.skipif(BGOLLY is None, reason="bgolly is not installed")
@pytest.mark.skipif(not FOLDER.is_dir(), reason="Golly's patterns are not installed")
@pytest.mark.parametrize(
    "part", ["Life-Like", "Loops", "Larger-than-Life", "Bounded-Grids", "JvN/c"]
)
def test_cells_are_those_of_bgolly(part: str) -> None:
    rules = str(FOLDER.parent / "Rules")
    given = ["--golly", str(BGOLLY), "--patterns", str(FOLDER), "--rules", rules]
    given += ["--generations", "0,1,64"]
    found = [collection.in_time(given, path, 60) for path in collection.every_file(FOLDER / part)]
    assert any(outcome.is_equal for outcome in found)
    wrong = [outcome for outcome in found if outcome.why.startswith("generation ")]
    assert not wrong


def test_the_pattern_of_an_archive_is_unpacked_for_bgolly(tmp_path: Path) -> None:
    path, folder = tmp_path / "a.zip", tmp_path / "unpacked"
    folder.mkdir()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("in/glider.rle", "x = 3, y = 3\nbo$2bo$3o!\n")
        archive.writestr("in/Mine.rule", "@RULE Mine\n")
        archive.writestr("in/more.zip", b"")
    counting = tmp_path / "counting"  # in place of bgolly: says how often a file has the letter o
    counting.write_text('#!/bin/sh\nshift $(($# - 1))\necho "1: $(tr -cd o < "$1" | wc -c)"\n')
    counting.chmod(0o755)
    peer = collection.Peer(str(counting), folder, [], 60)
    assert peer.population(path, patterns.read(path), 1) == 3
    assert sorted(file.name for file in folder.iterdir()) == ["Mine.rule", "glider.rle"]


def test_a_table_has_a_line_for_each_family_and_each_reason() -> None:
    outcomes = [
        collection.Outcome("a.rle", "Life-like", True, (0, 64)),
        collection.Outcome("b.rle", "Life-like", True, (0,)),
        collection.Outcome("c.rle", "not read", False, why="refused"),
    ]
    lines = collection.table(outcomes, 64).splitlines()
    assert lines[2:5] == [
        "| Life-like | 2 | 2 | 2 | 1 |",
        "| not read | 1 | 0 | 0 | 0 |",
        "| all | 3 | 2 | 2 | 1 |",
    ]
    assert lines[-1].split() == ["1", "not", "read:", "refused"]
