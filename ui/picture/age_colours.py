"""Colours of ages: from blue, just born, to orange, the oldest that are told apart."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lifesim.render import palette_table
from ui.picture.ages import GAMMA, LEVELS, NEWBORN, OLDEST

Table = npt.NDArray[np.uint8]

# Colours of the youngest, of what is half as old by the logarithm, and of the oldest, on dark and
# on white ground: apart also for eyes that do not tell red from green.
_STOPS = {False: ("#3d8bff", "#b7a9c9", "#ff9d1c"), True: ("#1257d6", "#857196", "#d35f00")}


def age_table(palette: str) -> Table:
    """Return the colours of the 256 levels of a picture of ages (ui.picture.ages): uint8 (256, 3).
    palette: of lifesim.render, whose dead cells they lie on. Raises RenderError for an unknown
    one."""
    table = palette_table(palette).copy()
    stops = np.array([list(bytes.fromhex(stop[1:])) for stop in _STOPS[palette == "light"]])
    along = (np.arange(1, 256) / 255) ** (1 / GAMMA)
    old = np.clip((along - NEWBORN) / (1 - NEWBORN), 0, 1)
    at = np.linspace(0, 1, len(stops))
    channels = [np.rint(np.interp(old, at, stops[:, channel])) for channel in range(3)]
    table[1:] = np.stack(channels, axis=1)
    return table


def colour_of_age(table: Table, age: int) -> tuple[int, int, int]:
    """Return red, green and blue of an age in generations. table: of age_table()."""
    red, green, blue = table[LEVELS[1 + min(max(age, 0), OLDEST)]].tolist()
    return red, green, blue
