"""The version of this program, whether it is installed or used from its sources."""

from __future__ import annotations

from pathlib import Path

DISTRIBUTION = "bulkbits"


def version() -> str:
    """Return the version: of what is installed, else that of the sources, which it then says."""
    from importlib import metadata

    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return _of_sources(Path(__file__).parents[1] / "pyproject.toml")


def _of_sources(path: Path) -> str:
    """Return the version that a project's file says; "unknown" where it is not that of bulkbits."""
    import tomllib

    try:
        project = tomllib.loads(path.read_text("utf-8"))["project"]
        if project["name"] == DISTRIBUTION:
            return f"{project['version']} (from its sources, not installed)"
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return "unknown (not installed)"
