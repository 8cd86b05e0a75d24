"""Choice of a target: the one that is named, or the best that works here."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from kernels.targets.contract import BackendUnavailableError, Target
from kernels.targets.cuda import driver as drivers
from kernels.targets.cuda import early

NAMES = ("auto", "cuda", "cpu", "reference")


def pick(
    name: str = "auto", *, device: int | Sequence[int] = 0, threads: int | None = None
) -> Target:
    """Return the target of that name; auto takes CUDA if it works, else the CPU.

    device: a GPU's number, or those of several, which a universe is spread over; then auto
    takes nothing else. threads: CPU threads, all cores by default. Raises
    BackendUnavailableError where the one asked for cannot run, ValueError for an unknown name.
    """
    return explain(name, device=device, threads=threads)[0]


def explain(
    name: str = "auto", *, device: int | Sequence[int] = 0, threads: int | None = None
) -> tuple[Target, list[str]]:
    """Pick a target, and return it with a line for each that auto passed over, saying why."""
    if name not in NAMES:
        raise ValueError(f"unknown backend {name!r}: one of {', '.join(NAMES)}")
    drivers.named()  # what nobody knows is a mistake, not a reason to pass CUDA over
    if not isinstance(device, int):
        if len(device) != 1:
            return _several(name, device), []
        device = device[0]
    reasons: list[str] = []
    for candidate in ("cuda", "cpu", "reference") if name == "auto" else (name,):
        try:
            return _make(candidate, device, threads), reasons
        except BackendUnavailableError as error:
            if name != "auto":
                raise
            reasons.append(f"{candidate}: {error}")
    raise AssertionError("the reference backend is always there")


def why_slow(*, device: int | Sequence[int] = 0, threads: int | None = None) -> str:
    """Return why auto takes the slow reference here, "" where it takes another backend."""
    try:
        _make("cpu", 0, threads)
    except BackendUnavailableError as error:
        return str(error) if pick(device=device, threads=threads).is_reference else ""
    return ""


def check_gpus(name: str, devices: Sequence[int]) -> None:
    """Raise BackendUnavailableError where a backend of that name cannot have all these GPUs.

    No GPU begins.
    """
    from kernels.targets.cuda.target import check_device

    _check_numbers(name, devices)
    for number in devices:
        check_device(number)


def _check_numbers(name: str, devices: Sequence[int]) -> None:
    numbers = ",".join(map(str, devices))
    if name not in ("auto", "cuda"):
        raise BackendUnavailableError(f"devices {numbers} are GPUs, not for the {name} backend")
    if not devices or len(set(devices)) < len(devices):
        raise BackendUnavailableError(f"devices {numbers or '()'}: each is to be named once")


def _several(name: str, devices: Sequence[int]) -> Target:
    _check_numbers(name, devices)
    from kernels.targets.cuda.target import CudaTarget
    from kernels.targets.several import SeveralDevices

    early.begin(devices)
    return SeveralDevices([CudaTarget(number) for number in devices])


@lru_cache(maxsize=8)
def _cpu_target(threads: int | None, *made_of: object) -> Target:
    """Return the CPU as a target, which small things made by the thousand share.

    made_of: what else it depends on: how many cores there are, and the extension's levels.
    """
    from kernels.targets.cpu import CpuTarget

    return CpuTarget(threads)


def _make(name: str, device: int, threads: int | None) -> Target:
    if name == "cuda":
        from kernels.targets.cuda.target import CudaTarget

        return CudaTarget(device)
    if name == "cpu":
        from kernels.targets import cpu

        return _cpu_target(threads, cpu.core_count(), *cpu.levels())
    from kernels.targets.reference import ReferenceTarget

    return ReferenceTarget()
