"""What is said of a text that is no rule."""

from __future__ import annotations

from lifesim.errors import LifesimError


class RuleError(LifesimError):
    """A text names no rule that can be run."""


def shown(text: str) -> str:
    """Return a text from outside as it may stand in a message: quoted and short."""
    return repr(text if len(text) <= 40 else text[:37] + "...")


def error_at(text: str, offset: int, what: str) -> RuleError:
    """Return the error that says what is wrong with text[offset]."""
    return RuleError(f"rule {shown(text)}, column {offset + 1}: {what}")
