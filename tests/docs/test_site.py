"""The site: it builds without a warning and without network, and its pages work from the disk."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

import arith
import ckyparse
import lifesim
import semigroups

ROOT = Path(__file__).parents[2]

# Put before all else that Python does there: whoever asks for the network is refused, and what
# the extra `docs` does not bring is not there.
OFFLINE = """
import socket, sys

absent = ["PySide6", "pyqtgraph", "distributed", "dask", "cryptography", "pycuda"]
sys.modules.update(dict.fromkeys(absent))

def refuse(self, address, *rest):
    if self.family != socket.AF_UNIX:
        raise OSError(f"the documentation is built without network, not with {address}")

socket.socket.connect = socket.socket.connect_ex = refuse
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as scripts/docs does."""
    pytest.importorskip("sphinx")
    folder = tmp_path_factory.mktemp("site")
    (folder / "sitecustomize.py").write_text(OFFLINE)
    done = subprocess.run(
        [sys.executable, ROOT / "docs" / "build.py", folder / "out"],
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "out" / "site"


@pytest.mark.first
@pytest.mark.slow
def test_nothing_is_fetched_when_a_page_is_read(site: Path) -> None:
    loads = re.compile(
        r"""<(?:script|img|link|iframe|source)\b[^>]*\b(?:src|href)=["'](?:https?:)?//[^"']*"""
        r"""|(?:url\(|@import\s*)["']?(?:https?:)?//[^"')]*"""
    )
    found = {
        f"{path.relative_to(site)}: {load}"
        for path in [*site.rglob("*.html"), *site.rglob("*.css")]
        for load in loads.findall(path.read_text("utf-8"))
    }
    assert not found


@pytest.mark.first
@pytest.mark.slow
def test_links_between_pages_lead_somewhere(site: Path) -> None:
    texts = {path: path.read_text("utf-8") for path in site.rglob("*.html")}
    names = {path: set(re.findall(r"""\bid=["']([^"']+)""", text)) for path, text in texts.items()}
    lost = set()
    for page, text in texts.items():
        for link in re.findall(r"""<a\b[^>]*\bhref=["']([^"']+)""", text):
            if re.match(r"[a-z]+:", link):
                continue
            path, name = urldefrag(link)
            target = (page.parent / unquote(path)).resolve() if path else page
            if not target.exists() or (name and target in names and name not in names[target]):
                lost.add(f"{page.relative_to(site)}: {link}")
    assert not lost


@pytest.mark.first
@pytest.mark.slow
@pytest.mark.parametrize("package", [lifesim, ckyparse, arith, semigroups])
def test_the_reference_has_all_that_a_package_exports(package: object, site: Path) -> None:
    name = package.__name__
    text = (site / "docs" / "reference" / f"{name}.html").read_text()
    missing = [
        exported
        for exported in package.__all__
        if not re.search(rf'id="{name}\.(\w+\.)*{exported}"', text)
    ]
    assert not missing
