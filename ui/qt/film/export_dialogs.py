"""What is asked before pictures and films are made. All that is typed is checked at once."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QMessageBox,
    QPushButton,
    QWidget,
)

from bulkbits.plurals import many
from lifesim import gif, mp4
from lifesim.errors import LifesimError
from lifesim.grid import Box
from lifesim.render import PALETTES, choose_scale, format_scale, parse_scale
from ui.film import export
from ui.film.export import ExportLook, check_path, check_rate
from ui.film.films import MOST_FRAMES, ExportError, frames_of
from ui.film.stills import check_scale
from ui.model import CanvasView
from ui.numbers import whole
from ui.qt import file_dialogs
from ui.qt.dialogs import Form

_PIXELS = 1 << 20  # of a picture that nobody has asked to be otherwise
_FARTHEST = 10**12  # generations of a film
_PALETTES = {"dark": "White on black", "light": "Black on white", "viridis": "Viridis"}
_RATES = {".gif": export.MOST_RATE, ".mp4": export.MOST_MP4_RATE}


@dataclass(frozen=True, slots=True)
class Shown:
    """A universe of width x height cells, as a window shows it.

    finest: the scale of what was recorded of it from afar, else 0. x, y: coordinates of its
    top-left cell. in_colours: whether its cells have colours, so that brightness tells nothing.
    """

    width: int
    height: int
    view: CanvasView
    finest: int = 0
    x: int = 0
    y: int = 0
    in_colours: bool = False

    @property
    def box(self) -> Box:
        """Return all cells."""
        return Box(self.x, self.y, self.width, self.height)

    def regions(self) -> list[tuple[object, str]]:
        """Return what can be chosen, each with its title."""
        found: list[tuple[object, str]] = []
        view = self.view.viewport.box.common(Box(self.x, self.y, self.width, self.height))
        if view is not None:
            found.append((view, f"The view: {_size(view)}"))
        if self.view.selection is not None:
            found.append((self.view.selection, f"The selection: {_size(self.view.selection)}"))
        everything = self.box
        found.append((everything, f"The whole universe: {_size(everything)}"))
        return found


def _size(box: Box) -> str:
    return f"{box.width:,} × {box.height:,} cells"


class Shade(Enum):
    """Names what brightness tells."""

    DENSITY = auto()
    ANY_CELL = auto()
    AGES = auto()


@dataclass(frozen=True, slots=True)
class PictureChoice:
    """A picture that is to be made."""

    path: str
    look: ExportLook


@dataclass(frozen=True, slots=True)
class FilmOf:
    """A film that is to be made.

    generations, every: of a run from now on; or recorded: the numbers of the first and the last
    picture of a recording, counted from 0, and every how many of them.
    """

    path: str
    look: ExportLook
    rate: float
    generations: int = 0
    every: int = 1
    recorded: tuple[int, int] | None = None


class PictureDialog(Form):
    """Asks for a picture of what is shown, in a PNG file."""

    def __init__(
        self, shown: Shown, path: str, parent: QWidget | None = None, *, end: str = ".png"
    ) -> None:
        title = "Export a picture" if end == ".png" else f"Export a film ({end[1:].upper()})"
        super().__init__(title, parent)
        self._shown, self._end = shown, end
        self._agreed = ""  # a file that may be replaced
        regions = shown.regions()
        self.region = self.choice("&Region", regions, regions[0][0])
        view = shown.view
        scale = max(view.viewport.scale, shown.finest) if shown.finest else view.viewport.scale
        self.scale = self.line("&Scale", format_scale(scale), self._check_scale)
        self.scale.setToolTip("Pixels to cells: 1:8 draws 8 × 8 cells as a pixel, 4:1 the reverse")
        palettes: list[tuple[object, str]] = [
            (name, _PALETTES.get(name, name)) for name in PALETTES
        ]
        palette = "dark" if shown.in_colours else view.palette
        self.palette_ = self.choice("&Colours", palettes, palette)
        shades: list[tuple[object, str]] = [
            (Shade.DENSITY, "As bright as cells are dense"),
            (Shade.ANY_CELL, "Bright where any cell lives"),
        ]
        shade = Shade.ANY_CELL if view.any_cell else Shade.DENSITY
        shown_ages = view.ages and view.can_show_ages and not shown.finest
        if shown_ages or end != ".png":
            shades.append((Shade.AGES, "The brighter, the longer they have lived"))
        if shown.in_colours:
            shades = [(Shade.DENSITY, "In the colours of their states")]
            shade, shown_ages = Shade.DENSITY, False
        self.shade = self.choice("&Cells", shades, Shade.AGES if shown_ages else shade)
        if end != ".png":
            self.shade.setToolTip("Ages begin with the first picture of a film")
        self.more()
        self.path = QLineEdit(path)
        self.path.setAccessibleName("File")
        self.path.setMinimumWidth(280)
        self.path.textChanged.connect(self.check)
        self.browse_button = QPushButton("Br&owse…")
        self.browse_button.clicked.connect(self._browse)
        row = QHBoxLayout()
        row.addWidget(self.path, 1)
        row.addWidget(self.browse_button)
        label = QLabel("&File")
        label.setBuddy(self.path)
        self.fields.addRow(label, row)
        self.end_with(self.browse_button)  # which is of the dialog by now
        self._checks.append((self.path, lambda: check_path(self.path.text(), end)))
        self.result_ = QLabel()
        self.result_.setProperty("dim", True)
        self.result_.setAccessibleName("What will be made")
        self.fields.addRow("", self.result_)
        self.region.currentIndexChanged.connect(self._choose_scale)
        self.ask: Callable[[str], bool] = self._ask
        self.check()

    def more(self) -> None:
        """Add more fields; here, none."""

    def finest(self) -> int:
        """Return the scale of what was recorded from afar, if that is to be seen, else 0."""
        return self._shown.finest

    def check_ages(self) -> None:
        """Raise ExportError where nobody knows them."""
        view = self._shown.view.viewport.box
        x, y, width, height = self.region.currentData()
        if not (
            view.x <= x
            and view.y <= y
            and x + width <= view.x + view.width
            and y + height <= view.y + view.height
        ):
            raise ExportError("ages are known of the view only: choose another region")

    def check(self) -> None:
        """Say what the picture will be, or what is wrong with it."""
        super().check()
        if hasattr(self, "result_"):
            self.result_.setText("" if self.problem.text() else self.describe())

    def describe(self) -> str:
        """Return in a few words what the picture will be."""
        across, down = self.look().check_box(self._shown.box)
        return f"{across:,} × {down:,} pixels"

    def look(self) -> ExportLook:
        """Return what is to be shown, and how."""
        return ExportLook(
            self.region.currentData(),
            parse_scale(self.scale.text()),
            self.palette_.currentData(),
            self.shade.currentData() is Shade.ANY_CELL,
            self.shade.currentData() is Shade.AGES,
        )

    def value(self) -> PictureChoice | FilmOf:
        """Return what is to be made."""
        return PictureChoice(os.path.abspath(self.path.text()), self.look())

    def _check_scale(self, text: str) -> None:
        scale = parse_scale(text)
        if finest := self.finest():
            check_scale(scale, finest)
        ages = self.shade.currentData() is Shade.AGES
        if ages:
            self.check_ages()
        look = ExportLook(self.region.currentData(), scale, ages=ages)
        size = look.check_box(self._shown.box)
        if self._end == ".gif":
            gif.check_size(*size)
        elif self._end == ".mp4":
            mp4.check_size(*size)

    def _choose_scale(self) -> None:
        """Choose a scale of its own for a region that is too large for that of another."""
        try:
            self._check_scale(self.scale.text())
        except LifesimError:
            region = self.region.currentData()
            scale = choose_scale(region.width, region.height, _PIXELS, largest=1)
            self.scale.setText(format_scale(max(scale, self.finest())))

    def _browse(self) -> None:
        kind = f"{self._end[1:].upper()} (*{self._end})"
        path, _ = file_dialogs.save_file(self, self.windowTitle(), self.path.text(), kind)
        if path:
            self._agreed = path
            if not os.path.splitext(path)[1]:
                path += self._end
            self.path.setText(path)

    def accept(self) -> None:
        """Ask before a file is replaced."""
        path = self.path.text()
        if os.path.exists(path) and path != self._agreed and not self.ask(path):
            return
        super().accept()

    def _ask(self, path: str) -> bool:
        text = f"{os.path.basename(path)} exists already. Replace it?"
        buttons = QMessageBox.StandardButton
        return bool(QMessageBox.question(self, "Replace the file?", text) == buttons.Yes)


class FilmDialog(PictureDialog):
    """Asks for a film of a run from now on, or of what was recorded, in a GIF or an MP4 file."""

    def __init__(self, shown: Shown, path: str, count: int, parent: QWidget | None = None) -> None:
        self._count = count
        end = os.path.splitext(path)[1].lower()
        super().__init__(shown, path, parent, end=end)

    def more(self) -> None:
        """Add the fields of films."""
        kinds: list[tuple[object, str]] = [(False, "A run from now on")]
        if self._count:
            kinds.append((True, f"What was recorded: {many(self._count, 'picture')}"))
        # What is recorded from afar is more than memory can run.
        self.recorded = self.choice("&What", kinds, self._count > 0 and self._shown.finest > 0)
        self._generations = whole(0, _FARTHEST, "a number of generations")
        self._every = whole(1, _FARTHEST, "a distance of two pictures")
        self._number = whole(1, max(1, self._count), "a recorded picture")
        self.generations = self.line("&Generations", "200", self._check_generations)
        self.every = self.line("&Every", "1", self._check_every)
        self.every.setToolTip("Generations from picture to picture")
        self.first = self.line("Fro&m picture", "1", self._number)
        self.last = self.line("&To picture", str(max(1, self._count)), self._check_last)
        self.rate = self.line("&Pictures a second", "20", self._check_rate)
        self.recorded.currentIndexChanged.connect(self._chosen)
        self._chosen()

    def finest(self) -> int:
        """Return the scale of what was recorded from afar, if a recording is chosen; else 0."""
        return self._shown.finest if self.recorded.currentData() else 0

    def check_ages(self) -> None:
        """Offer ages only where all cells are known."""
        if self.finest():
            raise ExportError(export.NO_AGES)

    def _chosen(self) -> None:
        recorded = self.recorded.currentData()
        for widget in (self.generations, self.every):
            widget.setEnabled(not recorded)
        for widget in (self.first, self.last):
            widget.setEnabled(recorded)
            self.fields.setRowVisible(widget, self._count > 0)
        self._choose_scale()
        self.check()

    def _check_generations(self, text: str) -> None:
        self._generations(text)

    def _check_every(self, text: str) -> None:
        count = frames_of(self._generations(self.generations.text()), self._every(text))
        if count > MOST_FRAMES:
            raise ValueError(f"a film has at most {MOST_FRAMES:,} pictures, not {count:,}")

    def _check_last(self, text: str) -> None:
        if self._number(text) < self._number(self.first.text()):
            raise ValueError("the last picture comes before the first")

    def _check_rate(self, text: str) -> None:
        if self._end == ".mp4":
            mp4.find()
        check_rate(_rate(text), _RATES[self._end])

    def describe(self) -> str:
        """Return in a few words what the film will be."""
        film, pixels = self.value(), super().describe()
        if film.recorded:
            count = film.recorded[1] - film.recorded[0] + 1
        else:
            count = frames_of(film.generations, film.every)
        return f"{pixels}, {many(count, 'picture')}, {count / film.rate:,.1f} s"

    def value(self) -> FilmOf:
        """Return what is to be made."""
        path, look, rate = os.path.abspath(self.path.text()), self.look(), _rate(self.rate.text())
        if self.recorded.currentData():
            first, last = self._number(self.first.text()), self._number(self.last.text())
            return FilmOf(path, look, rate, recorded=(first - 1, last - 1))
        generations = self._generations(self.generations.text())
        return FilmOf(path, look, rate, generations, self._every(self.every.text()))


def _rate(text: str) -> float:
    try:
        return float(text.strip())
    except ValueError:
        raise ValueError("pictures a second are a number") from None
