"""Settings of the whole suite."""

from __future__ import annotations

import pytest
from hypothesis import settings

# Modules that hold no tests, but assertions of many.
pytest.register_assert_rewrite(
    "tests.commands", "tests.contracts", "tests.universes", "tests.lifesim.store.faults"
)

# A busy machine is no failure.
settings.register_profile("bulkbits", deadline=None, print_blob=True)
settings.load_profile("bulkbits")
