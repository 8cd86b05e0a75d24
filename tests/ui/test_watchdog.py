"""The window's main thread is never busy for long, whatever is done (tests/ui/walk.py)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)
pytest.importorskip("pyqtgraph")

ROOT = Path(__file__).parents[2]
LIMIT = 50.0  # milliseconds of a turn of Qt's loop, on a machine that is as fast as this:
SPEED = 2.0  # milliseconds of the loop that tests.ui.walk.speed() times
SECONDS = os.environ.get("WALK_SECONDS", "60")


@pytest.mark.first
@pytest.mark.slow
def test_nothing_blocks_the_window() -> None:
    """A walk over the actions, of a process of its own, takes the time of the processor alone, in
    proportion to that of the machine; and of what was done several times the median counts, so
    that no single turn that was in another's way does. WALK_SECONDS=600 walks for longer."""
    for seed in (1, 2):
        done = subprocess.run(
            [sys.executable, "-m", "tests.ui.walk", str(float(SECONDS) / 2), str(seed)],
            cwd=ROOT, capture_output=True, text=True, timeout=20 * float(SECONDS) + 600,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        facts = json.loads(done.stdout)
        slower = max(1.0, facts["speed"] / SPEED)
        assert len(facts["done"]) > 40, facts["done"]
        slow = {what: took for what, took in facts["medians"].items() if took > LIMIT * slower}
        assert not slow, (slow, slower, facts["worst"])
        assert facts["quantile"] <= LIMIT * slower, facts["worst"]
