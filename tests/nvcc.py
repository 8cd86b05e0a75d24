"""What nvcc says of a kernel, which is asked once for each state of the sources."""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from tests.emulation.build import cache

KERNELS = Path(__file__).resolve().parent.parent / "kernels"

needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc")


def nvcc(source: Path, *arguments: str) -> str:
    """Return what nvcc prints, warnings being errors; a test whose source it refuses fails."""
    command = ["nvcc", "-std=c++17", "-Werror=all-warnings", *arguments]
    digest = hashlib.sha256("\0".join([*_world(), str(source.resolve()), *command]).encode())
    said = cache() / f"nvcc-{source.stem}-{digest.hexdigest()[:24]}.txt"
    if said.exists():
        return said.read_text()
    with tempfile.TemporaryDirectory(dir=said.parent) as folder:
        done = subprocess.run(
            [*command, str(source), "-o", f"{folder}/out"],
            capture_output=True,
            text=True,
            # The sanitizer is for the kernels, not for the compiler.
            env={k: v for k, v in os.environ.items() if k != "LD_PRELOAD"},
        )
        assert done.returncode == 0, done.stderr
        Path(folder, "said").write_text(done.stderr)
        os.replace(Path(folder, "said"), said)
    return done.stderr


@functools.cache
def _world() -> tuple[str, ...]:
    """The compiler, and all that a kernel may include."""
    version = subprocess.run(["nvcc", "--version"], capture_output=True, text=True).stdout
    files = [path for path in sorted(KERNELS.rglob("*")) if path.suffix in (".cu", ".hpp", ".cuh")]
    return version, *(hashlib.sha256(path.read_bytes()).hexdigest() for path in files)
