"""Ageing cells on a CUDA-like device: universes stay there, in panels, between passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from kernels.ageing.costs import cuda_tuning
from kernels.ageing.plan import age_planes
from kernels.life.bytewise import check_rule, check_states
from kernels.life.contract import (
    ChainShape,
    LifeArena,
    LifeChain,
    LifeEngine,
    LifeShape,
    Words,
    check_planes,
)
from kernels.life.cuda.engine import ChainedDeviceLife, DeviceArena, DeviceLife
from kernels.life.cuda.sizes import device_bytes, device_chain
from kernels.life.plan import CudaPlan
from kernels.life.rules import AgeingRule, LifeRule, MapRule, counts_of
from kernels.targets.cuda.device import Device, Module

SOURCE = Path(__file__).with_name("ageing.cu")


class CudaAgeingEngine(LifeEngine[AgeingRule]):
    """Ageing cells on one CUDA-like device.

    planes: the bit planes of all its rules. Sizes are those of as many states as these hold:
    rules of fewer may take less memory.
    """

    def __init__(self, device: Device, planes: int) -> None:
        self.device, self.planes = device, planes

    def arena(
        self,
        shapes: Sequence[LifeShape],
        slots: int,
        rule: AgeingRule,
        chain: ChainShape | None = None,
    ) -> LifeArena:
        """Return an arena of panels in the device's memory."""
        check_planes(shapes, chain, self.planes)
        check_rule(rule, self.planes)
        return AgeingDeviceArena(self.device, shapes, slots, rule, chain=chain)

    def arena_bytes(
        self, shapes: Sequence[LifeShape], slots: int, chain: ChainShape | None = None
    ) -> tuple[int, int]:
        """Return 0, and the bytes of device memory that arena() would take at most."""
        check_planes(shapes, chain, self.planes)
        tuning = cuda_tuning(self.planes)
        count = self.device.info.multiprocessors
        return 0, device_bytes(shapes, slots, count, chain, tuning)

    def chain(self, shape: ChainShape) -> LifeChain:
        """Return the chain of an arena, as device_chain() does."""
        check_planes((), shape, self.planes)
        return device_chain(shape, self.device.info.multiprocessors, cuda_tuning(self.planes))


class AgeingDeviceArena(DeviceArena):
    """An arena of universes whose cells have ages."""

    rule: AgeingRule

    def __init__(
        self,
        device: Device,
        shapes: Sequence[LifeShape],
        slots: int,
        rule: AgeingRule,
        plan: CudaPlan | None = None,
        chain: ChainShape | None = None,
    ) -> None:
        counts = counts_of(rule.table)
        self._table = LifeRule(*counts) if counts else MapRule(rule.table)
        tuning = replace(cuda_tuning(rule.planes), parts=1 + age_planes(rule.states))
        super().__init__(device, shapes, slots, rule, plan, chain, tuning=tuning)

    def open(self, slot: int, shape: LifeShape) -> DeviceAgeing:
        """Return a universe in a slot; its cells are undefined until all are put."""
        self.check_slot(slot, shape)
        plan = self.plan(shape)
        self.check_room(shape, plan.layout)
        return DeviceAgeing(self, slot, shape, plan)

    def open_chained(self, slot: int, height: int, *, first: bool) -> ChainedDeviceAgeing:
        """Return a universe of the chain in a slot."""
        shape, plan = self.check_chained(slot, height, first=first), self._chain_plan
        self.check_room(shape, plan.layout, 0 if first else self._turns.chain.slack)
        return ChainedDeviceAgeing(self, slot, height, self._turns, plan, first=first)

    def compiled(self, plan: CudaPlan, torus: bool) -> Module:
        """Compile ageing.cu for a plan."""
        defines = plan.defines(self._table, torus)
        return self.device.module(SOURCE, {**defines, "STATES": self.rule.states})


class DeviceAgeing(DeviceLife):
    """A universe of ageing cells in panels, in a slot of an arena."""

    _arena: AgeingDeviceArena

    def put(self, y: int, words: Words) -> None:
        """Upload rows, if the rule has all their states, and pack them into panels."""
        self.check_rows(y, words)
        check_states(words, self._arena.rule.states)
        super().put(y, words)


class ChainedDeviceAgeing(ChainedDeviceLife, DeviceAgeing):
    """A universe of a chain of ageing cells on a device."""
