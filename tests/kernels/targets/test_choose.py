"""Which backend is picked, and what is said about the others."""

from __future__ import annotations

import inspect
import sys
from typing import assert_type

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.life.bytewise import BytewiseArena, BytewiseLife, ChainedBytewiseLife
from kernels.life.chain import even_passes
from kernels.life.contract import LifeArena, LifeEngine, LifeUniverse, RuleT
from kernels.life.cpu.engine import ChainedCpuLife, CpuArena, CpuLife, CpuLifeEngine
from kernels.life.cuda.engine import ChainedDeviceLife, CudaLifeEngine, DeviceArena, DeviceLife
from kernels.life.ref import (
    ReferenceLifeEngine,
)
from kernels.life.rules import NineCellRule
from kernels.life.several import SeveralLifeEngine, StripsArena, StripsLife
from kernels.targets import choose, cpu
from kernels.targets.choose import NAMES, explain, pick
from kernels.targets.contract import BackendUnavailableError, Target
from kernels.targets.cpu import CpuTarget
from kernels.targets.cuda.target import CudaTarget
from kernels.targets.reference import ReferenceTarget
from kernels.targets.several import SeveralDevices

needs_extension = pytest.mark.skipif(not cpu.levels(), reason="the extension is not built")


class Fake(ReferenceTarget):
    def __init__(self, name: str, device: int, threads: int | None) -> None:
        self.name, self.device, self.threads = name, device, threads


