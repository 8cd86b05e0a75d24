"""What the window asks people. Whatever is typed is checked at once, and said why it is wrong.

The window asks through Dialogs alone, so that a test can answer in its place.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import click
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLabel,
    QLineEdit,
    QMessageBox,
    QVBoxLayout,
    QWidget,
)

from lifesim import patterns
from lifesim.cli.options import Density, Size
from lifesim.errors import LifesimError
from lifesim.rule import Rule
from lifesim.rules.named import NAMED
from lifesim.topology import Topology
from ui.numbers import generation_of, whole
from ui.qt import file_dialogs
from ui.qt.rows import Scrolled

if TYPE_CHECKING:
    from ui.qt.until_dialog import Until

_DIRECTORY = "Universe directories (*)"
_LONGEST, _FAR_POWER = 100, re.compile(r"[eE][+-]?[0-9_]{3}")  # of a density
EDGES = (
    (Topology.TORUS, "Torus: opposite edges meet"),
    (Topology.PLANE, "Plane: outside is dead"),
)


class UnsavedAnswer(Enum):
    """Says what is to become of changes that are not saved."""

    SAVE = auto()
    DISCARD = auto()
    CANCEL = auto()


@dataclass(frozen=True, slots=True)
class New:
    """A universe to be made. density: of a soup; None is empty."""

    size: tuple[int, int]
    rule: Rule
    topology: Topology
    density: Fraction | None
    seed: int


def size(text: str) -> tuple[int, int]:
    """Parse a size. Raises click.BadParameter."""
    return Size().convert(text.strip().replace("×", "x"), None, None)


def density(text: str) -> Fraction:
    """Parse the density of a soup: 0.37, 3/8 or 37 %. Raises click.BadParameter."""
    plain = text.strip()
    is_percent = plain.endswith("%")
    # Powers of ten are written out in full: of 1e999999999 that has no end.
    if len(plain) > _LONGEST or _FAR_POWER.search(plain):
        raise click.BadParameter("a density is 0 to 1: write it as 37 % or 3/8")
    if not is_percent:
        return Density().convert(plain, None, None)
    try:
        share = Fraction(plain[:-1].strip()) / 100
    except (ValueError, ZeroDivisionError):
        raise click.BadParameter(f"{plain!r} is no density: write it as 37 % or 3/8") from None
    if not 0 <= share <= 1:
        raise click.BadParameter(f"{plain!r}: a density is 0 to 100 %")
    return share


_seed = whole(0, 2**64 - 1, "a seed")


class Form(QDialog):
    """A dialog with lines of text; OK can be pressed when all of them are right."""

    def __init__(self, title: str, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self._checks: list[tuple[QWidget, Callable[[], object]]] = []
        place = QWidget()
        self.fields = QFormLayout(place)
        self.fields.setContentsMargins(0, 0, 0, 0)
        self.problem = QLabel()
        self.problem.setProperty("error", True)
        self.problem.setWordWrap(True)
        self.problem.setMinimumWidth(340)
        self.problem.setMinimumHeight(self.problem.fontMetrics().height() * 2)
        self.problem.setAccessibleName("Problem")
        buttons = QDialogButtonBox.StandardButton
        self.buttons = QDialogButtonBox(buttons.Ok | buttons.Cancel)
        # The Return key never means Cancel, not even while OK cannot be pressed.
        self.buttons.button(buttons.Cancel).setAutoDefault(False)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setSpacing(10)
        self._place = Scrolled(place)
        layout.addWidget(self._place)
        layout.addWidget(self.problem)
        layout.addWidget(self.buttons)
        self.buttons.button(buttons.Ok).setDefault(True)  # of the dialog, whose it is now

    def is_agreed(self) -> bool:
        """Ask, and wait for the answer. What Python only were to collect would be taken apart
        in pieces, and perhaps by another thread, so Qt shall delete it: back in its loop."""
        answer = self.exec()
        self.deleteLater()
        return bool(answer)

    def line(self, label: str, text: str, parse: Callable[[str], object]) -> QLineEdit:
        """Add a line of text. parse: raises LifesimError, ValueError or click.BadParameter for what
        is wrong."""
        line = QLineEdit(text)
        line.setAccessibleName(label.replace("&", ""))
        line.setAcceptDrops(False)  # of a file that is dropped here a file manager thinks it moved
        line.textChanged.connect(self.check)
        self._add(label, line, lambda: parse(line.text()))
        return line

    def choice(
        self,
        label: str,
        items: list[tuple[object, str]],
        current: object,
        parse: Callable[[str], object] | None = None,
    ) -> QComboBox:
        """Add a choice. parse: what is typed may be something else than the items."""
        box = QComboBox()
        box.setAccessibleName(label.replace("&", ""))
        for value, text in items:
            box.addItem(text, value)
        if parse is not None:
            box.setEditable(True)
            box.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
            # What is typed stands as it is: a completed text would be an item's, which says more.
            box.setCompleter(None)  # type: ignore[arg-type]
            box.setMaxVisibleItems(len(items))
            box.currentTextChanged.connect(self.check)
            box.activated.connect(lambda row: box.setEditText(str(box.itemData(row))))
            box.setEditText(str(current))
            self._add(label, box, lambda: parse(box.currentText()))
        else:
            box.setCurrentIndex([value for value, _ in items].index(current))
            box.currentIndexChanged.connect(self.check)
            self._add(label, box, lambda: None)
        return box

    def _add(self, label: str, widget: QWidget, check: Callable[[], object]) -> None:
        self._checks.append((widget, check))
        self.fields.addRow(label, widget)
        self.end_with(widget)
        self._checks[0][0].setFocus(Qt.FocusReason.TabFocusReason)

    def end_with(self, widget: QWidget) -> None:
        """Let the Tab key go from this widget to the buttons, which have been made before."""
        self.setTabOrder(widget, self.buttons.button(QDialogButtonBox.StandardButton.Ok))

    def fit(self) -> None:
        """Take the size that the lines need which are shown now."""
        self._place.updateGeometry()
        self.adjustSize()

    def check(self) -> None:
        """Say what is wrong, if anything."""
        problem = ""
        for widget, parse in self._checks:
            if widget.isEnabled():
                try:
                    parse()
                except (LifesimError, ValueError) as error:
                    problem = str(error)
                except click.BadParameter as error:
                    problem = error.message
            if problem:
                break
        self.problem.setText(problem)
        self.buttons.button(QDialogButtonBox.StandardButton.Ok).setEnabled(not problem)


def rule_choice(form: Form, rule: Rule) -> QComboBox:
    """Add a choice of rules by name to a form; any other may be typed."""
    items: list[tuple[object, str]] = [
        (known.rule, f"{known.name}  ({known.rule})") for known in NAMED
    ]
    return form.choice("&Rule", items, rule, partial(rule_of, known=rule))


def rule_of(text: str, known: Rule) -> Rule:
    """Return the rule of a text: the known one for its name, as its file may lie where no rules are
    looked for. Raises RuleError for what names none."""
    return known if text.strip() == known.name else Rule.parse(text)


class NewDialog(Form):
    """Asks for a new universe: empty, or a soup."""

    def __init__(
        self,
        size_: tuple[int, int],
        rule: Rule,
        topology: Topology,
        parent: QWidget | None,
        soup: bool = False,
    ) -> None:
        super().__init__("New soup" if soup else "New universe", parent)
        self.size_ = self.line("&Size", f"{size_[0]}x{size_[1]}", _room)
        self.size_.setToolTip("Cells across and down: 512x256; 64K is 65536x65536")
        self._known, self.rule = rule, rule_choice(self, rule)
        self.topology = self.choice("&Edges", list(EDGES), topology)
        self.fill = self.choice("&Fill with", [(False, "Nothing"), (True, "Random cells")], soup)
        self.density = self.line("&Density", "50 %", density)
        self.seed = self.line("S&eed", str(random.getrandbits(32)) if soup else "1", _seed)
        self.fill.currentIndexChanged.connect(self._filled)
        self._filled()

    def _filled(self) -> None:
        for widget in (self.density, self.seed):
            widget.setEnabled(self.fill.currentData())
        self.check()

    def value(self) -> New:
        """Return what has been entered."""
        soup = self.fill.currentData()
        return New(
            size(self.size_.text()),
            rule_of(self.rule.currentText(), self._known),
            self.topology.currentData(),
            density(self.density.text()) if soup else None,
            _seed(self.seed.text()) if soup else 1,
        )


def _room(text: str) -> None:
    from lifesim.grid import check_size
    from lifesim.growing import COPIES

    check_size(*size(text), copies=COPIES)


class FillDialog(Form):
    """Asks for the density and seed of a random fill."""

    def __init__(self, density_: str, seed: int, parent: QWidget | None) -> None:
        super().__init__("Random fill", parent)
        self.density = self.line("&Density", density_, density)
        self.seed = self.line("S&eed", str(seed), _seed)
        self.check()

    def value(self) -> tuple[Fraction, int]:
        """Return what has been entered."""
        return density(self.density.text()), _seed(self.seed.text())


class GenerationDialog(Form):
    """Asks for a generation."""

    def __init__(self, now: int, most: int, parent: QWidget | None) -> None:
        super().__init__("Go to generation", parent)
        self._parse = partial(generation_of, most=most)
        self.number = self.line("&Generation", str(now), self._parse)
        self.number.setToolTip("1000, 64K, 1e6 or 2^40")
        self.number.selectAll()
        self.check()

    def value(self) -> int:
        """Return what has been entered."""
        return self._parse(self.number.text())


class Dialogs:
    """The dialogs of a window: each method shows one and waits. None is: not after all."""

    def __init__(self, window: QWidget) -> None:
        self._window = window

    def unsaved(self, name: str) -> UnsavedAnswer:
        """Ask what is to become of changes."""
        buttons = QMessageBox.StandardButton
        box = QMessageBox(self._window)
        box.setIcon(QMessageBox.Icon.Question)
        box.setWindowTitle("Unsaved changes")
        box.setText(f"Save the changes to {name}?")
        box.setInformativeText("They are lost if you don't.")
        box.setStandardButtons(buttons.Save | buttons.Discard | buttons.Cancel)
        box.setDefaultButton(buttons.Save)
        for title, kind in (
            ("&Save", buttons.Save), ("&Discard", buttons.Discard), ("&Cancel", buttons.Cancel),
        ):  # fmt: skip
            box.button(kind).setText(title)
        pressed = box.exec()
        box.deleteLater()
        if pressed == buttons.Save:
            return UnsavedAnswer.SAVE
        return UnsavedAnswer.DISCARD if pressed == buttons.Discard else UnsavedAnswer.CANCEL

    def open_file(self, folder: str) -> str | None:
        """Ask for a pattern file."""
        filters = f"{_readable()};;All files (*)"
        return file_dialogs.open_file(self._window, "Open a pattern", folder, filters) or None

    def open_directory(self, folder: str) -> str | None:
        """Ask for a universe directory."""
        title = "Open a universe directory"
        return file_dialogs.open_folder(self._window, title, folder) or None

    def pattern_folder(self, folder: str) -> str | None:
        """Ask for a folder of pattern files."""
        return file_dialogs.open_folder(self._window, "A folder of patterns", folder) or None

    def save_file(self, path: str) -> str | None:
        """Ask where to save."""
        filters = f"{_patterns()};;{_DIRECTORY}"
        title = "Save the universe"
        chosen, kind = file_dialogs.save_file(self._window, title, path, filters)
        if chosen and kind != _DIRECTORY and not os.path.splitext(chosen)[1]:
            chosen += ".rle"
            if os.path.exists(chosen) and not self._replace(chosen):
                return None
        return chosen or None

    def _replace(self, path: str) -> bool:
        buttons = QMessageBox.StandardButton
        name = os.path.basename(path)
        text = f"{name} exists already. Replace it?"
        return QMessageBox.question(self._window, "Replace the file?", text) == buttons.Yes

    def new(
        self, size_: tuple[int, int], rule: Rule, topology: Topology, soup: bool = False
    ) -> New | None:
        """Ask for a new universe; of a soup, unless something else is chosen."""
        dialog = NewDialog(size_, rule, topology, self._window, soup)
        return dialog.value() if dialog.is_agreed() else None

    def rule(self, rule: Rule, topology: Topology) -> tuple[Rule, Topology] | None:
        """Ask for a rule and edges."""
        from ui.qt.rule_dialog import RuleDialog

        dialog = RuleDialog(rule, topology, self._window)
        return dialog.value() if dialog.is_agreed() else None

    def fill(self, density_: str, seed: int) -> tuple[Fraction, int] | None:
        """Ask for density and seed of a random fill."""
        dialog = FillDialog(density_, seed, self._window)
        return dialog.value() if dialog.is_agreed() else None

    def generation(self, now: int, most: int) -> int | None:
        """Ask for a generation up to the most."""
        dialog = GenerationDialog(now, most, self._window)
        return dialog.value() if dialog.is_agreed() else None

    def until(self, now: int, most: int, looks: int | None) -> Until | None:
        """Ask for a condition, or a generation from `now` to the most. looks: as of UntilDialog."""
        from ui.qt.until_dialog import UntilDialog

        dialog = UntilDialog(now, most, looks, self._window)
        return dialog.value() if dialog.is_agreed() else None

    def size(self, size_: tuple[int, int]) -> tuple[int, int] | None:
        """Ask for width and height."""
        dialog = Form("Size of the universe", self._window)
        line = dialog.line("&Size", f"{size_[0]}x{size_[1]}", _room)
        line.setToolTip("Cells across and down; the middle stays where it is")
        dialog.check()
        return size(line.text()) if dialog.is_agreed() else None


def _readable() -> str:
    masks = (f"*{end}" if end == ".zip" else f"*{end} *{end}.gz" for end in patterns.readable())
    return f"Patterns ({' '.join(masks)})"


def _patterns() -> str:
    ends = [end for ends in patterns.formats().values() for end in ends]
    masks = " ".join(f"*{end} *{end}.gz" for end in ends)
    return f"Patterns ({masks})"
