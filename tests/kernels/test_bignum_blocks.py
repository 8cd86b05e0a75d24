"""Blocks of memory that are kept for the next large result, taken and given by several threads."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
BLOCKS = HERE.parent.parent / "kernels" / "bignum" / "cpu" / "blocks.cpp"
FLAGS = ["-std=c++17", "-O1", "-g", "-fsanitize=thread", "-pthread", f"-I{BLOCKS.parent}"]


TRIES = 20  # of a race: threads may by chance come one after the other all the time


def stress(blocks: Path, folder: Path, tries: int = 1) -> subprocess.CompletedProcess[str]:
    """Build the stress with this source of blocks, and run it, until it fails or so many times."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("there is no C++ compiler")
    program = folder / "stress"
    command = [compiler, *FLAGS, str(HERE / "blocks_stress.cpp"), str(blocks), "-o", str(program)]
    built = subprocess.run(command, capture_output=True, text=True)
    if built.returncode and "tsan" in built.stderr:
        pytest.skip("the compiler has no thread sanitizer")
    assert built.returncode == 0, built.stderr
    # Where addresses are laid out at random in a way that the sanitizer does not know it ends.
    run = ["setarch", "-R", str(program)] if shutil.which("setarch") else [str(program)]
    # At the first race it ends: what races may go on for ever.
    known = {**os.environ, "TSAN_OPTIONS": "halt_on_error=1"}
    for _ in range(tries):
        ended = subprocess.run(run, capture_output=True, text=True, timeout=120, env=known)
        if ended.returncode:
            break
    return ended


@pytest.mark.slow
def test_threads_share_no_block(tmp_path: Path) -> None:
    ended = stress(BLOCKS, tmp_path)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.slow
@pytest.mark.parametrize("number", [0, 1, 2])
def test_each_lock_is_needed(number: int, tmp_path: Path) -> None:
    """The sanitizer finds a race without any one of the locks: it looks where it should."""
    lock = "std::lock_guard<std::mutex> lock(all.mutex);"
    parts = BLOCKS.read_text().split(lock)
    assert len(parts) == 4
    joined = [lock] * 3
    joined[number] = ""
    text = "".join(part + (joined[i] if i < 3 else "") for i, part in enumerate(parts))
    (tmp_path / "blocks.cpp").write_text(text)
    ended = stress(tmp_path / "blocks.cpp", tmp_path, TRIES)
    assert ended.returncode != 0
    assert "data race" in ended.stderr or "SEGV" in ended.stderr, ended.stderr


LENT = """
import numpy as np
from arith import IntArray

def lent():
    with open("/proc/self/smaps_rollup") as lines:
        return next((int(x.split()[1]) for x in lines if x.startswith("LazyFree:")), None)

a = IntArray.from_limbs(np.full((1 << 21, 4), 3, np.uint64))  # 64 MiB
held = [a + 1 for _ in range(3)]
del held
few = lent()
held = [a + 1 for _ in range(8)]
del held
print(few, lent())
"""


@pytest.mark.slow
def test_the_system_may_take_what_is_kept_beyond_some() -> None:
    """256 MiB of what was used last stay ours; the system may have what else is unused."""
    rollup = Path("/proc/self/smaps_rollup")
    if not rollup.exists() or "LazyFree:" not in rollup.read_text():
        pytest.skip("the system does not tell what it may take")
    ended = subprocess.run([sys.executable, "-c", LENT], capture_output=True, text=True, check=True)
    few, many = (int(kib) >> 10 for kib in ended.stdout.split())
    assert few == 0
    assert many >= 240  # of 512 MiB and more
