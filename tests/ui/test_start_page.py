"""The start page, and the dock of patterns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import QMimeData, QPoint, QPointF, QRect, QSettings, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QLineEdit, QWidget

from kernels.targets.choose import pick
from lifesim import patterns
from lifesim.grid import BitGrid
from lifesim.library import PatternLibrary
from lifesim.patterns import Pattern
from tests.windows import (
    GLIDER,
    LEFT,
    FakeDialogs,
    answer,
    close,
    live,
    make_window,
    press_key,
    settle,
    until,
    write_glider,
    write_universe,
)
from ui.cells.edits import Stroke
from ui.cells.session import MemorySession
from ui.launch import ViewLaunch
from ui.qt.background import Opening
from ui.qt.dialogs import NewDialog, UnsavedAnswer
from ui.qt.menus.start import StartMenu
from ui.qt.menus.time import TimeMenu
from ui.qt.start.browser import PatternBrowser
from ui.qt.start.page import StartPage
from ui.qt.window import LifeWindow
from ui.session import Session, SessionError
from ui.start.thumbnails import FileGoneError, Thumbnail, ThumbnailError

pytestmark = pytest.mark.usefixtures("unforeseen")


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test writes to the user's own cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def bare(app: QApplication, tmp_path: Path) -> Iterator[LifeWindow]:
    """A window in which nothing is open, with three recent files, of which one is gone."""
    made = bare_window(tmp_path, [glider(tmp_path), str(tmp_path / "gone.rle"), prose(tmp_path)])
    yield made
    close(made)


def bare_window(folder: Path, recent: list[str], width: int = 900) -> LifeWindow:
    settings = QSettings(str(folder / "settings.ini"), QSettings.Format.IniFormat)
    settings.setValue("recent", recent)
    launch = ViewLaunch()
    assert launch.is_bare
    backend = pick("auto", threads=1)
    made = LifeWindow(launch.session(backend), backend, settings)
    made.dialogs = FakeDialogs()  # type: ignore[assignment]
    made.menu_of(StartMenu).begin()
    made.show()
    made.activateWindow()
    assert QTest.qWaitForWindowActive(made, 5000)
    made.resize(width, 640)
    return made


def glider(folder: Path) -> str:
    path = str(folder / "a glider.rle")
    patterns.write(Pattern(BitGrid.from_cells(3, 3, GLIDER)), path)
    return path


def prose(folder: Path) -> str:
    path = folder / "prose.rle"
    path.write_text("It was the best of times.")
    return str(path)


def menu_of(window: LifeWindow) -> StartMenu:
    return window.menu_of(StartMenu)


def page_of(window: LifeWindow) -> StartPage:
    page = menu_of(window).page
    assert page is not None
    return page


def titles(browser: PatternBrowser) -> list[str]:
    return [card.title for card in browser.list.cards.cards]


def opened(window: LifeWindow, path: str) -> None:
    until(lambda: window.session.path == path)
    assert not menu_of(window).is_shown
    assert window.canvas.isVisible()
    assert not page_of(window).isVisible()
    assert window.canvas.hasFocus()
    assert window.registry.is_enabled("control.run")


# --- the page --------------------------------------------------------------------------


def test_nothing_that_is_about_a_universe_can_be_done(bare: LifeWindow) -> None:
    assert page_of(bare).isVisible()
    assert not bare.canvas.isVisible()
    assert bare.windowTitle() == "lifesim[*]"
    assert not bare.status_line.generation.isVisible()
    assert (bare.toolbar.rule_button.text(), bare.toolbar.size_button.text()) == ("", "")
    enabled = {action.id for action in bare.registry if bare.registry.is_enabled(action.id)}
    assert enabled >= {"file.new", "file.soup", "file.open", "file.directory", "file.quit",
                       "library.folder", "help.palette", "view.theme"}  # fmt: skip
    for id in ("control.run", "edit.paste", "file.save", "file.close", "view.zoom-in"):
        assert not bare.registry.made(id).isEnabled()
        bare.registry.run(id)
    assert bare.session.status().generation == 0


def test_recent_files_are_shown_with_what_is_known_of_them(bare: LifeWindow) -> None:
    page, thumbs = page_of(bare), menu_of(bare).thumbs
    cards = page.recent.cards.cards
    assert [card.title for card in cards] == ["a glider.rle", "gone.rle", "prose.rle"]
    until(lambda: all(thumbs.of(card.path) for card in cards))
    found = [thumbs.of(card.path) for card in cards]
    assert isinstance(found[0], Thumbnail)
    assert isinstance(found[1], FileGoneError)
    assert isinstance(found[2], ThumbnailError)
    model, role = page.recent.cards, Qt.ItemDataRole.AccessibleTextRole
    assert model.data(model.index(1), role).endswith(", gone")
    assert "gone" not in model.data(model.index(0), role).split(", ")[-1]
    QTest.keyClick(page.recent, Qt.Key.Key_Down)
    QTest.keyClick(page.recent, Qt.Key.Key_Delete)
    until(lambda: len(page.recent.cards.cards) == 2)
    assert bare.files.recent == [cards[0].path, cards[2].path]
    menu = page._menu_of(cards[2])
    menu.actions()[1].trigger()
    assert bare.files.recent == [cards[0].path]
    bare.registry.run("file.forget")
    assert not page.recent.isVisible()
    assert page.nothing.isVisible()


def test_a_recent_file_is_opened_by_keys(bare: LifeWindow, tmp_path: Path) -> None:
    page = page_of(bare)
    assert page.recent.hasFocus()
    QTest.keyClick(page.recent, Qt.Key.Key_Return)
    opened(bare, glider(tmp_path))
    press_key(bare, "Ctrl+W")
    until(lambda: menu_of(bare).is_shown)
    assert page.recent.hasFocus()


def test_a_file_that_cannot_be_opened_leaves_the_page(bare: LifeWindow) -> None:
    page = page_of(bare)
    for row in (1, 2):
        page.recent.setCurrentIndex(page.recent.cards.index(row))
        QTest.keyClick(page.recent, Qt.Key.Key_Return)
        until(lambda: bare.banner.is_error)
        assert bare.banner.isVisible()
        assert menu_of(bare).is_shown
        bare.banner.dismiss()


def test_tab_leads_through_all_of_the_page(bare: LifeWindow) -> None:
    page = page_of(bare)
    browser = page.browser
    until(lambda: titles(browser))
    browser.list.focus_first()
    until(lambda: browser.open_button.isEnabled())
    wanted: list[QWidget] = [
        *page.buttons, page.recent, browser.line, browser.kinds, browser.rules, browser.sources,
        browser.list, browser.open_button,
    ]  # fmt: skip
    page.buttons[0].setFocus()
    for widget in wanted:
        assert bare.focusWidget() is widget
        QTest.keyClick(widget, Qt.Key.Key_Tab)
    for kind in (QAbstractButton, QComboBox, QLineEdit):
        for widget in page.findChildren(kind):
            assert widget.accessibleName(), widget


def test_the_buttons(bare: LifeWindow, tmp_path: Path) -> None:
    page = page_of(bare)
    answers = {"open_file": glider(tmp_path), "open_directory": write_universe(bare)}
    answer(**answers)(bare)
    for button in page.buttons:
        QTest.mouseClick(button, LEFT)
    asked = [name for name, _ in bare.dialogs.asked]  # type: ignore[attr-defined]
    assert asked == ["new", "new", "open_file", "open_directory"]
    assert [about[-1] for name, about in bare.dialogs.asked[:2]] == [  # type: ignore[attr-defined]
        True, False,
    ]  # fmt: skip
    opened(bare, answers["open_directory"])


def test_the_dialog_for_a_soup(bare: LifeWindow) -> None:
    session = bare.session
    dialogs = [
        NewDialog((64, 32), session.rule, session.topology, None, soup) for soup in (True, False)
    ]
    soup, empty = (dialog.value() for dialog in dialogs)
    assert soup.density is not None
    assert empty.density is None
    for dialog in dialogs:
        dialog.deleteLater()


def _edge(page: QWidget) -> QImage:
    """The left edge of what is seen, where there is nothing but the frame."""
    return page.grab(QRect(0, 40, 8, 200)).toImage()


def test_what_is_dropped_is_opened(bare: LifeWindow, tmp_path: Path) -> None:
    page, mime = page_of(bare), QMimeData()
    mime.setUrls([QUrl.fromLocalFile(glider(tmp_path))])
    copy, none = Qt.DropAction.CopyAction, Qt.KeyboardModifier.NoModifier
    enter, before = QDragEnterEvent(QPoint(50, 300), copy, mime, LEFT, none), _edge(page)
    QApplication.sendEvent(bare, enter)
    assert enter.isAccepted()
    assert page._is_target
    assert _edge(page) != before
    QApplication.sendEvent(bare, QDragLeaveEvent())
    assert not page._is_target
    assert _edge(page) == before
    bare.dropEvent(QDropEvent(QPointF(50, 300), copy, mime, LEFT, none))
    opened(bare, glider(tmp_path))
    assert not [widget for widget in page.findChildren(QWidget) if widget.acceptDrops()]
    mime.setUrls([QUrl.fromLocalFile(str(tmp_path))])
    bare.dropEvent(QDropEvent(QPointF(50, 300), copy, mime, LEFT, none))
    until(lambda: "a glider" in titles(menu_of(bare).browser))
    assert menu_of(bare).dock.isVisible()


@pytest.mark.parametrize("width", [1300, 800, 500, 300])
def test_narrow_windows(app: QApplication, tmp_path: Path, width: int) -> None:
    window = bare_window(tmp_path, [glider(tmp_path)] * 3, width)
    page = page_of(window)
    QApplication.processEvents()
    assert window.width() == width
    for widget in (*page.buttons, page.recent, page.browser.line, page.browser.list):
        left = widget.mapTo(page.viewport(), QPoint(0, 0)).x()
        assert left >= 0
        assert left + widget.width() <= page.viewport().width()
        assert widget.height() > 20
    close(window)


def test_closing_asks_about_changes(window: LifeWindow) -> None:
    assert isinstance(window.session, MemorySession)
    first = window.session
    window.session.edit(Stroke(((1, 1),), True, 1))
    settle(window)
    answer(unsaved=UnsavedAnswer.CANCEL)(window)
    window.registry.run("file.close")
    assert window.session is first
    answer(unsaved=UnsavedAnswer.DISCARD)(window)
    window.registry.run("file.close")
    assert menu_of(window).is_shown
    until(lambda: not window.background.is_busy)
    assert not window.session.status().modified
    assert window.close()


def test_docks_come_back_with_a_universe(window: LifeWindow, tmp_path: Path) -> None:
    window.registry.run("time.timeline")
    window.registry.run("file.close")
    timeline = window.menu_of(TimeMenu).timeline
    assert timeline.isHidden()
    window.files.open_path(glider(tmp_path))
    until(lambda: window.session.path)
    assert not timeline.isHidden()
    window.registry.run("file.close")
    assert menu_of(window).may_leave()  # what is remembered then
    assert not timeline.isHidden()


@pytest.mark.parametrize("cancelled", [False, True])
def test_a_window_whose_file_cannot_be_opened(
    app: QApplication, tmp_path: Path, cancelled: bool
) -> None:
    window = make_window(tmp_path)
    menu_of(window).begin_unless_opened()

    def fail(is_cancelled: Opening) -> Session:
        while cancelled and not is_cancelled():
            pass
        raise SessionError("it cannot be read")

    window.open_with("Opening…", fail)
    if cancelled:
        window.registry.run("file.cancel")
    until(lambda: menu_of(window).is_shown)
    assert window.banner.text == ("Opening was cancelled." if cancelled else "it cannot be read")
    close(window)


def test_a_window_whose_file_is_opened(app: QApplication, tmp_path: Path) -> None:
    window = make_window(tmp_path)
    menu_of(window).begin_unless_opened()
    path = write_glider(window)
    window.files.open_path(path)
    until(lambda: window.session.path == path)
    QApplication.processEvents()
    assert menu_of(window).page is None
    close(window)


def test_what_begins_with_the_page() -> None:
    assert ViewLaunch(theme="dark", backend="cpu").is_bare
    assert not ViewLaunch("a.rle").is_bare
    assert not ViewLaunch(size=(9, 9)).is_bare
    assert not ViewLaunch(engine="tiles").is_bare


def test_a_file_that_changes_is_drawn_again(bare: LifeWindow, tmp_path: Path) -> None:
    thumbs, path = menu_of(bare).thumbs, glider(tmp_path)
    until(lambda: isinstance(thumbs.of(path), Thumbnail))
    patterns.write(Pattern(BitGrid.from_cells(5, 1, [(0, 0), (4, 0)])), path)
    menu_of(bare).show_recent()

    def is_new() -> bool:
        found = thumbs.of(path)
        return isinstance(found, Thumbnail) and found.pixels.shape == (1, 5)

    until(is_new)


# --- patterns --------------------------------------------------------------------------


def test_patterns_are_found_as_one_types(bare: LifeWindow) -> None:
    browser = page_of(bare).browser
    until(lambda: len(titles(browser)) > 10)
    bare.registry.run("library.dock")
    assert browser.line.hasFocus()
    assert menu_of(bare).dock.isHidden()
    QTest.keyClicks(browser.line, "gosper glider gun")
    until(lambda: titles(browser)[:1] == ["Gosper glider gun"])
    assert not browser.open_button.isEnabled()
    QTest.keyClick(browser.line, Qt.Key.Key_Down)
    assert browser.list.hasFocus()
    assert "Bill\N{NO-BREAK SPACE}Gosper" in browser.facts.text()
    assert not browser.insert_button.isVisible()
    QTest.keyClick(browser.list, Qt.Key.Key_Return)
    gun = PatternLibrary.of_ours().find("gosper-gun")
    assert gun is not None
    opened(bare, gun.path)
    until(lambda: bare.session.status().population == 36)
    # Our own patterns are not written over: where to save them is asked.
    answer(save_file=None)(bare)
    bare.files.save()
    name, about = bare.dialogs.asked[-1]  # type: ignore[attr-defined]
    assert name == "save_file"
    assert not about[0].startswith(PatternLibrary.of_ours().folder)


def test_filters(bare: LifeWindow) -> None:
    browser = page_of(bare).browser
    until(lambda: len(titles(browser)) > 10)
    every = len(titles(browser))
    browser.rules.setCurrentIndex(browser.rules.findData("B2/S"))
    until(lambda: len(titles(browser)) < every)
    assert "Seeds domino" in titles(browser)
    browser.line.setText("qqqqqq")
    until(lambda: browser.count.text() == "Nothing fits.")
    QTest.keyClick(browser.line, Qt.Key.Key_Return)
    assert menu_of(bare).is_shown


def test_a_folder_of_ones_own(bare: LifeWindow, tmp_path: Path) -> None:
    browser = page_of(bare).browser
    folder = tmp_path / "<b>mine"
    folder.mkdir()
    (folder / "x.rle").write_text("#N <i>Mine\nx = 3, y = 1\n3o!\n")
    answer(pattern_folder=str(folder))(bare)
    browser.sources.setCurrentIndex(browser.sources.count() - 1)
    browser.sources.activated.emit(browser.sources.count() - 1)
    until(lambda: titles(browser) == ["<i>Mine"])
    assert browser.sources.currentData() == str(folder)
    browser.list.focus_first()
    assert "&lt;i&gt;Mine" in browser.facts.text()
    (folder / "x.rle").unlink()
    folder.rmdir()
    browser.sources.setCurrentIndex(0)
    browser.sources.activated.emit(0)
    until(lambda: len(titles(browser)) > 10)
    browser.sources.setCurrentIndex(1)
    browser.sources.activated.emit(1)
    assert "no folder" in browser.count.text()
    assert browser.source == ""
    kept = bare.settings.value("library/folders")
    assert kept in ([str(folder)], str(folder))


def test_a_pattern_is_inserted(window: LifeWindow) -> None:
    menu = menu_of(window)
    press_key(window, "Ctrl+B")
    browser = menu.browser
    assert browser.line.hasFocus()
    until(lambda: titles(browser))
    browser.line.setText("glider")
    until(lambda: "Glider" in titles(browser)[:1])
    browser.list.focus_first()
    assert browser.insert_button.isEnabled()
    QTest.mouseClick(browser.insert_button, LEFT)
    until(lambda: window.edits.ghost is not None)
    assert window.canvas.hasFocus()
    assert window.edits.ghost is not None
    window.edits.ghost.centre_on(10, 10)
    window.edits.place_ghost()
    settle(window)
    assert len(live(window)) == 10
    press_key(window, "Ctrl+B")
    assert menu.dock.isHidden()


def test_a_pattern_of_another_rule_is_said_to_be(window: LifeWindow) -> None:
    seeds = PatternLibrary.of_ours().find("seeds-domino")
    assert seeds is not None
    menu_of(window).insert(seeds)
    assert "is of the rule B2/S; this one is B3/S23" in window.banner.text
    until(lambda: window.edits.ghost is not None)


def test_patterns_of_more_states_are_refused(window: LifeWindow, tmp_path: Path) -> None:
    (tmp_path / "brain.rle").write_text("x = 2, y = 1, rule = /2/3\nAB!\n")
    (entry,) = PatternLibrary.of_folder(tmp_path)
    menu_of(window).insert(entry)
    until(lambda: window.banner.is_error)
    assert window.edits.ghost is None


def test_patterns_are_inserted_where_cells_can_be_pasted(window: LifeWindow) -> None:
    menu = menu_of(window)
    window.files.open_path(write_universe(window))
    until(lambda: not isinstance(window.session, MemorySession))
    menu.dock.show()
    until(lambda: titles(menu.browser))
    menu.browser.list.focus_first()
    assert menu.browser.insert_button.isVisible()
    can = window.registry.is_enabled("edit.paste")
    assert menu.browser.insert_button.isEnabled() == can
    assert window.registry.is_enabled("library.insert") == can


def test_cards_take_colours_with_another_theme_alone(bare: LifeWindow) -> None:
    seen: list[str] = []
    for cards in (page_of(bare).recent, page_of(bare).browser.list):
        real = cards.viewport

        def viewport(real: Callable[[], QWidget] = real) -> QWidget:
            seen.append(bare.theme)
            return real()

        cards.viewport = viewport  # type: ignore[method-assign]
    bare.changed.emit()
    assert not seen, "that would paint them anew with each piece of news"
    before, other = bare.theme, "light" if bare.theme == "dark" else "dark"
    bare.dress(other)
    bare.dress(before)
    assert {other, before} == set(seen)
