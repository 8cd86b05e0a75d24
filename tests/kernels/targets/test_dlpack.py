"""Arrays go to other libraries and come from them: what they see, and how long it lives."""

from __future__ import annotations

import ctypes
import gc
import os
import shutil
import subprocess
import sys
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.targets import dlpack
from kernels.targets.contract import BackendUnavailableError
from kernels.targets.cuda import foreign
from kernels.targets.cuda.array import DeviceArray
from kernels.targets.cuda.device import Device, DeviceInfo
from kernels.targets.dlpack import CUDA, host_array, read_capsule, read_interface
from tests.emulation import EmulatedDevice
from tests.quick import examples

VALUES = np.arange(12, dtype=np.uint64).reshape(3, 4)


def array_on(device: Any, values: np.ndarray = VALUES, **options: Any) -> DeviceArray:
    buffer = device.alloc(max(1, values.nbytes))
    device.upload(buffer, np.ascontiguousarray(values))
    return DeviceArray(device, buffer, values.shape, values.dtype, **options)


@pytest.fixture
def device() -> Any:
    return EmulatedDevice()


@pytest.fixture
def gpu(device: Any) -> Any:
    """A device that says to be GPU 3, though its memory is the host's."""
    device.info = DeviceInfo("GPU", 4, 1 << 28, (9, 0), 3)
    return device


def test_a_view_shares_memory_and_outlives_the_array(device: Any) -> None:
    array = array_on(device)
    buffer = weakref.ref(array._buffer)
    view = np.from_dlpack(cast(Any, array))
    np.testing.assert_array_equal(view, VALUES)
    view[1, 2] = 99
    assert array.to_host()[1, 2] == 99
    del array
    gc.collect()
    assert buffer() is not None
    assert view[1, 2] == 99
    del view
    gc.collect()
    assert buffer() is None


def test_a_capsule_that_nobody_takes_lets_its_memory_go(device: Any) -> None:
    array = array_on(device)
    buffer = weakref.ref(array._buffer)
    capsules = [array.__dlpack__(), array.__dlpack__(max_version=(1, 1))]
    del array
    gc.collect()
    assert buffer() is not None
    capsules.clear()
    gc.collect()
    assert buffer() is None


def test_a_consumer_may_let_go_in_a_thread_without_the_interpreter(gpu: Any) -> None:
    array = array_on(gpu)
    buffer = weakref.ref(array._buffer)
    capsule = array.__dlpack__(max_version=(1, 0))
    managed, _ = dlpack._inside(capsule)
    assert managed is not None
    address, deleter = ctypes.addressof(managed), managed.deleter
    rename = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_SetName", ctypes.pythonapi)
    )
    used = b"used_dltensor_versioned"  # as a consumer does, whose the memory then is
    assert rename(capsule, used) == 0
    with pytest.raises(BufferError, match="used already"):
        read_capsule(capsule)
    del capsule, array
    gc.collect()
    assert buffer() is not None
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(deleter)(address)  # the call lets the GIL go
    gc.collect()
    assert buffer() is None


@pytest.mark.parametrize("version", [None, (0, 8), (1, 0), (1, 9)])
def test_the_capsule_names_the_gpu(gpu: Any, version: tuple[int, int] | None) -> None:
    array = array_on(gpu)
    assert array.__dlpack_device__() == (CUDA, 3)
    capsule = array.__dlpack__(stream=1, max_version=version)
    managed, tensor = dlpack._inside(capsule)
    assert (managed is None) == (version is None or version[0] < 1)
    assert (tensor.device.kind, tensor.device.index) == (2, 3)
    placed = read_capsule(capsule)
    assert placed == dlpack.Placed(array._address, (3, 4), (32, 8), np.dtype(np.uint64), (CUDA, 3))
    interface = array.__cuda_array_interface__
    assert interface["data"] == (array._address, False)
    assert read_interface(interface) == dlpack.Placed(
        array._address, (3, 4), (32, 8), np.dtype(np.uint64)
    )
    with pytest.raises((BufferError, RuntimeError)):
        np.from_dlpack(cast(Any, array))


def test_what_is_read_only_is_said_or_copied(gpu: Any) -> None:
    array = array_on(gpu, read_only=True)
    managed, tensor = dlpack._inside(array.__dlpack__(max_version=(1, 0)))
    assert managed is not None
    assert (managed.flags, tensor.data) == (1, array._address)
    assert array.__cuda_array_interface__["data"][1] is True
    _, old = dlpack._inside(array.__dlpack__())
    assert old.data != array._address
    copied, _ = dlpack._inside(array.__dlpack__(max_version=(1, 0), copy=True))
    assert copied is not None
    assert copied.flags == 2
    with pytest.raises(BufferError):
        array.__dlpack__(copy=False)
    assert array.__dlpack__(copy=False, max_version=(1, 0))


