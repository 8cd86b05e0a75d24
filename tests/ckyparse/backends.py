"""The backends that parsers are tested with."""

from __future__ import annotations

import pytest

from kernels.targets.choose import pick
from kernels.targets.contract import BackendUnavailableError


def _works(name: str) -> bool:
    try:
        pick(name)
    except BackendUnavailableError:
        return False
    return True


HERE = ["reference", *(["cpu"] if _works("cpu") else [])]
ALL = [*HERE, pytest.param("cuda", marks=pytest.mark.gpu)]
