"""Semigroup: what generators generate, enumerated as far as it is asked for."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from kernels.transf import Map, Maps, Numbers, Problem

from .classes import GreenClasses, Kind
from .engines import Engines
from .exports import cayley_networkx, gap_text
from .options import Base, Generators, check_options, maps_of, points_of
from .results import Results, known
from .running import CancelledError, Progress, Runner
from .sequences import Rules, Word, Words

_LONG = 1 << 12  # bytes of maps that are not rows by default
_ITERATED = 1 << 20  # bytes of elements that are made at once


class Semigroup:
    """The semigroup, or monoid, that some maps generate.

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
        check_options(backend, memory, device, threads)
        maps = maps_of(generators)
        if base is None:
            base = "all" if maps[0].nbytes < _LONG else "auto"
        points = points_of(base, maps.shape[1])
        problem = Problem(
            maps, points, monoid=bool(monoid), compare=not hash_only, memory=memory or 0
        )
        choose = isinstance(base, str) and base == "auto"
        engines = Engines(backend, device, threads)
        self._set(Runner(engines, problem, choose), threads)

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
        """What save() wrote, finished or to be gone on with, on any backend.

        Raises StoredError, a ValueError of one line, for a file that is damaged or something
        else, MemoryError where it does not fit, and OSError.
        """
        from .files import load

        check_options(backend, memory, device, threads)
        stored = load(path)
        engines = Engines(backend, device, threads)
        problem = stored.problem(memory or 0)
        rules = stored.summary.checked
        made = cls.__new__(cls)
        made._set(Runner(engines, problem, tables=stored.tables, rules=rules), threads)
        return made

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes an HDF5 file of what is found so far. Raises OSError."""
        from .files import save

        with self._runner.lock:
            save(path, self._runner.found(), self._runner.rules)

    def _set(self, runner: Runner, threads: int | None) -> None:
        self._runner = runner
        # Number of the first element: the empty word's is 0, and it may be none.
        self._begin = int(not runner.problem.monoid)
        self._results = Results(runner, self._begin, threads)

    # --- running ---------------------------------------------------------------

    def run(
        self,
        limit: int | None = None,
        seconds: float | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> bool:
        """Goes on with the enumeration; returns whether it is finished.

        limit: stops where more elements than so many might be found. seconds: stops some tenths
        of a second later at most, or when a proof is done. progress: is called again and again.
        Stopped, interrupted or failed, it can go on. Raises MemoryError where the memory given
        is full.
        """
        if limit is not None and (limit != operator.index(limit) or limit < 1):
            raise ValueError(f"limit is a number of elements, not {limit}")
        most = None if limit is None else limit + self._begin
        return self._runner.run(most, seconds, progress) == "finished"

    def cancel(self) -> None:
        """Makes what runs in another thread stop soon; it can be gone on with."""
        self._runner.cancel()

    @property
    def finished(self) -> bool:
        return self._runner.finished

    @property
    def memory(self) -> int:
        """Bytes that the enumeration may take; with more of them it can go on where it stopped."""
        return self._runner.memory

    @memory.setter
    def memory(self, memory: int) -> None:
        check_options("auto", memory)
        self._runner.set_memory(memory)

    @property
    def progress(self) -> Progress:
        """How far it is, also while it runs in another thread, which need not stop for that.

        Counts are from its beginning, or from where it was loaded.
        """
        return self._runner.progress()

    @property
    def current_size(self) -> int:
        """How many elements are found so far."""
        with self._runner.lock:
            return self._runner.found().size - self._begin if self._runner.begun else 0

    @property
    def current_levels(self) -> list[int]:
        """As levels, of the elements found so far."""
        with self._runner.lock:
            if not self._runner.begun:
                return []
            found = self._runner.found()
            bounds = [self._begin, *found.starts[1:], found.size]
        counts = [b - a for a, b in pairwise(bounds)]
        return counts if counts[-1] else counts[:-1]

    def _all(self) -> None:
        if self._runner.run() == "cancelled":
            raise CancelledError(f"cancelled at {self.current_size} elements")

    def _reach(self, size: int) -> None:
        """Until so many elements are found, or all."""
        if self._runner.run(enough=size + self._begin) == "cancelled":
            raise CancelledError(f"cancelled at {self.current_size} elements")

    # --- what there is -----------------------------------------------------------

    @property
    def generators(self) -> Maps:
        """(m, degree), uint8, uint16 or uint32."""
        return self._runner.problem.generators.copy()

    @property
    def degree(self) -> int:
        return self._runner.problem.degree

    @property
    def monoid(self) -> bool:
        """Whether the identity was added, if it had to be."""
        return self._runner.problem.monoid

    @property
    def backend(self) -> str:
        """The name of the one that is used now."""
        return self._runner.engine.name

    @property
    def base(self) -> list[int] | None:
        """The points whose images are compared; None where whole maps are."""
        problem = self._runner.problem
        return None if problem.whole else problem.points.tolist()

    @property
    def certainty(self) -> str:
        """How elements are known to be different ones, and all that are, in a few words."""
        problem = self._runner.problem
        if not self._runner.begun:
            return "not enumerated"
        if problem.whole:
            hashes = f"by {problem.hash_bits}-bit hashes only"
            return "proved by comparing rows" if problem.compare else hashes
        points = _count(problem.width, "point")
        rules = _count(self._runner.rules, "rule")
        proof = f"proved by checking {rules}" if self._runner.proved else "not proved yet"
        return f"on the images of {points}, {proof}"

    @property
    def size(self) -> int:
        """How many elements there are."""
        self._all()
        return self.current_size

    def __len__(self) -> int:
        return self.size

    def __bool__(self) -> bool:
        return True  # and nothing is enumerated to know it

    @property
    def levels(self) -> list[int]:
        """How many elements have words of length 0, 1, …; the first is 0 without the identity."""
        self._all()
        return self.current_levels

    # --- elements ------------------------------------------------------------------

    def element(self, i: int) -> Map:
        """The images of element i. Raises IndexError, here and below, where there is none."""
        images: Map = self.elements([i])[0]
        return images

    def elements(self, numbers: npt.ArrayLike) -> Maps:
        """(count, degree), those of an array of numbers (count,)."""
        chosen = self._known(numbers)
        with self._runner.lock:
            maps: Maps = self._runner.found().maps(chosen)
        return maps

    def __iter__(self) -> Iterator[Map]:
        """The elements, one after another, which are found on the way."""
        step = max(1, _ITERATED // self._runner.problem.generators[0].nbytes)
        start = 0
        while True:
            self._reach(start + 1)
            stop = min(start + step, self.current_size)
            if start >= stop:
                return
            yield from self.elements(np.arange(start, stop))
            start = stop

    def word(self, i: int) -> Word:
        """The least word of element i, in shortlex order: a tuple of numbers of generators."""
        number = self._known([i])
        with self._runner.lock:
            found = self._runner.found()
            finished = found.finished
            letters: list[int] = []
            [place] = number.tolist()
            while place and not finished:
                letters += found.array("first", place, place + 1).tolist()
                [place] = found.array("suffix", place, place + 1).tolist()
        return self._results.words.of(number)[0] if finished else tuple(letters)

    def words(self) -> Words:
        """Those of all elements, a sequence; each is made when it is asked for."""
        return self._finished.words

    def position(self, x: npt.ArrayLike) -> int | None:
        """The number of a map, None if it is no element. Enumerates until it is found."""
        try:
            images = np.asarray(x)
        except ValueError:
            return None  # rows of several lengths
        if images.shape != (self.degree,) or images.dtype.kind not in "iu":
            return None
        while True:
            finished = self.finished
            [number] = self.current_positions(images[None]).tolist()
            if number >= 0:
                return int(number)
            if finished:
                return None
            self._reach(2 * self.current_size + 1)

    def __contains__(self, x: object) -> bool:
        return self.position(x) is not None  # type: ignore[arg-type]

    def positions(self, maps: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """(count,): the numbers of maps (count, degree), -1 of what is no element."""
        self._all()
        return self.current_positions(maps)

    def current_positions(self, maps: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """As positions(), -1 also of what is not found so far."""
        images = np.asarray(maps)
        if images.ndim != 2 or images.shape[1] != self.degree or images.dtype.kind not in "iu":
            raise ValueError(
                f"maps are integers (count, {self.degree}), not {images.dtype} {images.shape}"
            )
        result = np.full(len(images), -1, np.int64)
        fits = np.flatnonzero(((images >= 0) & (images < self.degree)).all(axis=1))
        chosen = images[fits].astype(self._runner.problem.generators.dtype)
        with self._runner.lock:
            places = self._runner.found().positions(chosen)
        result[fits] = np.where(places < 0, -1, places - self._begin)
        return result

    @property
    def contains_identity(self) -> bool:
        """Whether the identity is an element, which it may be without monoid too."""
        return self.monoid or np.arange(self.degree) in self

    # --- what needs all of it ----------------------------------------------------------

    def product(self, i: npt.ArrayLike, j: npt.ArrayLike) -> Any:
        """The number of element i times element j: an int, or uint32 for arrays of numbers.

        It is read off the Cayley graphs, in as many steps as the shorter word has letters.
        """
        found = self._finished.products(i, j)
        return found if found.ndim else int(found)

    @property
    def right_cayley(self) -> Numbers:
        """uint32 (size, m), read-only: element i times generator g is element [i, g]."""
        return self._finished.right_cayley

    @property
    def left_cayley(self) -> Numbers:
        """uint32 (size, m), read-only: generator g times element i is element [i, g]."""
        return self._finished.left_cayley

    @property
    def rules(self) -> Rules:
        """A presentation: a sequence of (word, lesser word of the same element).

        It is complete for rewriting. Left sides, in shortlex order, are the words that are not
        least, though all of their proper factors are (Froidure and Pin 1997).
        """
        return self._finished.rules

    @property
    def idempotents(self) -> Numbers:
        """Numbers of the elements e with e e = e, ascending, read-only."""
        return self._finished.idempotents

    def green(self, kind: Kind) -> GreenClasses:
        """Green's classes. x R y if both generate the same right ideal, x L y the same left
        ideal, x J y the same two-sided ideal; H is R and L, D is R then L, here the same as J.
        """
        return self._finished.green(kind)

    def to_networkx(self, side: Literal["right", "left"] = "right") -> Any:
        """A Cayley graph as networkx.MultiDiGraph, the edge of generator g with the key g and
        the attribute generator=g. Raises ImportError where there is no networkx.
        """
        if side not in ("right", "left"):
            raise ValueError(f"a Cayley graph is right or left, not {side!r}")
        return cayley_networkx(self.right_cayley if side == "right" else self.left_cayley)

    def to_gap(self) -> str:
        """The generators as a Semigroup or Monoid of Transformations, for GAP to read."""
        return gap_text(self._runner.problem.generators, self.monoid)

    def __repr__(self) -> str:
        problem = self._runner.problem
        finished = self.finished
        size = _count(self.current_size, "map") if finished else "maps"
        identity = "with the identity"
        if not problem.monoid:
            added = "without the identity" if finished else "the identity not added"
            identity = identity if finished and self.contains_identity else added
        of = f"{_count(problem.degree, 'point')}, {_count(problem.letters, 'generator')}"
        state = self._stopped() if self._runner.begun and not finished else self.certainty
        return f"<Semigroup of {size} of {of}, {identity}; {state}>"

    def _stopped(self) -> str:
        levels = self.current_levels
        level = f", level {len(levels) - 1}" if levels else ""
        return f"stopped at {_count(sum(levels), 'map')}{level}"

    def _known(self, numbers: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """As engines count; those elements are found first."""
        array = np.asarray(numbers)
        if array.ndim != 1:
            raise TypeError(f"a row of numbers of elements is needed, not {array.shape}")
        if array.size and array.dtype.kind in "iu" and array.max() >= self.current_size:
            self._reach(int(array.max()) + 1)
        return known(array, self.current_size) + self._begin

    @property
    def _finished(self) -> Results:
        self._all()
        return self._results


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
