"""What it costs to compute a universe where it changes, measured on one machine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

_WINDOW = 56**2  # cells that a window of the CPU's finds
_SQUARE = 64**2  # cells of a square that is compared
_STEPS = 4  # generations of a round


@dataclass(frozen=True, slots=True)
class Looks(ABC):
    """Say when to look whether little of a universe changes, and what to make of it.

    span: generations after which squares of 64 x 64 cells are compared: a multiple of twelve, so
        that what repeats itself in twelve is the same; made in one pass, hardly slower than others.
    look: generations after which it is looked at again how much changes, at least.
    work: updates of cells that are made between looks, at least.
    worth: generations that must still be ahead for a change to pay.
    """

    span: int = 120
    look: int = 512
    work: int = 1 << 31
    worth: int = 240

    @abstractmethod
    def begins(self, changes: float, cells: int) -> bool:
        """Tell whether to begin with windows where such a part of the squares is changed."""

    @abstractmethod
    def boils(self, windows: int, cells: int) -> bool:
        """Tell whether rounds of so many windows take longer than the whole would."""


@dataclass(frozen=True, slots=True)
class SettlingCosts(Looks):
    """Say when a universe is better computed where it changes, and when as a whole.

    span, look, work, worth: as of Looks.
    begin: the part of the squares that are not the same, below which it begins to be computed by
        windows.
    leave: the part that must be computed above which it is computed as a whole again.
    """

    begin: float = 0.4
    leave: float = 0.32

    def begins(self, changes: float, cells: int) -> bool:
        """Tell whether to begin."""
        return changes < self.begin

    def boils(self, windows: int, cells: int) -> bool:
        """Tell whether to leave."""
        return windows > self.leave * cells / _WINDOW


@dataclass(frozen=True, slots=True)
class DeviceSettlingCosts(Looks):
    """Say the same of a device, where a round takes time however little changes.

    span, look, work, worth: as of Looks.
    window: seconds of a window.
    rest: seconds that a round takes beside its windows.
    update: seconds of an update of a cell as a whole.
    per_square: windows of a square that is not the same.
    """

    work: int = 1 << 42
    window: float = 1.85e-10
    rest: float = 8e-6
    update: float = 2e-14
    per_square: float = 3.8

    def round(self, windows: float) -> float:
        """Return the seconds of a round."""
        return self.rest + self.window * windows

    def begins(self, changes: float, cells: int) -> bool:
        """Tell whether to begin. Where no square is changed there may be a window or two all the
        same: squares are samples, and a glider flies for ever."""
        return self._pays(max(1.0, changes * cells / _SQUARE * self.per_square), cells)

    def boils(self, windows: int, cells: int) -> bool:
        """Tell whether to leave."""
        return not self._pays(windows, cells)

    def _pays(self, windows: float, cells: int) -> bool:
        """Tell whether a round is quicker than the whole. It is where nothing changes, as no more
        are made."""
        return not windows or self.round(windows) < _STEPS * self.update * cells


SETTLING_COSTS = SettlingCosts()
DEVICE_SETTLING_COSTS = DeviceSettlingCosts()
