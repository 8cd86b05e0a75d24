"""What nvcc makes of the kernels that multiply and divide."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from kernels.bignum import multiply

pytestmark = pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc")


def compile_kernel(name: str, defines: list[str], arch: int, folder: Path) -> int:
    """The most bytes that a thread spills; no warning is let pass."""
    command = ["nvcc", "-cubin", f"-arch=sm_{arch}", "-std=c++17", "-Werror=all-warnings"]
    source = str(multiply.HERE / f"{name}.cu")
    done = subprocess.run(
        [*command, "-Xptxas=-v", *(f"-D{d}" for d in defines), source, "-o", str(folder / "out")],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return max(int(n) for n in re.findall(r"(\d+) bytes spill", done.stderr))


@pytest.mark.parametrize(
    ("name", "defines"),
    [
        ("multiply", ["WIDTH=32", "SHORT=1", "EXACT=1", "SIGNS=0"]),
        ("multiply", ["WIDTH=8", "SHORT=1", "ROWS=8", "ADD=1"]),
        ("divide", ["WIDTH=32"]),
        ("divide_long", []),
        ("isqrt", []),
    ],
    ids=str,
)
def test_numbers_stay_in_registers(name: str, defines: list[str], tmp_path: Path) -> None:
    assert compile_kernel(name, defines, 90, tmp_path) == 0


@pytest.mark.slow
@pytest.mark.parametrize("arch", [75, 90])
@pytest.mark.parametrize("width", [2, 6, 12, 20, 32])
@pytest.mark.parametrize("name", ["multiply", "divide", "powmod"])
def test_every_width_compiles(name: str, width: int, arch: int, tmp_path: Path) -> None:
    variants = {
        "multiply": [[f"SHORT={s}", f"ADD={a}"] for s in (0, 1) for a in (0, 1)],
        "divide": [["QUOTIENT=0"], ["REMAINDER=0"]],
        "powmod": [[]],
    }
    macro = "PART_WORDS" if name == "powmod" else "WIDTH"
    for defines in variants[name]:
        compile_kernel(name, [f"{macro}={width}", *defines], arch, tmp_path)
