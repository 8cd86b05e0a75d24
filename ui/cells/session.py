"""A session whose cells are held as a rectangle, in a backend's memory."""

from __future__ import annotations

from kernels.targets.choose import pick
from kernels.targets.contract import Target
from lifesim.engines import cells_for
from lifesim.grid import BitGrid, check_size
from lifesim.rule import LIFE, Rule
from lifesim.topology import Topology
from ui.cells.census import Census
from ui.cells.clock import Clock
from ui.cells.commands import CommandThread
from ui.cells.edited import EditedSession
from ui.cells.editor import RectangleEditor
from ui.cells.history import History
from ui.cells.machine import ClosedError, Setting
from ui.cells.news import News
from ui.cells.plane import Plane, held_around
from ui.cells.saving import Whole, write
from ui.cells.snapshots import SMALL
from ui.cells.vault import Vault
from ui.session import Event, SessionError


class MemorySession(EditedSession):
    """A session whose cells are held as a rectangle, which grows where there are no bounds."""

    def __init__(
        self,
        grid: BitGrid,
        *,
        rule: Rule | str = LIFE,
        topology: Topology | str = Topology.TORUS,
        generation: int = 0,
        backend: Target | str = "auto",
        path: str | None = None,
        notes: tuple[str, tuple[str, ...]] = ("", ()),
        budget: int | None = None,
        small: int = SMALL,
        bounds: tuple[int, int] | None = None,
        at: tuple[int, int] = (0, 0),
        watch: bool = False,
        modified: bool = False,
    ) -> None:
        """Copy a grid, which is of that generation.

        There is an argument for each thing that a pattern file, or a command, may say.

        bounds, at, watch: as of lifesim.engine.Life: bounds of 0 are none.
        backend: "auto", "cuda", "cpu", "reference" or a Target. notes: name and comments, for
        files that it is saved to. budget, small: see Vault and Pictures. modified: whether there
        are changes that have not been saved.
        Raises RuleError, ValueError for an unknown topology or backend name,
        BackendUnavailableError, and GridError or MemoryError for too large a universe, or one of
        cells in states that the rule does not have.
        """
        chosen = Rule.parse(rule) if isinstance(rule, str) else rule
        bounds = bounds or (grid.width, grid.height)
        box, cells = held_around(cells_for(chosen, grid), bounds, at)
        grows = not bounds[0], not bounds[1]
        setting = Setting(box.width, box.height, chosen, Topology(topology), box.x, box.y, grows)
        runner = pick(backend) if isinstance(backend, str) else backend
        self._where = runner.describe()
        self.path = path
        self.notes = notes
        self._saved = -1 if modified else 0
        self._commands = CommandThread("lifesim-universe")
        self._news = News(self._newest_status, self._newest_reach)
        self._plane = Plane(runner, setting, cells, generation, small=small, watch=watch)
        self._history = History(self._plane, Vault(budget), self._news.report)
        self._clock = Clock(self._plane, self._history, self._commands, self._news)
        self._census = Census(self._plane, self._commands.is_asked, self._news)
        self._edits = RectangleEditor(self._plane, self._history, self._clock, self._news)
        self._held, self._past, self._editor = self._plane, self._history, self._edits
        self._begin()

    # --- cells -----------------------------------------------------------------

    @property
    def engine(self) -> str:
        """Return that a rectangle keeps the cells."""
        return "dense"

    @property
    def where(self) -> str:
        """Return what computes, in a few words."""
        return self._where

    def whole(self) -> Whole:
        """Return a copy of all cells as they are now; any thread may ask, and waits for no run.
        Raises SessionError once closed."""
        while True:
            machine = self._plane.machine
            setting = machine.setting
            try:
                grid, generation = machine.read(setting.box)
            except ClosedError:
                if machine is self._plane.machine:
                    raise SessionError("the universe has been closed") from None
            else:
                return _whole(grid, setting, generation)

    # --- changes ---------------------------------------------------------------

    def put(self, whole: Whole) -> None:
        """Be as it was, in another universe even: a run is stopped. It can be undone."""
        self._commands.post(lambda: self._edits.put(whole))

    def set_rule(self, rule: Rule | str) -> None:
        """Change the rule; a run goes on. Raises RuleError."""
        chosen = Rule.parse(rule) if isinstance(rule, str) else rule
        self._commands.post(lambda: self._edits.set_rule(chosen))

    def set_topology(self, topology: Topology | str) -> None:
        """Change the edges; a run goes on. What is held of a plane without bounds becomes a torus
        of that size. Raises ValueError for an unknown topology."""
        chosen = Topology(topology)
        self._commands.post(lambda: self._edits.set_topology(chosen))

    def resize(self, width: int, height: int) -> None:
        """Change the size; a run goes on. The middle stays; cells that are outside then are lost.
        A plane without bounds has them then. Raises GridError for a size that there is no memory
        for."""
        check_size(width, height, 2 * self.rule.planes)
        self._commands.post(lambda: self._edits.resize(width, height))

    # --- files -----------------------------------------------------------------

    def save(self, path: str) -> None:
        """Write a pattern file or a universe directory; waits. Raises LifesimError."""

        def now() -> tuple[Whole, int]:
            setting = self._plane.setting
            grid, generation = self._plane.machine.read(setting.box)
            return _whole(grid, setting, generation), self._history.edited

        whole, edited = self._commands.ask(now)
        write(whole, path, *self.notes)

        def saved() -> None:
            self.path, self._saved = path, edited
            self._news.tell(Event.STATUS)

        self._commands.ask(saved)


def _whole(cells: BitGrid, setting: Setting, generation: int) -> Whole:
    about = setting.rule, setting.topology, generation
    return Whole(cells, *about, setting.at, setting.grows)
