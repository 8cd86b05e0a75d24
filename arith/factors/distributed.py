"""On a cluster: all pairs in blocks where workers have GPUs, trees of subsets where not.

The moduli are cut into subsets, one for a worker. Each worker makes the tree of its subset,
at whose root then the products of all other subsets come in; so there is no tree over
everything, nor anybody who has to make its top (Hastings, Fried and Heninger, Weak keys remain
widespread in network devices, 2016, where remainders of each product go down each tree; here
those of all products together do, once). What is stored is read by the
client and goes to workers by pieces: they need not see its file.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cache
from typing import Any, TypeAlias

import gmpy2
from gmpy2 import mpz

from arith import engines
from bulkbits.cluster import Cluster, worker
from kernels.bignum.numbers import Numbers
from kernels.targets.contract import BackendUnavailableError

from . import pairs, stored, trees
from .stored import GROUP, StoredModuli
from .workers import Progress, Workers

# A subset of fewer bits takes about as long as sending it.
LEAST_BITS = 1 << 20
PIECE_BITS = 1 << 28  # of what is stored, sent at once; unless answers are as long
PIECES = 4  # of it, a worker, at least
UP = 0.5  # of the time of a tree, what it takes to grow
_TELL = 0.5  # seconds

Subset: TypeAlias = tuple[int, list[mpz]]  # place, numbers
Piece: TypeAlias = tuple[range, float]  # groups of what is stored; their bits
Tag: TypeAlias = tuple[str, int]  # of a run of shared_factors(); of the first task of a map()


def subset_count(bits: int, workers: int) -> int:
    """Return how many subsets are best: more than workers would be more products to join."""
    return max(1, min(workers, bits // LEAST_BITS))


def piece_count(bits: int, answer: int, workers: int) -> int:
    """Return how many pieces `bits` bits of stored products take, with `answer` bits for each."""
    size = min(bits // (PIECES * workers), max(PIECE_BITS, 2 * answer))
    return -(-bits // max(1, size))


def cut(sizes: Sequence[int], count: int) -> list[range]:
    """Cut numbers, in order, into ranges of about equal sums: `count` or fewer, none empty."""
    found: list[range] = []
    left, taken, start = sum(sizes), 0, 0
    for i, size in enumerate(sizes):
        taken += size
        if taken * (count - len(found)) >= left:
            found.append(range(start, i + 1))
            left, taken, start = left - taken, 0, i + 1
    return found


class OnCluster:
    """The way to compute on a cluster, as Here in one process. devices, threads: how many compute.

    Raises BackendUnavailableError where cuda is asked for and a worker has none.
    """

    def __init__(self, cluster: Cluster, backend: str, progress: Progress | None) -> None:
        self._cluster, self._progress = cluster, progress
        without = [facts for facts in cluster.workers if facts.backend != "cuda"]
        if backend == "cuda" and without:
            raise BackendUnavailableError(
                f"worker {without[0].name} on {without[0].host} computes on "
                f"{without[0].backend}, not on a GPU"
            )
        self.devices = 0 if without or backend == "cpu" else len(cluster.workers)
        self.threads = sum(facts.threads for facts in cluster.workers)
        self._run = uuid.uuid4().hex
        self._telling = threading.Lock()
        self._expected = 0.0
        self._works: list[float] = []  # of tasks
        self._done: list[float] = []  # of each, 0 to 1
        self._error: BaseException | None = None
        cluster.listen(self._heard)

    def sharing(self, ours: Sequence[mpz], theirs: Sequence[mpz]) -> tuple[list[int], list[int]]:
        """Return which of ours and of theirs share a factor with the other of a pair."""
        todo = pairs.blocks(len(ours), len(theirs), self.devices)
        works = [float(block.pairs) for block in todo]
        self._expected += sum(works)
        numbers = self._cluster.share(pairs.prepared(ours, theirs))
        found = self._map(_block, list(enumerate(todo)), works, numbers)
        return pairs.together(found, ours, theirs)

    def shared_parts(self, ours: Sequence[mpz], stored: StoredModuli | None) -> list[mpz]:
        """Return the gcd of each of ours with the product of the others, and of what is stored."""
        if not ours:
            return []
        share, sizes = self._cluster.share, [number.bit_length() for number in ours]
        ranges = cut(sizes, subset_count(sum(sizes), len(self._cluster.workers)))
        works = [float(sum(sizes[r.start : r.stop]) * len(r).bit_length()) for r in ranges]
        ups, downs = [UP * work for work in works], [(1 - UP) * work for work in works]
        passes = [] if stored is None else self._pieces(stored, sum(sizes))
        apart = len(ranges) > 1 or bool(passes)
        self._expected += sum(works) + sum(work for _, work in passes)
        subsets = [share((i, list(ours[r.start : r.stop]))) for i, r in enumerate(ranges)]
        products = self._map(_product, subsets, ups) if apart else []
        rests = self._rests(stored, passes, products) if stored and passes else []
        last = downs if apart else works
        found = self._map(_parts, subsets, last, share(products), share(rests))
        parts = [mpz(1)] * len(ours)
        for r, few in zip(ranges, found, strict=True):
            for i, part in few:
                parts[r.start + i] = part
        return parts

    def _rests(
        self, stored: StoredModuli, pieces: Sequence[Piece], products: Sequence[mpz]
    ) -> list[mpz]:
        """Return the product of all that is stored, modulo each of the products."""
        items = ((i, stored.products[r.start : r.stop]) for i, (r, _) in enumerate(pieces))
        works = [work for _, work in pieces]
        found = self._map(_residues, items, works, self._cluster.share(list(products)))
        rests = zip(products, zip(*found, strict=True), strict=True)
        last = [(i, product, list(each)) for i, (product, each) in enumerate(rests)]
        return self._map(_rest, last, [0.0] * len(last))

    def stored_sharing(self, stored: StoredModuli, divisor: mpz) -> list[tuple[int, mpz]]:
        """Return the stored moduli that are not coprime to `divisor`, with their indices."""
        moduli = stored.numbers()
        pieces = self._pieces(stored, 0)
        items = (
            (i, moduli[GROUP * r.start : GROUP * r.stop], stored.products[r.start : r.stop])
            for i, (r, _) in enumerate(pieces)
        )
        found = self._map(_search, items, [0.0] * len(pieces), self._cluster.share(divisor))
        return [
            (GROUP * r.start + i, number)
            for (r, _), few in zip(pieces, found, strict=True)
            for i, number in few
        ]

    def _pieces(self, stored: StoredModuli, answer: int) -> list[Piece]:
        sizes = [product.bit_length() for product in stored.products]
        count = piece_count(sum(sizes), answer, len(self._cluster.workers))
        return [(r, float(sum(sizes[r.start : r.stop]))) for r in cut(sizes, count)]

    # --- progress --------------------------------------------------------------------

    def _map(
        self, function: Callable[..., Any], items: Iterable[Any], works: Sequence[float], *args: Any
    ) -> list[Any]:
        """Return function(item, tag, *args) of each item, which begins with its place.

        A shared item does so, too. works: of each, in units of what is expected.
        """
        tag = (self._run, len(self._works))
        with self._telling:
            self._works += works
            self._done += [0.0] * len(works)
        found: list[Any] = [None] * len(works)
        results: Any = self._cluster.map(function, items, tag, *args, ordered=False)
        with closing(results):
            for place, result in results:
                found[place] = result
                self._set(tag[1] + place, 1.0)
                if self._error is not None:
                    raise self._error
        return found

    def _heard(self, name: str, news: Any) -> None:
        """Take news of a task, in a thread of the cluster's."""
        run, task, share = news
        if run == self._run and self._error is None:
            try:
                self._set(task, share)
            except BaseException as error:  # to be raised where somebody waits
                self._error = error

    def _set(self, task: int, share: float) -> None:
        with self._telling:
            self._done[task] = max(self._done[task], share)
            done = sum(w * d for w, d in zip(self._works, self._done, strict=True))
            if self._progress is not None and self._expected:
                self._progress(min(done / self._expected, 1.0))


