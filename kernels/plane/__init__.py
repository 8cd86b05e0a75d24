"""Life on a plane without an edge: what lives is kept in tiles, or in a tree that shares."""

from __future__ import annotations

from .contract import SIDE, PlaneBox, PlaneEngine, PlaneRuleError, PlaneUniverse

__all__ = ["SIDE", "PlaneBox", "PlaneEngine", "PlaneRuleError", "PlaneUniverse"]
