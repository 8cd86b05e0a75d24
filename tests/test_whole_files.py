"""Every writer of a file, by the order of its effects: written, synced, renamed, folder synced."""

from __future__ import annotations

import importlib
import os
import re
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from arith import IntArray, RationalArray
from arith.factors import save_moduli
from kernels import draft
from kernels.draft import Draft
from kernels.sums import SOURCE
from kernels.targets.cuda import compile as compiler
from lifesim import gif, patterns, render
from lifesim.engine import Life
from lifesim.grid import BitGrid
from lifesim.mp4 import Mp4Writer
from lifesim.outputs import open_output
from lifesim.store.make import from_grid, make_universe
from lifesim.store.tiling import tile_universe
from lifesim.view import PictureView
from semigroups import Semigroup
from tests.whole import recorded
from ui.film.series import Point, Series
from ui.parsing.files import write as write_text
from ui.start.kept import ThumbnailCache
from ui.start.thumbnails import Thumbnail

LEVELS = np.arange(64, dtype=np.uint8).reshape(8, 8)


def pattern(folder: Path) -> Path:
    path = folder / "a.rle"
    patterns.write(patterns.Pattern(BitGrid(3, 3)), path)
    return path


def packed_pattern(folder: Path) -> Path:
    path = folder / "a.mc.gz"
    patterns.write(patterns.Pattern(BitGrid(3, 3)), path)
    return path


def picture(folder: Path) -> Path:
    path = folder / "a.png"
    render.save_png(path, LEVELS)
    return path


def animation(folder: Path) -> Path:
    path = folder / "a.gif"
    with gif.GifWriter(str(path)) as writer:
        writer.append(LEVELS)
        writer.append(LEVELS[::-1])
    return path


def populations(folder: Path) -> Path:
    path = folder / "a.csv"
    output = open_output(str(path), 1, PictureView())
    life = Life(BitGrid(8, 8), backend="reference")
    output.add(life)
    output.close(life)
    return path


def thumbnail(folder: Path) -> Path:
    cache = ThumbnailCache(folder)
    cache.put("a", Thumbnail(LEVELS))
    (path,) = folder.glob("*.thumbnail")
    return path


def series(folder: Path) -> Path:
    path, points = folder / "s.csv", Series()
    points.add(Point(0, 5, 100, 1.0))
    points.save(path)
    return path


def film(folder: Path) -> Path:
    path = folder / "a.mp4"
    with Mp4Writer(str(path), 2, 2, 10.0, lambda: None) as writer:
        writer.append(np.zeros((2, 2, 3), np.uint8))
    return path


def sentences(folder: Path) -> Path:
    write_text(folder / "g.cfg", b"S -> 'a'\n")
    return folder / "g.cfg"


def integers(folder: Path) -> Path:
    IntArray([2**100, -5, 0]).save(folder / "n.h5")
    return folder / "n.h5"


def rationals(folder: Path) -> Path:
    RationalArray([1, 2]).save(folder / "q.h5")
    return folder / "q.h5"


def moduli(folder: Path) -> Path:
    save_moduli(folder / "m.h5", [15, 77])
    return folder / "m.h5"


def semigroup(folder: Path) -> Path:
    Semigroup([[1, 0], [0, 0]], backend="reference").save(folder / "S.h5")
    return folder / "S.h5"


def universe(folder: Path) -> Path:
    path = folder / "universe"
    tiling = tile_universe(64, 64, torus=True)
    make_universe(path, tiling, from_grid(BitGrid(64, 64))).close()
    return path / "manifest.json"


def kernel(folder: Path) -> Path:
    compiler.cubin(SOURCE, {"K": 3}, (9, 0))
    (path,) = (folder / "bulkbits" / "kernels").iterdir()
    return path


def bare(folder: Path) -> Path:
    with Draft(folder / "a") as draft:
        draft.append(b"one")
        draft.append(b"two")
    return folder / "a"


def printed(package: str, *args: str) -> Callable[[Path], Path]:
    """Return a writer: it has a command write to `out`, in its folder, and returns that path."""

    def run(folder: Path) -> Path:
        (folder / "g.cfg").write_text("S -> 'a' S 'b' | 'a'\n")
        (folder / "n").write_text("3\n4\n")
        main = importlib.import_module(f"{package}.cli").main
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(folder)
            patch.setattr(sys, "argv", [package, *args])
            patch.setattr(signal, "signal", lambda *_: None)
            with pytest.raises(SystemExit) as stop:
                main()
        assert not stop.value.code
        return folder / "out"

    return run


