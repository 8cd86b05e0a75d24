"""Makes the screens: `python -m tests.screens --help`."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")


def main(words: list[str]) -> int:
    """Make the screens that are named, or all; the exit code."""
    from PySide6.QtWidgets import QApplication

    from tests.screens import PICTURES, all_screens
    from tests.screens.stage import Stage, save

    screens = all_screens()
    parser = argparse.ArgumentParser(prog="python -m tests.screens", description=__doc__)
    parser.add_argument("name", nargs="*", metavar="NAME", help=", ".join(screens))
    parser.add_argument("--to", type=Path, default=PICTURES, help="another folder")
    parser.add_argument("--theme", choices=("dark", "light"), help="for all of them")
    parser.add_argument("--size", metavar="WxH", help="of all windows")
    asked = parser.parse_args(words)
    if unknown := set(asked.name) - set(screens):
        parser.error(f"there is no screen {', '.join(sorted(unknown))}")
    app = QApplication([])
    for name in asked.name or screens:
        screen = screens[name]
        width, _, height = (asked.size or "").partition("x")
        size = (int(width), int(height)) if asked.size else screen.size
        with tempfile.TemporaryDirectory() as home:
            os.environ["HOME"] = os.environ["XDG_CACHE_HOME"] = home
            stage = Stage(Path(home), asked.theme or screen.theme, size)
            try:
                save(screen.make(stage), asked.to / f"{name}.png")
                print(asked.to / f"{name}.png", flush=True)
            except pytest.skip.Exception as why:
                print(f"{name} is not made: {why}", file=sys.stderr)
            finally:
                stage.leave()
    del app
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
