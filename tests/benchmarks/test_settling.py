"""The benchmark of soups that settle, run small."""

from __future__ import annotations

import pytest

from benchmarks import settling as benchmark
from kernels.targets import cpu

if not cpu.levels():
    pytest.skip("the extension is not built", allow_module_level=True)


def test_a_line_for_each_age(capsys: pytest.CaptureFixture[str]) -> None:
    benchmark.main(["--side", "192", "--ages", "0-50", "4000-5001", "--rounds", "1"])
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    assert [line.split("|")[1].strip() for line in lines[2:]] == ["0 to 50", "4000 to 5001"]
    assert all(float(figure) > 0 for line in lines[2:] for figure in line.split("|")[2:5])


@pytest.mark.parametrize("ages", [["5-5"], ["0-9", "3-12"], ["x"]])
def test_wrong_ages_are_refused(ages: list[str]) -> None:
    with pytest.raises(SystemExit):
        benchmark.main(["--ages", *ages])
