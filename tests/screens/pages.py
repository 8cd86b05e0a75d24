"""The screens of the page in a browser, and of a notebook. They need Chromium, and JupyterLab."""

from __future__ import annotations

import shutil
from collections.abc import Callable

from PySide6.QtGui import QImage

from lifesim import Life, Rule
from lifesim.soup import random_grid
from tests.browsers import Browser
from tests.screens.stage import PATTERNS, Stage, screen
from tests.ui.served import TOKEN, serving
from tests.ui.test_web_notebook import jupyterlab, notebook
from tests.ui.test_web_page import sharp
from tests.universes import on_disk
from ui.web.board import Board
from ui.web.living import LifeBoard
from ui.web.stored import StoredBoard

_CELLS = (
    'from lifesim import Life, Universe\nlife = Life.from_pattern("gosper-gun.rle")\nlife',
    "life.show(height=260)",
    'Universe.open("soup").show(height=320)',
)
_VIEWERS = "[...document.querySelectorAll('.lifesim')].map((one) => one.lifesimViewer)"


def _page(stage: Stage, board: Board, do: Callable[[Browser], object] = sharp) -> QImage:
    """Show a page of a server, and do something there."""
    with serving(board) as served, Browser(*stage.size) as browser:
        scheme = [{"name": "prefers-color-scheme", "value": stage.theme}]
        browser.do("Emulation.setEmulatedMedia", features=scheme)
        browser.open(f"http://127.0.0.1:{served.port}/{TOKEN}/")
        browser.until("viewer.facts !== null")
        sharp(browser)
        do(browser)
        return seen(stage, browser)


def seen(stage: Stage, browser: Browser) -> QImage:
    """Return what a browser shows."""
    path = stage.home / "seen.png"
    browser.picture(path)
    return QImage(str(path))


@screen("browser", 840, 520)
def acorn(stage: Stage) -> QImage:
    """Show a pattern after a run."""
    life = Life.from_pattern(str(PATTERNS / "acorn.rle"))
    life.run(3600)

    def near(browser: Browser) -> None:
        browser.value("viewer.look(-1, -440n, -300n)")
        sharp(browser)

    return _page(stage, LifeBoard(life, "acorn.rle"), near)


@screen("browser-draw", 840, 520, theme="light")
def drawn(stage: Stage) -> QImage:
    """Show a gun near by, and a stroke that was drawn."""
    life = Life.from_pattern(str(PATTERNS / "gosper-gun.rle"))

    def draw(browser: Browser) -> None:
        browser.value("viewer.look(-4, -100n, -60n), viewer.buttons.draw.click()")
        top = browser.value("viewer.canvas.getBoundingClientRect().top")
        sharp(browser)
        browser.drag((200, top + 300), (400, top + 300))
        browser.until("Number(viewer.facts.population) >= 36 + 12")
        sharp(browser)

    return _page(stage, LifeBoard(life, "gosper-gun.rle"), draw)


@screen("browser-disk", 840, 520)
def stored(stage: Stage) -> QImage:
    """Show a universe on disk, of four states."""
    rule = Rule.parse("345/2/4")
    life = Life(random_grid(1024, 1024, 0.3, 3), rule=rule)
    life.run(60)
    with on_disk(life.grid(), rule=rule, generation=60, pyramid=True, folder=stage.home) as made:
        made.close()

        def near(browser: Browser) -> None:
            browser.value("viewer.look(-1, 600n, 600n)")
            sharp(browser)

        return _page(stage, StoredBoard(made.path), near)


@screen("notebook", 1100, 1400, theme="light")
def in_jupyterlab(stage: Stage) -> QImage:
    """Show a gun and its widget, and a universe on disk, in JupyterLab."""
    shutil.copy(PATTERNS / "gosper-gun.rle", stage.home)
    soup = Life(random_grid(1024, 1024, 0.4, 7))
    soup.run(300)
    with on_disk(soup.grid(), pyramid=True, folder=stage.home) as universe:
        universe.close()
        (stage.home / "soup").symlink_to(universe.path)
        (stage.home / "life.ipynb").write_text(notebook(*_CELLS))
        with jupyterlab(stage.home) as address, Browser(*stage.size) as browser:
            browser.open(address.replace("NAME", "life.ipynb"))
            browser.until("globalThis.jupyterapp !== undefined")
            browser.value("jupyterapp.restored.then(() => 1)")
            browser.until(
                "[...jupyterapp.shell.widgets('main')][0]?.sessionContext?.session?.kernel?.status"
                " === 'idle'"
            )
            browser.value("jupyterapp.commands.execute('notebook:run-all-cells').then(() => 1)")
            browser.until(f"{_VIEWERS}.filter((one) => one?.coverage === 1).length === 2")
            browser.value(f"{_VIEWERS}[0].buttons.play.click()")
            browser.until(f"Number({_VIEWERS}[0].facts.generation) > 60")
            browser.value(f"{_VIEWERS}[0].buttons.play.click()")
            browser.until(f"!{_VIEWERS}[0].facts.running")
            browser.value(f"{_VIEWERS}[1].look(1, 0n, 0n)")
            browser.until(f"{_VIEWERS}[1].coverage === 1 && !{_VIEWERS}[1].due")
            place = "document.querySelector('.jp-Notebook').getBoundingClientRect()"
            left, top = (int(browser.value(f"{place}.{edge}")) for edge in ("left", "top"))
            return seen(stage, browser).copy(left, top, 750, 840)
