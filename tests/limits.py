"""Which limits of a process can be set where the tests run."""

from __future__ import annotations

import resource

import pytest


def _can_limit_addresses() -> bool:
    """Return whether a limit of addresses holds that this process sets itself."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    if before[0] != resource.RLIM_INFINITY:
        return True
    try:
        resource.setrlimit(resource.RLIMIT_AS, (1 << 46, before[1]))
    except (OSError, ValueError):
        return False
    after = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, before)
    return after != before


needs_limits = pytest.mark.skipif(
    not _can_limit_addresses(), reason="no limit of addresses holds, as under an emulator of a CPU"
)
