"""The timeline: records a run, and shows any picture of it again.

While one looks back, the universe stands still; as soon as it goes on, it is shown again.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol, runtime_checkable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import (
    QDockWidget,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QSlider,
    QSpinBox,
    QWidget,
)

from lifesim.errors import LifesimError
from lifesim.grid import human_bytes
from ui.cells.saving import Whole
from ui.film.playback import Drawable, Playback
from ui.film.recorder import Recordable, Recorder
from ui.film.recording import Recording, Shot
from ui.qt.dialogs import whole
from ui.session import Event, Session, SessionError

FARTHEST = 10**15  # generation that one can go to
_MOST_EVERY = 1 << 20
_RECORD, _STOP = "● &Record", "■ Stop &recording"


@runtime_checkable
class Restorable(Protocol):
    """A session that can be as it was recorded."""

    @property
    def edited(self) -> int: ...

    def put(self, whole: Whole) -> None: ...


class TimelineDock(QDockWidget):
    """changed: something that menus show may be otherwise."""

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
        """play: show this in place of the session, or the session again. again: there is
        something new to draw of it. report: is told of what went wrong."""
        super().__init__("Timeline", parent)
        self.setObjectName("timeline")
        area = Qt.DockWidgetArea
        self.setAllowedAreas(area.BottomDockWidgetArea | area.TopDockWidgetArea)
        self._play, self._again, self._report = play, again, report
        self._session: Session | None = None
        self._recording: Recording | None = None
        self._recorder: Recorder | None = None
        self._playback: Playback | None = None
        self._stopping = False
        self._at = 0, 0  # generation that the universe waits at, and its last change
        self._is_news = False
        self._make()
        queued = Qt.ConnectionType.QueuedConnection
        self._heard.connect(self._hear, queued)
        self._recorded.connect(self._land, queued)
        self._show()

    def _make(self) -> None:
        self.record_button = QPushButton(_RECORD)
        self.record_button.setCheckable(True)
        self.record_button.setToolTip("Record pictures of the run on disk")
        self.record_button.clicked.connect(lambda on: self._try(lambda: self.record(on)))
        self.every = QSpinBox()
        self.every.setStyleSheet("QSpinBox::up-button, QSpinBox::down-button { width: 0 }")
        self.every.setRange(0, _MOST_EVERY)
        self.every.setSpecialValueText("every picture")
        self.every.setPrefix("every ")
        self.every.setSuffix(" generations")
        self.every.setToolTip("Generations between two recorded pictures at least")
        self.every.valueChanged.connect(self._set_every)
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setToolTip("Look back at what was recorded")
        self.slider.setMinimumWidth(120)
        self.slider.valueChanged.connect(self.scrub)
        self.where = QLabel()
        self.on_disk = QLabel()
        self.on_disk.setProperty("dim", True)
        self.now_button = QPushButton("Back to &now")
        self.now_button.clicked.connect(self.leave)
        self.continue_button = QPushButton("Go on from &here")
        self.continue_button.setToolTip("Let the universe be as it is shown; this can be undone")
        self.continue_button.clicked.connect(lambda: self._try(self.go_on))
        self.reset_button = QPushButton("R&eset")
        self.reset_button.setToolTip("Back to the start")
        self.reset_button.clicked.connect(lambda: self._try(self.reset))
        self.goal = QLineEdit()
        self.goal.setPlaceholderText("generation")
        self.goal.setMaximumWidth(140)
        self.goal.textChanged.connect(self._check_goal)
        self.goal.returnPressed.connect(lambda: self._try(self.go))
        self.go_button = QPushButton("&Go to")
        self.go_button.clicked.connect(lambda: self._try(self.go))
        self.problem = QLabel()
        self.problem.setProperty("error", True)
        for widget, name in (
            (self.record_button, "Record"),
            (self.every, "Generations between two recorded pictures"),
            (self.slider, "Recorded pictures"),
            (self.where, "Picture that is shown"),
            (self.on_disk, "Size of the recording"),
            (self.now_button, "Back to now"),
            (self.continue_button, "Go on from here"),
            (self.reset_button, "Reset to the start"),
            (self.goal, "Generation to go to"),
            (self.go_button, "Go to the generation"),
            (self.problem, "Problem"),
        ):
            widget.setAccessibleName(name)
        self.every.lineEdit().setAccessibleName(self.every.accessibleName())
        body = QWidget()
        grid = QGridLayout(body)
        grid.setContentsMargins(8, 6, 8, 6)
        above, below = QHBoxLayout(), QHBoxLayout()
        above.addWidget(self.record_button)
        above.addWidget(self.slider, 1)
        above.addWidget(self.where)
        below.addWidget(self.every)
        below.addWidget(self.on_disk)
        below.addStretch(1)
        below.addWidget(self.problem)
        for button in (self.now_button, self.continue_button, self.reset_button):
            below.addWidget(button)
        below.addWidget(self.goal)
        below.addWidget(self.go_button)
        grid.addLayout(above, 0, 0)
        grid.addLayout(below, 1, 0)
        self.setWidget(body)
        self._check_goal()

    # --- the session -----------------------------------------------------------

    def adopt(self, session: Session) -> None:
        """There is another universe; what was recorded of the one before goes, if it is not in
        a folder that somebody chose."""
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
        if self._recording is not None:
            self._recording.close()
            self._recording = None
        self._show()

    def _hear(self, session: Session) -> None:
        if session is not self._session or not self._playback:
            return
        running, at = self._state(session)
        if self._stopping:
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
        return self._recording

    @property
    def can_record(self) -> bool:
        return isinstance(self._session, Recordable)

    @property
    def is_recording(self) -> bool:
        return self._recorder is not None and self._recorder.is_recording

    def record(self, on: bool) -> None:
        """Raises LifesimError where there is no place on the disk."""
        if on == self.is_recording:
            return
        if self._recorder:
            recorder, self._recorder = self._recorder, None
            recorder.stop()
        if on and isinstance(self._session, Recordable):
            if self._recording is not None and not self._recording.folder.is_dir():
                self.close_recording()  # somebody has removed it
            if self._recording is None:
                self._recording = Recording()
            recording = self._recording
            self._recorder = Recorder(
                self._session, recording, self.every.value(), lambda: self._tell(recording)
            )
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
            self._report(LifesimError(f"the recording has stopped: {recorder.problem}"))
            self.changed.emit()
        self._show()

    # --- looking back ----------------------------------------------------------

    @property
    def is_scrubbing(self) -> bool:
        return self._playback is not None

    @property
    def shown(self) -> Shot | None:
        """The recorded picture that is shown, if any."""
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
            self._stopping, self._at = self._state(session)
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
        return self.is_scrubbing and isinstance(self._session, Restorable)

    def go_on(self) -> None:
        """Let the universe be as it is shown. Raises LifesimError."""
        playback, session = self._playback, self._session
        if playback and isinstance(session, Restorable):
            session.put(playback.recording.whole(playback.shot))
            self.leave()

    def reset(self) -> None:
        if self._session:
            self._session.reset()
            self.leave()

    def go(self) -> None:
        """To the generation that has been typed; where the session knows no way, to the recorded
        one. Raises LifesimError."""
        session = self._session
        if session is None or not self.go_button.isEnabled():
            return
        generation = _generation(self.goal.text())
        try:
            session.go_to(generation)
        except SessionError:
            recorded = self._recorded_at(generation)
            if recorded is None or not isinstance(session, Restorable):
                raise
            session.put(recorded)
        self.leave()

    def _recorded_at(self, generation: int) -> Whole | None:
        recording = self._recording
        number = None if recording is None else recording.find(generation)
        if recording is None or number is None:
            return None
        shot = recording.shot(number)
        return recording.whole(shot) if shot.generation == generation else None

    def _check_goal(self) -> None:
        text, problem = self.goal.text(), ""
        if text.strip():
            try:
                _generation(text)
            except ValueError as error:
                problem = str(error)
        self.problem.setText(problem)
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
            self.where.setText(f"picture {number + 1:,} of {count:,}, gen {shown.generation:,}")
        else:
            self.where.setText("now" if count else "nothing recorded")
        text = human_bytes(recording.nbytes) if recording is not None and count else ""
        if self._recorder and self._recorder.left_out:
            text += f", no time for {self._recorder.left_out:,} pictures"
        self.on_disk.setText(text)
        self.on_disk.setToolTip("" if recording is None else str(recording.folder))
        self.record_button.setChecked(self.is_recording)
        self.record_button.setText(_STOP if self.is_recording else _RECORD)
        self.record_button.setEnabled(self.can_record)
        self.now_button.setEnabled(self.is_scrubbing)
        self.continue_button.setEnabled(self.can_go_on)
        self.reset_button.setEnabled(self._session is not None and self._session.can_edit)

    def _try(self, do: Callable[[], None]) -> None:
        try:
            do()
        except (LifesimError, OSError, MemoryError) as error:
            self._report(error)
        self._show()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Who sees no timeline looks at nothing in the past."""
        self.leave()
        super().closeEvent(event)


_generation = whole(0, FARTHEST, "a generation")
