"""The screens of the window for universes."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from PySide6.QtWidgets import QApplication, QDialog, QWidget

from kernels.targets.choose import pick
from kernels.targets.contract import Target
from lifesim.grid import Box
from lifesim.rule import LIFE, Rule
from lifesim.soup import random_grid
from lifesim.topology import Topology
from lifesim.until import parse
from tests.screens.stage import PATTERNS, Making, Stage, rested, screen, seen
from tests.windows import until
from ui import opening
from ui.cells.edits import Clear, RandomFill
from ui.cells.session import MemorySession
from ui.disk.session import DiskSession
from ui.qt.dialogs import NewDialog
from ui.qt.film.export_dialogs import FilmDialog, Shown
from ui.qt.guide import GuidePage
from ui.qt.menus.control import ControlMenu
from ui.qt.menus.history import HistoryMenu
from ui.qt.menus.script import ScriptMenu
from ui.qt.menus.second import SecondMenu
from ui.qt.menus.start import StartMenu
from ui.qt.menus.time import TimeMenu
from ui.qt.palette import CommandPalette
from ui.qt.rule_dialog import RuleDialog
from ui.qt.start.browser import PatternBrowser
from ui.qt.until_dialog import UntilDialog
from ui.qt.window import LifeWindow

_RECENT = ("gosper-breeder.rle", "r-pentomino.rle", "acorn.rle", "langtons-loop.rle")
_SCRIPT = """\
life
glider = BitGrid.from_cells(3, 3, [(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)])
for k in range(5):
    life.put(glider, 60 + 8 * k, 4 * k, "or")
