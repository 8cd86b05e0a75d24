"""Golly's own collection: each of its files is read as Golly reads it, or refused by name."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from unittest import mock

import pytest

from kernels.life.rules import LifeRule, MapRule
from lifesim import patterns
from lifesim.errors import LifesimError
from lifesim.rule import LIFE
from lifesim.rules import files as rules

FOLDER = Path(os.environ.get("GOLLY_PATTERNS", "/usr/share/golly/Patterns"))
BGOLLY = shutil.which("bgolly")
FREE = 1 << 30  # bytes of memory that reading is told of, so that all machines read the same files
FILES, OPENED = 353, 337  # of Golly 3.3 as Debian 12 has it, with its rule files
REFUSED = {
    "unknown rule": 5,
    "of memory, 1 GiB are free": 7,
    "a script": 2,
    "the archive holds": 2,
}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BGOLLY is None, reason="bgolly is not installed"),
    pytest.mark.skipif(not FOLDER.is_dir(), reason="Golly's patterns are not installed"),
]


def outcome(path: Path) -> patterns.Pattern | str:
    with mock.patch("lifesim.grid.available_memory", return_value=FREE):
        try:
            return patterns.read(path)
        except LifesimError as error:
            return str(error)


def golly(path: Path, target: Path) -> str:
    """Have Golly write generation 0 to a file, and return what it says."""
    hashlife = ["-h"] if target.suffix == ".mc" else []
    command = [str(BGOLLY), *hashlife, "-m", "0", "-o", str(target), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    return done.stdout


def test_every_file_opens_as_in_golly_or_is_refused_by_name(tmp_path: Path) -> None:
    files = sorted(path for path in FOLDER.rglob("*") if path.is_file())
    rules.look_in([str(FOLDER.parent / "Rules")])
    try:
        found = {path: outcome(path) for path in files}
    finally:
        rules.look_in([])
    opened = {path: read for path, read in found.items() if not isinstance(read, str)}
    wrong = []
    for number, (path, pattern) in enumerate(opened.items()):
        if not isinstance((pattern.rule or LIFE).cells, LifeRule | MapRule):
            continue  # tests/benchmarks/test_collection.py compares those
        # A macrocell file says where cells are; HashLife, which writes it, has no B0, no bounds.
        placed = pattern.size is None and not (pattern.rule and not pattern.rule.stays_empty)
        target = tmp_path / f"{number}{'.mc' if placed else '.rle'}"
        said = golly(path, target)
        population = re.search(r"^0: ([0-9,]+)", said, re.MULTILINE)
        if population is None or int(population[1].replace(",", "")) != pattern.grid.population():
            wrong.append(f"{path}: {pattern.grid.population()} cells, Golly says {said}")
            continue
        again = patterns.read(target)
        target.unlink()
        place = not placed or (again.x, again.y) == (pattern.x, pattern.y)
        if (
            again.grid != pattern.grid
            or not place
            or (again.rule or pattern.rule) != (pattern.rule or again.rule)
        ):
            wrong.append(f"{path}: other cells at {pattern.x}, {pattern.y}: {again.x}, {again.y}")
    assert not wrong, "\n".join(wrong)
    refused = [read for read in found.values() if isinstance(read, str)]
    assert all(line.isprintable() and len(line) < 400 for line in refused)
    counts = {why: sum(why in line for line in refused) for why in REFUSED}
    nameless = [line for line in refused if not any(why in line for why in REFUSED)]
    assert not nameless, "\n".join(nameless)
    if len(files) == FILES:
        assert len(opened) == OPENED
        assert counts == REFUSED
