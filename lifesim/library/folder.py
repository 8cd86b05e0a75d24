"""Find the pattern files of a folder, whoever filled it."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator

# Those of lifesim.patterns.readable(), which takes numpy to ask.
PLAIN = (".rle", ".lif", ".l", ".life", ".cells", ".mc", ".mcl")
EXTENSIONS = (*(plain + end for plain in PLAIN for end in ("", ".gz")), ".zip")
MOST_FILES = 100_000  # that are looked at, patterns or not
MOST_DEPTH = 16  # folders in folders


def pattern_files(folder: str, note: Callable[[str], None]) -> Iterator[tuple[str, str]]:
    """Yield the names and paths of all pattern files in a folder and those in it, in the order of
    their names, as they are found.

    A name is the path below the folder without its extension, or with it where another file has
    that name. Hidden files are left out, links are followed to plain files within the folder only.
    note: is told, in a line, what was left out for other reasons. Raises OSError where the folder
    itself cannot be listed.
    """
    root = os.path.realpath(folder)
    left, taken = MOST_FILES, set[str]()
    waiting = [(root, 0)]
    while waiting:
        place, depth = waiting.pop()
        try:
            with os.scandir(place) as found:
                children = []
                for child in found:
                    if left <= 0:
                        break
                    left -= 1
                    children.append(child)
        except OSError as error:
            if place == root:
                raise
            note(f"cannot list {place}: {error.strerror or error}")
            continue
        folders = []
        for child in sorted(children, key=lambda child: child.name):
            if child.name.startswith("."):
                continue
            if child.is_dir(follow_symlinks=False):
                folders.append((child.path, depth + 1))
            elif child.name.lower().endswith(EXTENSIONS) and _may_be_read(child, root, note):
                below = os.path.relpath(child.path, root).replace(os.sep, "/")
                name = below[: -len(extension_of(below))]
                name = below if name in taken else name
                taken.add(name)
                yield name, child.path
        if left <= 0:
            note(f"{folder} holds more than {MOST_FILES:,} files: the others are left out")
            return
        if folders and depth >= MOST_DEPTH:
            note(f"{place} holds folders that lie too deep: they are left out")
            continue
        waiting += reversed(folders)


def extension_of(name: str) -> str:
    """Return the extension of a pattern file as it stands in its name; "" where there is none."""
    low = name.lower()
    fits = max((end for end in EXTENSIONS if low.endswith(end)), key=len, default="")
    return name[len(name) - len(fits) :]


def _may_be_read(child: os.DirEntry[str], root: str, note: Callable[[str], None]) -> bool:
    """Tell whether this is a plain file, or a link to one within the folder."""
    try:
        if not stat.S_ISREG(child.stat().st_mode):
            return False
    except OSError:
        note(f"{child.path} leads nowhere")
        return False
    if child.is_symlink() and not os.path.realpath(child.path).startswith(root + os.sep):
        note(f"{child.path} is a link out of the folder: it is left out")
        return False
    return True
