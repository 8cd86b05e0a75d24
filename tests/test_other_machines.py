"""The wheel on the oldest CPU that it serves, and on Arm, under an emulator (qemu-user)."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.slow


def emulator(machine: str) -> str:
    """Return what runs another machine's processes; skip the test where there is none."""
    for name in (f"qemu-{machine}", f"qemu-{machine}-static"):
        if found := shutil.which(name):
            return found
    pytest.skip(f"no qemu-{machine}: install qemu-user")


@pytest.mark.skipif(platform.machine() != "x86_64", reason="another CPU than x86-64")
def test_the_wheel_runs_without_avx(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """An instruction beyond x86-64-v2 would end the process: Nehalem has none of AVX."""
    python = [emulator("x86_64"), "-cpu", "Nehalem", sys.executable, "-S"]
    [wheel] = request.getfixturevalue("distributions").glob("*.whl")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*install, "--target", tmp_path, wheel], check=True)
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS_")},
        # Without site (-S) nothing that is installed in place comes before the wheel.
        "PYTHONPATH": f"{tmp_path}{os.pathsep}{sysconfig.get_path('purelib')}",
    }
    levels = "from kernels import _cpu; print(_cpu.__file__, *_cpu.levels())"
    found = subprocess.run(
        [*python, "-c", levels], env=environment, capture_output=True, text=True, cwd=tmp_path
    )
    assert found.returncode == 0, found.stderr
    file, *names = found.stdout.split()
    assert Path(file).is_relative_to(tmp_path)
    assert names == ["v2"]
    smoke = [sys.executable, ROOT / "tests" / "smoke.py", *python]
    done = subprocess.run(smoke, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_kernels_on_arm() -> None:
    """The commands and tests of the kernels, in a Python for Arm: what scripts/arm runs."""
    emulator("aarch64")
    if not shutil.which("aarch64-linux-gnu-g++"):
        pytest.skip("no cross compiler: install g++-aarch64-linux-gnu")
    if not (ROOT / "build" / "arm" / "libraries").is_dir():
        pytest.skip("no Python for Arm: run scripts/arm once, which downloads it")
    done = subprocess.run([ROOT / "scripts" / "arm"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    assert "aarch64" in done.stdout
