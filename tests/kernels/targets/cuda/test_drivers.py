"""The driver layers: what launchers rely on, and which of them is taken.

Each is tested on a GPU, and cuda.core on an emulated driver, too.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernels.life.contract import LifeShape
from kernels.life.rules import LifeRule
from kernels.targets.choose import pick
from kernels.targets.contract import BackendUnavailableError
from kernels.targets.cuda import driver as drivers
from kernels.targets.cuda.device import Slice
from kernels.targets.cuda.target import CudaDevice, CudaTarget
from tests.emulation.driven import EMULATED, run_driven

SOURCE = Path(__file__).with_name("layers.cu")
EMULATES = EMULATED in os.environ
U64 = 8


@pytest.fixture(params=drivers.NAMES)
def layer(request: pytest.FixtureRequest) -> str:
    """The name of a layer; where its package is missing the test is skipped."""
    name: str = request.param
    package = "pycuda" if name == "pycuda" else "cuda.core"
    try:
        missing = importlib.util.find_spec(package) is None
    except ModuleNotFoundError:
        missing = True
    if missing:
        pytest.skip(f"{package} is not installed")
    return name


@pytest.fixture
def device(layer: str) -> CudaDevice:
    return CudaDevice(0, layer)


def filled(device: CudaDevice, count: int, first: int, step: int) -> Any:
    """A buffer in which word i is first + i * step."""
    out = device.alloc(count * U64)
    grid = (-(-count // 64), 1, 1)
    device.module(SOURCE, {}).launch(
        "fill", grid, (64, 1, 1), out, np.uint32(count), np.int64(first), np.int16(step)
    )
    return out


def words_of(device: CudaDevice, buffer: Any, count: int) -> list[int]:
    found = np.empty(count, np.uint64)
    device.download(found, buffer)
    return [int(each) for each in found.view(np.int64)]


@pytest.mark.gpu
class TestLayer:
    def test_facts(self, layer: str, device: CudaDevice) -> None:
        assert device.driver.name == layer
        assert device.driver.version()
        assert device.driver.cuda_version() >= (11, 0)
        info = device.info
        assert info.name
        assert info.multiprocessors > 0
        assert info.capability >= (7, 5)
        assert 0 < device.free_memory() <= info.memory
        assert CudaTarget(0, layer).describe().startswith(info.name)

    def test_no_such_device(self, layer: str) -> None:
        with pytest.raises(BackendUnavailableError, match=r"no CUDA device 99: there are \d+$"):
            CudaDevice(99, layer)

    def test_parameters_of_all_sizes(self, device: CudaDevice) -> None:
        first = -(1 << 40)
        out = filled(device, 1000, first, -3)
        assert words_of(device, out, 1000) == [first - 3 * i for i in range(1000)]

    def test_a_slice_is_a_pointer(self, device: CudaDevice) -> None:
        out = filled(device, 64, 5, 0)
        some = (Slice(out, 32 * U64), np.uint32(8), np.int64(7), np.int16(1))
        device.module(SOURCE, {}).launch("fill", (1, 1, 1), (32, 1, 1), *some)
        assert words_of(device, out, 64) == [5] * 32 + list(range(7, 15)) + [5] * 24

    @pytest.mark.parametrize("kib", [4, 48, 64, 96])
    def test_shared_memory(self, device: CudaDevice, kib: int) -> None:
        if (device.info.capability == (7, 5)) and kib > 64:
            pytest.skip("this GPU has less shared memory")
        words = np.random.default_rng(kib).integers(0, 2**32, kib << 8, np.uint32)
        source, out = device.alloc(words.nbytes), device.alloc(words.nbytes)
        device.upload(source, words)
        module = device.module(SOURCE, {})
        for _ in range(2):  # where more is allowed it stays so
            values = (out, source, np.int32(len(words)))
            module.launch("turn", (1, 1, 1), (256, 1, 1), *values, shared=words.nbytes)
        found = np.empty_like(words)
        device.download(found, out)
        np.testing.assert_array_equal(found, words[::-1])

    def test_copies_by_place(self, device: CudaDevice) -> None:
        data = np.arange(1000, dtype=np.uint8)
        buffer, other = device.alloc(1000), device.alloc(500)
        device.upload(buffer, data)
        device.upload(buffer, data[:10], 990)
        device.copy(other, 3, buffer, 985, 15)
        device.copy(other, 0, buffer, 0, 0)
        found = np.empty(12, np.uint8)
        device.download(found, other, 6)
        assert found.tolist() == [*data[988:990].tolist(), *range(10)]

    def test_what_does_not_fit_is_refused(self, device: CudaDevice) -> None:
        buffer, data = device.alloc(100), np.zeros(101, np.uint8)
        with pytest.raises(ValueError, match="101 bytes at 0 leave a buffer of 100"):
            device.upload(buffer, data)
        with pytest.raises(ValueError, match="leave a buffer"):
            device.download(data[:100], buffer, 1)
        with pytest.raises(ValueError, match="C-contiguous"):
            device.upload(buffer, data[::2])
        with pytest.raises(ValueError, match="C-contiguous"):
            device.download(data[::2], buffer)

    def test_page_locked_memory(self, device: CudaDevice) -> None:
        memory = device.pinned(1 << 20)
        assert memory.ctypes.data % 4096 == 0
        assert memory.shape == (1 << 20,)
        words = memory[:800].view(np.uint64)
        words[:] = range(100)
        assert device._context.is_pinned(words)
        assert not device._context.is_pinned(words.copy())
        buffer = device.alloc(800)
        device.upload(buffer, words)
        device.synchronize()
        words[:] = 0
        device.download(words[:50], buffer, 400)
        assert words.tolist() == [*range(50, 100), *[0] * 50]
        del memory, words  # freed with the last view

    def test_more_than_there_is(self, device: CudaDevice) -> None:
        with pytest.raises(MemoryError, match=r"^.*: [0-9,]+ bytes asked for, [0-9,]+ are free$"):
            device.alloc(1 << 50)
        with pytest.raises(MemoryError, match="page-locked"):
            device.pinned(1 << 50)
        assert words_of(device, filled(device, 3, 1, 1), 3) == [1, 2, 3], "all goes on after that"

    def test_memory_comes_back(self, device: CudaDevice) -> None:
        """Any thread may drop it: it is kept, or freed where its address was given away."""
        kept = [device.alloc(1 << 20) for _ in range(4)]
        assert all(buffer.address for buffer in kept[:2])
        held = device._reserve.held()
        thread = threading.Thread(target=kept.clear)
        thread.start()
        thread.join()
        assert device._reserve.held() == held + (2 << 20)

    def test_the_calls_of_a_thread_run_in_order(self, device: CudaDevice) -> None:
        """A thread sees its own calls in order, while others queue on streams of their own."""
        streams, wrong = set(), []
        module = device.module(SOURCE, {})
        begun = threading.Barrier(4)

        def work(seed: int) -> None:
            begun.wait()
            buffer = device.alloc(4096)
            device.upload(buffer, np.full(1024, seed, np.uint32))
            for _ in range(20):
                values = (buffer, np.uint32(1024), np.int32(5))
                module.launch("count_up", (16, 1, 1), (64, 1, 1), *values)
            found = np.empty(1024, np.uint32)
            device.download(found, buffer)
            with device.current():
                streams.add(device.stream())
            if set(found.tolist()) != {seed + 100}:
                wrong.append((seed, found))
            begun.wait()  # until then the streams are not given to others

        threads = [threading.Thread(target=work, args=(1000 * n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []
        assert len(streams) == 4

    def test_contexts_nest(self, layer: str, device: CudaDevice) -> None:
        """Calls leave the context current that was current, whatever others they enter."""
        other = CudaDevice(device.driver.count() - 1, layer)
        with other.current():
            out = filled(device, 10, 0, 1)
            with device.current(), other.current():
                theirs = filled(other, 10, 10, 1)
            assert words_of(device, out, 10) == list(range(10))
            assert words_of(other, theirs, 10) == list(range(10, 20))

    def test_copies_between_devices(self, layer: str, device: CudaDevice) -> None:
        """Copies come in the order in which they are queued on either device.

        Where there is one GPU they are between two objects of it.
        """
        other = CudaDevice(device.driver.count() - 1, layer)
        there = other.alloc(100 * U64)
        for first in (5, 7):  # the second time the way is known
            here = filled(device, 100, first, 2)
            other.copy_from(there, 40 * U64, device, here, 10 * U64, 60 * U64)
            device.upload(here, np.zeros(100, np.uint64))  # after the copy
            found = np.empty(60, np.uint64)
            other.download(found, there, 40 * U64)
            assert found.tolist() == [first + 2 * i for i in range(10, 70)]

    def test_life(self, layer: str) -> None:
        """An engine on the layer computes what the reference does."""
        from kernels.life import engine_for
        from kernels.targets.reference import ReferenceTarget

        size = (100, 60) if EMULATES else (3000, 1000)
        shape, rule = LifeShape(*size, True), LifeRule(8, 12)
        words = np.random.default_rng(3).integers(0, 2**64, (size[1], -(-size[0] // 64)), np.uint64)
        words[:, -1] &= np.uint64((1 << (size[0] % 64)) - 1)
        found = []
        for target in (CudaTarget(0, layer), ReferenceTarget()):
            universe = engine_for(target).universe(words.copy(), shape, rule)
            universe.step(21)
            found.append(universe.words())
        np.testing.assert_array_equal(*found)


@pytest.mark.gpu
def test_an_exit_with_the_context_current_is_no_abort(layer: str) -> None:
    """A process ends well with the context current, as an interrupt may leave it that comes
    between two lines of CudaDevice.current()."""
    program = (
        "from kernels.targets.cuda.target import CudaDevice; "
        f"d = CudaDevice(0, {layer!r}); d.alloc(5); d.pinned(5); d._context.push()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, b"")


# --- without a GPU ---------------------------------------------------------------------


@pytest.mark.skipif(EMULATES, reason="this is the process that it starts")
@pytest.mark.skipif(shutil.which(os.environ.get("CXX", "g++")) is None, reason="no g++")
def test_cuda_core_on_an_emulated_driver() -> None:
    """The tests above hold through the real cuda.core and cuda.bindings."""
    pytest.importorskip("cuda.core")
    done = run_driven(["-m", "gpu", "-k", "cuda.core", __file__])
    assert done.returncode == 0, done.stdout + done.stderr
    assert "18 passed" in done.stdout


class FakeLayer:
    """A layer that works."""

    def __init__(self, name: str) -> None:
        self.name = name


@pytest.fixture
def missing(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Names of layers that do not load; the others are fakes."""
    names: set[str] = set()

    def load(name: str) -> Any:
        if name in names:
            raise BackendUnavailableError(f"{name} does not load")
        return FakeLayer(name)

    monkeypatch.setattr(drivers, "load", load)
    monkeypatch.delenv(drivers.VARIABLE, raising=False)
    return names


