"""Draws off the main thread: only what was asked last, and all results land at one place."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Qt, Signal

from lifesim.grid import Box
from ui.film.playback import Drawable, Playback
from ui.picture.ages import Ages
from ui.picture.coloured import state_of
from ui.picture.draw import draw
from ui.picture.live import Aim, population
from ui.picture.pyramid import FIRST
from ui.picture.request import Frame, FrameRequest
from ui.picture.sources import Caption, caption_of, corner, lacks
from ui.picture.viewport import Viewport


@dataclass(frozen=True, slots=True)
class Question:
    """A question: how many cells live under a pixel of a view?"""

    viewport: Viewport
    x: int
    y: int

    @property
    def cells(self) -> Box:
        """Return the cells under the pixel."""
        return self.viewport.cells_at(self.x, self.y)


@dataclass(frozen=True, slots=True)
class PointAnswer:
    """The answer to a question.

    live: of the cells within the universe; None where they are too many to count. state: of a
    single cell that has colours.
    """

    question: Question
    live: int | None
    generation: int
    state: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Landed:
    """A picture, of where it was aimed, the aim of the next one, of the same serial, and what it
    is of. is_recorded: it is of a recording, not of the universe."""

    frame: Frame
    aim: Aim | None
    caption: Caption
    is_recorded: bool


class FrameWorker(QObject):
    """Draws pictures on a thread of its own.

    Signals reach the main thread one after another; where it is late, pictures are left out.
    landed: there is a picture to take(). answered: of ask_about(). served: what is drawn from now
    on, None for nothing. failed: an exception; said once for one trouble.
    """

    landed = Signal()
    answered = Signal(object)
    served = Signal(object)
    failed = Signal(object)

    _posted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._changed = threading.Condition()
        self._session: Drawable | None = None
        self._wanted: tuple[FrameRequest, Aim | None] | None = None
        self._question: Question | None = None
        self._ages, self._known = Ages(), Ages()
        self._due = self._asked = self._busy = self._ended = False
        self._done: Landed | None = None
        self._trouble = ""
        self._posted.connect(self.landed, Qt.ConnectionType.QueuedConnection)
        self._thread = threading.Thread(target=self._work, name="frames", daemon=True)
        self._thread.start()

    # --- main thread -----------------------------------------------------------

    def serve(self, session: Drawable | None) -> None:
        """Draw this session from now on; the one before is not touched any more on return."""
        with self._changed:
            self._session, self._wanted, self._question = session, None, None
            self._due = self._asked = False
            self._changed.wait_for(lambda: not self._busy)
            self._done, self._trouble = None, ""
            self._ages, self._known = Ages(), Ages()
        self.served.emit(session)

    def ask(self, request: FrameRequest, aim: Aim | None = None) -> None:
        """Ask for a picture; of those that wait only the last is drawn."""
        with self._changed:
            self._wanted, self._due = (request, aim), True
            self._changed.notify_all()

    def ask_about(self, question: Question | None) -> None:
        """Ask how many cells live under a pixel, or nothing any more."""
        with self._changed:
            self._question, self._asked = question, question is not None
            self._changed.notify_all()

    def take(self) -> Landed | None:
        """Return the latest picture, once."""
        with self._changed:
            done, self._done = self._done, None
            return done

    def ages(self) -> Ages:
        """Return the ages of what the latest picture shows, to go on from by oneself."""
        with self._changed:
            return self._known.copy()

    def close(self) -> None:
        """Stop the thread; waits for it."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()
        self._thread.join()

    # --- any thread ------------------------------------------------------------

    def again(self) -> None:
        """Draw again, as there are new cells."""
        with self._changed:
            self._due = self._wanted is not None
            self._asked = self._question is not None
            self._changed.notify_all()

    # --- its own ---------------------------------------------------------------

    def _work(self) -> None:
        while True:
            with self._changed:
                self._busy = False
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._ended or self._due or self._asked)
                if self._ended:
                    return
                session, wanted, question = self._session, self._wanted, self._question
                drawing, asking = self._due, self._asked
                self._due = self._asked = False
                if session is None:
                    continue
                self._busy = True
            try:
                if drawing and wanted:
                    self._draw(session, *wanted)
                if asking and question:
                    self._answer(session, question)
                self._trouble = ""
            except Exception as error:
                # Whatever it is, the next picture may be better.
                if repr(error) != self._trouble:
                    self._trouble = repr(error)
                    self.failed.emit(error)

    def _draw(self, session: Drawable, request: FrameRequest, aim: Aim | None) -> None:
        wanted = request
        if aim is not None:
            # What is far is known of all of a universe, what is near perhaps not.
            far = replace(request.viewport, scale=max(request.viewport.scale, FIRST))
            source = session.source(replace(request, viewport=far))
            viewport, after = aim.taken(source, request.viewport)
            # What is still being read may lie elsewhere.
            aim = aim if lacks(source) else after
            request = replace(request, viewport=viewport)
        source = session.source(request)
        frame = draw(request, self._ages.seen(request, source))
        landed = Landed(frame, aim, caption_of(source), isinstance(session, Playback))
        with self._changed:
            if session is not self._session:
                return
            announced, self._done = self._done is not None, landed
            self._known = self._ages.copy()
            if self._wanted is not None and self._wanted[0] is wanted:
                # The next one goes on from here, even before this one has landed.
                self._wanted = request, aim
        if not announced:
            self._posted.emit()

    def _answer(self, session: Drawable, question: Question) -> None:
        view = question.viewport
        pixel = Viewport(view.left + question.x, view.top + question.y, view.scale, 1, 1)
        source = session.source(FrameRequest(pixel))
        under = view.seen_from(*corner(source)).cells_at(question.x, question.y)
        cells = under.common(Box(0, 0, source.width, source.height))
        if cells is not None:
            live = population(source, cells)
            state = state_of(source, cells.x, cells.y) if view.scale <= 0 else None
            if not lacks(source):
                self.answered.emit(PointAnswer(question, live, source.generation, state))
