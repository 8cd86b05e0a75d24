"""Leads readers to where pages are: from the top of the site, and from links to programs."""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx

# A program of the gallery is a file in the sources, and a page of the site.
PROGRAM = re.compile(r"(\]\((?:\.\./)*)(?:docs/)?gallery/(\w+)\.py\)")
FRONT = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>bulkbits</title>
<meta http-equiv="refresh" content="0; url=docs/index.html">
</head><body><a href="docs/index.html">The documentation of bulkbits</a></body></html>
"""


def lead_to_programs(app: Sphinx, page: str, text: list[str]) -> None:
    """Have links to programs lead to their pages."""
    text[0] = PROGRAM.sub(r"\1programs/\2.rst)", text[0])


def write_front(app: Sphinx, failed: Exception | None) -> None:
    """Write a page that leads from the top to the first one, which is in a folder."""
    if failed is None and app.builder.format == "html":
        Path(app.outdir, "index.html").write_text(FRONT, "utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx of this extension."""
    app.connect("source-read", lead_to_programs)
    app.connect("build-finished", write_front)
    return {"parallel_read_safe": True}
