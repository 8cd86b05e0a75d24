"""Settings of the whole suite."""

from __future__ import annotations

from hypothesis import settings

# A busy machine is no failure.
settings.register_profile("bulkbits", deadline=None, print_blob=True)
settings.load_profile("bulkbits")
