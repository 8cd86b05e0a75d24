"""A walk at random over what a window can do, which measures how long its main thread is busy.

    python -m tests.ui.walk SECONDS SEED

Between two turns of Qt's loop the time is taken that the thread has had the processor for: other
processes of a busy machine do not count, nor do other threads. Writes a line of JSON: how many
turns there were, what was done how often; in milliseconds the median of each thing that was done
several times, what of the turns in which nothing was done 999 of 1000 took at most, and the longest
turns, with where the thread was seen in them; and how fast this machine is.
"""

from __future__ import annotations

import faulthandler
import json
import os
import random
import re
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter
from fractions import Fraction
from pathlib import Path
from statistics import median
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QEventLoop, QPoint, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QMessageBox

from lifesim.errors import LifesimError
from lifesim.grid import Box
from lifesim.rule import Rule
from lifesim.topology import Topology
from lifesim.until import parse
from tests.windows import LEFT, make_window, select, to_clipboard, write_universe
from ui import opening
from ui.film.export import ExportLook
from ui.qt import app as application
from ui.qt.dialogs import New, UnsavedAnswer
from ui.qt.film.export_dialogs import FilmOf, PictureChoice
from ui.qt.menus.script import ScriptMenu
from ui.qt.menus.share import ShareMenu
from ui.qt.menus.time import TimeMenu
from ui.qt.until_dialog import Until
from ui.qt.window import LifeWindow

ROOT = Path(__file__).parents[2]
PATTERNS = ("acorn", "gosper-gun", "highlife-replicator", "lwss", "r-pentomino", "seeds-block")
WORST = 12  # turns that are told of
_LONG = 25.0  # milliseconds of a turn from which on it is looked at where the thread is
_LOOKS = 0.005  # seconds between two looks
_FRAMES = 6  # innermost ones that are told of
_OFTEN = 3  # times that something is done for its median to count
_LEFT_OUT = {
    "file.quit",  # the end of the walk
    "view.parsing",  # another window
    "share.mp4",  # ffmpeg
}
_RULES = ("B3/S23", "B36/S23", "B2/S", "345/2/4", "R5,C0,M1,S34..58,B34..45,NM")
_ENDS = ("stable", "empty", "period:30", "population:>1000")


class Answers:
    """Answers dialogs at random, in the place of ui.qt.dialogs.Dialogs."""

    def __init__(self, dice: random.Random, folder: Path, window: LifeWindow) -> None:
        self._dice, self._folder, self._window = dice, folder, window

    def __getattr__(self, name: str) -> Any:
        return lambda *args: self._answer(name)

    def _answer(self, name: str) -> Any:
        dice, folder = self._dice, self._folder
        side = dice.choice([64, 500, 2048])
        rule = Rule.parse(dice.choice(_RULES))
        edges = dice.choice(list(Topology))
        match name:
            case "unsaved":
                return UnsavedAnswer.DISCARD
            case "open_file":
                return str(folder / f"{dice.choice(PATTERNS)}.rle")
            case "pattern_folder":
                return str(folder)
            case "open_directory":
                return write_universe(self._window)
            case "save_file":
                return str(folder / f"saved.{dice.choice(['rle', 'cells', 'mc'])}")
            case "new":
                return New((side, side), rule, edges, dice.choice([None, Fraction(2, 5)]), 7)
            case "rule":
                return rule, edges
            case "size":
                return side, side
            case "fill":
                return Fraction(1, 3), dice.randrange(99)
            case "generation":
                return dice.choice([0, 10, 1000, 5000])
            case "until":
                return Until(parse(dice.choice(_ENDS)), 2000)
        return None


class Watchdog:
    """A thread that looks where the main thread is, in turns that are long.

    seen: by the number of the turn, how often the thread was in which place.
    """

    def __init__(self) -> None:
        self.seen: dict[int, Counter[str]] = {}
        self._turn, self._began = 0, 0.0
        self._watched = threading.get_ident()
        self._clock = time.pthread_getcpuclockid(self._watched)
        threading.Thread(target=self._watch, name="watchdog", daemon=True).start()

    def begin(self, turn: int) -> None:
        """Note that a turn begins."""
        self._turn, self._began = turn, time.thread_time()

    def _watch(self) -> None:
        while True:
            time.sleep(_LOOKS)
            turn, took = self._turn, time.clock_gettime(self._clock) - self._began
            if 1000 * took > _LONG and turn == self._turn:
                where = " > ".join(calls_of(self._watched)[-_FRAMES:])
                self.seen.setdefault(turn, Counter())[where] += 1


def calls_of(thread: int) -> list[str]:
    """Return the calls that a thread is in, as file and function, the innermost last.

    No frame is held meanwhile: else the frame's widgets may be left to whoever holds it last, and
    be destroyed by another thread than the main one.
    """
    with tempfile.TemporaryFile("w+") as file:
        faulthandler.dump_traceback(file)
        file.seek(0)
        text = file.read()
    for block in text.split("\n\n"):
        if re.match(rf"(Current thread|Thread) 0x{thread:016x}", block):
            calls = re.findall(r'File "(.*)", line [0-9]+ in (.+)', block)
            return [f"{Path(name).name}:{function}" for name, function in reversed(calls)]
    return []


