"""Contexts that are made before anything needs them, with a driver that is only played."""

from __future__ import annotations

import ctypes
import threading
from typing import Any

import pytest

from kernels.targets.cuda import early
from kernels.targets.cuda.early import begin, under_way, wait


class Driver:
    """Plays the driver's library, with two GPUs. A context is made once others are being made."""

    def __init__(self, at_once: int) -> None:
        self.meeting = threading.Barrier(at_once)
        self.made: list[int] = []

    def cuInit(self, flags: int) -> int:
        return int(flags != 0)

    def cuDeviceGet(self, device: Any, number: int) -> int:
        device._obj.value = 100 + number
        return 0 if number < 2 else 101

    def cuDevicePrimaryCtxRetain(self, context: Any, device: ctypes.c_int) -> int:
        self.meeting.wait(60)
        self.made.append(device.value)
        return 0


@pytest.fixture(autouse=True)
def _none_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(early, "_threads", {})


def test_all_are_made_at_the_same_time_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = Driver(at_once=2)
    monkeypatch.setattr(early.ctypes, "CDLL", lambda name: driver)
    begin([0])
    assert under_way()
    begin([1, 0, 2])
    for number in (0, 1, 2, 3):
        wait(number)
    assert sorted(driver.made) == [100, 101]
    begin([0, 1])
    wait(0)
    assert len(driver.made) == 2
    assert not under_way()


def test_no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def library(name: str) -> object:
        asked.append(name)
        if len(asked) == 1:
            raise OSError(f"{name}: cannot open shared object file")
        return object()  # that has none of the functions

    monkeypatch.setattr(early.ctypes, "CDLL", library)
    for number in (0, 1):
        begin([number])
        wait(number)
    assert asked == ["libcuda.so.1"] * 2
    assert not under_way()
