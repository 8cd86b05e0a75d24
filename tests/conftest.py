"""Settings of the whole suite."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

# Modules that hold no tests, but assertions of many.
pytest.register_assert_rewrite(
    "tests.commands",
    "tests.contracts",
    "tests.lifesim.store.faults",
    "tests.transf_contract",
    "tests.transf_model",
    "tests.universes",
)

# A busy machine is no failure. Fewer examples than Hypothesis takes by itself; EXAMPLES=1000
# looks longer.
EXAMPLES = int(os.environ.get("EXAMPLES", "60"))
settings.register_profile("bulkbits", deadline=None, print_blob=True, max_examples=EXAMPLES)
settings.load_profile("bulkbits")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What needs a GPU runs only where it is asked for, be it slow or not."""
    if "gpu" not in config.option.markexpr:
        skipped = pytest.mark.skip(reason="needs a GPU: -m gpu")
        for item in items:
            if item.get_closest_marker("gpu"):
                item.add_marker(skipped)
