"""lifesim doctor: what it finds, and that nothing it does not find makes it fail."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import lifesim.doctor as doctor
from kernels.life.ref import ReferenceLifeEngine
from kernels.targets import choose, cpu
from kernels.targets.contract import BackendUnavailableError, Target
from kernels.targets.cuda import compile as compiler
from kernels.targets.reference import ReferenceTarget
from lifesim import disk_speed
from lifesim.cli import group
from lifesim.disk_speed import DiskFacts
from lifesim.doctor import (
    Choice,
    DoctorReport,
    Gpu,
    MemoryFacts,
    SpeedFacts,
    Unknown,
    Versions,
    collect,
)
from lifesim.scale import MeasuringScale, scale_of


def small_scale(target: Target) -> MeasuringScale:
    return replace(scale_of(target), soup_side=32 if target.is_reference else 256)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk_speed, "_DISK_BYTES", 1 << 20)
    monkeypatch.setattr(disk_speed, "_DISK_CHUNK", 1 << 20)
    monkeypatch.setattr(doctor, "_SOUP_SECONDS", 0.01)
    monkeypatch.setattr(doctor, "scale_of", small_scale)


def raising(error: Exception) -> Callable[..., Any]:
    def fail(*args: object, **options: object) -> Any:
        raise error

    return fail


def invoke(*arguments: str) -> str:
    result = CliRunner().invoke(group, ["doctor", *arguments], catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


def reason(finding: object) -> str:
    assert isinstance(finding, Unknown)
    assert "\n" not in finding.reason
    return finding.reason


def test_what_is_always_there() -> None:
    report = collect()
    assert isinstance(report.versions, Versions)
    assert report.versions.python == ".".join(map(str, sys.version_info[:3]))
    assert isinstance(report.memory, MemoryFacts)
    assert report.memory.available > 0
    assert isinstance(report.backend, Choice)
    assert isinstance(report.speed, SpeedFacts)
    assert report.speed.rate > 0


@pytest.mark.skipif(not cpu.levels(), reason="the extension is not built")
def test_kernels_and_the_level_taken() -> None:
    found = collect(threads=3)
    assert isinstance(found.cpu_kernels, doctor.CpuKernels)
    assert found.cpu_kernels.level == found.cpu_kernels.levels[-1] == cpu.levels()[-1]
    assert found.cpu_kernels.vector_bits == cpu.CpuTarget().vector_bits
    assert cpu.compiler() in found.cpu_kernels.compiler
    assert isinstance(found.cpu, doctor.Cpu)
    assert found.cpu.threads == 3


def test_no_extension(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu, "_cpu", None)
    monkeypatch.setitem(sys.modules, "kernels._cpu", None)
    monkeypatch.setattr(
        "kernels.targets.cuda.target.CudaTarget.__init__", raising(BackendUnavailableError("-"))
    )
    report = collect()
    assert cpu.HOW_TO_BUILD in reason(report.cpu_kernels)
    assert isinstance(report.backend, Choice)
    assert report.backend.name == "reference"
    assert any(line.startswith("cpu: ") for line in report.backend.passed_over)
    assert isinstance(report.speed, SpeedFacts)
    text = invoke()
    assert "reference: numpy reference" in text
    assert cpu.HOW_TO_BUILD in text


def test_no_driver_layer(monkeypatch: pytest.MonkeyPatch) -> None:
    known = metadata.version

    def version(name: str) -> str:
        if name in ("pycuda", "cuda-core"):
            raise metadata.PackageNotFoundError(name)
        return known(name)

    monkeypatch.setattr(metadata, "version", version)
    monkeypatch.setitem(sys.modules, "pycuda", None)
    monkeypatch.setitem(sys.modules, "pycuda.driver", None)
    monkeypatch.setitem(sys.modules, "cuda.core", None)
    found = collect()
    assert "bulkbits[pycuda]" in reason(found.pycuda)
    assert "bulkbits[gpu]" in reason(found.cuda_core)
    assert "does not load" in reason(found.reached_by)


def test_layers_that_do_not_load(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "version", lambda name: "2025.1")
    monkeypatch.setattr(
        "kernels.targets.cuda.target.CudaDevice.__init__",
        raising(BackendUnavailableError("no usable driver")),
    )
    found = collect()
    for layer in (found.pycuda, found.cuda_core):
        assert reason(layer) == "2025.1 is installed, but no usable driver"


def test_no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", raising(OSError("cannot open")))
    report = collect()
    assert reason(report.gpus) == reason(report.driver)
    assert "libcuda" in reason(report.gpus)


def test_no_device_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "found", lambda *newest: "")
    assert reason(collect().device_compiler) == compiler.HOW_TO_GET


class FakeDriver:
    """A libcuda with one GPU; status: what cuInit returns."""

    def __init__(self, status: int) -> None:
        self.cuInit = lambda flags: status

    def cuGetErrorString(self, status: int, text: Any) -> int:
        text._obj.value = b"no CUDA-capable\n device"
        return 0

    def cuDeviceGetCount(self, count: Any) -> int:
        count._obj.value = 1
        return 0

    def cuDeviceGet(self, device: Any, index: int) -> int:
        device._obj.value = index
        return 0

    def cuDeviceGetName(self, name: Any, size: int, device: object) -> int:
        name.value = b"Paperweight 9000"
        return 0

    def cuDeviceTotalMem_v2(self, memory: Any, device: object) -> int:
        memory._obj.value = 6 << 30
        return 0

    def cuDeviceGetAttribute(self, value: Any, number: int, device: object) -> int:
        value._obj.value = {16: 42, 75: 9, 76: 0}[number]
        return 0

    def cuDriverGetVersion(self, version: Any) -> int:
        version._obj.value = 12080
        return 0


def test_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda name: FakeDriver(0))
    monkeypatch.setattr(compiler, "found", lambda *newest: "")  # which would load a library too
    report = collect()
    assert report.gpus == (Gpu("Paperweight 9000", (9, 0), 42, 6 << 30),)
    assert isinstance(report.driver, doctor.DriverFacts)
    assert report.driver.cuda == "12.8"
    text = invoke()
    assert "Paperweight 9000, compute capability 9.0, 42 multiprocessors, 6 GiB" in text


@pytest.mark.parametrize(
    ("text", "own"),
    [
        (
            "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC "
            "2023\nGCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n",
            "535.104.05",
        ),
        (
            "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build\n",
            "570.86.15",
        ),
        ("NVRM version: 470.82\n", "470.82"),
        ("NVRM version: unknown\n470.82\n", ""),
        ("", ""),
        ("\xff\xfe", ""),
        (None, ""),
    ],
)
def test_the_drivers_own_version(
    text: str | None, own: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda name: FakeDriver(0))
    monkeypatch.setattr(compiler, "found", lambda *newest: "")
    monkeypatch.setattr(doctor, "_DRIVER_VERSION", tmp_path / "version")
    if text is not None:
        (tmp_path / "version").write_bytes(text.encode("latin-1"))
    assert collect().driver == doctor.DriverFacts("12.8", own)
    assert own in invoke()


def test_a_driver_without_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda name: FakeDriver(100))
    monkeypatch.setattr(compiler, "found", lambda *newest: "")
    assert reason(collect().gpus) == "the CUDA driver says: no CUDA-capable device (100)"


def test_disk_leaves_nothing_behind(tmp_path: Path) -> None:
    disk = collect(folder=tmp_path).disk
    assert isinstance(disk, DiskFacts)
    assert disk.write > 0
    assert disk.read > 0
    assert list(tmp_path.iterdir()) == []


def test_disk_without_direct_access(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "O_DIRECT", raising=False)
    disk = collect(folder=tmp_path).disk
    assert isinstance(disk, DiskFacts)
    assert not disk.direct


def test_read_only_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Root may write anywhere, so that taking away the right would not do.
    error = OSError(errno.EROFS, os.strerror(errno.EROFS))
    monkeypatch.setattr(tempfile, "mkstemp", raising(error))
    monkeypatch.chdir(tmp_path)
    assert reason(collect().disk) == f"cannot write in {tmp_path}: Read-only file system"
    assert "Read-only file system" in invoke()


def test_disk_that_fills_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    monkeypatch.setattr(os, "pwrite", raising(full))
    assert "No space left" in reason(collect(folder=tmp_path).disk)
    assert list(tmp_path.iterdir()) == []


def test_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk_speed, "_free_bytes", lambda folder: 1_000_000)
    assert reason(collect(folder=tmp_path).disk).startswith("not measured: 1 MB are free")


def test_folder_that_is_gone(tmp_path: Path) -> None:
    assert "No such file" in reason(collect(folder=tmp_path / "gone").disk)


def test_a_backend_that_breaks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose, "explain", lambda *a, **o: (ReferenceTarget(), ["cpu: no"]))
    monkeypatch.setattr(ReferenceLifeEngine, "universe", raising(RuntimeError("launch\nfailed")))
    report = collect()
    assert report.backend == Choice("reference", "numpy reference, one thread", ("cpu: no",))
    assert reason(report.speed) == "RuntimeError: launch failed"


def test_everything_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    probes = "_versions _cpu _cpu_kernels _gpus _driver _layer _reached_by _device_compiler"
    probes += " _memory _disk _window"
    for name in probes.split():
        monkeypatch.setattr(doctor, name, raising(ZeroDivisionError(name)))
    monkeypatch.setattr(choose, "explain", raising(KeyError("explain")))
    text = invoke()
    assert text.count("ZeroDivisionError: _") == len(probes.split()) + 1  # two layers
    assert "there is no backend to measure" in text
    facts = json.loads(invoke("--json"))
    assert set(facts) == set(DoctorReport.__slots__)
    assert all(list(value) == ["problem"] for value in facts.values())


def test_lines_are_aligned_and_json_has_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    report = collect()
    monkeypatch.setattr("lifesim.cli.doctor.collect", lambda *options: report)
    lines = invoke().splitlines()
    column = max(len(line.split("  ")[0]) for line in lines) + 2
    assert all(line[column - 2 : column] == "  " and line[column] != " " for line in lines)
    facts = json.loads(invoke("--json"))
    assert isinstance(report.backend, Choice)
    assert facts["backend"]["name"] == report.backend.name
    assert isinstance(report.memory, MemoryFacts)
    assert facts["memory"] == {"available": report.memory.available, "total": report.memory.total}
