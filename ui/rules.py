"""Rules that the window shows."""

from __future__ import annotations

from kernels.life.rules import LifeRule, MapRule
from lifesim.rule import Rule, RuleError
from lifesim.rules.named import NAMED, NamedRule


def shown_names() -> list[NamedRule]:
    """Return the rules that have a name and that the window shows."""
    return [named for named in NAMED if _is_shown(Rule.parse(named.rule))]


def _is_shown(rule: Rule) -> bool:
    return isinstance(rule.cells, LifeRule | MapRule)


def shown_rule(rule: Rule | str) -> Rule:
    """Return a rule, or the rule of a text. Raises RuleError for one that the window does not
    show, and for a text that names none."""
    known = Rule.parse(rule) if isinstance(rule, str) else rule
    if not _is_shown(known):
        raise RuleError(
            f"the window shows rules of two states and nine cells, as B3/S23, not {known}: "
            f"`lifesim run` and `lifesim render` take it"
        )
    return known
