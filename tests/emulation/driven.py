"""Runs tests through the real cuda.core, on an emulated CUDA driver.

    python -m tests.emulation.driven -m gpu tests/kernels/targets/cuda/test_drivers.py

In that process libcuda.so.1 is driver.cpp, which runs kernels as EmulatedDevice does. So tests for
machines with a GPU run, while our driver layer, cuda.core and cuda.bindings are what they are on
such a machine. The driver has to be there before Python looks for one, hence a new process. It has
two devices of 1 GiB.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from .build import HERE, build, cache, compiler

EMULATED = "EMULATED_DRIVER"  # of the environment: set in such a process


def environment() -> dict[str, str]:
    """Return the environment of a process in which CUDA's driver is the emulated one."""
    folders = [str(_library().parent), os.environ.get("LD_LIBRARY_PATH", "")]
    return {
        **os.environ,
        "LD_LIBRARY_PATH": os.pathsep.join(folder for folder in folders if folder),
        "BULKBITS_DRIVER": "cuda.core",
        EMULATED: "1",
    }


def _library() -> Path:
    """Return the emulated libcuda.so.1, compiled where its source is newer."""
    source = HERE / "driver.cpp"
    folder = cache() / "driver"
    folder.mkdir(exist_ok=True)
    path = folder / "libcuda.so.1"
    if not path.exists() or path.stat().st_mtime < source.stat().st_mtime:
        made = folder / f"{os.getpid()}.so"  # moved into place whole: others may build the same
        flags = ["-std=c++17", "-O1", "-shared", "-fPIC", "-fvisibility=hidden"]
        name = "-Wl,-soname,libcuda.so.1"
        subprocess.run([compiler(), *flags, name, str(source), "-o", str(made), "-ldl"], check=True)
        made.replace(path)
    return path


def _machine_code(
    source: Path,
    defines: Mapping[str, int | str],
    capability: tuple[int, int],
    newest: tuple[int, int] = (0, 0),
) -> bytes:
    """Return what the emulated driver takes for machine code: the path of a library."""
    return bytes(build(source, defines, sanitize=False)) + b"\0"


def pytest_configure() -> None:
    """Compile kernels for the emulated driver: called where pytest has this module as a plugin."""
    from kernels.targets.cuda import compile as compiler

    compiler.cubin = _machine_code
    compiler.found = lambda newest=(0, 0): "the emulation"


def command(arguments: Sequence[str]) -> list[str]:
    """Return the command that runs pytest in such a process."""
    plugins = ["-p", "no:cacheprovider", "-p", "tests.emulation.driven"]
    return [sys.executable, "-m", "pytest", *plugins, *arguments]


def run_driven(arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run pytest with these arguments on the emulated driver; its output is captured."""
    return subprocess.run(
        command(arguments),
        env=environment(),
        cwd=HERE.parent.parent,
        capture_output=True,
        text=True,
    )


if __name__ == "__main__":
    os.execve(sys.executable, command(sys.argv[1:]), environment())