# --- what workers do -----------------------------------------------------------------


class _StoppedError(Exception):
    """Raised where nobody wants the result any more."""


def _look(tag: Tag, place: int) -> Progress:
    """Tells how much of a task is done, and ends it where nobody waits; now and then."""
    at = time.monotonic() + _TELL

    def look(share: float) -> None:
        nonlocal at
        if time.monotonic() < at:
            return
        at = time.monotonic() + _TELL
        if worker.stopping():
            raise _StoppedError
        run, first = tag
        worker.tell((run, first + place, share))

    return look


@cache
@contextmanager
def _workers(tag: Tag, place: int) -> Iterator[Workers]:
    look = _look(tag, place)
    with gmpy2.context(gmpy2.get_context()), Workers(worker.threads(), look) as workers:
        try:
            yield workers
        except BaseException:
            _grown.clear()
            raise


def _block(
    item: tuple[int, pairs.Block], tag: Tag, numbers: tuple[Numbers, Numbers]
) -> tuple[pairs.Indices, pairs.Indices]:
    place, block = item
    all_pairs = worker.kept(tag[0], lambda: pairs.DevicePairs(engines.named("cuda"), *numbers))
    return all_pairs.sharing(block, _look(tag, place))


# By run and place, the tree that this worker has grown last, until it goes down it. It is given
# the same subset again, as it has the numbers, if it lives and is not too busy.
_grown: dict[tuple[str, int], trees.Tree] = {}


def _product(subset: Subset, tag: Tag) -> mpz:
    place, numbers = subset
    _grown.clear()
    with _workers(tag, place) as workers:
        workers.expect(trees.work(numbers))
        kept = trees.fits(numbers, worker.memory())
        tree = trees.Tree(numbers, workers, sums=kept, whole=workers.threads == 1)
        if kept:
            _grown[tag[0], place] = tree
        return tree.root()


def _residues(item: Subset, tag: Tag, moduli: Sequence[mpz]) -> list[mpz]:
    """Return the product of stored products, modulo each of the others."""
    place, products = item
    with _workers(tag, place) as workers:
        return [stored.product_modulo(products, modulus, workers) for modulus in moduli]


def _rest(item: tuple[int, mpz, list[mpz]], tag: Tag) -> mpz:
    place, modulus, rests = item
    with _workers(tag, place) as workers:
        return trees.product_modulo(rests, modulus, workers)


def _parts(
    subset: Subset, tag: Tag, products: list[mpz], rests: list[mpz]
) -> list[tuple[int, mpz]]:
    """Return what is above 1 of what each number shares, with its place in the subset."""
    place, numbers = subset
    others = [*products[:place], *products[place + 1 :], *rests[place : place + 1]]
    with _workers(tag, place) as workers:
        outside = trees.together(others, workers) if others else None
        tree = _grown.pop((tag[0], place), None)
        if tree is not None:
            workers.expect(trees.work(numbers))
            parts = tree.parts(workers, outside)
        else:
            parts = trees.shared_parts(numbers, workers, outside=outside, memory=worker.memory())
    return [(i, part) for i, part in enumerate(parts) if part > 1]


def _search(
    item: tuple[int, list[mpz], list[mpz]], tag: Tag, divisor: mpz
) -> list[tuple[int, mpz]]:
    place, moduli, products = item
    with _workers(tag, place) as workers:
        return stored.search(moduli, products, divisor, workers)
