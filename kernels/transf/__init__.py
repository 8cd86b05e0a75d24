"""Enumeration of semigroups of maps."""

from __future__ import annotations

from .maps import MAX_DEGREE, Map, Maps, as_maps, image_dtype

__all__ = ["MAX_DEGREE", "Map", "Maps", "as_maps", "image_dtype"]
