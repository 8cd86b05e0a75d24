"""A session whose universe is a plane without bounds, in an engine that holds no rectangle."""

from __future__ import annotations

from typing import ClassVar

from kernels.targets.contract import Target
from lifesim import patterns
from lifesim.grid import BitGrid, Box, GridError, check_size
from lifesim.growing import check_birth
from lifesim.pattern_of import is_macrocell
from lifesim.patterns import Pattern
from lifesim.rule import Rule
from lifesim.topology import Topology
from ui.cells.clock import Clock
from ui.cells.commands import CommandThread
from ui.cells.edited import EditedSession
from ui.cells.editor import Editor
from ui.cells.moments import Entry
from ui.cells.news import News
from ui.cells.saving import Whole, write
from ui.cells.vault import Vault
from ui.numbers import shortened
from ui.planes.census import PlaneCensus
from ui.planes.held import HeldPlane, Seed, squares_of
from ui.planes.past import PlanePast
from ui.planes.universe import SeenUniverse, empty_start, open_seen
from ui.session import Event, SessionError

_MOST_SPEED = {True: 1 << 200, False: 1 << 20}  # generations a picture, where strides grow
_MOST = {True: 1 << 240, False: 10**18}  # generation that one can go to


class PlaneSession(EditedSession):
    """A session of a plane in the engine tiles, or HashLife, composed as EditedSession says."""

    is_endless: ClassVar[bool] = True

    def __init__(
        self,
        universe: SeenUniverse,
        engine: str,
        backend: Target,
        rule: Rule,
        generation: int = 0,
        *,
        path: str | None = None,
        notes: tuple[str, tuple[str, ...]] = ("", ()),
        modified: bool = False,
    ) -> None:
        """Take a plane that is at a generation, as open_seen() has opened it in an engine.

        backend: as of open_seen(). notes: name and comments, for files that it is saved to.
        modified: whether there are changes that have not been saved.
        """
        self.path, self.notes, self._choice = path, notes, engine
        self.most_speed = _MOST_SPEED[universe.sets_pace]
        self.most_generation = _MOST[universe.sets_pace]
        self._saved = -1 if modified else 0
        self._commands = CommandThread("lifesim-plane")

        def reopen(rule: Rule) -> SeenUniverse:
            made = open_seen(engine, backend, empty_start(rule))
            if made is None:
                raise SessionError(f"a rectangle computes {rule}: choose the engine dense first")
            return made

        self._plane = HeldPlane(universe, rule, generation, reopen, self._commands)
        self._news = News(self._newest_status, self._newest_reach)
        self._history = PlanePast(self._plane, Vault(), self._news.report)
        self._clock = Clock(self._plane, self._history, self._commands, self._news)
        self._counting = PlaneCensus(self._plane, self._news)
        self._editor = Editor(self._plane, self._history, self._clock, self._news)
        self._held, self._past, self._census = self._plane, self._history, self._counting
        self._begin()

    @property
    def engine(self) -> str:
        """Return the engine that was asked for."""
        return self._choice

    @property
    def where(self) -> str:
        """Return what computes, in a few words."""
        now = self._plane.engine
        return f"{now}, on the CPU" if now == self.engine else f"{self.engine}: now {now}"

    @property
    def box(self) -> Box:
        """Return where cells lived when that was last looked at; one cell where none did."""
        return self._counting.box

    @property
    def space(self) -> Box:
        """Return all cells that there may be."""
        return self._plane.setting.box

    def cells(self, box: Box) -> BitGrid:
        """Return a copy of a region; waits for the stride under way, or breaks it off. Raises
        GridError where it is too large for memory."""
        check_size(box.width, box.height, 2)
        return super().cells(box)

    def whole(self) -> Whole:
        """Return a copy of the smallest rectangle that holds all live cells. Raises GridError where
        memory does not hold it, SessionError once closed."""

        def now() -> Whole:
            plane = self._plane
            box = plane.live_box() or Box(0, 0, 1, 1)
            try:
                check_size(box.width, box.height, 3)
            except GridError:
                size = f"{shortened(box.width)} × {shortened(box.height)}"
                raise GridError(
                    f"what lives is {size} cells wide and high, too much for a rectangle in memory"
                ) from None
            about = plane.setting.rule, Topology.PLANE, plane.generation
            return Whole(plane.region(box), *about, (box.x, box.y), (True, True))

        return self._commands.ask(now)

    def still(self) -> Whole:
        """Return a copy of all cells as they are now, as whole() does."""
        return self.whole()

    def population(self) -> int:
        """Count the live cells as they are now, in a plane of any width; waits."""
        return self._commands.ask(lambda: self._plane.machine.universe.population())

    def pour(self, universe: SeenUniverse) -> int:
        """Put all cells into another, empty plane; waits. Returns their generation. Raises
        GridError where they are too many for it, or lie too far out."""
        return self._commands.ask(lambda: self._plane.pour(universe))

    # --- changes ---------------------------------------------------------------

    def put(self, whole: Whole) -> None:
        """Be as it was: a run is stopped. It can be undone."""

        def now() -> None:
            self._clock.stop()
            if not all(whole.grows):
                raise SessionError(f"the engine {self.engine} is for planes without bounds")
            if whole.rule.states > 2:
                raise SessionError(f"the engine {self.engine} holds no cells of {whole.rule}")
            check_birth(whole.rule)
            before = Entry("the jump in time", self._history.whole_moment())
            self._editor.change(before, lambda: self._history.replace(_seed_of(whole), whole.rule))

        self._commands.post(now)

    def set_rule(self, rule: Rule | str) -> None:
        """Change the rule; a run goes on. Raises RuleError, and GridError for a rule of B0."""
        chosen = Rule.parse(rule) if isinstance(rule, str) else rule
        check_birth(chosen)

        def now() -> None:
            if chosen != self._plane.setting.rule:
                seed = self._plane.seed()
                before = Entry("the rule", self._history.moment(seed))
                self._editor.change(before, lambda: self._history.replace(seed, chosen))

        self._commands.post(now)

    def set_topology(self, topology: Topology | str) -> None:
        """Raise SessionError for a torus: there are no edges to be joined."""
        if Topology(topology) is not Topology.PLANE:
            raise SessionError(f"the engine {self.engine} knows no torus: choose dense first")

    def resize(self, width: int, height: int) -> None:
        """Raise SessionError: a plane without bounds has no size."""
        raise SessionError(f"the engine {self.engine} knows no size: choose dense first")

    # --- files -----------------------------------------------------------------

    def save(self, path: str) -> None:
        """Write a pattern file or a universe directory; waits. Raises LifesimError, for a plane
        that only a macrocell file holds, too."""
        name, comments = self.notes

        def now() -> tuple[Pattern | None, int]:
            plane = self._plane
            tree = plane.machine.universe.squares() if is_macrocell(path) else None
            if tree is None:
                return None, self._history.edited
            pattern = Pattern(
                BitGrid(1, 1),
                rule=plane.setting.rule,
                generation=plane.generation,
                name=name,
                comments=comments,
                squares=tree,
            )
            return pattern, self._history.edited

        pattern, edited = self._commands.ask(now)
        if pattern is not None:
            patterns.write(pattern, path)
        else:
            write(self._whole_to_save(), path, name, comments)

        def saved() -> None:
            self.path, self._saved = path, edited
            self._news.tell(Event.STATUS)

        self._commands.ask(saved)

    def _whole_to_save(self) -> Whole:
        try:
            return self.whole()
        except GridError as error:
            if self._plane.engine == "hashlife":
                raise GridError(f"{error}: save it as macrocell (.mc)") from None
            raise


def _seed_of(whole: Whole) -> Seed:
    """Return a copy of the cells of a rectangle, in whole squares."""
    x, y = whole.at
    right, down = x % 64, y % 64
    across, high = -(-(right + whole.width) // 64), -(-(down + whole.height) // 64)
    grid = BitGrid(64 * across, 64 * high)
    grid.paste(whole.cells, right, down)
    squares = squares_of(grid, (x - right) // 64, (y - down) // 64)
    return Seed(whole.generation, squares=(squares,))
