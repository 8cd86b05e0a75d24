"""The engine of a rule: which package of kernels computes it."""

from __future__ import annotations

from typing import Any

from kernels.life import engine_for
from kernels.life.contract import LifeEngine
from kernels.life.rules import LifeRule, MapRule
from kernels.targets.contract import Target
from lifesim.errors import LifesimError
from lifesim.rule import Rule


def engine_of(rule: Rule, target: Target) -> LifeEngine[Any]:
    """Return the engine that computes a rule on a target; it takes `rule.cells`.

    Raises LifesimError where that target computes no rules of this class.
    """
    match rule.cells:
        case LifeRule() | MapRule():
            return engine_for(target)
    raise LifesimError(f"rule {rule} cannot be computed")
