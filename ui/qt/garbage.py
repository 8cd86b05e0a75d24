"""Collects garbage on the main thread alone.

A cycle of Python objects may hold widgets, and Python looks for such cycles in whichever thread
makes objects just then. Qt's objects may only be destroyed by the main thread: PySide puts them off
until that has time, by when a window may have taken its parts along, and the process dies.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer

_OFTEN = 200  # milliseconds between two looks at how much there may be to collect


class Collector(QObject):
    """Looks for garbage a few times a second, on the thread that made it, as long as it lives.

    No other thread does from then on. What exists already is taken to stay, as modules do, so that
    looking through all objects is short. stop() lets Python do it again as it did before.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        gc.collect()
        gc.freeze()
        gc.disable()
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._look)
        self._timer.start(_OFTEN)

    def stop(self) -> None:
        """Let Python collect garbage by itself again."""
        self._timer.stop()
        gc.enable()

    def _look(self) -> None:
        """Collect the oldest generation of objects that has grown past Python's own threshold."""
        counts, thresholds = gc.get_count(), gc.get_threshold()
        for generation in reversed(range(3)):
            if 0 < thresholds[generation] < counts[generation]:
                gc.collect(generation)
                return
