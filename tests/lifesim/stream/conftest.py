"""What tests of streamed runs may do without."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lifesim.store import disk


@pytest.fixture(scope="module")
def no_syncs() -> Iterator[None]:
    """Do without syncs, as what is on the disk after a crash is no matter here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(disk, "sync", lambda fd: None)
        patch.setattr(disk, "sync_folder", lambda path: None)
        yield
