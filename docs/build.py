"""Builds the site: `python docs/build.py [FOLDER]`, by default into build/docs.

Sphinx is given a copy of all pages, with the paths that they have in the project. So links between
them are the same here and where the sources are read, and nothing is made among the sources.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = ["*.md", "[!.]*/README.md", "kernels/**/README.md", "tests/emulation/README.md"]
PAGES += ["data/*/README.md", "benchmarks/RESULTS.md", "LICENSE"]


def gather(to: Path) -> None:
    """Copy all that the site is made of into a new folder."""
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(ROOT / "docs", to / "docs", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "data", to / "docs" / "gallery" / "data")  # programs run there
    for pattern in PAGES:
        for page in ROOT.glob(pattern):
            copy = to / page.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(page, copy)


def main() -> int:
    """Build the site and return the exit code; any warning is an error."""
    out = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "docs").resolve()
    sources, site = out / "sources", out / "site"
    gather(sources)
    shutil.rmtree(site, ignore_errors=True)
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--quiet", "--fresh-env"]
    command += ["-b", "html", "-c", str(sources / "docs"), "-d", str(out / "cache")]
    code = subprocess.run([*command, str(sources), str(site)]).returncode
    if code == 0:
        print(f"The documentation is {site / 'index.html'}")
    return code


if __name__ == "__main__":
    sys.exit(main())
