"""Blocks of memory that are kept for the next large result, taken and given by several threads."""

from __future__ import annotations

import os
import shutil
import subprocess
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
