"""Patterns with a name: the classics that come with this program, and any folder of pattern files.

>>> from lifesim.library import PatternLibrary
>>> gun = PatternLibrary.of_ours().find("gosper-gun")
>>> gun.title, gun.period, gun.discoverer, gun.year
('Gosper glider gun', 30, 'Bill Gosper', 1970)
"""

from __future__ import annotations

from lifesim.library.entry import KINDS, PatternEntry
from lifesim.library.library import PatternLibrary

__all__ = ["KINDS", "PatternEntry", "PatternLibrary"]
