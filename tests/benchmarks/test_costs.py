"""The benchmark that measures costs: small, and on an emulated device."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import costs as benchmark
from benchmarks.costs import gpu, gpu_numbers
from benchmarks.costs.fit import Found, Timed, crossing, fit, nonnegative
from benchmarks.costs.life import fitted
from benchmarks.costs.place import Place
from benchmarks.costs.show import source_of, written
from ckyparse.costs import CORE_COSTS, CoreCosts
from kernels.life.contract import LifeShape
from kernels.life.costs import CPU_COSTS, CpuCosts
from kernels.life.plan import direct_plans, strip_plans
from kernels.targets.contract import BackendUnavailableError, Target
from kernels.targets.cpu import Machine, levels
from tests.emulation import EmulatedDevice

ROOT = Path(__file__).parents[2]
ROOMS = "kernels", "arith", "lifesim", "ckyparse", "semigroups"
FILES = sorted(
    str(path.relative_to(ROOT)) for room in ROOMS for path in (ROOT / room).rglob("costs.py")
)
needs_extension = pytest.mark.skipif(not levels(), reason="the extension is not built")


def instances(file: str) -> dict[str, Any]:
    """Return the costs in a file, by their names."""
    module = importlib.import_module(file.removesuffix(".py").replace("/", "."))
    found = {name: value for name, value in vars(module).items() if is_dataclass(value)}
    return {name: value for name, value in found.items() if not isinstance(value, type)}


class Emulated(Target):
    """Stands for a GPU."""

    name = "cuda"
    device = EmulatedDevice()
    devices = (device,)

    def describe(self) -> str:
        return "emulated"

    def free_device_memory(self) -> int:
        return 1 << 30


@pytest.fixture
def quick(tmp_path: Path) -> Place:
    """A GPU that is emulated: times mean nothing, but all is run."""
    return Place(Emulated(), tmp_path, 1e-6, 1, 16)


def check(found: Found) -> None:
    """Check that nothing measured is below nought, and that what is printed makes the same."""
    assert instances(found.file)[found.name] is found.source
    assert found.measured
    for field in fields(found.costs):
        value, before = getattr(found.costs, field.name), getattr(found.source, field.name)
        assert np.shape(value) == np.shape(before)
        assert field.name in found.measured or value == before
        assert np.isfinite(value).all()
        assert (np.array(value) >= 0).all()
    kind = type(found.costs)
    scope: dict[str, Any] = {kind.__name__: kind}
    exec(source_of(found), scope)
    for field in fields(kind):
        value = getattr(found.costs, field.name)
        assert getattr(scope[found.name], field.name) == pytest.approx(value, rel=0.01)


# --- what is in the source --------------------------------------------------------


@pytest.mark.parametrize("file", FILES)
def test_costs_are_frozen_and_say_what_they_are(file: str) -> None:
    found = instances(file)
    assert found
    for costs in found.values():
        for field in fields(costs):
            assert re.search(rf"\b{field.name}\b", type(costs).__doc__), field.name
            with pytest.raises((FrozenInstanceError, AttributeError)):
                setattr(costs, field.name, 0)


def test_all_costs_are_measured_or_named() -> None:
    """Costs that no model measures are in NOT_MEASURED; the files say which models to ask."""
    models = "".join(path.read_text() for path in (ROOT / "benchmarks" / "costs").glob("[!_]*.py"))
    names = {name for file in FILES for name in instances(file)}
    known = {name for name in names if re.search(rf'"{name}",\s+{name}\b', models)}
    assert names - known == set(benchmark.NOT_MEASURED)
    for file in FILES:
        asked = re.search(r"python -m benchmarks.costs ([a-z ]+)`", (ROOT / file).read_text())
        assert (asked is None) == (not known & set(instances(file)))
        assert asked is None or set(asked[1].split()) <= set(benchmark.MODELS)


# --- fitting ----------------------------------------------------------------------

costs_of_life = st.builds(
    lambda row, direct, column, task, whole: replace(
        CPU_COSTS, row=(row, 0.3), direct_row=direct, column=column, task=task, whole_pass=whole
    ),
    st.floats(10, 100), st.floats(10, 100), st.floats(0.1, 1), st.floats(100, 3000),
    st.floats(1000, 9000),
)  # fmt: skip


@given(costs_of_life, st.floats(1e-10, 1e-8))
def test_lifes_costs_are_found_again(true: CpuCosts, unit: float) -> None:
    """Times that the model says by some costs give these, whatever a vector takes."""
    by_level: dict[int, list[Timed[CpuCosts]]] = {}
    for bits in (128, 256, 512):
        cases = []
        for columns in (8, 16, 24, 32, 96):
            for height in (48, 500, 2000):
                for steps in (1, 2, 9, 32):
                    cases += _models(columns * bits, height, steps, bits)
        by_level[bits] = [Timed(unit * 512 / bits * model(true), model) for model in cases]
    found = fitted(by_level)
    assert found.error is not None
    assert found.error < 1e-3
    for name in found.measured:
        expected = pytest.approx(getattr(true, name), rel=1e-3, abs=1e-3)
        assert getattr(found.costs, name) == expected, name


def _models(width: int, height: int, steps: int, bits: int) -> list[Callable[[CpuCosts], float]]:
    shape, machine = LifeShape(width, height, True), Machine(bits, 1 << 21, 1)

    def direct(costs: CpuCosts) -> float:
        [(_, cost, _)] = direct_plans(shape, machine, costs)
        return cost + costs.whole_pass

    def strips(costs: CpuCosts, i: int) -> float:
        plans = list(strip_plans(shape, steps, machine, costs))
        return plans[i][1] + costs.whole_pass

    if steps == 1:
        return [direct]
    count = len(list(strip_plans(shape, steps, machine)))
    return [lambda costs, i=i: strips(costs, i) for i in range(count)]


def test_a_linear_model_is_fitted() -> None:
    true = replace(CORE_COSTS, clear=3e-9, pair=7e-10)

    def model(x: int, y: int) -> Callable[[CoreCosts], float]:
        return lambda costs: x * costs.clear + y * costs.pair + costs.split

    cases = [Timed(m(true), m) for m in (model(x, y) for x in (1, 50, 900) for y in (1, 70, 4000))]
    costs, error = fit(cases, CORE_COSTS, ["clear", "pair"])
    assert (costs.clear, costs.pair) == pytest.approx((3e-9, 7e-10))
    assert error < 1e-6
    assert replace(costs, clear=0, pair=0) == replace(CORE_COSTS, clear=0, pair=0)


def test_no_cost_is_below_nought() -> None:
    weights = np.array([[1.0, 1], [2, 1], [3, 1], [4, 1]])
    assert nonnegative(weights, np.array([1.0, 3, 5, 7]))[1] == 0  # 2 x - 1
    np.testing.assert_allclose(nonnegative(weights, np.array([5.0, 7, 9, 11])), [2, 3])


def test_where_two_ways_cross() -> None:
    assert crossing([1, 2, 4], [5, 5, 5], [6, 4, 3]) == 2
    assert crossing([1, 2, 4], [5, 5, 5], [4, 6, 4]) == 4
    assert crossing([1, 2, 4], [5, 5, 5], [4, 4, 6]) == 8
    assert crossing([1, 2, 4], [5, 5, 5], [4, 4, 4]) == 1


# --- what is printed --------------------------------------------------------------


@given(st.floats(1e-12, 1e12) | st.integers(0, 1 << 70))
def test_numbers_are_written_as_python_reads_them(value: float) -> None:
    again = eval(written(value))
    assert type(again) is type(value)
    assert again == pytest.approx(value, rel=0.006) if isinstance(value, float) else again == value
    assert eval(written((value, 0.5))) == (again, 0.5)


# --- measuring --------------------------------------------------------------------


@needs_extension
def test_the_command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(benchmark, "device", lambda: None)
    all_of_them = []
    for name, measure in list(benchmark.MODELS.items()):
        monkeypatch.setitem(
            benchmark.MODELS, name, lambda place, m=measure: all_of_them.extend(m(place)) or []
        )
    benchmark.main(["--quick", "--folder", str(tmp_path), "--seconds", "1e-6"])
    monkeypatch.setitem(benchmark.MODELS, "life", lambda place: all_of_them[:1])
    benchmark.main(["life"])
    last = capsys.readouterr().out.splitlines()[-3:]
    assert last == [")", "", f"# not measured by any model: {', '.join(benchmark.NOT_MEASURED)}"]
    names = ["CPU_COSTS", "CORE_COSTS", "HOST_COSTS", "COSTS", "BAND_COSTS", "PHASE_COSTS"]
    assert [found.name for found in all_of_them] == names
    for found in all_of_them:
        check(found)
    by_name = {found.name: found for found in all_of_them}
    assert by_name["CPU_COSTS"].measured == {field.name for field in fields(CpuCosts)}
    assert "pair" not in by_name["COSTS"].measured  # there is no GPU
    assert list(tmp_path.iterdir()) == []


def test_bad_arguments(tmp_path: Path) -> None:
    for arguments in (["moon"], ["--folder", str(tmp_path / "none")]):
        with pytest.raises(SystemExit):
            benchmark.main(arguments)


@needs_extension
def test_a_backend_begins_in_a_process_of_its_own() -> None:
    assert 0 < gpu.beginning("cpu") < 60


def test_emulated_gpu(quick: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "BATCHES", [((1, 1), 40, 32), ((4, 30), 40, 32), ((4, 30), 80, 64)])
    monkeypatch.setattr(gpu, "CHARTS", [(8, 64), (9, 300)])
    monkeypatch.setattr(gpu, "STRINGS", 64)
    monkeypatch.setattr(gpu, "TUNINGS", [(4, 7), (3, 9)])
    monkeypatch.setattr(gpu_numbers, "measure", lambda place: [])
    found = list(gpu.computing(quick))
    names = ["GPU_COSTS", "LAUNCH_COSTS", "CHART_COSTS", "CUDA_TUNING"]
    assert [one.name for one in found] == names
    for one in found:
        check(one)
    assert found[-1].costs.aligned in gpu.TUNINGS
    assert found[0].measured == {field.name for field in fields(found[0].costs)}


def test_emulated_numbers(quick: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_numbers, "LONG_SUMS", (64, 128))
    monkeypatch.setattr(gpu_numbers, "LONG_PRODUCTS", (64, 128))
    monkeypatch.setattr(gpu_numbers, "PAIRS", 64 * 16)
    monkeypatch.setattr(gpu_numbers, "POOLED", 40 * 256)
    monkeypatch.setattr(gpu_numbers, "FEW", 40 * 16)
    monkeypatch.setattr(gpu_numbers, "SHORTS", (2, 4, 8))
    monkeypatch.setattr(gpu_numbers, "MOST_BITS", 1 << 18)
    found = list(gpu_numbers.measure(quick))
    names = ["LAYOUT_COSTS", "LONG_COSTS", "POOL_TUNING", "REDUNDANT_COSTS"]
    assert [one.name for one in found] == names
    for one in found:
        check(one)
    assert {found[1].costs.sum, found[1].costs.product} <= {4, 8, 16}
    assert gpu_numbers.pair(quick) > 0


def test_without_a_gpu(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def pick(name: str) -> Target:
        raise BackendUnavailableError("there is none")

    monkeypatch.setattr(benchmark, "pick", pick)
    assert benchmark.device() is None
    assert capsys.readouterr().err == "no CUDA device: there is none\n"
    assert list(gpu.measure(Place(None, Path()))) == []


@pytest.mark.gpu
def test_a_gpu_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    benchmark.main(["--quick", "gpu"])
    assert capsys.readouterr().out.count("\n)\n") == 9
