"""Bytes of what rounds on a device take: pure functions of the size of a universe."""

from __future__ import annotations

from dataclasses import dataclass

from kernels.life.contract import LifeShape

# As field.hpp has them.
CELLS = 8  # columns of a unit
BAND = 24  # rows of a band
HALO = 4  # rows above and below a band that its units have, too
INNER = 3  # units that a window finds
_BESIDE = 4  # units of a band beyond the edges
_FIELDS = 3
_UNIT_BYTES = 32
_WINDOWS = 11  # at most, of a word of the map
_STATE_BYTES = 64
_MOST = 1 << 16  # units of a band, and bands: the place of a window is a word


@dataclass(frozen=True, slots=True)
class RoundSizes:
    """Bytes of the parts of what rounds of a universe take, one after the other."""

    fields: int
    map: int
    list: int
    state: int = _STATE_BYTES

    @property
    def nbytes(self) -> int:
        """Return the bytes of all parts."""
        return self.fields + self.map + self.list + self.state


def units_of(shape: LifeShape) -> int:
    """Return how many units a band of a universe has."""
    return -(-shape.width // CELLS)


def units_across(shape: LifeShape) -> int:
    """Return the same with those beyond the edges."""
    return units_of(shape) + _BESIDE


def bands_of(shape: LifeShape) -> int:
    """Return how many bands a universe has."""
    return -(-shape.height // BAND)


def most_windows(shape: LifeShape) -> int:
    """Return how many windows are laid over all of a universe, about."""
    return bands_of(shape) * -(-units_of(shape) // INNER)


def is_reached(shape: LifeShape) -> bool:
    """Tell whether the kernels reach all of a universe."""
    return max(units_of(shape), bands_of(shape)) <= _MOST


def sizes_of(shape: LifeShape) -> RoundSizes:
    """Return the bytes that rounds of a universe take."""
    words = bands_of(shape) * -(-units_of(shape) // 32)
    fields = _FIELDS * bands_of(shape) * units_across(shape) * _UNIT_BYTES
    return RoundSizes(fields, _rounded(4 * words), _rounded(4 * words * _WINDOWS))


def _rounded(nbytes: int) -> int:
    return -(-nbytes // 256) * 256
