"""The timeline: records a run, and shows any picture of it again.

While one looks back, a universe in memory stands still; as soon as it goes on, it is shown
again. A run on disk goes on meanwhile; one that is begun then is shown.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol, runtime_checkable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QWidget

from bulkbits.plurals import many
from lifesim.errors import LifesimError
from lifesim.grid import human_bytes
from lifesim.render import format_scale
from ui.cells.saving import Whole
from ui.disk.session import DiskSession
from ui.film.playback import Drawable, Playback
from ui.film.recorder import Recorder
from ui.film.recording import RecordedShot, Recording
from ui.numbers import generation_of
from ui.qt.film.timeline_controls import RECORD, STOP, TimelineControls
from ui.session import Event, Session, SessionError


@runtime_checkable
class Restorable(Protocol):
    """A session that can be as it was recorded."""

    @property
    def edited(self) -> int:
        """Return another number after every change."""

    def put(self, whole: Whole) -> None:
        """Be as it was."""


class TimelineDock(TimelineControls):
    """Records a session, and shows what was recorded.

    changed: something that menus show may be otherwise.
    """

    changed = Signal()
    _heard = Signal(object)
    _recorded = Signal(object)

    def __init__(
        self,
        play: Callable[[Drawable | None], None],
        again: Callable[[], None],
        report: Callable[[Exception], None],
        parent: QWidget | None = None,
    ) -> None:
        """Record nothing yet.

        play: show this in place of the session, or the session again. again: there is something new
        to draw of it. report: is told of what went wrong.
        """
        super().__init__(parent)
        self._play, self._again, self._report = play, again, report
        self._session: Session | None = None
        self._recording: Recording | None = None
        self._recorder: Recorder | None = None
        self._playback: Playback | None = None
        self._stopping = False  # a run in memory, so that one can look back
        self._ran = False  # whether a run on disk was under way
        self._at = 0, 0  # generation that the universe waits at, and its last change
        self._is_news = False
        self._connect()
        self._check_goal()
        self._show()

    def _connect(self) -> None:
        self.record_button.clicked.connect(lambda on: self._try(lambda: self.record(on)))
        self.every.valueChanged.connect(self._set_every)
        self.every.lineEdit().returnPressed.connect(self.acted)
        self.slider.valueChanged.connect(self.scrub)
        self.slider.let_go.connect(self.acted)
        self.now_button.clicked.connect(self.leave)
        self.continue_button.clicked.connect(lambda: self._try(self.go_on))
        self.reset_button.clicked.connect(lambda: self._try(self.reset))
        self.goal.textChanged.connect(self._check_goal)
        self.goal.returnPressed.connect(self._enter_goal)
        self.go_button.clicked.connect(lambda: self._try(self.go))
        for button in (
            self.record_button, self.now_button, self.continue_button, self.reset_button,
            self.go_button,
        ):  # fmt: skip
            button.clicked.connect(self.acted)
        queued = Qt.ConnectionType.QueuedConnection
        self._heard.connect(self._hear, queued)
        self._recorded.connect(self._land, queued)

    # --- the session -----------------------------------------------------------

    def adopt(self, session: Session) -> None:
        """Take another universe; what was recorded of the one before goes, if it is not in a folder
        that somebody chose."""
        self.close_recording()
        self._session = session

        def listener(event: Event) -> None:
            if session is self._session:  # from any thread
                self._heard.emit(session)

        session.listen(listener)
        self._show()

    def close_recording(self) -> None:
        """Stop everything. Waits for the disk."""
        self._drop_playback()
        if self._recorder:
            recorder, self._recorder = self._recorder, None
            recorder.stop()
            self._ask_for_pictures()
        if self._recording is not None:
            self._recording.close()
            self._recording = None
        self._show()

    def _hear(self, session: Session) -> None:
        if session is not self._session or not self._playback:
            return
        running, at = self._state(session)
        if not isinstance(session, Restorable):
            began, self._ran = running and not self._ran, running
            if began:
                self.leave()
        elif self._stopping:
            if not running:
                self._stopping, self._at = False, at
        elif running or at != self._at:
            self.leave()

    def _state(self, session: Session) -> tuple[bool, tuple[int, int]]:
        status = session.status()
        edited = session.edited if isinstance(session, Restorable) else 0
        return status.running, (status.generation, edited)

    # --- recording -------------------------------------------------------------

    @property
    def recording(self) -> Recording | None:
        """Return the recording, None where there is none."""
        return self._recording

    @property
    def can_record(self) -> bool:
        """Tell whether there is a session to record."""
        return self._session is not None

    @property
    def is_recording(self) -> bool:
        """Tell whether pictures are being recorded."""
        return self._recorder is not None and self._recorder.is_recording

    def record(self, on: bool) -> None:
        """Begin to record. Raises LifesimError where there is no place on the disk."""
        if on == self.is_recording:
            return
        if self._recorder:
            recorder, self._recorder = self._recorder, None
            recorder.stop()
        if on and self._session is not None:
            if self._recording is not None and not self._recording.folder.is_dir():
                self.close_recording()  # somebody has removed it
            if self._recording is None:
                self._recording = Recording()
            recording = self._recording
            self._recorder = Recorder(
                self._session, recording, self.every.value(), lambda: self._tell(recording)
            )
        self._ask_for_pictures()
        self._show()
        self.changed.emit()

    def use_folder(self, folder: str) -> None:
        """Show what was recorded there, and record there from now on. Raises LifesimError."""
        if (
            self._recording is not None
            and self._recording.folder.absolute() == Path(folder).absolute()
        ):
            return
        other = Recording(folder)
        was_recording = self.is_recording
        self.close_recording()
        self._recording = other
        if was_recording:
            self.record(True)
        self._show()
        self.changed.emit()

    def _set_every(self, generations: int) -> None:
        if self._recorder:
            self._recorder.every = generations
        self._ask_for_pictures()

    def _ask_for_pictures(self) -> None:
        """Let runs on disk leap over generations that nobody is to see."""
        if isinstance(self._session, DiskSession):
            self._session.see_every(self.every.value() if self.is_recording else 0)

    def _tell(self, recording: Recording) -> None:
        # From any thread; one message at a time is under way.
        if not self._is_news:
            self._is_news = True
            self._recorded.emit(recording)

    def _land(self, recording: Recording) -> None:
        self._is_news = False
        if recording is not self._recording:
            return
        recorder = self._recorder
        if recorder and not recorder.is_recording:
            self._recorder = None
            recorder.stop()
            self._ask_for_pictures()
            self._report(LifesimError(f"the recording has stopped: {recorder.problem}"))
            self.changed.emit()
        self._show()

    # --- looking back ----------------------------------------------------------

    @property
    def is_scrubbing(self) -> bool:
        """Tell whether a recorded picture is shown."""
        return self._playback is not None

    @property
    def shown(self) -> RecordedShot | None:
        """Return the recorded picture that is shown, if any."""
        return self._playback.shot if self._playback else None

    def scrub(self, number: int) -> None:
        """Show a recorded picture, counted from 0."""
        session, recording = self._session, self._recording
        if session is None or recording is None or not len(recording):
            return
        shot = recording.shot(number)
        if self._playback:
            self._playback.shot = shot
            self._again()
        else:
            self._ran, self._at = self._state(session)
            self._stopping = self._ran and isinstance(session, Restorable)
            if self._stopping:
                session.stop()
            self._playback = Playback(recording, shot)
            self._play(self._playback)
        self._show()
        self.changed.emit()

    def leave(self) -> None:
        """Show the universe as it is now."""
        if self._playback:
            self._drop_playback()
            self._show()
            self.changed.emit()

    def _drop_playback(self) -> None:
        if self._playback:
            self._playback = None
            self._play(None)

    @property
    def can_go_on(self) -> bool:
        """Tell whether the session can go on from the recorded picture that is shown."""
        shown = self.shown
        return bool(shown and not shown.scale and isinstance(self._session, Restorable))

    def go_on(self) -> None:
        """Let the universe be as it is shown. Raises LifesimError."""
        playback, session = self._playback, self._session
        if playback and isinstance(session, Restorable):
            session.put(playback.recording.whole(playback.shot))
            self.leave()

    def reset(self) -> None:
        """Reset the session, and show it as it is."""
        if self._session:
            self._session.reset()
            self.leave()

    def go(self) -> None:
        """Go to the generation that has been typed; where the session knows no way, to the recorded
        one, or else it is shown. Raises LifesimError."""
        session = self._session
        if session is None or not self.go_button.isEnabled():
            return
        generation = generation_of(self.goal.text(), session.most_generation)
        try:
            session.go_to(generation)
        except SessionError:
            number = self._recorded_at(generation)
            if number is None:
                raise
            self.scrub(number)
            if self.can_go_on:
                self.go_on()
        else:
            self.leave()

    def _recorded_at(self, generation: int) -> int | None:
        recording = self._recording
        number = None if recording is None else recording.find(generation)
        if recording is None or number is None:
            return None
        return number if recording.shot(number).generation == generation else None

    def _check_goal(self) -> None:
        text, problem = self.goal.text(), ""
        if text.strip():
            try:
                generation_of(text, self._session.most_generation if self._session else 0)
            except ValueError as error:
                problem = str(error)
        self.say(self.problem, problem)
        self.go_button.setEnabled(bool(text.strip()) and not problem)

    # --- what is shown ---------------------------------------------------------

    def _show(self) -> None:
        recording, shown = self._recording, self.shown
        count = 0 if recording is None else len(recording)
        number = count - 1
        if recording is not None and shown:
            number = recording.number_of(shown.serial)
        self.slider.blockSignals(True)
        self.slider.setRange(0, max(0, count - 1))
        self.slider.setPageStep(max(1, count // 20))
        self.slider.setValue(max(0, number))
        self.slider.blockSignals(False)
        self.slider.setEnabled(count > 0)
        if shown:
            text = f"picture {number + 1:,} of {count:,}, gen {shown.generation:,}"
            if shown.scale:
                text += f", recorded at {format_scale(shown.scale)}"
            self.say(self.where, text)
        else:
            self.say(self.where, "now" if count else "nothing recorded")
        text = human_bytes(recording.nbytes) if recording is not None and count else ""
        if self._recorder and self._recorder.left_out:
            text += f", no time for {many(self._recorder.left_out, 'picture')}"
        self.say(self.on_disk, text)
        self.on_disk.setToolTip("" if recording is None else str(recording.folder))
        self.record_button.setChecked(self.is_recording)
        self.record_button.setText(STOP if self.is_recording else RECORD)
        self.record_button.setEnabled(self.can_record)
        self.now_button.setEnabled(self.is_scrubbing)
        self.continue_button.setEnabled(self.can_go_on)
        self.reset_button.setEnabled(self._session is not None and self._session.can_edit)

    def _enter_goal(self) -> None:
        """Go there; a goal that is none can be mended at once."""
        if self.go_button.isEnabled() and self._try(self.go):
            self.acted.emit()

    def _try(self, do: Callable[[], None]) -> bool:
        """Return whether it could be done; what went wrong is reported."""
        is_done = False
        try:
            do()
            is_done = True
        except (LifesimError, OSError, MemoryError) as error:
            self._report(error)
        self._show()
        return is_done

    def closeEvent(self, event: QCloseEvent) -> None:
        """Show the present: who sees no timeline looks at nothing in the past."""
        self.leave()
        super().closeEvent(event)
