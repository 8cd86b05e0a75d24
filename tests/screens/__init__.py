"""The screens that the documentation shows, made anew by a program.

    python -m tests.screens [NAME...] [--to FOLDER] [--theme dark|light] [--size 700x500]

writes docs/pictures/NAME.png for each screen, or those named. With --to they go elsewhere, to be
looked at, in other colours and sizes too; with QT_SCALE_FACTOR=2 as on a screen of twice as many
pixels. Screens of the window need no display; those of pages need Chromium, and JupyterLab.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.screens.stage import Screen

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"


def all_screens() -> dict[str, Screen]:
    """Return the screens by their names."""
    from tests.screens import pages, parsing, stage, viewer

    del pages, parsing, viewer  # which have filled it
    return stage.SCREENS
