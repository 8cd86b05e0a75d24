"""Rules that the window shows."""

from __future__ import annotations

from kernels.life.rules import LifeRule
from lifesim.rule import Rule, RuleError
from lifesim.rules.named import NAMED, NamedRule


def shown_names() -> list[NamedRule]:
    """Return the rules that have a name and that the window shows."""
    return [named for named in NAMED if isinstance(Rule.parse(named.rule).cells, LifeRule)]


def shown_rule(rule: Rule | str) -> Rule:
    """Return a rule, or the rule of a text. Raises RuleError for one that is not Life-like, which
    the window does not show, and for a text that names none."""
    known = Rule.parse(rule) if isinstance(rule, str) else rule
    if not isinstance(known.cells, LifeRule):
        raise RuleError(
            f"the window shows Life-like rules, as B3/S23, not {known}: "
            f"`lifesim run` and `lifesim render` take it"
        )
    return known
