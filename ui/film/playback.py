"""Looking at what was recorded, in place of the universe."""

from __future__ import annotations

from typing import Protocol

from ui.film.recording import Recording, Shot
from ui.picture.request import FrameRequest
from ui.picture.sources import Source


class Drawable(Protocol):
    """What pictures can be asked of: a session, or a playback."""

    def source(self, request: FrameRequest) -> Source: ...


class Playback:
    """shot: what is shown now; the main thread sets it, whoever draws reads it."""

    def __init__(self, recording: Recording, shot: Shot) -> None:
        self.recording, self.shot = recording, shot

    def source(self, request: FrameRequest) -> Source:
        """Raises RecordingError, DamagedDataError, GridError."""
        return self.recording.source(self.shot)
