"""The choice of what lies beyond the edges of a bounded universe."""

from __future__ import annotations

import enum


class Topology(enum.StrEnum):
    """The way in which the edges of a universe meet. TORUS: opposite edges are joined. PLANE:
    everything outside is dead for ever."""

    TORUS = "torus"
    PLANE = "plane"