def test_pycuda_is_taken_first(missing: set[str]) -> None:
    assert drivers.chosen().name == "pycuda"
    missing.add("pycuda")
    assert drivers.chosen().name == "cuda.core"
    assert drivers.working() == ["cuda.core"]
    missing.add("cuda.core")
    with pytest.raises(
        BackendUnavailableError, match=r"^pycuda does not load; cuda\.core does not load$"
    ):
        drivers.chosen()


def test_the_one_that_is_named(missing: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """No other takes its place."""
    monkeypatch.setenv(drivers.VARIABLE, "cuda.core")
    assert drivers.chosen().name == "cuda.core"
    assert drivers.chosen("pycuda").name == "pycuda"
    missing.add("cuda.core")
    with pytest.raises(BackendUnavailableError, match=r"^cuda\.core does not load$"):
        drivers.chosen()


def test_an_unknown_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused also where any backend will do."""
    monkeypatch.setenv(drivers.VARIABLE, "opencl")
    for way in (drivers.chosen, pick):
        with pytest.raises(
            BackendUnavailableError, match=r"^BULKBITS_DRIVER says 'opencl', which is none of py"
        ):
            way()


@pytest.mark.parametrize("name", drivers.NAMES)
def test_a_missing_package_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("pycuda", "pycuda.driver", "cuda", "cuda.core", "cuda.bindings"):
        monkeypatch.setitem(sys.modules, module, None)
    drivers.load.cache_clear()
    with pytest.raises(BackendUnavailableError, match=r"does not load: pip install 'bulkbits\["):
        drivers.load(name)
