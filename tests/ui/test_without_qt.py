"""All of ui but ui.qt loads where there is no Qt."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import importlib, pkgutil, sys
sys.modules["PySide6"] = sys.modules["pyqtgraph"] = None
import ui
loaded = 0
for part in pkgutil.walk_packages(ui.__path__, "ui.", onerror=lambda name: None):
    if not part.name.startswith("ui.qt"):
        importlib.import_module(part.name)
        loaded += 1
print(loaded)
"""


def test_without_qt() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 30