def test_streams_and_devices_that_are_none(gpu: Any) -> None:
    array = array_on(gpu)
    for stream in (None, -1, 1, 2, 0x5000):
        assert array.__dlpack__(stream=stream)
    for wrong in (0, -2, "1"):
        with pytest.raises(BufferError, match="no stream"):
            array.__dlpack__(stream=cast(Any, wrong))
    with pytest.raises(BufferError, match="on \\(2, 3\\) only"):
        array.__dlpack__(dl_device=(2, 1))
    with pytest.raises(BufferError):
        array.__dlpack__(dl_device=(1, 0), copy=False)
    on_host = np.from_dlpack(cast(Any, array), device="cpu")
    np.testing.assert_array_equal(on_host, VALUES)
    np.testing.assert_array_equal(np.asarray(array), VALUES)
    assert np.asarray(array, np.float64).dtype == np.float64
    with pytest.raises(ValueError, match="only as a copy"):
        np.asarray(array, copy=False)
    with pytest.raises(BufferError, match="no streams"):
        array_on(EmulatedDevice()).__dlpack__(stream=1)
    with pytest.raises(AttributeError):
        _ = array_on(EmulatedDevice()).__cuda_array_interface__


def test_other_dtypes_of_the_same_memory(device: Any) -> None:
    halves = array_on(device).view(np.uint32)
    np.testing.assert_array_equal(np.from_dlpack(cast(Any, halves)), VALUES.view(np.uint32))
    with pytest.raises(ValueError, match="whole number"):
        array_on(device, VALUES[:, :3].astype(np.uint32)).view(np.uint64)
    with pytest.raises(ValueError, match="buffer of 96"):
        DeviceArray(device, halves._buffer, (13,), np.uint64)


def test_empty_arrays(device: Any, gpu: Any) -> None:
    for shape in ((0, 4), (3, 0)):
        array = array_on(device, np.empty(shape, np.uint64))
        assert array.to_host().shape == array.copy().shape == shape
        assert host_array(array).shape == shape


# --- what others have ------------------------------------------------------------


class Capsule:
    """An object of a library that knows DLPack alone, of the version that it was made for."""

    def __init__(self, source: Any, device: tuple[int, int] | None = None, old: bool = False):
        self._source, self._device, self._old = source, device, old

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device or self._source.__dlpack_device__()

    def __dlpack__(self, **options: Any) -> Any:
        if self._old and options:
            raise TypeError("unexpected keyword argument")
        return self._source.__dlpack__(**options)


class Interface:
    """An object of a library that knows the CUDA array interface alone."""

    def __init__(self, values: np.ndarray, **changed: Any) -> None:
        self.kept = values
        self.__cuda_array_interface__ = {
            "shape": values.shape,
            "typestr": values.dtype.str,
            "data": (values.ctypes.data, False),
            "strides": values.strides,
            "version": 3,
            **changed,
        }


def test_host_arrays_are_views() -> None:
    for given_ in (VALUES, Capsule(VALUES), memoryview(VALUES)):
        found = host_array(given_)
        np.testing.assert_array_equal(found, VALUES)
        assert np.shares_memory(found, VALUES)
    assert host_array([[1, 0]]).tolist() == [[1, 0]]


@pytest.fixture
def driver(tmp_path_factory: pytest.TempPathFactory, monkeypatch: Any) -> Iterator[ctypes.CDLL]:
    """The driver of fake_cuda.cpp in place of the system's."""
    compiler = shutil.which(os.environ.get("CXX", "g++"))
    if compiler is None:
        pytest.skip("no C++ compiler")
    library = tmp_path_factory.mktemp("cuda") / "libfake.so"
    source = Path(__file__).with_name("fake_cuda.cpp")
    command = [compiler, "-shared", "-fPIC", str(source), "-o", str(library)]
    subprocess.run(command, check=True)
    fake = ctypes.CDLL(str(library))
    fake.fake_current.restype = ctypes.c_void_p
    monkeypatch.setattr(foreign, "_library", lambda: fake)
    yield fake
    assert fake.fake_current() is None
    assert fake.fake_retained() == 0


