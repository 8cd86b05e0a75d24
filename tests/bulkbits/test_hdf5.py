"""HDF5 files where the disk fails, for a moment or for good: one error, nothing half-written."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from arith import IntArray
from semigroups import Semigroup

ROOT = Path(__file__).parents[2]


def integers(path: Path) -> None:
    IntArray([2**100, -5, 0]).save(path)


def semigroup(path: Path) -> None:
    Semigroup([[1, 0], [0, 0]], backend="reference").save(path)


WRITERS = [integers, semigroup]


@pytest.mark.parametrize("write", WRITERS)
def test_a_write_error_that_passes_is_an_error(
    write: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever write fails, if only once: no file, the one before still there."""
    path = tmp_path / "a.h5"
    write(path)
    before, pwrite = path.read_bytes(), os.pwrite
    calls, failing = 0, -1

    def once(fd: int, data: bytes, offset: int) -> int:
        nonlocal calls
        calls += 1
        if calls == failing + 1:
            raise OSError(errno.EIO, "Input/output error")
        return pwrite(fd, data, offset)

    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", once)
        write(path)
        assert calls > 3
        for number in range(calls):
            calls, failing = 0, number
            with pytest.raises(OSError, match="Input/output error") as told:
                write(path)
            assert told.value.filename == str(path)
            assert path.read_bytes() == before
            assert os.listdir(tmp_path) == ["a.h5"]


@pytest.mark.parametrize("write", WRITERS)
def test_a_truncation_that_fails_is_an_error(
    write: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bulkbits import hdf5

    def fail(disk: hdf5._Disk, size: int) -> int:
        disk._trouble = OSError(errno.EFBIG, "File too large")
        return size

    monkeypatch.setattr(hdf5._Disk, "truncate", fail)
    with pytest.raises(OSError, match="File too large"):
        write(tmp_path / "a.h5")
    assert os.listdir(tmp_path) == []


FULL = """
import os, resource, sys
from arith import IntArray

array = IntArray([2**100, -5, 0] * 1000)
array.save(sys.argv[1])
size = os.path.getsize(sys.argv[1])
for limit in [*range(0, size, size // 40), size - 1]:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        array.save(sys.argv[1])
    except OSError as error:
        assert error.filename == sys.argv[1]
        print(error.strerror)
"""


def test_a_full_disk(tmp_path: Path) -> None:
    """Wherever it gets full: one error, and HDF5 says nothing."""
    path = tmp_path / "a.h5"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", FULL, str(path)],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert set(done.stdout.splitlines()) == {"File too large"}
    assert len(done.stdout.splitlines()) > 40
    assert os.listdir(tmp_path) == ["a.h5"]
    assert IntArray.load(path).to_ints() == [2**100, -5, 0] * 1000


def test_equal_numbers_make_equal_files(tmp_path: Path) -> None:
    integers(tmp_path / "a.h5")
    integers(tmp_path / "b.h5")
    assert (tmp_path / "a.h5").read_bytes() == (tmp_path / "b.h5").read_bytes()
    assert np.array_equal(IntArray.load(tmp_path / "a.h5").to_ints(), [2**100, -5, 0])
