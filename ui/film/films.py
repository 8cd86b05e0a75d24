"""Films that are to be made: of a run that is computed for them, or of what was recorded."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator

from kernels.targets.contract import BackendUnavailableError, Target
from lifesim.engine import Life
from lifesim.errors import LifesimError
from lifesim.grid import BitGrid, Box
from lifesim.rule import Rule
from ui.cells.saving import Whole
from ui.film.recording import RecordedShot, Recording
from ui.film.stills import AfarSource
from ui.picture.coloured import source_of
from ui.picture.sources import MemorySource

MOST_FRAMES = 1_000_000


class ExportError(LifesimError):
    """Raised for what cannot be made a picture or a film of."""


Progress = Callable[[float], None]
"""Is told the share that is done, 0 to 1; may raise CancelledError."""


class Film(ABC):
    """The pictures of a film, one after the other.

    count: of its pictures. width, height, at: of what is shown, and its top-left cell; of a plane
    without bounds in its first picture. rules: those of its pictures.
    """

    width: int
    height: int
    count: int
    rules: tuple[Rule, ...]
    at: tuple[int, int] = (0, 0)

    @property
    def box(self) -> Box:
        """Return the cells that are shown."""
        return Box(*self.at, self.width, self.height)

    @abstractmethod
    def sources(self, progress: Progress) -> Iterator[MemorySource | AfarSource]:
        """Yield the sources of its pictures."""


class RunExport(Film):
    """A film of a run from a moment on, computed in a universe of its own: the first picture is the
    moment."""

    def __init__(
        self, whole: Whole, generations: int, every: int, backend: Target | str = "auto"
    ) -> None:
        """Compute nothing yet. Raises ExportError for fewer than one generation, or for too many
        pictures."""
        if every < 1 or generations < 0:
            raise ExportError("a film goes on by one or more generations a picture")
        self.width, self.height, self.at = whole.width, whole.height, whole.at
        self.count = frames_of(generations, every)
        if self.count > MOST_FRAMES:
            raise ExportError(f"a film has at most {MOST_FRAMES:,} pictures, not {self.count:,}")
        self.rules = (whole.rule,)
        self._whole, self._every, self._backend = whole, every, backend

    def sources(self, progress: Progress) -> Iterator[MemorySource]:
        """Compute and yield the sources of its pictures. Raises LifesimError where nothing
        computes."""
        whole = self._whole
        grows = any(whole.grows)
        yield source_of(whole.cells, whole.rule, whole.generation, at=whole.at, grows=grows)
        if self.count == 1:
            return
        try:
            life = Life(
                whole.cells,
                rule=whole.rule,
                topology=whole.topology,
                generation=whole.generation,
                bounds=whole.bounds,
                at=whole.at if grows else (0, 0),
                backend=self._backend,
            )
        except BackendUnavailableError as error:
            raise ExportError(str(error)) from None
        for number in range(1, self.count):
            life.run(
                self._every,
                progress=lambda run, number=number: progress(  # type: ignore[misc]
                    (number + run.done / run.total - 1) / self.count
                ),
            )
            if grows:
                yield _source_of(life)
            else:
                yield source_of(life.grid(), life.rule, life.generation, at=whole.at)


def _source_of(life: Life) -> MemorySource:
    """Return what lives on a plane without bounds, begun at a whole word: so ages go on."""
    frame, grid = life.frame(), life.grid()
    beside = frame.x % 64
    cells = BitGrid(beside + frame.width, frame.height, planes=grid.planes)
    cells.paste(grid, beside, 0)
    at = frame.x - beside, frame.y
    return source_of(cells, life.rule, life.generation, at=at, grows=True)


class FilmClip(Film):
    """A film of what was recorded."""

    def __init__(self, recording: Recording, shots: list[RecordedShot]) -> None:
        """Take recorded pictures. Raises ExportError for none."""
        if not shots:
            raise ExportError("nothing has been recorded there")
        self._recording, self._shots = recording, shots
        self.at = min(shot.at[0] for shot in shots), min(shot.at[1] for shot in shots)
        self.width = max(shot.at[0] + shot.width for shot in shots) - self.at[0]
        self.height = max(shot.at[1] + shot.height for shot in shots) - self.at[1]
        self.count = len(shots)
        self.rules = tuple(dict.fromkeys(shot.rule for shot in shots))

    def sources(self, progress: Progress) -> Iterator[MemorySource | AfarSource]:
        """Yield the sources of its pictures."""
        return map(self._recording.source, self._shots)


def frames_of(generations: int, every: int) -> int:
    """Return how many pictures a run has, the first one included."""
    return generations // every + 1
