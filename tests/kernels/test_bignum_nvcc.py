"""What nvcc makes of the kernels that multiply and divide."""

from __future__ import annotations

import re

import pytest

from kernels.bignum.cuda import multiply
from tests.nvcc import needs_nvcc, nvcc

pytestmark = needs_nvcc


def compile_kernel(name: str, defines: list[str], arch: int) -> int:
    """Return the most bytes that a thread spills; no warning is let pass."""
    options = ["-cubin", f"-arch=sm_{arch}", "-Xptxas=-v"]
    said = nvcc(multiply.HERE / f"{name}.cu", *options, *(f"-D{d}" for d in defines))
    return max(int(n) for n in re.findall(r"(\d+) bytes spill", said))


@pytest.mark.parametrize(
    ("name", "defines"),
    [
        ("multiply", ["WIDTH=32", "SHORT=1", "EXACT=1", "SIGNS=0"]),
        ("multiply", ["WIDTH=8", "SHORT=1", "ROWS=8", "ADD=1"]),
        ("divide", ["WIDTH=32"]),
        ("divide_long", []),
        ("isqrt", []),
        ("powmod_odd", ["LANES=1", "OWN=12"]),
        ("powmod_odd", ["LANES=1", "OWN=48", "BLOCKS=4"]),
        ("powmod_odd", ["LANES=2", "OWN=32", "BLOCKS=4"]),
        ("multiply_lanes", ["LANES=2", "OWN=32", "BLOCKS=6", "EXACT=1", "SIGNS=0"]),
    ],
    ids=str,
)
def test_numbers_stay_in_registers(name: str, defines: list[str]) -> None:
    assert compile_kernel(name, defines, 90) == 0


@pytest.mark.slow
@pytest.mark.parametrize("arch", [75, 90])
@pytest.mark.parametrize("width", [2, 12, 32])
@pytest.mark.parametrize(
    "name", ["multiply", "divide", "powmod", "powmod_odd", "multiply_lanes", "divide_lanes"]
)
def test_every_width_compiles(name: str, width: int, arch: int) -> None:
    variants = {
        "multiply": [[f"SHORT={s}", f"ADD={a}"] for s in (0, 1) for a in (0, 1)],
        "divide": [["QUOTIENT=0"], ["REMAINDER=0"]],
        "powmod": [[]],
        "powmod_odd": [["LANES=1"], ["LANES=8"]],
        "multiply_lanes": [["LANES=1", "EXACT=1"], ["LANES=4", "SIGNS=0"]],
        "divide_lanes": [["LANES=2", "QUOTIENT=0"], ["LANES=8", "REMAINDER=0"]],
    }
    macro = "OWN" if "lanes" in name or name == "powmod_odd" else "WIDTH"
    if name == "powmod":
        macro = "PART_WORDS"
    if macro == "OWN":
        width = max(8 if "lanes" in name else 4, width // 4 * 4)
    for defines in variants[name]:
        compile_kernel(name, [f"{macro}={width}", *defines], arch)
