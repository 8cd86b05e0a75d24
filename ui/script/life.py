"""The universe that a window shows, as a script sees it: what people know of lifesim.Life."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable
from fractions import Fraction

from lifesim.digests import digest
from lifesim.engine import Life
from lifesim.grid import BitGrid, Box, GridError
from lifesim.rule import Rule
from lifesim.topology import Topology
from ui.cells.edited import EditedSession
from ui.cells.edits import Clear, Edit, Invert, Mode, Paste, RandomFill, Stroke
from ui.script.stopping import check_stopped, pause, uninterrupted_methods, wait_for
from ui.session import EditableSession, Session, SessionError

_APART = 1 << 12  # cells between two that are set one after the other and are undone as one change
_numbers = itertools.count(-1, -1)  # of strokes, so that none has that of one drawn by hand


@uninterrupted_methods("set")
class ShownLife:
    """The universe that is shown now, with the names that lifesim.Life has for the same.

    Each call that changes cells can be undone, as one change; cells that are set one by one,
    `life[x, y] = 1`, are one change as long as nothing else comes between. Calls wait until they
    are done. Any thread may call them; a script that is stopped gives up.

    >>> life[3, 4] = 1
    >>> life.run(100)
    >>> life.generation, life.population()
    """

    def __init__(self, session: Callable[[], Session]) -> None:
        """See what a function returns: the universe that is shown when a call comes."""
        self._shown = session
        self._last: tuple[Session, int, Box] | None = None  # number and hull of what is being set

    @property
    def _session(self) -> Session:
        check_stopped()
        return self._shown()

    def _begin_change(self) -> EditableSession:
        """Return the universe, to be changed: cells that are set later are another change."""
        session = self._session
        assert isinstance(session, EditableSession)
        self._last = None
        return session

    def _begin_change_in_memory(self) -> EditedSession:
        session = self._begin_change()
        if not isinstance(session, EditedSession):
            raise SessionError("a universe on disk keeps its rule and edges, and no past")
        return session

    # --- what it is ------------------------------------------------------------

    @property
    def generation(self) -> int:
        """Return the generation that the universe is at."""
        return self._session.status().generation

    @property
    def rule(self) -> Rule:
        """Return the rule; assigning one, or its name, changes it."""
        return self._session.rule

    @rule.setter
    def rule(self, rule: Rule | str) -> None:
        chosen = Rule.parse(rule) if isinstance(rule, str) else rule
        self._set(lambda session: session.set_rule(chosen), lambda: self.rule == chosen)

    @property
    def topology(self) -> Topology:
        """Tell how the edges meet; assigning "torus" or "plane" changes it."""
        return self._session.topology

    @topology.setter
    def topology(self, topology: Topology | str) -> None:
        chosen = Topology(topology)
        self._set(lambda session: session.set_topology(chosen), lambda: self.topology is chosen)

    @property
    def width(self) -> int:
        """Return the width of frame()."""
        return self.frame().width

    @property
    def height(self) -> int:
        """Return the height of frame()."""
        return self.frame().height

    @property
    def bounds(self) -> tuple[int, int]:
        """Return width and height of the universe; (0, 0) where it has no bounds."""
        session = self._session
        return (session.width, session.height) if session.is_bounded else (0, 0)

    @property
    def is_running(self) -> bool:
        """Tell whether generations are being computed."""
        return self._session.status().running

    @property
    def path(self) -> str | None:
        """Return the file or directory it was read from; None of a new one."""
        return self._session.path

    def frame(self) -> Box:
        """Return the rectangle that grid() holds: the universe, or where it has no bounds, what
        lives."""
        session = self._session
        if session.is_bounded:
            return session.box
        return session.bounding_box() or Box(0, 0, 1, 1)

    def bounding_box(self) -> Box | None:
        """Return the rectangle that holds every live cell, None where none lives. On disk it is in
        blocks of 8 x 8 cells or more."""
        return self._session.bounding_box()

    def __repr__(self) -> str:
        session = self._session
        size = f"{session.width}x{session.height}" if session.is_bounded else "without bounds"
        return f"<life: {session.rule}, {size}, generation {session.status().generation}>"

    # --- cells -----------------------------------------------------------------

    def grid(self, box: Box | tuple[int, int, int, int] | None = None) -> BitGrid:
        """Return a copy of the cells in a box (x, y, width, height), or in frame().

        Raises GridError where that is too large for memory or leaves the universe.
        """
        session = self._session
        return session.cells(self.frame() if box is None else _box(box))

    def copy(self, **options: object) -> Life:
        """Return a lifesim.Life of the same cells, rule and edges, at the same generation, which
        nobody sees. options: of Life(): backend, threads, engine and others."""
        whole = self._session.whole()
        return Life(
            whole.cells,
            rule=whole.rule,
            topology=whole.topology,
            generation=whole.generation,
            bounds=whole.bounds,
            at=whole.at,
            **options,  # type: ignore[arg-type]
        )

    def population(self) -> int:
        """Return the number of live cells."""
        session = self._session
        if isinstance(session, EditedSession):
            return session.population()
        status = session.status()
        if status.population is None:
            raise SessionError("the universe is between two generations: nobody has counted it")
        return status.population

    def density(self) -> Fraction:
        """Return the share of the cells of frame() that live, exactly."""
        frame = self.frame()
        return Fraction(self.population(), frame.width * frame.height)

    def digest(self) -> str:
        """Return the content digest of grid(), as lifesim.Life.digest() does."""
        return digest(self.grid())

    def __getitem__(self, at: tuple[int, int]) -> int:
        """Return a cell's state: `life[x, y]`. Raises IndexError outside of the universe."""
        x, y = self._place(at)
        return int(self._session.cells(Box(x, y, 1, 1))[0, 0])

    def __setitem__(self, at: tuple[int, int], state: int) -> None:
        """Set a cell's state: `life[x, y] = 1`. Raises IndexError, and ValueError for a state that
        the rule does not have."""
        x, y = self._place(at)
        last, session = self._last, self._begin_change()
        number = operator.index(state)
        if not 0 <= number < session.rule.states:
            raise ValueError(f"states of {session.rule} are 0 to {session.rule.states - 1}")
        if last is None or last[0] is not session or not _near(last[2], x, y):
            last = session, next(_numbers), Box(x, y, 1, 1)
        session.edit_now(Stroke(((x, y),), number, last[1]))
        self._last = session, last[1], last[2].joined(Box(x, y, 1, 1))

    def _place(self, at: tuple[int, int]) -> tuple[int, int]:
        x, y = (operator.index(number) for number in at)
        limits = self._session.limits
        if not (0 <= x - limits.x < limits.width and 0 <= y - limits.y < limits.height):
            raise IndexError(f"cell ({x}, {y}) is outside of the universe")
        return x, y

    # --- changes ---------------------------------------------------------------

    def put(self, cells: BitGrid | Life, x: int = 0, y: int = 0, mode: Mode | str = "copy") -> None:
        """Put a grid with its top-left cell at x, y; what leaves the universe is left out.

        mode: "copy" replaces cells, "or" adds the live ones, "xor" inverts where they live.
        """
        grid = cells if isinstance(cells, BitGrid) else cells.grid()
        self._change(Paste(grid, operator.index(x), operator.index(y), Mode(mode)))

    def set(self, cells: Iterable[tuple[int, int]], state: int = 1) -> None:
        """Set the cells at (x, y) to a state, as one change. Raises ValueError for cells that are
        too far apart to be one."""
        places = [(operator.index(x), operator.index(y)) for x, y in cells]
        if not places:
            return
        left, top = min(x for x, _ in places), min(y for _, y in places)
        width = max(x for x, _ in places) - left + 1
        height = max(y for _, y in places) - top + 1
        grid = self.grid(Box(left, top, width, height))
        planes = max(grid.planes, self.rule.planes)
        grid = grid.in_planes(planes)
        for x, y in places:
            grid[x - left, y - top] = state
        self.put(grid, left, top)

    def clear(self, box: Box | tuple[int, int, int, int] | None = None) -> None:
        """Kill all cells in a box, or in frame()."""
        self._change(Clear(self.frame() if box is None else _box(box)))

    def invert(self, box: Box | tuple[int, int, int, int]) -> None:
        """Kill what lives in a box, and let live what is dead."""
        self._change(Invert(_box(box)))

    def fill(
        self, box: Box | tuple[int, int, int, int], density: Fraction | float = 0.5, seed: int = 1
    ) -> None:
        """Fill a box with a soup. Raises SoupError for a density or seed that none has."""
        self._change(RandomFill(_box(box), density, seed))

    def undo(self) -> None:
        """Undo the last change, or run."""
        self._do(lambda session: session.undo())

    def redo(self) -> None:
        """Redo what was undone last."""
        self._do(lambda session: session.redo())

    def _change(self, edit: Edit) -> None:
        self._begin_change().edit_now(edit)

    def _set(self, change: Callable[[EditedSession], None], is_so: Callable[[], bool]) -> None:
        session = self._begin_change_in_memory()
        change(session)
        session.cells(session.box._replace(width=1, height=1))  # which waits until that is done
        if not is_so():
            raise SessionError(session.status().problem or "it could not be changed")

    def _do(self, change: Callable[[EditableSession], None]) -> None:
        session = self._begin_change()
        change(session)
        wait_for(session.settled())

    # --- running ---------------------------------------------------------------

    def run(self, generations: int) -> None:
        """Move on by so many generations, and wait; a run under way ends first.

        A script that is stopped stops the run, too. Raises SessionError where it ends before: a
        person has stopped it, or there is no room.
        """
        session = self._session
        count = operator.index(generations)
        if count < 0:
            raise ValueError(f"a universe cannot go back {-count} generations")
        self._last = None
        self.stop()
        goal = session.status().generation + count
        try:
            session.step(count)
            self._wait(session)
        except KeyboardInterrupt:
            session.stop()
            raise
        status = session.status()
        if status.generation != goal:
            why = status.problem or f"the run has ended at generation {status.generation}"
            raise SessionError(why)

    def go_to(self, generation: int) -> None:
        """Go to a generation, back in time too where one is known before it; waits."""
        session = self._session
        self._last = None
        session.go_to(operator.index(generation))
        self._wait(session)

    def start(self) -> None:
        """Start a run without an end; does not wait."""
        self._last = None
        self._session.start()

    def stop(self) -> None:
        """Stop a run, and wait until it has stopped."""
        session = self._session
        if isinstance(session, EditableSession) and not isinstance(session, EditedSession):
            wait_for(session.settled())  # on disk a run begins when all changes are done
        if session.status().running or isinstance(session, EditedSession):
            session.stop()
            self._wait(session)

    def reset(self) -> None:
        """Go back to the generation where a run first began."""
        session = self._begin_change_in_memory()
        session.reset()
        wait_for(session.settled())

    def _wait(self, session: Session) -> None:
        """Wait for what has been asked for, and for the end of a run."""
        if isinstance(session, EditableSession):
            wait_for(session.settled())
        while session.status().running and not isinstance(session, EditedSession):
            pause()


def _box(box: Box | tuple[int, int, int, int]) -> Box:
    x, y, width, height = (operator.index(number) for number in box)
    if width < 1 or height < 1:
        raise GridError(f"a box of {width}x{height} cells holds none")
    return Box(x, y, width, height)


def _near(box: Box, x: int, y: int) -> bool:
    """Tell whether undoing a box with one more cell takes little memory."""
    hull = box.joined(Box(x, y, 1, 1))
    return max(hull.width, hull.height) <= _APART
