"""Changes of a universe that a person makes, and jumps in time: all of them can be undone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from lifesim.engines import cells_for
from lifesim.grid import BitGrid, Box, check_size
from lifesim.rule import Rule
from lifesim.topology import Topology
from ui.cells.clock import Clock
from ui.cells.edits import Edit, Stroke, resized
from ui.cells.held import Held
from ui.cells.history import History
from ui.cells.machine import Setting
from ui.cells.moments import Entry
from ui.cells.news import News
from ui.cells.past import Past
from ui.cells.plane import Plane
from ui.cells.saving import Whole
from ui.numbers import shortened
from ui.session import SessionError

_COPIES = 4  # of a region, that changing it takes


class Editor:
    """Changes cells while a run goes on; stops it to go to another moment.

    One thread uses it. It has no state of its own: that is the history's, the clock's and the
    plane's.
    """

    def __init__(self, plane: Held, history: Past, clock: Clock, news: News) -> None:
        """Change a plane by its history."""
        self._held, self._past, self._clock, self._news = plane, history, clock, news

    # --- changes ---------------------------------------------------------------

    def edit(self, edit: Edit) -> None:
        """Change cells. Raises GridError where there is no memory for it, OutgrownError."""
        setting, history = self._held.setting, self._past
        limits = setting.limits
        box = edit.box(limits.width, limits.height, limits.x, limits.y)
        if box is None:
            return
        check_size(box.width, box.height, _COPIES * setting.rule.planes)
        old = self._held.region(box)
        new = cells_for(setting.rule, edit.apply(old, box, setting.rule))
        if new == old:
            return
        if not setting.holds(box):
            entry = Entry(edit.title, history.whole_moment())
            self.change(entry, lambda: self._extend(new, box))
            return
        stored = history.store(old)
        number = edit.number if isinstance(edit, Stroke) else 0
        entry = Entry(edit.title, history.moment(patches=((box, stored),)), number)
        self.change(entry, lambda: history.write(new, box))

    def _extend(self, cells: BitGrid, box: Box) -> None:
        """Write outside of what is held of a plane without bounds."""
        self._held.hold(box)
        self._past.write(cells, box)

    def change(self, entry: Entry, do: Callable[[], None]) -> None:
        """Do something that can be undone; a run goes on after it, with an entry of its own, but a
        search for a condition ends."""
        self._clock.end_search()
        self._clock.remember()
        do()
        self._past.push_edit(entry)
        self._clock.split()
        self._news.tell_all()

    # --- jumps in time ---------------------------------------------------------

    def go_to(self, generation: int, stopped: Callable[[], bool]) -> None:
        """Stop a run, and begin one to a generation from the nearest one that is known.

        stopped: tells whether to give up before all cells are stored. Raises SessionError where no
        generation is known before it, HistoryError.
        """
        self._clock.stop()
        history, title = self._past, f"going to generation {shortened(generation)}"
        if generation >= self._held.generation:
            self._clock.begin(title, generation)
            return
        target = history.nearest(generation)
        if target is None:
            raise SessionError(f"generation {shortened(generation)} is not known")
        before = history.whole_moment(stopped)
        history.go_to(target)
        self._clock.begin_after(title, generation, before)

    def reset(self) -> None:
        """Stop a run, and go back to where a run first began. Raises HistoryError."""
        self._clock.stop()
        history, start = self._past, self._past.start
        if start is None or start.generation == self._held.generation:
            return
        before = history.whole_moment()
        history.go_to(start)
        history.push(Entry("the reset", before))
        self._news.tell_all()

    def undo(self) -> None:
        """Stop a run, and undo the last change, if there is one. Raises HistoryError."""
        self._clock.stop()
        if self._past.undo():
            self._news.tell_all()

    def redo(self) -> None:
        """Stop a run, and redo what was undone last, if anything. Raises HistoryError."""
        self._clock.stop()
        if self._past.redo():
            self._news.tell_all()


class RectangleEditor(Editor):
    """Changes rule, edges and size, too: of cells that are held as a rectangle."""

    def __init__(self, plane: Plane, history: History, clock: Clock, news: News) -> None:
        """Change a plane by its history."""
        super().__init__(plane, history, clock, news)
        self._plane, self._history = plane, history

    def set_rule(self, rule: Rule) -> None:
        """Go on with another rule. Raises GridError where cells are in states that it does not
        have."""
        self._set("the rule", replace(self._plane.setting, rule=rule))

    def set_topology(self, topology: Topology) -> None:
        """Go on with other edges; what is held of a plane without bounds becomes a torus."""
        old = self._plane.setting
        if topology is not old.topology:
            grows = old.grows if topology is Topology.PLANE else (False, False)
            self._set("the edges", replace(old, topology=topology, grows=grows))

    def resize(self, width: int, height: int) -> None:
        """Go on with the same middle in another size, which a plane without bounds has then."""
        old = self._plane.setting
        x, y = old.at
        if any(old.grows):  # where else cells are counted from the corner
            x, y = x - (width - old.width) // 2, y - (height - old.height) // 2
        new = replace(old, width=width, height=height, x=x, y=y, grows=(False, False))
        self._set("the size", new)

    def _set(self, title: str, new: Setting) -> None:
        history, old = self._history, self._plane.setting
        if new == old:
            return
        same = (new.width, new.height) == (old.width, old.height)
        cells = cells_for(new.rule, resized(self._plane.cells(), new.width, new.height))
        before = history.moment() if same else history.whole_moment()
        self.change(Entry(title, before), lambda: self._history.replace(new, cells))

    def put(self, whole: Whole) -> None:
        """Stop a run, and be as a universe was, another even."""
        self._clock.stop()
        about = whole.rule, whole.topology, *whole.at, whole.grows
        setting = Setting(whole.width, whole.height, *about)
        entry = Entry("the jump in time", self._history.whole_moment())
        cells, generation = whole.cells, whole.generation
        if setting == self._plane.setting:
            self.change(entry, lambda: self._history.rewrite(cells, generation))
        else:
            self.change(entry, lambda: self._history.replace(setting, cells, generation))