class Walk:
    """One thing at a time, each in a turn of the loop of its own; the turns between are timed, too.

    turns: (milliseconds, what was done), of all turns. done: how often what was done. watchdog:
    has where the thread was, by the turn's place among these.
    """

    def __init__(self, seconds: float, seed: int, folder: Path) -> None:
        self.dice, self.folder = random.Random(seed), folder
        self.turns: list[tuple[float, str]] = []
        self.watchdog = Watchdog()
        self.done: Counter[str] = Counter()
        self._end = time.monotonic() + seconds
        self._loop = QEventLoop()
        for name in PATTERNS:  # copies, as the walk saves what it has opened, too
            shutil.copy(ROOT / "data" / "patterns" / f"{name}.rle", folder)
        self.window = make_window(folder, opening.open(str(folder / f"{PATTERNS[0]}.rle")))
        self._prepare()
        write_universe(self.window)
        self._ids = [action.id for action in self.window.registry if action.id not in _LEFT_OUT]
        self._last = ""
        self._began = time.thread_time()
        self._timer = QTimer()
        self._timer.timeout.connect(self._turn)

    def _prepare(self) -> None:
        window, folder = self.window, self.folder
        window.dialogs = Answers(self.dice, folder, window)  # type: ignore[assignment]
        share, look = window.menu_of(ShareMenu), ExportLook(Box(0, 0, 64, 64))
        picture, film = str(folder / "a.png"), str(folder / "a.gif")
        share.ask_picture = lambda *_: PictureChoice(picture, look)  # type: ignore[method-assign]
        share.ask_film = lambda *_: FilmOf(film, look, 10.0, 4)  # type: ignore[method-assign]
        share.ask_to_give_up = lambda: True  # type: ignore[method-assign]
        window.menu_of(TimeMenu).ask_folder = lambda: ""  # type: ignore[method-assign]
        script = folder / "script.py"
        script.write_text("life.run(3)\nfor number in range(20_000):\n    print(number)\n")
        scripts = window.menu_of(ScriptMenu)
        scripts.ask_script = lambda: str(script)  # type: ignore[method-assign]

    def run(self) -> None:
        """Walk until the time is over, then close the window."""
        self._timer.start(0)
        self._loop.exec()
        self._timer.stop()
        self.window._leaving = True
        self.window.close()

    def _turn(self) -> None:
        self.turns.append((1000 * (time.thread_time() - self._began), self._last))
        if time.monotonic() > self._end:
            self._loop.quit()
            return
        self._last = ""
        self.watchdog.begin(len(self.turns))
        self._began = time.thread_time()
        if self.dice.random() < 0.1:
            self._last = self._do()
            self.done[self._last] += 1
        else:
            time.sleep(0.002)  # other threads go on meanwhile

    def _do(self) -> str:
        """Do something, and return what."""
        window, dice = self.window, self.dice
        for top in QApplication.topLevelWidgets():
            if isinstance(top, QDialog | QMessageBox) and top.isVisible():
                top.close()
                return "close a page"
        kind = dice.random()
        if kind < 0.1:
            self._drag()
            return "drag"
        if kind < 0.15:
            side = dice.choice([5, 60, 300])
            select(dice.randrange(40), dice.randrange(40), side, side)(window)
            return "select"
        if kind < 0.18:
            to_clipboard("bo$2bo$3o!")(window)
            return "clipboard"
        if kind < 0.2:
            window.resize(dice.randrange(400, 1300), dice.randrange(300, 900))
            return "resize"
        id = dice.choice(self._ids)
        if window.registry.is_enabled(id):
            window.registry.run(id)
        return id

    def _drag(self) -> None:
        canvas, dice = self.window.canvas, self.dice
        at = [
            QPoint(dice.randrange(canvas.width()), dice.randrange(canvas.height()))
            for _ in range(4)
        ]
        QTest.mousePress(canvas, LEFT, pos=at[0])
        for point in at[1:]:
            QTest.mouseMove(canvas, point)
        QTest.mouseRelease(canvas, LEFT, pos=at[-1])


def speed() -> float:
    """Return the milliseconds that a certain loop takes here, at best: to compare machines by."""
    best = 1e9
    for _ in range(7):
        began, total = time.thread_time(), 0
        for number in range(100_000):
            total += number
        best = min(best, 1000 * (time.thread_time() - began))
    return best


def main(seconds: float, seed: int) -> None:
    """Walk, and say how long the turns were."""
    application.application("walk")
    with tempfile.TemporaryDirectory() as folder:
        walk = Walk(seconds, seed, Path(folder))
        walk.run()
    worst = sorted(range(len(walk.turns)), key=lambda at: -walk.turns[at][0])[:WORST]
    seen = walk.watchdog.seen
    of: dict[str, list[float]] = {}
    for took, what in walk.turns:
        of.setdefault(what, []).append(took)
    between = sorted(of.pop("", [0.0]))
    facts = {
        "turns": len(walk.turns), "done": walk.done, "speed": speed(),
        "medians": {what: median(took) for what, took in of.items() if len(took) >= _OFTEN},
        "quantile": between[len(between) * 999 // 1000],
        "worst": [
            [round(walk.turns[at][0], 1), walk.turns[at][1], seen.get(at, Counter()).most_common(2)]
            for at in worst
        ],
    }  # fmt: skip
    print(json.dumps(facts))


if __name__ == "__main__":
    try:
        main(float(sys.argv[1]), int(sys.argv[2]))
    except LifesimError as error:
        sys.exit(str(error))
