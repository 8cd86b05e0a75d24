"""Settings of the whole suite."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Modules that hold no tests, but assertions of many.
pytest.register_assert_rewrite(
    "tests.commands",
    "tests.interrupts",
    "tests.life_contract",
    "tests.lifesim.directories",
    "tests.lifesim.store.faults",
    "tests.transf_contract",
    "tests.transf_model",
    "tests.universes",
)

# A busy machine is no failure. Fewer examples than Hypothesis takes by itself; EXAMPLES=1000
# looks longer. In CI the same ones each time, so that what fails there has come with the change;
# everywhere else new ones are looked for.
EXAMPLES = int(os.environ.get("EXAMPLES", "40"))
settings.register_profile(
    "bulkbits",
    deadline=None,
    print_blob=True,
    max_examples=EXAMPLES,
    derandomize="CI" in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("bulkbits")


# Files are in memory, where there is room: nobody waits for a disk that is busy. What must be on
# a real one is in the folder `real_disk`. Processes that tests start inherit all of this.
_IN_MEMORY, _ROOM = "/dev/shm", 4 << 30
if "TMPDIR" not in os.environ and os.access(_IN_MEMORY, os.W_OK):
    os.environ["REAL_TMPDIR"] = tempfile.gettempdir()
    os.environ.setdefault(  # which outlives the run
        "EMULATION_CACHE", os.path.join(tempfile.gettempdir(), f"cuda-emulation-{os.getuid()}")
    )
    if shutil.disk_usage(_IN_MEMORY).free >= _ROOM:
        os.environ["TMPDIR"] = tempfile.tempdir = _IN_MEMORY


@pytest.fixture(scope="module")
def real_disk() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=os.environ.get("REAL_TMPDIR")) as folder:
        yield Path(folder)


# Tests interrupt themselves and others, also where a shell has Ctrl-C ignored in its background.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """What has been collected stays: the garbage collector need not look at it again."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What needs a GPU runs only where it is asked for, be it slow or not."""
    if "gpu" not in config.option.markexpr:
        skipped = pytest.mark.skip(reason="needs a GPU: -m gpu")
        for item in items:
            if item.get_closest_marker("gpu"):
                item.add_marker(skipped)
