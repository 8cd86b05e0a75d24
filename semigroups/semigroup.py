"""Define Semigroup: what generators generate, enumerated as far as it is asked for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from bulkbits.plurals import many
from kernels.targets.contract import BackendUnavailableError
from kernels.transformations import EnumerationProblem, Map, Maps, NumberArray

from .classes import GreenClasses, GreenKind
from .eggboxes import EggBoxes
from .engines import EngineChoice
from .enumeration import Enumeration
from .exports import cayley_networkx, gap_text
from .options import Base, Generators, check_options, maps_of, points_of
from .running import CancelledError, EnumerationRunner, EnumerationState, Progress
from .sequences import RewritingRules, Word, Words
from .structure import Structure

_LONG = 1 << 12  # bytes of maps that are not rows by default
# What a notebook enumerates: bytes of generators and of all maps, elements, seconds.
_SMALL, _ROOM, _ENUMERATED, _MOMENT = 1 << 20, 1 << 26, 100_000, 0.5
_DRAWN = 200_000  # elements of what a notebook draws


class Semigroup:
    """Represents the semigroup, or monoid, that some maps generate.

    generators: an array (m, degree), lists of images, or a Family, images counting from 0.
    monoid: whether the identity is an element even if it is no product of generators.
    base: the points on whose images elements are told apart: "all", which compares whole maps;
        a list of points; or "auto", a point of a long orbit. Where these turn out not to be
        enough there will be more, so that the result is certain: it is proved that the rules
        found hold for whole maps. Unfinished it may not be, which `certainty` tells; then
        numbers and words can change. By default "all", but "auto" where a map takes 4 KiB or
        more: what is found in vain on too few images costs little, and where one point is
        enough, as for zero_rook, time and memory hardly depend on the degree.
    hash_only: trust that whole maps with equal hashes of 128 bits are equal.
    backend: "auto", "cuda", "cpu" or "reference"; "auto" begins on the CPU, and goes on on a GPU,
        if there is one with room for it, with what takes longer than some tenths of a second.
        Where the CPU's engine is not compiled it begins on a GPU, or else with the reference.
    device: which GPU. threads: of the CPU, all cores by default.
    memory: bytes that the enumeration may take, by default what the backend has to spare.

    Elements are numbered from 0, in shortlex order of their words. Nothing is enumerated before
    it is asked for; then as much as is needed, or what run() is told. Whatever needs all runs to
    the end, and raises MemoryError where that does not fit, CancelledError after cancel(), both
    of which leave what was found, as Ctrl-C does.

    Any number of threads may use one at once: one of them enumerates, and the others wait for
    what they need of it.

    Raises ValueError for what are no maps, MemoryError for a Family too large for this machine;
    BackendUnavailableError on first use where the backend cannot run.

    >>> from semigroups import Semigroup
    >>> S = Semigroup([[1, 0, 2], [0, 0, 2]])
    >>> S.size, S.levels
    (4, [1, 2, 1])
    >>> [S.word(i) for i in range(4)]
    [(), (0,), (1,), (1, 0)]
    >>> S.position([1, 1, 2])
    3
    >>> S
    <Semigroup of 4 maps of 3 points, 2 generators, with the identity; proved by comparing rows>
    """

    def __init__(
        self,
        generators: Generators,
        *,
        monoid: bool = True,
        base: Base | None = None,
        hash_only: bool = False,
        backend: str = "auto",
        device: int = 0,
        threads: int | None = None,
        memory: int | None = None,
    ) -> None:
        """Begin an enumeration, whose options are many: each says one thing of it, by name."""
        check_options(backend, memory, device, threads)
        maps = maps_of(generators)
        if base is None:
            base = "all" if maps[0].nbytes < _LONG else "auto"
        points = points_of(base, maps.shape[1])
        problem = EnumerationProblem(
            maps, points, monoid=bool(monoid), compare=not hash_only, memory=memory or 0
        )
        choose = isinstance(base, str) and base == "auto"
        engines = EngineChoice(backend, device, threads)
        self._compose(EnumerationRunner(engines, problem, choose), threads)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        backend: str = "auto",
        device: int = 0,
        threads: int | None = None,
        memory: int | None = None,
    ) -> Semigroup:
        """Return what save() wrote, finished or to be gone on with, on any backend.

        Of a finished one only what is asked for is read, as long as the file is open here. What
        is damaged raises StoredError when it is read.

        Raises StoredError, a ValueError of one line, for a file that is damaged or something
        else, MemoryError where it does not fit, and OSError.
        """
        from .files import open_stored

        check_options(backend, memory, device, threads)
        engines = EngineChoice(backend, device, threads)
        made = cls.__new__(cls)
        made._compose(open_stored(path, engines, memory or 0), threads)
        return made

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an HDF5 file of what is found so far. Raises OSError."""
        from .files import save

        runner = self._enumeration.runner
        with runner.lock:
            save(path, runner.found(), runner.rules)

    def __reduce__(self) -> tuple[Any, ...]:
        """Take apart for a copy or pickle, which has what is found so far and goes on alone."""
        runner = self._enumeration.runner
        with runner.lock:
            return _restored, (type(self), runner.state(), self._structure.threads)

    def _compose(self, runner: EnumerationRunner, threads: int | None) -> None:
        self._enumeration = Enumeration(runner)
        self._structure = Structure(self._enumeration, threads)

    # --- running ---------------------------------------------------------------

    def run(
        self,
        limit: int | None = None,
        seconds: float | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> bool:
        """Go on with the enumeration; return whether it is finished.

        limit: stops where more elements than so many might be found. seconds: stops some tenths
        of a second later at most, or when a proof is done. progress: is called again and again.
        Stopped, interrupted or failed, it can go on. Raises MemoryError where the memory given
        is full.
        """
        return self._enumeration.run(limit, seconds, progress)

    def cancel(self) -> None:
        """Make what runs in another thread stop soon; it can be gone on with."""
        self._enumeration.runner.cancel()

    @property
    def finished(self) -> bool:
        """True if all elements are found, and proved to be all."""
        return self._enumeration.runner.finished

    @property
    def memory(self) -> int:
        """Bytes that the enumeration may take; with more of them it can go on where it stopped."""
        return self._enumeration.runner.memory

    @memory.setter
    def memory(self, memory: int) -> None:
        check_options("auto", memory)
        self._enumeration.runner.set_memory(memory)

    @property
    def progress(self) -> Progress:
        """Progress so far, also while it runs in another thread, which need not stop for that.

        Counts are from its beginning, or from where it was loaded.
        """
        return self._enumeration.runner.progress()

    @property
    def current_size(self) -> int:
        """Number of elements found so far."""
        return self._enumeration.size

    @property
    def current_levels(self) -> list[int]:
        """Number of elements found so far for each length of words."""
        return self._enumeration.levels

    # --- what there is -----------------------------------------------------------

    @property
    def generators(self) -> Maps:
        """Copy of the generators: (m, degree), uint8, uint16 or uint32."""
        return self._enumeration.problem.generators.copy()

    @property
    def degree(self) -> int:
        """Number of points of the maps."""
        return self._enumeration.problem.degree

    @property
    def monoid(self) -> bool:
        """True if the identity was added, in case that no product equals it."""
        return self._enumeration.problem.monoid

    @property
    def backend(self) -> str:
        """Name of the backend that is used now."""
        return self._enumeration.runner.engine.name

    @property
    def base(self) -> list[int] | None:
        """Points whose images are compared, or None if whole maps are."""
        problem = self._enumeration.problem
        return None if problem.whole else problem.points.tolist()

    @property
    def certainty(self) -> str:
        """Short text on how elements are known to be different ones, and to be all."""
        return self._enumeration.certainty

    @property
    def size(self) -> int:
        """Number of elements; all are found first."""
        self._enumeration.run_to_the_end()
        return self.current_size

    def __len__(self) -> int:
        return self.size

    def __bool__(self) -> bool:
        return True  # and nothing is enumerated to know it

    @property
    def levels(self) -> list[int]:
        """Number of elements whose words have length 0, 1, …; all are found first.

        The first is 0 without the identity.
        """
        self._enumeration.run_to_the_end()
        return self.current_levels

    # --- elements ------------------------------------------------------------------

    def element(self, i: int) -> Map:
        """Return the images of element i.

        Raises IndexError, here and below, where there is none.
        """
        images: Map = self.elements([i])[0]
        return images

    def elements(self, numbers: npt.ArrayLike) -> Maps:
        """Return the elements of an array of numbers (count,): (count, degree)."""
        return self._enumeration.elements(numbers)

    def __iter__(self) -> Iterator[Map]:
        """Yield the elements one after another, and find them on the way."""
        return iter(self._enumeration)

    def word(self, i: int) -> Word:
        """Return the least word of element i, in shortlex order: numbers of generators."""
        number = self._enumeration.known([i])
        word = self._enumeration.word(number)
        return self._structure.words.of(number)[0] if word is None else word

    def words(self) -> Words:
        """Return the words of all elements, a sequence; each is made when it is asked for."""
        return self._whole.words

    def position(self, x: npt.ArrayLike) -> int | None:
        """Return the number of a map, None if it is no element. Enumerates until it is found."""
        return self._enumeration.position(x)

    def __contains__(self, x: object) -> bool:
        return self.position(x) is not None  # type: ignore[arg-type]

    def positions(self, maps: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return the numbers (count,) of maps (count, degree), -1 of what is no element."""
        self._enumeration.run_to_the_end()
        return self.current_positions(maps)

    def current_positions(self, maps: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return what positions() does, but -1 also of what is not found so far."""
        return self._enumeration.positions(maps)

    @property
    def contains_identity(self) -> bool:
        """True if the identity is an element, which it may be without monoid too."""
        return self.monoid or np.arange(self.degree) in self

    # --- what needs all of it ----------------------------------------------------------

    def product(self, i: npt.ArrayLike, j: npt.ArrayLike) -> Any:
        """Return the number of element i times element j: an int, or uint32 for arrays of numbers.

        It is read off the Cayley graphs, in as many steps as the shorter word has letters.
        """
        found = self._whole.products(i, j)
        return found if found.ndim else int(found)

    @property
    def right_cayley(self) -> NumberArray:
        """Right Cayley graph: element i times generator g is element [i, g].

        uint32 (size, m), read-only.
        """
        return self._whole.right_cayley

    @property
    def left_cayley(self) -> NumberArray:
        """Left Cayley graph: generator g times element i is element [i, g].

        uint32 (size, m), read-only.
        """
        return self._whole.left_cayley

    @property
    def rules(self) -> RewritingRules:
        """Presentation: a sequence of (word, lesser word of the same element).

        It is complete for rewriting. Left sides, in shortlex order, are the words that are not
        least, though all of their proper factors are (Froidure and Pin 1997).
        """
        return self._whole.rules

    @property
    def idempotents(self) -> NumberArray:
        """Numbers of the elements e with e e = e, ascending, read-only."""
        return self._whole.idempotents

    def green(self, kind: GreenKind) -> GreenClasses:
        """Return the classes of one of Green's relations.

        x R y if both generate the same right ideal, x L y the same left ideal, x J y the same
        two-sided ideal; H is R and L, D is R then L, here the same as J. Raises ValueError for
        another kind.
        """
        return self._whole.green(kind)

    def egg_boxes(self) -> EggBoxes:
        """Return the egg boxes, a sequence of one table for each D-class, and their picture."""
        return EggBoxes(self._whole)

    def to_networkx(self, side: Literal["right", "left"] = "right") -> Any:
        """Return a Cayley graph as networkx.MultiDiGraph.

        The edge of generator g has the key g and the attribute generator=g. Raises ImportError
        where there is no networkx.
        """
        if side not in ("right", "left"):
            raise ValueError(f"a Cayley graph is right or left, not {side!r}")
        return cayley_networkx(self.right_cayley if side == "right" else self.left_cayley)

    def to_gap(self) -> str:
        """Return the generators as a Semigroup or Monoid of Transformations, for GAP to read."""
        return gap_text(self._enumeration.problem.generators, self.monoid)

    def __repr__(self) -> str:
        problem = self._enumeration.problem
        finished = self.finished
        size = many(self.current_size, "map") if finished else "maps"
        identity = "with the identity"
        if not problem.monoid:
            added = "without the identity" if finished else "the identity not added"
            identity = identity if finished and self.contains_identity else added
        of = f"{many(problem.degree, 'point')}, {many(problem.letters, 'generator')}"
        state = (
            self._stopped() if self._enumeration.runner.begun and not finished else self.certainty
        )
        return f"<Semigroup of {size} of {of}, {identity}; {state}>"

    def _repr_svg_(self) -> str | None:
        """Return the picture that notebooks show, that of the egg boxes; None for a semigroup that
        is large, or not finished.

        One that was not asked for anything yet is enumerated as far as takes a moment.
        """
        runner = self._enumeration.runner
        try:
            generators = self._enumeration.problem.generators
            if not runner.begun and generators.nbytes <= _SMALL:
                most = _ROOM // generators[0].nbytes
                self.run(limit=min(_ENUMERATED, most), seconds=_MOMENT)
            if not self.finished or self.current_size > _DRAWN:
                return None
            return self.egg_boxes().svg()
        except (BackendUnavailableError, MemoryError, CancelledError):
            return None  # and repr() says what it is

    def _stopped(self) -> str:
        levels = self.current_levels
        level = f", level {len(levels) - 1}" if levels else ""
        return f"stopped at {many(sum(levels), 'map')}{level}"

    @property
    def _whole(self) -> Structure:
        """Structure, once all is found: what is read off tables that are not whole is wrong."""
        self._enumeration.run_to_the_end()
        return self._structure


def _restored(cls: type[Semigroup], state: EnumerationState, threads: int | None) -> Semigroup:
    """Return what Semigroup.__reduce__() has taken apart."""
    made = cls.__new__(cls)
    made._compose(EnumerationRunner.restored(state), threads)
    return made
