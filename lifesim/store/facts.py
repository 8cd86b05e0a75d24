"""Check what is read from JSON as if an enemy had written it, as anybody can seal it.

Each function returns a value of the JSON object, and raises FactError where it is missing or
is not of the type or in the range that it must be.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

Facts = Mapping[str, Any]


class FactError(ValueError):
    """A value was never written by this program; the message names it and quotes none of it."""


def integer(facts: Facts, name: str, least: int, most: int) -> int:
    """Return a whole number from least to most."""
    return as_integer(facts.get(name), name, least, most)


def as_integer(value: Any, name: str, least: int, most: int) -> int:
    """Return a value that is a whole number from least to most."""
    if type(value) is not int:  # True is an int too
        raise FactError(f"{name} is no integer")
    if not least <= value <= most:
        raise FactError(f"{name} is out of range")
    return value


def flag(facts: Facts, name: str) -> bool:
    """Return a bool."""
    value = facts.get(name)
    if type(value) is not bool:
        raise FactError(f"{name} is neither true nor false")
    return value


def text(facts: Facts, name: str, pattern: str, most: int = 4096) -> str:
    """Return a text. pattern: of the whole text; most: characters."""
    return as_text(facts.get(name), name, pattern, most)


def as_text(value: Any, name: str, pattern: str, most: int = 4096) -> str:
    """Return a value that is a text."""
    if not isinstance(value, str):
        raise FactError(f"{name} is no text")
    if len(value) > most or not re.fullmatch(pattern, value):
        raise FactError(f"{name} is not as it is written")
    return value


def choice(facts: Facts, name: str, values: Collection[str]) -> str:
    """Return a text that is one of the values."""
    value = facts.get(name)
    if not isinstance(value, str) or value not in values:
        raise FactError(f"{name} is none of {', '.join(values)}")
    return value


def items(facts: Facts, name: str, most: int) -> list[Any]:
    """Return a list."""
    return as_items(facts.get(name), name, 0, most)


def as_items(value: Any, name: str, least: int, most: int) -> list[Any]:
    """Return a value that is a list."""
    if not isinstance(value, list):
        raise FactError(f"{name} is no list")
    if not least <= len(value) <= most:
        raise FactError(f"{name} has {len(value)} items")
    return value
