"""What importing and asking for help costs, and that nothing optional is needed for it."""

from __future__ import annotations

import importlib
import os
import pkgutil
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("lifesim", "ckyparse", "kernels", "bulkbits", "arith", "semigroups", "ui")
OPTIONAL = {"pycuda", "cuda.core", "cuda.bindings", "PySide6", "pyqtgraph", "distributed"}
OPTIONAL |= {"tornado", "anywidget"}
HEAVY = OPTIONAL | {"numpy", "h5py", "nltk", "gmpy2", "PIL", "rich"}
SCRIPTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
COMMANDS = sorted(
    entry.name
    for entry in entry_points(group="console_scripts")
    if entry.value.split(".")[0] in PACKAGES
)


def python(code: str, *arguments: str) -> str:
    """Return what a fresh Python prints."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("package", PACKAGES)
def test_importing_a_package_imports_nothing_heavy(package: str) -> None:
    loaded = python(f"import sys, {package}; print(*sys.modules)")
    assert not HEAVY & set(loaded.split())


HELP = """
import importlib.metadata, sys
[entry] = importlib.metadata.entry_points(group="console_scripts", name=sys.argv[1])
sys.argv[1:] = ["--help"]
try:
    entry.load()()
except SystemExit as stop:
    assert not stop.code, stop.code
print("LOADED", *sys.modules)
"""


@pytest.mark.parametrize("command", COMMANDS)
def test_help_imports_nothing_heavy(command: str) -> None:
    text, _, loaded = python(HELP, command).partition("LOADED")
    assert text.startswith("Usage: ")
    assert not HEAVY & set(loaded.split())


UNUSED = """
import sys
from lifesim.cli.serve import command
command.main(["--help"], standalone_mode=False)
from lifesim.store import universe
print("LOADED", *sys.modules)
"""


def test_what_few_need_is_imported_where_it_is_used() -> None:
    """Web servers, pictures for notebooks, and files of changes are not what others wait for."""
    text, _, loaded = python(UNUSED).partition("LOADED")
    assert text.startswith("Usage: ")
    assert not {"asyncio", "ssl", "tornado", "zstandard", "html"} & set(loaded.split())


@pytest.mark.sample(3)
@pytest.mark.parametrize("command", COMMANDS)
def test_help_answers_at_once(command: str) -> None:
    """Help takes under half a second of processor time, which a busy machine hardly lengthens."""
    script = Path(sys.executable).with_name(command)
    spent = []
    for _ in range(3):
        before = os.times()
        subprocess.run([script, "--help"], check=True, capture_output=True)
        after = os.times()
        user = after.children_user - before.children_user
        spent.append(user + after.children_system - before.children_system)
    assert min(spent) < 0.5


def test_no_exported_name_is_that_of_a_module() -> None:
    """Else a package would export one or the other, depending on what was imported before."""
    for package in PACKAGES:
        modules = {found.name for found in pkgutil.iter_modules([str(ROOT / package)])}
        exported = getattr(importlib.import_module(package), "__all__", [])
        assert not modules & set(exported), package


EARLY = """
import importlib, sys
class Interrupted:
    def find_spec(self, name, *rest):
        if name == "click":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupted())
entry = importlib.import_module(f"{sys.argv[1]}.__main__")
entry.main()
"""


@pytest.mark.parametrize("command", SCRIPTS)
def test_an_interrupt_while_it_is_imported(command: str) -> None:
    assert SCRIPTS[command] == f"{command}.__main__:main"
    done = subprocess.run(
        [sys.executable, "-c", EARLY, command], capture_output=True, text=True, cwd=ROOT
    )
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == f"{command}: interrupted\n"


def test_a_package_can_be_run() -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "semigroups", "--version"], capture_output=True, text=True, cwd=ROOT
    )
    assert shown.stdout.startswith("semigroups, version ")


WITHOUT = """
import importlib, sys
for name in {optional}:
    sys.modules[name] = None  # importing it fails
for name in sys.argv[1:]:
    importlib.import_module(name)
"""


def test_modules_need_nothing_optional() -> None:
    """Every module outside ui imports where neither PyCUDA, cuda.core nor Qt is installed."""
    names = [
        found.name
        for package in PACKAGES
        if package != "ui"
        for found in pkgutil.walk_packages([str(ROOT / package)], f"{package}.")
        if not found.name.endswith(("._cpu", ".__main__"))
    ]
    assert {"kernels.targets.cuda.target", "lifesim.cli.run"} <= set(names)
    python(WITHOUT.format(optional=sorted(OPTIONAL)), *names)