def test_arrays_of_a_gpu_are_copied(driver: ctypes.CDLL, gpu: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(foreign, "_CHUNK", 64)
    wide = np.arange(60, dtype=np.int16).reshape(5, 12)
    for values in (wide, wide.T, wide[::2, ::-3], wide[1:1], wide[2:3, 4:5], VALUES != 3):
        found = host_array(Interface(values))
        np.testing.assert_array_equal(found, values)
        assert not np.shares_memory(found, values)
        assert found.dtype == values.dtype
    array = array_on(gpu)
    driver.fake_pool(1)
    for old in (False, True):
        np.testing.assert_array_equal(host_array(Capsule(array, old=old)), VALUES)
    driver.fake_pool(0)
    buffer = weakref.ref(array._buffer)
    assert host_array(array)[2, 3] == 11
    del array
    gc.collect()
    assert buffer() is None


def test_memory_that_cannot_be_read(driver: ctypes.CDLL) -> None:
    with pytest.raises(BufferError, match="CUDA_ERROR_INVALID_VALUE"):
        host_array(Interface(VALUES, data=(64, False)))
    with pytest.raises(BufferError, match="device 10 "):
        host_array(Capsule(VALUES, (10, 0)))
    with pytest.raises(BufferError, match="str is no DLPack capsule"):
        host_array(Capsule(type("Odd", (), {"__dlpack__": lambda self, **_: "?"})(), (2, 0)))
    for wrong in (
        {"shape": None}, {"shape": (3,)}, {"shape": (-3, 4)}, {"typestr": "?!"}, {"data": None},
        {"mask": VALUES}, {"strides": ("a", "b")},
    ):  # fmt: skip
        with pytest.raises(BufferError):
            host_array(Interface(VALUES, **cast(Any, wrong)))
    with pytest.raises(BufferError):
        read_interface([])


def test_without_a_driver(monkeypatch: Any) -> None:
    foreign._library.cache_clear()

    def missing(name: str) -> None:
        raise OSError(f"{name}: cannot open shared object file")

    monkeypatch.setattr(foreign.ctypes, "CDLL", missing)
    with pytest.raises(BackendUnavailableError, match="no CUDA driver: libcuda"):
        host_array(Interface(VALUES))


def test_types_that_numpy_has_not() -> None:
    capsule = VALUES.__dlpack__()
    _, tensor = dlpack._inside(capsule)
    tensor.dtype.code = 4  # bfloat
    with pytest.raises(BufferError, match="type 4 of 64 bits"):
        read_capsule(capsule)
    tensor.dtype.code, tensor.dtype.bits = 1, 4
    with pytest.raises(BufferError, match="of 4 bits"):
        read_capsule(capsule)
    tensor.dtype.bits = 64
    newer = VALUES.__dlpack__(max_version=(1, 0))
    managed, _ = dlpack._inside(newer)
    assert managed is not None
    managed.major = 2
    with pytest.raises(BufferError, match=r"DLPack 2\.\d+ is not known"):
        read_capsule(newer)


@given(
    st.lists(st.integers(0, 4), min_size=0, max_size=3),
    st.sampled_from([np.bool_, np.int8, np.uint16, np.float32, np.int64, np.complex64]),
)
@settings(max_examples=examples(40))
def test_capsules_are_read_as_numpy_writes_them(shape: list[int], dtype: Any) -> None:
    values = np.zeros(shape, dtype)
    placed = read_capsule(values.__dlpack__())
    assert (placed.shape, placed.dtype, placed.device) == (tuple(shape), dtype, (1, 0))
    if values.size:
        assert placed.address == values.ctypes.data
        strides = values.strides
        assert all(n == 1 or a == b for n, a, b in zip(shape, placed.strides, strides, strict=True))


# --- libraries that may be there --------------------------------------------------


def test_torch(device: Any) -> None:
    torch = pytest.importorskip("torch")
    array = array_on(device)
    tensor = torch.from_dlpack(array)
    tensor[0, 0] = 77
    assert array.to_host()[0, 0] == 77
    assert host_array(tensor)[0, 0] == 77


def test_a_consumer_that_outlives_python() -> None:
    pytest.importorskip("torch")
    code = """
import builtins, numpy as np, torch
from tests.kernels.targets.test_dlpack import array_on
from tests.emulation import EmulatedDevice
builtins.kept = torch.from_dlpack(array_on(EmulatedDevice()))
"""
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


# --- on a GPU ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def cuda() -> Device:
    from kernels.targets.cuda.target import CudaDevice

    return CudaDevice()


@pytest.mark.gpu
def test_cuda_memory_goes_out_and_comes_back(cuda: Device) -> None:
    array = array_on(cuda)
    assert array.__dlpack_device__() == (CUDA, 0)
    np.testing.assert_array_equal(host_array(Capsule(array)), VALUES)
    interface = array.__cuda_array_interface__
    there = type("Interface", (), {"__cuda_array_interface__": interface})()
    np.testing.assert_array_equal(host_array(there), VALUES)
    interface.update(shape=(4, 2), strides=(8, 64))  # every other row, transposed
    np.testing.assert_array_equal(host_array(there), VALUES[::2].T)
    interface.update(data=(1 << 20, False))
    with pytest.raises(BufferError, match="CUDA_ERROR"):
        host_array(there)
    copied = array.copy()
    cuda.upload(array._buffer, VALUES + np.uint64(1))
    cuda.synchronize()
    np.testing.assert_array_equal(host_array(copied), VALUES)
    np.testing.assert_array_equal(host_array(Capsule(array, old=True)), VALUES + 1)


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["torch", "cupy"])
def test_libraries_on_a_gpu(cuda: Device, name: str) -> None:
    library = pytest.importorskip(name)
    if name == "torch" and not library.cuda.is_available():
        pytest.skip("this PyTorch has no CUDA")
    array = array_on(cuda)
    buffer = weakref.ref(array._buffer)
    taken = library.from_dlpack(array)
    taken[1, 2] = 99
    assert host_array(array)[1, 2] == 99
    assert host_array(taken)[1, 2] == 99
    del array
    gc.collect()
    assert buffer() is not None
    del taken
    gc.collect()
    assert buffer() is None
