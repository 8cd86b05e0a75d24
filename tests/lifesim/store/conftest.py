"""Where universes of these tests lie."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """In memory, where that can be: each change of a file is read back past the cache."""
    with TemporaryDirectory(dir=MEMORY) as name:
        os.chmod(name, 0o755)
        yield Path(name)


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """In memory too, where nobody waits for a busy disk; slow tests are on the real one."""
    if MEMORY is None or request.node.get_closest_marker("slow"):
        yield tmp_path
        return
    with TemporaryDirectory(dir=MEMORY) as name:
        yield Path(name)
