"""Rules from files: Golly's .rule, .table and .tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .errors import RuleFileError
    from .files import RuleFile, parse, read
    from .folders import find, folders_for

__all__ = ["RuleFile", "RuleFileError", "find", "folders_for", "parse", "read"]

_MODULES = {"RuleFileError": "errors", "find": "folders", "folders_for": "folders"}


def __getattr__(name: str) -> Any:
    """Import what is asked for only now: numpy is not to be loaded for help."""
    if name not in __all__:
        raise AttributeError(name)
    from importlib import import_module

    return getattr(import_module(f".{_MODULES.get(name, 'files')}", __name__), name)
