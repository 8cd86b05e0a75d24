"""A universe on disk that pages look at, whoever moves it on."""

from __future__ import annotations

import os
import threading

from ui.disk.parts import Snapshot
from ui.disk.session import DiskSession
from ui.picture.coloured import as_coloured
from ui.session import Event
from ui.web.board import Board, BoardError, Facts, Shot
from ui.web.orders import PageOrder

_PATIENCE = 0.3  # seconds that one block waits for what it is drawn from
_CLOSING = 0.1  # seconds


class StoredBoard(Board):
    """A universe directory that is shown as it is on disk. Nothing is ever written to it.

    What a run of another process changes is seen within a fifth of a second. Where parts of tile
    files have not been read in time, pictures are less sharp until they are.
    """

    def __init__(self, path: str) -> None:
        """Open a directory. Raises LifesimError."""
        super().__init__()
        self._session = DiskSession.open(path)
        self._name = os.path.basename(os.path.abspath(path))
        self._lock = threading.Lock()
        self._version = 0
        self._view: Snapshot | None = None
        self._session.listen(self._heard)
        self.shot(0)

    def facts(self) -> Facts:
        """Return the facts of the last generation that was whole."""
        status, rule = self._session.status(), self._session.rule
        shot = self.shot(0)
        coloured = as_coloured(shot.source)
        return Facts(
            version=shot.version,
            generation=status.generation,
            population=status.population,
            box=self._session.box,
            bounded=self._session.is_bounded,
            rule=str(rule),
            states=rule.states,
            dead=tuple(coloured.colours[0].tolist()) if coloured else None,
            name=self._name,
            progress=status.progress,
            problem=status.problem,
        )

    def shot(self, version: int) -> Shot:
        """Return what pictures of now are drawn from: those of an earlier version are gone."""
        with self._lock:
            source = self._session.tiles(_PATIENCE)
            if source.view is not self._view:
                self._view = source.view
                self._version += 1
            return Shot(self._version, source)

    def do(self, order: PageOrder) -> None:
        """Raise BoardError: a universe on disk is only looked at."""
        raise BoardError("a universe on disk is shown as it is: `lifesim run` moves it on")

    def close(self) -> None:
        """Stop looking at the directory; threads that read are left to end by themselves."""
        closing = threading.Thread(target=self._session.close, name="closing", daemon=True)
        closing.start()
        closing.join(_CLOSING)

    def _heard(self, event: Event) -> None:
        self.tell()
