"""Tell bulkbits' packages `kernels` and `ui` from others that have these names.

Of two packages of one name Python imports the first on its path, and of two in one folder each file
is that of the distribution installed last. The errors that come of it say neither why nor what to
do; those raised here do. A package of ours has OWNER = "bulkbits" in its __init__.py.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # typing's own would be most of the time of importing this
if TYPE_CHECKING:
    from typing import NoReturn

_MARK = b'OWNER = "bulkbits"'
_AGAIN = "install bulkbits again (pip install --force-reinstall --no-deps bulkbits)"
_APART = "Each needs an environment of its own (python -m venv)"


class ForeignPackageError(ImportError):
    """Raised where a package that bulkbits needs is another distribution's, or is hidden by one."""

    exit_code = 2  # ExitCode.BAD_INPUT, here again so that nothing need be imported


def check(name: str) -> None:
    """Raise ForeignPackageError unless `import name` finds the package of bulkbits.

    Imports nothing: another's package may take long to import, or fail.
    """
    path = _path_of(name)
    if path is None:
        raise ForeignPackageError(f"bulkbits' package {name} is not here: {_AGAIN}")
    try:
        with open(path, "rb") as file:
            ours = _MARK in file.read(4096)
    except OSError:  # in an archive, or frozen: there is no file to look into
        return
    if ours:
        return
    if other := other_owner(name):
        raise ForeignPackageError(
            f"{path} is not bulkbits' package {name}, but that of the distribution {other}. "
            f"{_APART}; or uninstall {other.split()[0]}, and then {_AGAIN}"
        )
    raise ForeignPackageError(
        f"{path} is not bulkbits' package {name}, but hides it: rename it, or run this elsewhere"
    )


def refuse(name: str, attribute: str) -> NoReturn:
    """Raise what an attribute that bulkbits' package `name` does not have deserves.

    That is AttributeError, but ForeignPackageError where another distribution has a package of this
    name, too: who asks most likely wanted that one, and `from name import attribute` would show no
    message of an AttributeError.
    """
    missing = f"module {name!r} has no attribute {attribute!r}"
    if attribute.startswith("_") or _path_of(f"{name}.{attribute}") is not None:
        raise AttributeError(missing)
    other = other_owner(name)
    if other is None:
        raise AttributeError(missing)
    raise ForeignPackageError(
        f"{missing}: it is bulkbits' package, which hides that of the distribution {other}. "
        f"{_APART}; or uninstall bulkbits, and then install {other.split()[0]} again"
    )


def other_owner(name: str) -> str | None:
    """Return name and version of another distribution that has a package of this name, or None."""
    from importlib.metadata import packages_distributions, version

    # What a broken installation left behind may have no name.
    found = {owner for owner in packages_distributions().get(name, []) if owner}
    owners = sorted(found - {"bulkbits"})
    return f"{owners[0]} {version(owners[0])}" if owners else None


def _path_of(name: str) -> str | None:
    """Return the file that `import name` runs, None where there is none.

    Of a submodule the package must be imported already.
    """
    parent = name.rpartition(".")[0]
    where = sys.modules[parent].__path__ if parent else None
    for finder in sys.meta_path:
        if (spec := finder.find_spec(name, where)) is not None:
            return spec.origin
    return None
