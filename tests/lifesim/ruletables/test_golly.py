"""Golly's patterns of rule tables, moved on as bgolly moves them on."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from kernels.life.bytewise import packed, unpacked
from kernels.life.contract import LifeShape
from kernels.tables import engine_for
from kernels.targets.choose import pick
from lifesim.ruletables import find

FOLDER = Path(os.environ.get("GOLLY_PATTERNS", "/usr/share/golly/Patterns"))
RULES = FOLDER.parent / "Rules"
BGOLLY = shutil.which("bgolly")
FOLDERS = ("Loops", "Other-Rules", "Patersons-Worms", "Self-Rep", "Turmites", "Margolus")
# Cells that are read in a moment; Devore-rep.rle has 26 million.
MOST = 3_000_000
QUICK = ("Codd/coders", "Tempesti", "HPP-demo-small", "worm-1040512", "FibonacciSpiral")

needs_golly = pytest.mark.skipif(
    BGOLLY is None or not FOLDER.is_dir(), reason="Golly and its patterns are not installed"
)

States = npt.NDArray[np.uint8]


def read(path: Path) -> tuple[str, States]:
    """Return the rule and the cells of an RLE file."""
    lines = [line for line in path.read_text(errors="replace").splitlines() if line[:1] != "#"]
    head = next(line for line in lines if line.startswith("x"))
    body = "".join(lines[lines.index(head) + 1 :]).partition("!")[0]
    rows: list[list[int]] = [[]]
    for count, prefix, tag in re.findall(r"(\d*)([p-y]?)([.boA-X$])", body):
        if tag == "$":
            rows += [[] for _ in range(int(count or 1))]
        else:
            low = 0 if tag in ".b" else 1 if tag == "o" else ord(tag) - ord("A") + 1
            state = low + 24 * (ord(prefix) - ord("p") + 1 if prefix else 0)
            rows[-1] += [state] * int(count or 1)
    cells = np.zeros((len(rows), max(1, *map(len, rows), 1)), np.uint8)
    for y, row in enumerate(rows):
        cells[y, : len(row)] = row
    rule = re.search(r"rule\s*=\s*(\S+)", head)
    assert rule
    return rule[1], cells


def trimmed(cells: States) -> States:
    rows, columns = cells.any(axis=1).nonzero()[0], cells.any(axis=0).nonzero()[0]
    if not len(rows):
        return cells[:0, :0]
    return cells[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]


def files() -> list[Path]:
    return sorted(path for name in FOLDERS for path in FOLDER.glob(f"{name}/**/*.rle"))


def check(path: Path, folder: Path) -> bool:
    """Compare a pattern after some generations; return False where its rule has no table."""
    rule, cells = read(path)
    if cells.size > MOST or ":" in rule or "/" in rule:
        return False
    found = find(rule, [str(RULES)])
    if found is None:
        return False
    target = folder / "theirs.rle"
    for t in (0, 1, 64, 257):
        # The edge is so far away that nothing comes back from it.
        padded = np.pad(cells, t + 2)
        height, width = padded.shape
        shape = LifeShape(width, height, False, found.cells.planes)
        engine = engine_for(pick("cpu"), shape.planes)
        universe = engine.universe(packed(padded, shape.planes), shape, found.cells)
        universe.step(t)
        command = [str(BGOLLY), "-a", "RuleLoader", "-s", f"{RULES}/", "-m", str(t), "-q", "-q"]
        subprocess.run(
            [*command, "-o", str(target), str(path)], check=True, capture_output=True, timeout=300
        )
        ours = trimmed(unpacked(universe.words(), width))
        np.testing.assert_array_equal(ours, trimmed(read(target)[1]), f"{path.name} at {t}")
    return True


@needs_golly
def test_some_patterns(tmp_path: Path) -> None:
    chosen = [path for path in files() if any(part in str(path) for part in QUICK)]
    assert len(chosen) == len(QUICK)
    for path in chosen:
        assert check(path, tmp_path)


@pytest.mark.slow
@needs_golly
def test_all_patterns(tmp_path: Path) -> None:
    compared = [path for path in files() if check(path, tmp_path)]
    assert len(compared) == 59  # of Golly 3.3
