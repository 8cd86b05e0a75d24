"""The guide: what the mouse and the tools do, and the words that the window uses."""

from __future__ import annotations

from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QDialog, QTextBrowser, QVBoxLayout, QWidget

from ui.qt.actions import Registry
from ui.qt.remembered import fit_screen

MOUSE = (
    ("Zoom at the pointer", "Wheel"),
    ("Move the view", "Drag with the middle button, or with the Pan tool"),
    ("Draw, or erase if begun on a live cell", "Drag with the Draw tool"),
    ("Erase", "Right button with the Draw tool"),
    ("Select a rectangle", "Drag with the Select tool"),
    ("Put down what is pasted, or give it up", "Left or right button"),
    ("Open a file", "Drop it on the window"),
)
_TOOLS = (
    ("edit.pan", "moves the view."),
    ("edit.draw", "gives life to dead cells, or takes it: as the cell where a stroke begins."),
    ("edit.select", "marks a rectangle, which can be cut, copied, turned, filled and followed."),
)
_RUNNING = (
    ("control.run", "runs until it is pressed again."),
    ("control.step", "makes as many generations as lie between two pictures."),
    ("control.faster", "doubles these: from there on a picture shows only each 2nd, 4th, 8th one."),
    ("control.until", "ends where a condition is true, and says what was found."),
    ("control.go", "goes back, too, as far as is known."),
    ("time.record", "keeps pictures on disk, which the timeline shows again."),
    ("edit.undo", "takes runs back as it does edits."),
)
GLOSSARY = (
    ("Generation", "One step of the rule, in all cells at once; also its number."),
    ("Rule", "Says which cells live in the next generation. B3/S23: born with three live "
     "neighbours, survives with two or three."),
    ("Soup", "Cells that live or not by chance."),
    ("Still life", "A pattern that stays as it is."),
    ("Oscillator", "A pattern that comes back; its period is after how many generations."),
    ("Spaceship", "A pattern that comes back in another place. The smallest is the glider."),
    ("Gun", "A pattern that sends out spaceships for ever."),
    ("Puffer", "A pattern that moves and leaves debris behind."),
    ("Methuselah", "A small pattern that takes long to settle, as the R-pentomino does."),
    ("Stable", "All parts repeat themselves, fly apart, or grow by the same each period."),
    ("Torus", "A universe whose opposite edges meet."),
    ("Plane", "A universe with dead cells all around, or without bounds: then it grows."),
    ("Density", "The share of cells that live. From afar, how bright a pixel is."),
    ("Age", "For how many generations a cell has lived, as far as pictures have shown."),
    ("HashLife", "A way to leap over many generations of what repeats itself in space or time."),
    ("Ghost", "What is being pasted, before it is put down."),
)  # fmt: skip


class GuidePage(QDialog):
    """Shows the guide: a page to be read and scrolled."""

    def __init__(self, registry: Registry, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Mouse, tools and words")
        self.text = QTextBrowser()
        self.text.setAccessibleName("Guide")
        self.text.setOpenLinks(False)
        self.text.setHtml(_page(registry))
        layout = QVBoxLayout(self)
        layout.addWidget(self.text)
        fit_screen(self, 640, 640)


def _page(registry: Registry) -> str:
    """Return the guide as HTML; keys are those of the registry."""
    parts = [
        ("Mouse", [(what, how) for what, how in MOUSE]),
        ("Tools", [_of(registry, id, text) for id, text in _TOOLS]),
        ("Running", [_of(registry, id, text) for id, text in _RUNNING]),
        ("Words", list(GLOSSARY)),
    ]
    return "".join(
        f"<h3>{title}</h3><table cellspacing='0' cellpadding='3'>"
        + "".join(f"<tr><td><b>{left}</b></td><td>{right}</td></tr>" for left, right in rows)
        + "</table>"
        for title, rows in parts
    )


def _of(registry: Registry, id: str, text: str) -> tuple[str, str]:
    """Return the name of an action with its first key, and what it does."""
    action = registry[id]
    name = action.name.removesuffix("…")
    if action.keys:
        key = QKeySequence(action.keys[0]).toString(QKeySequence.SequenceFormat.NativeText)
        name += f" ({key})"
    return name, text