@pytest.fixture
def missing(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Names of backends that shall not be available; the others are fakes."""
    names: set[str] = set()

    def make(name: str, device: int, threads: int | None) -> Target:
        if name in names:
            raise BackendUnavailableError(f"no {name} today")
        return Fake(name, device, threads)

    monkeypatch.setattr(choose, "_make", make)
    return names


@pytest.mark.parametrize(
    ("without", "picked"),
    [((), "cuda"), (("cuda",), "cpu"), (("cpu",), "cuda"), (("cuda", "cpu"), "reference")],
    ids=str,
)
def test_auto_takes_the_fastest_there_is(
    missing: set[str], without: tuple[str, ...], picked: str
) -> None:
    missing.update(without)
    found, reasons = explain()
    assert found.name == picked
    passed_over = [name for name in without if NAMES.index(name) < NAMES.index(picked)]
    assert reasons == [f"{name}: no {name} today" for name in passed_over]
    assert pick().name == picked
    assert pick("auto").name == picked


@pytest.mark.parametrize("name", ["cuda", "cpu", "reference"])
def test_asked_for_by_name(missing: set[str], name: str) -> None:
    found, reasons = explain(name)
    assert (found.name, reasons) == (name, [])
    missing.add(name)
    for way in (pick, explain):
        with pytest.raises(BackendUnavailableError, match=f"^no {name} today$"):
            way(name)


def test_device_and_threads_are_passed_on(missing: set[str]) -> None:
    for way in (pick, lambda *a, **k: explain(*a, **k)[0]):
        found = way("cpu", device=3, threads=5)
        assert isinstance(found, Fake)
        assert (found.device, found.threads) == (3, 5)
        found = way()
        assert isinstance(found, Fake)
        assert (found.device, found.threads) == (0, None)


@pytest.mark.parametrize("name", ["gpu", "", "CPU", "Auto"])
def test_unknown_name(name: str) -> None:
    with pytest.raises(ValueError, match="auto, cuda, cpu, reference") as caught:
        pick(name)
    assert repr(name) in str(caught.value)


def test_an_error_of_another_kind_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """auto passes over what cannot run, not over bugs."""

    def make(name: str, device: int, threads: int | None) -> Target:
        raise ZeroDivisionError

    monkeypatch.setattr(choose, "_make", make)
    with pytest.raises(ZeroDivisionError):
        pick()


@given(st.integers(1, 10**4), st.integers(1, 200))
def test_even_passes(generations: int, longest: int) -> None:
    passes = even_passes(generations, longest)
    assert sum(passes) == generations
    assert len(passes) == -(-generations // longest)
    assert longest >= max(passes) <= min(passes) + 1


def test_reference_is_always_there() -> None:
    assert type(pick("reference")) is ReferenceTarget


@needs_extension
def test_cpu() -> None:
    found = pick("cpu", threads=3)
    assert isinstance(found, CpuTarget)
    assert found.threads == 3


@pytest.mark.parametrize("name", ["cuda", "cpu"])
def test_unavailable_in_one_line(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line says what is wrong where neither PyCUDA nor the extension is installed."""
    monkeypatch.setattr(cpu, "_cpu", None)
    monkeypatch.setitem(sys.modules, "pycuda", None)
    monkeypatch.setitem(sys.modules, "pycuda.driver", None)
    with pytest.raises(BackendUnavailableError) as caught:
        pick(name)
    message = str(caught.value)
    assert message
    assert "\n" not in message
    found, reasons = explain()
    assert isinstance(found, ReferenceTarget)
    assert [reason.split(":")[0] for reason in reasons] == ["cuda", "cpu"]
    assert f"{name}: {message}" in reasons


@pytest.mark.parametrize("name", ["auto", "cuda"])
def test_several_devices_are_gpus(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line says what is wrong; no other backend takes the place of GPUs."""
    with pytest.raises(BackendUnavailableError, match=r"^devices 0,1,0: each .* once$"):
        pick(name, device=(0, 1, 0))
    with pytest.raises(BackendUnavailableError, match="once"):
        pick(name, device=())
    for other in ("cpu", "reference"):
        with pytest.raises(BackendUnavailableError, match=rf"^devices 0,1 .* the {other} backend$"):
            pick(other, device=[0, 1])
    monkeypatch.setitem(sys.modules, "pycuda", None)
    monkeypatch.setitem(sys.modules, "pycuda.driver", None)
    with pytest.raises(BackendUnavailableError, match="PyCUDA"):
        explain(name, device=(0, 1))


def test_one_device_by_its_number_or_in_a_list(missing: set[str]) -> None:
    assert pick("reference", device=(3,)).name == "reference"
    found = pick(device=[3])
    assert isinstance(found, Fake)
    assert found.device == 3


# --- types ---------------------------------------------------------------------


def test_types(missing: set[str]) -> None:
    """Types are asserted for mypy, which reads the tests as well."""
    assert_type(pick(), Target)
    assert_type(explain(), tuple[Target, list[str]])


def test_contracts_are_abstract() -> None:
    assert Target.__abstractmethods__ == {"describe", "free_device_memory"}
    assert LifeEngine.__abstractmethods__ == {"arena", "arena_bytes", "chain"}
    assert LifeArena.__abstractmethods__ == {"open", "open_chained", "close"}
    assert LifeUniverse.__abstractmethods__ == {"step", "put", "get"}


def assert_takes(made: type, contract: type) -> None:
    """Parameters of the same names, kinds, defaults and annotations; results as narrow.

    Engines of Life-like rules take these where the contract names any class of rules.
    """
    assert issubclass(made, contract)
    for name, method in vars(contract).items():
        if inspect.isfunction(method):
            expected = inspect.signature(method, eval_str=True)
            found = inspect.signature(getattr(made, name), eval_str=True)

            def of_nine_cells(signature: inspect.Signature) -> list[inspect.Parameter]:
                return [
                    one.replace(annotation=NineCellRule) if one.annotation is RuleT else one
                    for one in signature.parameters.values()
                ]

            inherited = getattr(made, name) is method
            assert inherited or of_nine_cells(found) == of_nine_cells(expected)
            result = found.return_annotation
            if result != expected.return_annotation:
                assert issubclass(result, expected.return_annotation)


@pytest.mark.parametrize("made", [ReferenceTarget, CpuTarget, CudaTarget, SeveralDevices])
def test_backends_take_what_the_contract_says(made: type[Target]) -> None:
    assert_takes(made, Target)
    assert made.name in NAMES


@pytest.mark.parametrize(
    "made", [ReferenceLifeEngine, CpuLifeEngine, CudaLifeEngine, SeveralLifeEngine]
)
def test_engines_take_what_the_contract_says(made: type[LifeEngine[NineCellRule]]) -> None:
    assert_takes(made, LifeEngine)


@pytest.mark.parametrize("made", [BytewiseArena, CpuArena, DeviceArena, StripsArena])
def test_arenas_take_what_the_contract_says(made: type[LifeArena]) -> None:
    assert_takes(made, LifeArena)


@pytest.mark.parametrize(
    "made",
    [
        *(BytewiseLife, CpuLife, DeviceLife, StripsLife),
        *(ChainedBytewiseLife, ChainedCpuLife, ChainedDeviceLife),
    ],
)
def test_universes_take_what_the_contract_says(made: type[LifeUniverse]) -> None:
    assert_takes(made, LifeUniverse)
