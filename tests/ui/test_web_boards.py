"""Universes as pages see them: a Life that somebody else may run, and a directory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lifesim import BitGrid, Life, Universe, random_grid
from lifesim.grid import Box
from lifesim.render import density_levels
from tests.lifesim.directories import make
from tests.waiting import until
from ui.web.blocks import Blocks, tiles_of
from ui.web.living import LifeBoard
from ui.web.orders import BlockKey, Order
from ui.web.stored import StoredBoard
