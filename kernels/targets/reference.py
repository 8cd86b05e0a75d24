"""The reference target, numpy: slow, and always there."""

from __future__ import annotations

from kernels.targets.contract import Target


class ReferenceTarget(Target):
    """The target of each engine's obvious implementation, numpy on one thread."""

    name = "reference"

    def describe(self) -> str:
        """Return that it is numpy."""
        return "numpy reference, one thread"

    def free_device_memory(self) -> int | None:
        """Return None: it computes in host memory."""
        return None

    @property
    def is_reference(self) -> bool:
        """True: it is the slow one."""
        return True
