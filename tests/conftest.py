"""Settings of the whole suite."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests import quick

# Modules that hold no tests, but assertions of many.
pytest.register_assert_rewrite(
    "tests.ageing_contract",
    "tests.arith.rationals",
    "tests.ckyparse.commands",
    "tests.commands",
    "tests.interrupts",
    "tests.life_cells_contract",
    "tests.life_contract",
    "tests.life_chain_contract",
    "tests.plane_contract",
    "tests.plane_tiles_contract",
    "tests.lifesim.directories",
    "tests.lifesim.store.faults",
    "tests.lifesim.stream.streamed",
    "tests.transformations_contract",
    "tests.transformations_model",
    "tests.svg",
    "tests.ui.parse_windows",
    "tests.universes",
    "tests.whole",
)

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


@pytest.fixture(scope="session")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist and the wheel built from it; $DISTRIBUTIONS, where they are built."""
    if found := os.environ.get("DISTRIBUTIONS"):
        return Path(found)
    folder = tmp_path_factory.mktemp("distributions")
    root = Path(__file__).parents[1]
    command = [sys.executable, "-m", "build", "--outdir", str(folder), str(root)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr + done.stdout
    return folder


# Tests interrupt themselves and others, also where a shell has Ctrl-C ignored in its background.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="module")
def windows_are_garbage() -> Iterator[None]:
    """Destroy what tests leave of windows on the main thread, as ui.qt.garbage does."""
    gc.disable()
    yield
    gc.collect()
    gc.enable()


def pytest_collection_finish() -> None:
    """Keep the garbage collector from looking again at what has been collected, which stays."""
    gc.collect()
    gc.freeze()


def pytest_configure(config: pytest.Config) -> None:
    """Say how many examples properties take, before any is imported.

    A busy machine is no failure. In CI the same examples are taken each time, so that what fails
    there has come with the change; everywhere else new ones are looked for.
    """
    settings.register_profile(
        "bulkbits",
        deadline=None,
        print_blob=True,
        max_examples=quick.take_examples(slow=_asks_for_slow(config)),
        derandomize="CI" in os.environ,
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.load_profile("bulkbits")


def _asks_for_slow(config: pytest.Config) -> bool:
    """Return whether -m asks for slow tests: the default suite's expression is "not slow ..."."""
    asked: str = config.option.markexpr
    return "slow" in asked and "not slow" not in asked


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Choose and order tests before -m does: properties are run again among the slow ones, at
    length.

    What needs a GPU runs only where it is asked for, be it slow or not.
    """
    quick.leave_out(items)
    # What takes longest does not begin last, when the other processes have nothing left to do.
    items.sort(key=lambda item: item.get_closest_marker("first") is None)
    if _asks_for_slow(config):
        for item in items:
            if quick.is_property(item):
                item.add_marker(pytest.mark.slow)
    if "gpu" not in config.option.markexpr:
        skipped = pytest.mark.skip(reason="needs a GPU: -m gpu")
        for item in items:
            if item.get_closest_marker("gpu"):
                item.add_marker(skipped)
