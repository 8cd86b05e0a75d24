"""Circuits of three-input operations for any function of a cell and its eight neighbours."""

from __future__ import annotations

from .circuit import Circuit, Op
from .synthesis import circuit_of

__all__ = ["Circuit", "Op", "circuit_of"]
