"""The scale to measure a target by follows from its facts."""

from __future__ import annotations

from typing import Any

import pytest

from kernels.targets.contract import Target
from kernels.targets.cpu import CpuTarget, levels
from kernels.targets.reference import ReferenceTarget
from lifesim.scale import ON_GPUS, ON_THE_CPU, ON_THE_REFERENCE, scale_of


class Gpus(ReferenceTarget):
    """Claims to have devices, under a name that says nothing."""

    name = "something"
    devices: tuple[Any, ...] = (object(), object())


def test_gpus_are_measured_by_the_most() -> None:
    assert scale_of(Gpus()) is ON_GPUS


def test_the_reference_is_measured_by_the_least() -> None:
    target: Target = ReferenceTarget()
    assert (target.vector_bits, target.threads) == (0, 1)
    assert scale_of(target) is ON_THE_REFERENCE


@pytest.mark.skipif(not levels(), reason="the CPU kernels are not built")
def test_the_cpu_is_between_them() -> None:
    target: Target = CpuTarget(2)
    assert target.vector_bits >= 128
    assert target.threads == 2
    assert scale_of(target) is ON_THE_CPU
    assert ON_THE_REFERENCE.soup_side < ON_THE_CPU.soup_side < ON_GPUS.soup_side
