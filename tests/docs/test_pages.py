"""README.md and the pages of docs: all examples are run, in a fresh folder for each page."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageSequence

from tests.docs.pages import (
    ROOT,
    Piece,
    all_pages,
    check_printed,
    pieces,
    run_pycon,
    run_python,
    run_shell,
)

PAGES = all_pages()
ON_GPU = [page for page in PAGES if any(piece.needs_gpu for piece in pieces(page))]
MADE = "docs/pictures/made"  # pictures that commands on pages make

# What is not run here, and why.
LEFT_OUT = {
    r"scripts/": "this is one of them",
    r"pip install": "what is installed is what is tested",
    r"(lifesim|ckyparse) view": "a window, which tests/ui has",
    r"lifesim serve": "a server that stays, which tests/ui has",
    r".* --device 0,1,2,3": "four GPUs",
    r"dask (scheduler|worker)": "processes that stay, which tests/bulkbits/cluster has",
    r"from dask_jobqueue": "a queue of Slurm",
    r".*(scheduler\.json|tls://|/scratch/)": "a scheduler that is running",
}
# Smaller numbers, so that nothing takes minutes.
SMALLER = {
    "tcp://host:8786": "local:1",
    "--size 64K": "--size 4K",
    "--size 16K": "--size 4K",
    "--steps 16384": "--steps 1024",
    "--steps 2048": "--steps 256",
    "--memory 1G": "--memory 16M",
    "--region 30000,20000,": "--region 300,200,",
    "-n 100000": "-n 10000",
    "lifesim bench": "lifesim bench --size 256 --seconds 0.1",
    "semigroups bench bihecke:5": "semigroups bench bihecke:4",
    "arith bench": "arith bench --bits 256 --op add --count 10000",
    "ckyparse bench": "ckyparse bench --grammar 8,32 --length 8 --count 1024",
    "bihecke:6 --limit 1000000": "bihecke:5 --limit 10000",
}
# Exit codes that say something other than that all went well.
CODES = {
    r"arith shared-primes": {0, 1},  # something is found
    r"(.*\| )?ckyparse accept": {0, 1},  # something is rejected
    r"semigroups enumerate .*--limit": {1},
    r"semigroups find": {0, 1},
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that examples run in; it has the data of the sources, as a checkout has."""
    shutil.copytree(ROOT / "data", tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_command(piece: Piece, page: str, folder: Path) -> None:
    text = piece.text
    if piece.printed is None:
        for large, small in SMALLER.items():
            text = re.sub(re.escape(large) + r"(?![KMG])", small, text)
    code, came = run_shell(text, folder)
    codes = next((codes for start, codes in CODES.items() if re.match(start, text)), {0})
    assert code in codes, (text, code, came)
    assert "Traceback" not in came, (text, came)
    check_printed(piece, came, page)


def run_page(page: str, folder: Path, *, commands: bool = True, gpu: bool = False) -> None:
    """Run what is on a page, in order; without a GPU all but what needs one."""
    names: dict[str, Any] = {"__name__": "page"}
    for piece in pieces(page):
        left_out = any(re.match(start, piece.text) for start in LEFT_OUT)
        if left_out or (piece.needs_gpu and not gpu):
            continue
        if piece.kind == "python":
            run_python(piece, page, names)
        elif piece.kind == "pycon":
            run_pycon(piece, page, names)
        elif commands:
            run_command(piece, page, folder)


def check_pictures(page: str, folder: Path) -> None:
    """Compare the pictures that a page made with those it shows; PICTURES=keep replaces these."""
    for shown in re.findall(r"\]\(([^)]*pictures/made/[^)]*)\)", (ROOT / page).read_text()):
        kept, made = (ROOT / page).parent / shown, folder / Path(shown).name
        assert made.exists(), f"{page} shows {made.name}, which nothing on it makes"
        if os.environ.get("PICTURES") == "keep":
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(made, kept)
        assert same_picture(made, kept), f"{page}: {made.name} is no longer what {shown} shows"


def same_picture(one: Path, other: Path) -> bool:
    """Tell whether two pictures have the same pixels, in each frame."""
    frames = []
    for path in (one, other):
        with Image.open(path) as picture:
            frames.append(
                [np.asarray(frame.convert("RGB")) for frame in ImageSequence.Iterator(picture)]
            )
    return len(frames[0]) == len(frames[1]) and all(map(np.array_equal, *frames))


def test_python_of_the_readme(folder: Path) -> None:
    assert any(piece.kind == "python" for piece in pieces("README.md"))
    run_page("README.md", folder, commands=False)


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_page(page: str, folder: Path) -> None:
    run_page(page, folder)
    check_pictures(page, folder)


@pytest.mark.gpu
@pytest.mark.parametrize("page", ON_GPU)
def test_page_on_a_gpu(page: str, folder: Path) -> None:
    run_page(page, folder, gpu=True)


def test_each_reason_for_leaving_out_is_needed() -> None:
    texts = [piece.text for page in PAGES for piece in pieces(page)]
    for start in LEFT_OUT:
        assert any(re.match(start, text) for text in texts), start
    for large in SMALLER:
        assert any(large in text for text in texts), large


def test_links_lead_to_files() -> None:
    """Sphinx looks at links of the pages; this is for those who read in the sources."""
    lost = [
        f"{page.relative_to(ROOT)}: {link}"
        for page in [*ROOT.glob("*.md"), *ROOT.glob("*/README.md"), *(ROOT / "docs").rglob("*.md")]
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text())
        if not (page.parent / link).exists()
    ]
    assert not lost


def test_each_picture_that_is_kept_is_shown() -> None:
    shown = "".join(path.read_text() for path in (ROOT / "docs").rglob("*.md"))
    shown += (ROOT / "README.md").read_text()
    unused = [
        path.name for path in (ROOT / "docs/pictures").rglob("*.*g*") if path.name not in shown
    ]
    assert not unused
