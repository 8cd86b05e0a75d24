"""Runs tests with the address sanitizer on the emulated kernels.

    python -m tests.emulation.sanitized tests/kernels -k life

The sanitizer must be loaded before anything else, hence a new process.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

from .build import compiler

OPTIONS = (
    "detect_leaks=0",  # the interpreter's
    "halt_on_error=0",  # a report ends the launch, not the process
    "suppress_equal_pcs=0",  # one launch's report must not silence the next one's
    "redzone=512",
    "allocator_may_return_null=1",
)


def environment() -> dict[str, str]:
    """Return the environment of a process in which EmulatedDevice() sanitizes."""
    library = subprocess.run(
        [compiler(), "-print-file-name=libasan.so"], capture_output=True, text=True, check=True
    ).stdout.strip()
    if not os.path.isabs(library):  # the bare name comes back where there is no such file
        raise RuntimeError("the compiler has no address sanitizer library")
    return {
        **os.environ,
        "LD_PRELOAD": os.path.realpath(library),
        "ASAN_OPTIONS": ":".join(OPTIONS),
        "PYTHONMALLOC": "malloc",
        "EMULATION_SANITIZE": "1",
    }


def run_sanitized(arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Python with these arguments, sanitized; its output is captured."""
    return subprocess.run(
        [sys.executable, *arguments], env=environment(), capture_output=True, text=True
    )


if __name__ == "__main__":
    os.execve(
        sys.executable,
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *sys.argv[1:]],
        environment(),
    )