WRITERS: dict[str, Callable[[Path], Path]] = {
    "draft": bare,
    "pattern": pattern,
    "packed pattern": packed_pattern,
    "picture": picture,
    "animation": animation,
    "populations": populations,
    "series": series,
    "thumbnail": thumbnail,
    "film": film,
    "sentences": sentences,
    "integers": integers,
    "rationals": rationals,
    "moduli": moduli,
    "semigroup": semigroup,
    "universe": universe,
    "kernel": kernel,
    "arith eval": printed("arith", "eval", "neg", "n", "-o", "out"),
    "ckyparse convert": printed("ckyparse", "convert", "g.cfg", "-o", "out"),
    "semigroups convert": printed("semigroups", "convert", "full:2", "-o", "out"),
    "rules": printed("semigroups", "enumerate", "full:2", "--rules-out", "out"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return where writers write and kernels are cached; a program stands in for ffmpeg."""
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "ffmpeg").write_text(
        f"#!{sys.executable}\nimport sys\nopen(sys.argv[-1], 'wb').write(sys.stdin.buffer.read())\n"
    )
    (programs / "ffmpeg").chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=os.pathsep)
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(here))
    return here


@pytest.mark.parametrize("name", WRITERS)
def test_files_appear_whole(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if name == "kernel" and not compiler.found():
        pytest.skip("there is no CUDA compiler")
    with recorded(monkeypatch) as recorder:
        path = WRITERS[name](folder)
    recorder.check(path)
    assert path.stat().st_size
    assert not list(folder.rglob("*.tmp"))


@pytest.mark.parametrize("name", sorted({*WRITERS} - {"universe"}))  # that has names of its own
def test_writers_remove_what_killed_ones_left(name: str, folder: Path) -> None:
    if name == "kernel" and not compiler.found():
        pytest.skip("there is no CUDA compiler")
    path = WRITERS[name](folder)
    path.unlink()
    dead = Path(draft.Draft(path).temporary)
    dead.write_bytes(b"half")  # without a lock, which the system drops for those that are killed
    assert WRITERS[name](folder) == path
    assert not os.path.exists(dead)
    assert path.exists()


_OWN_WAY = re.compile(r"os\.(replace|rename|link|fsync)\(|NamedTemporaryFile|mkstemp|QSaveFile")
# The second has steps of its own, which tests/lifesim/store holds; the third measures a disk.
_MAY = {"kernels/draft.py", "lifesim/store/disk.py", "lifesim/disk_speed.py"}


def test_nobody_has_a_way_of_their_own() -> None:
    """No module but those of _MAY has its own way to write whole files, past the drafts."""
    root = Path(__file__).parents[1]
    packages = ("arith", "bulkbits", "ckyparse", "kernels", "lifesim", "semigroups", "ui")
    sources = [path for package in packages for path in (root / package).rglob("*.py")]
    assert len(sources) > 100
    found = {str(path.relative_to(root)) for path in sources if _OWN_WAY.search(path.read_text())}
    assert found == _MAY


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("unsynced", "took its name unsynced"),
        ("late", "was written to after it was synced"),
        ("under its name", "did not take its name at once"),
        ("afterwards", "was written to under its name"),
        ("folder", "was not synced"),
    ],
)
def test_the_recorder_notices(
    fault: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The recorder notices what a writer can do wrong."""
    beside, path = tmp_path / "beside", tmp_path / "a"

    def sync(place: Path) -> None:
        handle = os.open(place, os.O_RDONLY)
        os.fsync(handle)
        os.close(handle)

    with recorded(monkeypatch) as recorder:
        if fault == "under its name":
            path.write_bytes(b"one")
            sync(path)
        else:
            beside.write_bytes(b"one")
            if fault != "unsynced":
                sync(beside)
            if fault == "late":
                beside.write_bytes(b"two")
            os.replace(beside, path)
            if fault == "afterwards":
                path.write_bytes(b"two")
        if fault != "folder":
            sync(tmp_path)
    with pytest.raises(AssertionError, match=says):
        recorder.check(path)
