"""Where batches are computed: the CPU, the plain reference where it is not built, a GPU."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, TypeAlias

from kernels.bignum.contract import Arithmetic
from kernels.bignum.numbers import Numbers
from kernels.targets.contract import BackendUnavailableError

Engine: TypeAlias = Arithmetic[Any]


@lru_cache(maxsize=1)
def host() -> Arithmetic[Numbers]:
    """Return the compiled CPU kernels on all cores, or Python's own integers without them."""
    try:
        from kernels.bignum.cpu.engine import CpuArithmetic

        return CpuArithmetic()
    except BackendUnavailableError:
        return named("reference")


@lru_cache(maxsize=16)
def named(place: str) -> Engine:
    """Return the engine of "host", "cpu", "reference", "cuda" or "cuda:INDEX".

    Raises BackendUnavailableError where it cannot run, ValueError for an unknown name.
    """
    if place == "host":
        return host()
    if place == "cpu":
        from kernels.bignum.cpu.engine import CpuArithmetic

        return CpuArithmetic()
    if place == "reference":
        from kernels.bignum.ref import ReferenceArithmetic

        return ReferenceArithmetic()
    kind, _, index = place.partition(":")
    if kind == "cuda" and (index.isdecimal() or not index):
        from kernels.bignum.cuda.engine import arithmetic_for

        return arithmetic_for(int(index or 0))
    raise ValueError(f"unknown place {place!r}: host, cpu, reference, cuda or cuda:INDEX")


def is_host(engine: Engine) -> bool:
    """Return whether its batches are Numbers, which any other such engine takes as they are."""
    return engine.name in ("cpu", "reference")


def common(*engines: Engine) -> Engine:
    """Return where operands in different places meet: on the device, if one lies there."""
    for engine in engines:
        if not is_host(engine):
            return engine
    return engines[0]
