"""Finds the pictures that a program of the gallery has just drawn into the folder where it ran."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sphinx_gallery.scrapers import figure_rst


def found(block: tuple[Any, ...], block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Move the pictures to where the gallery wants them, and return what shows them."""
    there = Path(block_vars["src_file"]).parent
    shown = []
    for made in sorted(path for kind in ("png", "gif", "svg") for path in there.glob(f"*.{kind}")):
        place = Path(next(block_vars["image_path_iterator"])).with_suffix(made.suffix)
        shown.append(str(made.replace(place)))
    return figure_rst(shown, gallery_conf["src_dir"])
