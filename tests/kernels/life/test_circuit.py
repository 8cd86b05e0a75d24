"""The circuits of Life over all neighbourhoods: circuit_harness.cpp at each CPU level."""

from __future__ import annotations

import platform
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from kernels.life.plan import rule_table
from tests.life_contract import RULES, rule_of

KERNELS = Path(__file__).parents[3] / "kernels"
HARNESS = Path(__file__).with_name("circuit_harness.cpp")
LEVELS = {  # vector type, -march, what the CPU must have, whether it has VPTERNLOG
    "v2": ("v128", "x86-64-v2", {"sse4_2"}, 0),
    "v3": ("v256", "x86-64-v3", {"avx2", "bmi2", "fma", "movbe"}, 0),
    "v4": ("v512", "x86-64-v4", {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}, 1),
}
RANDOM = random.Random(3)
SOME_RULES = [
    *(rule_of(text) for text in RULES.values()),
    # One count each: every leaf of a table by itself.
    *((1 << n, 0) for n in range(9)),
    *((0, 1 << n) for n in range(9)),
    *((RANDOM.randrange(512), RANDOM.randrange(512)) for _ in range(16)),
]


def cpu_flags() -> set[str]:
    text = Path("/proc/cpuinfo").read_text()
    return set(next(line for line in text.splitlines() if line.startswith("flags")).split())


@pytest.mark.sample(1)
@pytest.mark.skipif(shutil.which("g++") is None, reason="no g++")
@pytest.mark.parametrize("level", LEVELS)
def test_all_neighbourhoods(level: str, tmp_path: Path) -> None:
    vector, march, needs, ternary = LEVELS[level]
    flags = [f"-march={march}"]
    if platform.machine() != "x86_64":
        if level != "v2":
            pytest.skip("levels are of x86-64")
        flags = []
    elif not needs <= cpu_flags():
        pytest.skip(f"the CPU is not {march}")
    rules = " ".join(f"R({birth}, {survival})" for birth, survival in SOME_RULES)
    flags += [f"-DVECTOR={vector}", f"-DRULES(R)={rules}", f"-I{KERNELS}"]
    program = tmp_path / "harness"
    warnings = ["-Wall", "-Wextra", "-Werror", "-Wno-psabi"]
    done = subprocess.run(
        ["g++", "-std=c++17", "-O1", *warnings, *flags, str(HARNESS), "-o", str(program)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout
    assert found == f"ternary {ternary}, wrong 0\n"


def test_rule_table_of_the_launcher_is_the_circuits() -> None:
    """Bit 2 T + C: the next state of C where the nine cells number T."""
    for birth, survival in SOME_RULES:
        table = rule_table(birth, survival)
        for n in range(9):
            assert table >> 2 * n & 1 == birth >> n & 1
            assert table >> 2 * (n + 1) + 1 & 1 == survival >> n & 1
        assert table >> 20 == 0
