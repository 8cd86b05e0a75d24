"""The rungs on the CPU: cpu.cpp, compiled when it is asked for, called through ctypes."""

from __future__ import annotations

import ctypes
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

SOURCE = Path(__file__).with_name("cpu.cpp")
# Function, and 10^9 updates/s that he measured on a Core i7-4790.
CPU_RUNGS: dict[str, float] = {"word_per_cell": 0.298, "single_word": 7.71, "double_word": 10.9}

Words = npt.NDArray[np.uint64]


class CpuLadder:
    """cpu.cpp compiled with certain flags."""

    def __init__(self, *flags: str) -> None:
        """flags: after -std=c++17; -O3 alone unless given.

        Raises OSError where there is no compiler (CXX, or g++), and
        subprocess.CalledProcessError where it fails.
        """
        self.flags = flags or ("-O3",)
        with tempfile.TemporaryDirectory() as folder:
            library = Path(folder) / "cpu.so"
            command = [os.environ.get("CXX", "g++"), "-std=c++17", "-Wno-psabi", *self.flags]
            command += ["-shared", "-fPIC", str(SOURCE), "-o", str(library)]
            subprocess.run(command, check=True)
            # Stays mapped when the file goes.
            self._library = ctypes.CDLL(str(library))

    def advance(
        self, rung: str, cells: npt.NDArray[Any], spare: npt.NDArray[Any], generations: int
    ) -> npt.NDArray[Any]:
        """The array, of the two, that holds the cells after some generations on a torus.

        cells: uint8 cells for word_per_cell, else uint64 words (height, width / 64).
        spare: of the same kind; its contents are lost, like those of `cells`.
        """
        dtype = np.uint8 if rung == "word_per_cell" else np.uint64
        for a in (cells, spare):
            if a.dtype != dtype or a.shape != cells.shape or not a.flags.c_contiguous:
                raise ValueError(f"{rung} takes two contiguous arrays of {dtype.__name__}")
        height, length = cells.shape
        function = getattr(self._library, rung)
        function.restype = None
        for _ in range(generations):
            function(
                ctypes.c_void_p(cells.ctypes.data),
                ctypes.c_void_p(spare.ctypes.data),
                ctypes.c_longlong(length),
                ctypes.c_longlong(height),
            )
            cells, spare = spare, cells
        return cells

    def run(self, rung: str, words: Words, generations: int) -> Words:
        """The packed cells after some generations, whichever the rung's own format."""
        cells: npt.NDArray[Any] = words.copy()
        if rung == "word_per_cell":
            cells = np.unpackbits(cells.view(np.uint8), axis=1, bitorder="little")
        cells = self.advance(rung, cells, np.empty_like(cells), generations)
        if rung == "word_per_cell":
            cells = np.packbits(cells, axis=1, bitorder="little").view(np.uint64)
        return cells
