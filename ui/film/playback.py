"""Looking at what was recorded, in place of the universe."""

from __future__ import annotations

from typing import Protocol

from ui.film.recording import RecordedShot, Recording
from ui.picture.request import FrameRequest
from ui.picture.sources import PictureSource


class Drawable(Protocol):
    """Something that pictures can be asked of: a session, or a playback."""

    def source(self, request: FrameRequest) -> PictureSource:
        """Return what to draw a request from."""


class Playback:
    """Shows recorded pictures.

    shot: the one that is shown now; the main thread sets it, whoever draws reads it.
    """

    def __init__(self, recording: Recording, shot: RecordedShot) -> None:
        self.recording, self.shot = recording, shot

    def source(self, request: FrameRequest) -> PictureSource:
        """Return what to draw the shown picture from. Raises RecordingError, DamagedDataError,
        GridError."""
        return self.recording.source(self.shot)
