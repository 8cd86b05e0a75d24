"""Puts a page at the top of the site that leads to the first one, which is in a folder."""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>bulkbits</title>
<meta http-equiv="refresh" content="0; url=docs/index.html">
</head><body><a href="docs/index.html">The documentation of bulkbits</a></body></html>
"""


def write_front(app: Sphinx, failed: Exception | None) -> None:
    """Write the page, once all others are there."""
    if failed is None and app.builder.format == "html":
        Path(app.outdir, "index.html").write_text(PAGE, "utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx of this extension."""
    app.connect("build-finished", write_front)
    return {"parallel_read_safe": True}