life.run(90)
life.population(), life.bounding_box()
actions.view.fit()
"""


def soup(side: int, rule: Rule = LIFE, states: int = 2) -> MemorySession:
    """Return a torus full of random cells."""
    cells = random_grid(side, side, 0.4, 7)
    if states > 2:
        session = opening.random(side, side, Fraction(1, 4), 7, rule, backend=_one())
        assert isinstance(session, MemorySession)
        return session
    return MemorySession(cells, rule=rule, backend=_one())


def _one() -> Target:
    return pick("auto", threads=1)


def run(window: LifeWindow, generations: int) -> None:
    """Move the universe on, and show it."""
    window.session.step(generations)
    rested(window)


def look(window: LifeWindow, scale: int, x: int, y: int) -> None:
    """Show a cell in the middle, at a scale."""
    window.aim(None)
    window.canvas.zoom_to(scale)
    window.set_view(window.view.at(window.view.viewport.centred(x, y)))
    rested(window)


def dialog(window: LifeWindow, made: QDialog) -> QDialog:
    """Show a dialog beside the window, in its natural size."""
    made.setParent(window, made.windowFlags())
    made.show()
    QApplication.processEvents()
    return made


# --- the start page and patterns ---------------------------------------------------


def start_page(stage: Stage) -> LifeWindow:
    """Open a window on no universe."""
    window = stage.open(opening.new(backend=_one()))
    window.menu_of(StartMenu).begin()
    return window


def choose(browser: PatternBrowser, text: str = "", kind: str | None = None, row: int = 0) -> None:
    """Look for patterns, and choose one of those found."""
    every = len(browser.library.search(""))
    until(lambda: len(browser._entries) == every)
    browser.line.setText(text)
    browser.kinds.setCurrentIndex(max(0, browser.kinds.findData(kind)))
    found = len(browser.library.search(text, kind=kind))
    until(lambda: len(browser._entries) == found)
    browser.list.setCurrentIndex(browser.list.cards.index(row))


@screen("viewer-start")
def start(stage: Stage) -> QWidget:
    """Show recent files, and guns."""
    settings = stage.settings
    folder = stage.home / "patterns"
    folder.mkdir(exist_ok=True)
    for name in _RECENT:
        shutil.copy(PATTERNS / name, folder)
    disk = stage.home / "soup"
    soup(256).save(str(disk))
    paths = [str(folder / name) for name in _RECENT]
    settings.setValue("recent", [paths[0], str(disk), *paths[1:], str(stage.home / "gone.rle")])
    settings.sync()
    window = start_page(stage)
    page = window.menu_of(StartMenu).page
    assert page is not None
    choose(page.browser, kind="gun", row=3)
    page.recent.focus_first()
    return window


@screen("viewer-start-empty", theme="light")
def start_empty(stage: Stage) -> QWidget:
    """Show what is there when the window is opened for the first time."""
    window = start_page(stage)
    page = window.menu_of(StartMenu).page
    assert page is not None
    until(lambda: page.browser._entries)
    return window


@screen("viewer-patterns", theme="light")
def patterns(stage: Stage) -> QWidget:
    """Show patterns beside a gun, and one that follows the pointer."""
    window = stage.open_pattern("gosper-gun")
    menu = window.menu_of(StartMenu)
    window.registry.run("library.dock")
    choose(menu.browser, text="eater", row=1)
    run(window, 300)
    look(window, -2, 70, 45)
    menu._insert_chosen()
    until(lambda: window.edits.ghost is not None)
    window.edits.ghost.centre_on(125, 20)  # type: ignore[union-attr]
    window.canvas.update()
    return window


# --- universes ---------------------------------------------------------------------


@screen("viewer-dark", 1280, 800)
def far(stage: Stage) -> QWidget:
    """Show a soup from afar, its plots and the timeline."""
    window = stage.open(soup(4096))
    window.registry.run("time.timeline")
    window.registry.run("time.plots")
    plots = window.menu_of(TimeMenu).plots
    until(lambda: plots.plots)
    window.menu_of(ControlMenu).change(6)
    for _ in range(30):
        window.session.step(64)
        rested(window)
    return window


@screen("viewer-light", 1280, 800, theme="light")
def light(stage: Stage) -> QWidget:
    """Show the same in the other theme, with nothing to be plotted yet."""
    window = stage.open_pattern("acorn")
    window.registry.run("time.plots")
    until(lambda: window.menu_of(TimeMenu).plots.plots)
    return rested(window)


@screen("viewer-near", 1300, 820)
def near(stage: Stage) -> QWidget:
    """Show a gun near by, a selection and what is to be pasted."""
    window = stage.open_pattern("gosper-gun")
    run(window, 113)
    look(window, -4, 26, 17)
    window.edits.select(Box(16, 2, 19, 12))
    window.registry.run("edit.copy")
    rested(window)
    window.registry.run("edit.paste")
    until(lambda: window.edits.ghost is not None)
    window.edits.ghost.centre_on(44, 24)  # type: ignore[union-attr]
    window.canvas.update()
    return window


@screen("viewer-ages")
def ages(stage: Stage) -> QWidget:
    """Show the ages of cells in a picture of the past."""
    window = stage.open(MemorySession(random_grid(256, 160, 0.4, 5), backend=_one()))
    run(window, 500)
    window.registry.run("time.timeline")
    window.registry.run("view.ages")
    timeline = window.menu_of(TimeMenu).timeline
    timeline.record(True)
    look(window, -2, 128, 80)
    for count in range(2, 34):
        run(window, 4)
        until(lambda count=count: timeline.slider.maximum() >= count - 1)  # type: ignore[misc]
    for number in range(29):  # ages are of what has been seen
        timeline.slider.setValue(number)
        until(lambda: window.shows_past)
        rested(window)
    return window


@screen("viewer-second", 900, 560)
def second(stage: Stage) -> QWidget:
    """Show the surroundings of a place, and the history."""
    window = stage.open(soup(1024))
    window.registry.run("second.view")
    window.menu_of(HistoryMenu).toggle()
    run(window, 300)
    look(window, -2, 500, 500)
    box = Box(470, 490, 40, 20)
    window.edits.select(box)
    window.session.edit(RandomFill(box, Fraction(1, 2), 3))  # type: ignore[union-attr]
    rested(window)
    window.session.edit(Clear(Box(482, 500, 10, 10)))  # type: ignore[union-attr]
    run(window, 7)
    window.session.undo()  # type: ignore[union-attr]
    rested(window)
    canvas = window.menu_of(SecondMenu).view.canvas
    until(lambda: canvas.frame is not None)
    return window


@screen("viewer-hashlife", 1100)
def hashlife(stage: Stage) -> QWidget:
    """Show what copies itself after 733 billion generations, in the tree that HashLife keeps."""
    path = str(PATTERNS / "parity-replicator.rle")
    window = stage.open(opening.open(path, engine="hashlife", backend=_one()))
    window.session.go_to(int("10" * 20, 2))
    rested(window)
    window.fit()
    return rested(window)


@screen("viewer-states", 1300, 820)
def states(stage: Stage) -> QWidget:
    """Show Star Wars near by, a selection and what is to be pasted."""
    window = stage.open(soup(256, Rule.parse("345/2/4"), 4))
    run(window, 100)
    look(window, -3, 128, 128)
    window.edits.select(Box(84, 92, 32, 32))
    window.registry.run("edit.copy")
    rested(window)
    window.registry.run("edit.paste")
    until(lambda: window.edits.ghost is not None)
    window.edits.ghost.centre_on(150, 126)  # type: ignore[union-attr]
    window.canvas.update()
    return window


@screen("viewer-disk", 1000, 560)
def on_disk(stage: Stage) -> QWidget:
    """Show a universe on disk, on which something was drawn."""
    path = stage.home / "soup-on-disk"
    shutil.rmtree(path, ignore_errors=True)
    with_soup = soup(2048)
    with_soup.save(str(path))
    window = stage.open(DiskSession.open(str(path), backend=_one()))
    seen(window)
    window.aim(None)
    window.canvas.zoom_to(-2)
    window.set_view(window.view.at(window.view.viewport.centred(1024, 1024)))
    box = Box(990, 1000, 60, 40)
    session = window.session
    assert isinstance(session, DiskSession)
    session.edit(Clear(box))
    until(lambda: session.can_undo)
    window.edits.select(box)
    window.menu_of(HistoryMenu).toggle()
    until(lambda: (canvas := window.canvas.frame) and canvas.request.serial >= window._serial)
    return window


@screen("viewer-error", 900, 420)
def error(stage: Stage) -> QWidget:
    """Show what is said of a file that cannot be read."""
    window = stage.open_pattern("acorn")
    broken = stage.home / "broken.rle"
    broken.write_text("x = 3, y = 3, rule = B3/S23\nbo$2bQ$3o!\n")
    window.files.open_path(str(broken))
    until(lambda: window.banner.is_error)
    return rested(window)


@screen("viewer-found", 900, 420, theme="light")
def found(stage: Stage) -> QWidget:
    """Show what was found by a run until a pattern is stable."""
    window = stage.open_pattern("r-pentomino")
    window.session.run_until(parse("stable"), None)
    until(lambda: not window.session.status().running and window.session.status().found)
    window.fit()
    return rested(window)


@screen("viewer-console", 900)
def console(stage: Stage) -> QWidget:
    """Show what was typed into the console, and what it printed."""
    window = stage.open_pattern("gosper-gun")
    menu = window.menu_of(ScriptMenu)
    menu.show()
    lines = iter(_SCRIPT.splitlines())
    for line in lines:
        source = f"{line}\n{next(lines)}" if line.endswith(":") else line
        menu.console.enter(source)
        until(lambda: not menu.runner.is_running)
        rested(window)
    menu.console.entry.setPlainText("for name in vars(actions):\n    print(name)")
    return rested(window)


# --- dialogs and pages -------------------------------------------------------------


def _dialogs(make: Callable[[LifeWindow], QDialog]) -> Making:
    def made(stage: Stage) -> QWidget:
        window = stage.open_pattern("gosper-gun")
        return dialog(window, make(window))

    return made


@screen("viewer-rules")
def rules(stage: Stage) -> QWidget:
    """Show rules, looked for by a word."""
    window = stage.open_pattern("gosper-gun")
    made = RuleDialog(Rule.parse("B36/S23"), Topology.TORUS, window)
    made.search.setText("life")
    return dialog(window, made)


def _shown(window: LifeWindow) -> Shown:
    return Shown(36, 9, replace(window.view, selection=Box(0, 0, 36, 9)))


def _until(window: LifeWindow) -> QDialog:
    made = UntilDialog(0, 1 << 62, None, window)
    made.kind.setCurrentIndex(made.kind.findData("period"))
    return made


def _new(window: LifeWindow) -> QDialog:
    made = NewDialog((4096, 4096), LIFE, Topology.TORUS, window, True)
    made.seed.setText("1593007367")
    return made


for _name, _make in {
    "viewer-until": _until,
    "viewer-new": _new,
    "viewer-film": lambda window: FilmDialog(_shown(window), "/tmp/gun.gif", 5, window),
    "viewer-guide": lambda window: GuidePage(window.registry, window),
    "viewer-palette": lambda window: CommandPalette(window.registry, window),
}.items():
    screen(_name)(_dialogs(_make))
