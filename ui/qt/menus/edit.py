"""Edit: tools, undo, the selection and the clipboard."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtGui import QGuiApplication

from lifesim.colours import state_colours
from lifesim.engines import cells_for
from lifesim.grid import BitGrid, Box, GridError
from lifesim.turned import flipped_across, flipped_down, rotated
from ui.cells import clipboard
from ui.cells.drawing import DrawnStroke
from ui.cells.edits import (
    Clear,
    Cut,
    Edit,
    FlipAcross,
    FlipDown,
    Invert,
    Mode,
    Paste,
    RandomFill,
    Stroke,
    rotation,
)
from ui.model import ToolName
from ui.numbers import shortened
from ui.qt.actions import Action
from ui.qt.canvas import Tool as CanvasTool
from ui.qt.menus.base import Menu
from ui.qt.tools import DrawTool, PanTool, PasteGhost, PasteTool, SelectTool
from ui.session import EditableSession

if TYPE_CHECKING:
    from ui.qt.window import LifeWindow

_MODES = {Mode.OR: "&Or: cells are added", Mode.COPY: "&Copy: cells are replaced",
          Mode.XOR: "&Xor: live ones invert"}  # fmt: skip
_AT_ONCE = 1 << 24  # cells that are copied while one waits
_MOST_COPIED = 1 << 31  # cells: their text would take longer than anybody waits


class EditMenu(Menu):
    """Adds actions that change cells: tools, the selection, the clipboard, undo."""

    prefix, place = "edit", "&Edit"

    def __init__(self, window: LifeWindow) -> None:
        super().__init__(window)
        canvas = window.canvas
        self.pen = DrawTool(canvas, self._state_at, self._stroke, self._stroke_ended)
        # Of a universe that is changed at the end of a stroke.
        self._drawn: tuple[EditableSession, DrawnStroke] | None = None
        self._tools: dict[ToolName, CanvasTool] = {
            ToolName.PAN: PanTool(canvas),
            ToolName.DRAW: self.pen,
            ToolName.SELECT: SelectTool(canvas, self.select),
        }
        kept = str(window.settings.value("edit/mode"))
        self.mode = Mode(kept) if kept in list(Mode) else Mode.OR
        self.density = str(window.settings.value("edit/density") or "50 %")
        window.opened.connect(self._settle)
        window.changed.connect(self._name_undo)

    def remembered(self) -> dict[str, object]:
        """Return the mode of pasting and the density, by the keys of settings."""
        return {"edit/mode": self.mode.value, "edit/density": self.density}

    def actions(self) -> list[Action]:
        """Return the actions of the menu."""
        act = self.act

        def some() -> bool:
            return self.window.view.selection is not None

        def change() -> bool:
            return some() and self._session is not None

        def begun() -> bool:
            return some() or self.ghost is not None or self.window.background.is_opening

        def turn() -> bool:
            return change() or self.ghost is not None

        actions = [
            act("undo", "&Undo", lambda: self._memory.undo(), "Ctrl+Z", icon="undo",
                enabled=lambda: bool(self._session and self._session.can_undo)),
            act("redo", "&Redo", lambda: self._memory.redo(), "Ctrl+Shift+Z", "Ctrl+Y", icon="redo",
                enabled=lambda: bool(self._session and self._session.can_redo)),
            act("cut", "Cu&t", self.cut, "Ctrl+X", section=1, enabled=change),
            act("copy", "&Copy", self.copy, "Ctrl+C", section=1, enabled=some),
            act("paste", "&Paste", self.paste, "Ctrl+V", section=1,
                enabled=lambda: self._session is not None,
                tip="Take the pattern on the clipboard, and put it down by a click"),
            act("place", "P&ut down here", self.place_ghost, "Ctrl+Return", section=1,
                enabled=lambda: self.ghost is not None),
            act("give-up", "&Give up, or select nothing", self.give_up, "Escape", section=1,
                local=True, enabled=begun),
        ]  # fmt: skip
        for mode, title in _MODES.items():
            actions.append(
                act(f"mode-{mode}", title, self._mode_setter(mode), section=1,
                    under="Paste &mode", checked=self._is_mode(mode))
            )  # fmt: skip
        return [
            *actions,
            act("all", "Select &all", self.select_all, "Ctrl+A", section=2),
            act("clear", "C&lear the selection", lambda: self._do(Clear), "Delete", "Backspace",
                section=3, local=True, enabled=change),
            act("invert", "&Invert the selection", lambda: self._do(Invert), "I", section=3,
                enabled=change),
            act("fill", "Random &fill…", self.fill, "Ctrl+5", section=3, enabled=change),
            act("turn-right", "Rotate to the righ&t", lambda: self._turn(True), "R", section=3,
                enabled=turn),
            act("turn-left", "Rotate to the l&eft", lambda: self._turn(False), "Shift+R",
                section=3, enabled=turn),
            act("flip-across", "Flip left and ri&ght", lambda: self._flip(False), "X", section=3,
                enabled=turn),
            act("flip-down", "Flip top and &bottom", lambda: self._flip(True), "Y", section=3,
                enabled=turn),
            act("draw", "&Draw", lambda: self.take(ToolName.DRAW), "D", section=4, icon="draw",
                checked=lambda: self._has(ToolName.DRAW), tip="Draw: begun on a live cell, erase"),
            act("select", "&Select", lambda: self.take(ToolName.SELECT), "S", section=4,
                icon="select", checked=lambda: self._has(ToolName.SELECT),
                tip="Select a rectangle"),
            act("pan", "Pa&n", lambda: self.take(ToolName.PAN), "P", section=4, icon="pan",
                checked=lambda: self._has(ToolName.PAN), tip="Move the view"),
        ]  # fmt: skip

    # --- tools -----------------------------------------------------------------

    @property
    def _session(self) -> EditableSession | None:
        session = self.window.session
        return session if isinstance(session, EditableSession) else None

    @property
    def _memory(self) -> EditableSession:
        assert self._session is not None
        return self._session

    @property
    def ghost(self) -> PasteGhost | None:
        """Return the cells that are to be put down, if there are any."""
        tool = self.window.canvas.tool
        return tool.ghost if isinstance(tool, PasteTool) else None

    def _has(self, tool: ToolName) -> bool:
        return self.ghost is None and self.window.view.tool is tool

    def take(self, tool: ToolName) -> None:
        """Take a tool."""
        self.window.canvas.ghost = None
        self.window.canvas.show_view(replace(self.window.view, tool=tool))
        self.window.canvas.use(self._tools[tool])

    def _settle(self) -> None:
        """Let go of the universe before."""
        self.take(self.window.view.tool)

    def _name_undo(self) -> None:
        session = self._session
        for id, title, what in (
            ("edit.undo", "&Undo", session.can_undo if session else None),
            ("edit.redo", "&Redo", session.can_redo if session else None),
        ):
            self.window.registry.retitle(id, f"{title} {what}" if what else title)

    # --- drawing ---------------------------------------------------------------

    def _state_at(self, x: int, y: int) -> int | None:
        """Return the state of a cell that can be drawn on, else say why it cannot; None then."""
        session, window = self._session, self.window
        if session is None:
            return None
        if session.refusal:
            window.banner.note(session.refusal)
        elif window.view.viewport.scale > 0:
            window.banner.note("Cells are smaller than pixels here: zoom in to draw.")
        elif _in(cell := Box(x, y, 1, 1), session.limits):
            if not (session.is_endless or _in(cell, session.box)):
                return 0
            # What is drawn of a disk may be blurred still.
            seen = window.canvas.state_at(x, y) if session.draws_at_once else None
            return int(session.cells(cell)[0, 0]) if seen is None else seen
        elif session.is_endless:
            window.banner.note("Cells can be drawn up to 2^62 cells from the origin.")
        return None

    def _stroke(self, points: tuple[tuple[int, int], ...], state: int, number: int) -> None:
        session, canvas = self._memory, self.window.canvas
        if session.draws_at_once:
            session.edit(Stroke(points, state, number))
            return
        if self._drawn is None:
            self._drawn = session, DrawnStroke(state, number, session.limits, _AT_ONCE)
        drawn = self._drawn[1]
        drawn.add(points)
        if drawn.box is not None and drawn.cells is not None:
            canvas.ghost = PasteGhost(drawn.cells, drawn.box.x, drawn.box.y, is_framed=False)
            canvas.update()

    def _stroke_ended(self) -> None:
        drawn, self._drawn = self._drawn, None
        if drawn is not None:
            self.window.canvas.ghost = None
            self.window.canvas.update()
            session, stroke = drawn
            if session is self.window.session:
                session.edit(stroke.stroke())

    # --- the selection ---------------------------------------------------------

    def select(self, box: Box | None) -> None:
        """Select a box of cells, or nothing."""
        window = self.window
        window.canvas.show_view(replace(window.view, selection=box))
        window.status_line.show_selection(box)
        window.registry.refresh()

    def select_all(self) -> None:
        """Select all cells that are held."""
        self.select(self.window.session.box)

    def give_up(self) -> None:
        """Give up the last thing that was begun."""
        if self.window.background.is_opening:
            self.window.files.cancel()
        elif self.ghost is not None:
            self.take(self.window.view.tool)
        else:
            self.select(None)

    def _do(self, kind: Callable[[Box], Edit]) -> None:
        selection = self.window.view.selection
        if selection is not None:
            self._memory.edit(kind(selection))

    def fill(self) -> None:
        """Ask for a density, and fill the selection with a soup."""
        selection = self.window.view.selection
        asked = self.window.dialogs.fill(self.density, random.getrandbits(32))
        if asked is not None and selection is not None:
            self.density = f"{float(100 * asked[0]):g} %"
            self._memory.edit(RandomFill(selection, *asked))

    def _turn(self, clockwise: bool) -> None:
        if self.ghost is not None:
            self.ghost.replace(rotated(self.ghost.cells, clockwise=clockwise))
            self.window.canvas.update()
            return
        selection, session = self.window.view.selection, self._memory
        if selection is not None:
            x, y, width, height = session.limits
            edit = rotation(selection, clockwise, width, height, x, y)
            session.edit(edit)
            self.select(edit.new)

    def _flip(self, down: bool) -> None:
        if self.ghost is not None:
            self.ghost.replace((flipped_down if down else flipped_across)(self.ghost.cells))
            self.window.canvas.update()
        else:
            self._do(FlipDown if down else FlipAcross)

    # --- the clipboard ---------------------------------------------------------

    def copy(self, then: Callable[[], None] = lambda: None) -> None:
        """Copy the selection; then go on, if it could be copied."""
        window, selection = self.window, self.window.view.selection
        if selection is None:
            return
        many = selection.width * selection.height
        if many > _MOST_COPIED:
            size = f"{shortened(selection.width)} × {shortened(selection.height)}"
            raise GridError(f"{size} cells are too many for a clipboard: save the universe instead")
        session = window.session

        def text() -> tuple[str, int]:
            cells = session.cells(selection)
            return clipboard.text_of(cells, session.rule), cells.population()

        def done(made: tuple[str, int]) -> None:
            QGuiApplication.clipboard().setText(made[0])
            size = f"{selection.width:,} × {selection.height:,}"
            window.banner.note(f"Copied {size} cells, {made[1]:,} of them live")
            then()

        if many <= _AT_ONCE and not session.is_endless:
            done(text())
        else:
            window.background.do("Copying…", text, done, window.report)

    def cut(self) -> None:
        """Copy the selection, and kill its cells."""
        selection = self.window.view.selection
        if selection is not None:
            memory = self._memory
            self.copy(lambda: memory.edit(Cut(selection)))

    def paste(self) -> None:
        """Let the pattern of the clipboard follow the pointer until it is put down."""
        rule = self.window.session.rule
        text = QGuiApplication.clipboard().text()

        def read() -> BitGrid:
            return cells_for(rule, clipboard.parse(text, rule).cells)

        self.bring("Reading the clipboard…", read, at_once=clipboard.is_small(text))

    def bring(self, title: str, read: Callable[[], BitGrid], *, at_once: bool = False) -> None:
        """Read cells, off the main thread unless that is done at once, and let them follow the
        pointer until they are put down."""
        window, session = self.window, self.window.session

        def done(cells: BitGrid) -> None:
            if window.session is session:  # else another one was opened meanwhile
                self.carry(cells)
                window.registry.refresh()

        if at_once:
            done(read())
        else:
            window.background.do(title, read, done, window.report)

    def carry(self, cells: BitGrid) -> None:
        """Let cells follow the pointer until they are put down."""
        canvas = self.window.canvas
        ghost = PasteGhost(cells, 0, 0, state_colours(self.window.session.rule))
        under = self.pointed_at()
        ghost.centre_on(under.x, under.y)
        canvas.ghost = ghost
        canvas.use(PasteTool(canvas, ghost, self.place_ghost, self.give_up))
        canvas.setFocus()
        canvas.update()

    def pointed_at(self) -> Box:
        """Return the cells under the pointer, or in the middle of the canvas if it is elsewhere."""
        canvas = self.window.canvas
        at = canvas.mapFromGlobal(canvas.cursor().pos())
        where = at if canvas.rect().contains(at) else canvas.rect().center()
        pixel = canvas.pixel(where.toPointF())
        return canvas.view.viewport.cells_at(pixel.x(), pixel.y())

    def place_ghost(self) -> None:
        """Put down the cells that follow the pointer."""
        ghost = self.ghost
        if ghost is None:
            return
        session = self._memory
        paste = Paste(ghost.cells, ghost.x, ghost.y, self.mode)
        x, y, width, height = session.limits
        if paste.box(width, height, x, y) is None:
            self.window.banner.note("That is outside of the universe.")
            return
        session.edit(paste)
        self.take(self.window.view.tool)
        self.window.registry.refresh()

    def _is_mode(self, mode: Mode) -> Callable[[], bool]:
        return lambda: self.mode is mode

    def _mode_setter(self, mode: Mode) -> Callable[[], None]:
        def run() -> None:
            self.mode = mode

        return run


def _in(box: Box, other: Box) -> bool:
    """Tell whether a box begins in another."""
    across, down = box.x - other.x, box.y - other.y
    return 0 <= across < other.width and 0 <= down < other.height
