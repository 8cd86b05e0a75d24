"""Which numbers share a factor with any of the others: trees of products and of fractions.

For every n_i of a set with product P, P/n_i mod n_i is wanted: its gcd with n_i is what
n_i shares. Not P mod n_i^2, as is usual: the sum S of all P/n_j leaves the same remainder
mod n_i (all its terms but one are multiples of n_i), and is half as long. S comes up the
tree with the products: (P, S) = (P_l P_r, S_l P_r + S_r P_l).

Down go fractions S/P mod 1, not remainders (Bernstein, Scaled remainder trees, 2004):
S/P_l = S/P * P_r, of which only the bits behind the point are kept, and as many of them
as P_l has. So no level divides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import gmpy2
from gmpy2 import mpz

from arith.memory import NotEnoughMemoryError
from kernels.targets.memory import available_memory

from .workers import Workers, release_gil

# Bits of a fraction beyond those of its denominator. The error, in units of the last bit,
# at most doubles and grows by one with each level: with up to 2^40 numbers, and at the
# leaf times a denominator, it stays far below 1/2.
GUARD = 64

# What a thread does at a time: trees of this many leaves. A power of two, so that their
# levels side by side are those of the whole tree.
BRANCH_LEAVES = 256

_SMALL = 1 << 24  # bytes that are not worth asking about

Levels = list[list[mpz]]
Outside = Callable[[mpz], mpz]


def product_levels(leaves: Sequence[mpz]) -> Levels:
    """Return the leaves, the products of their pairs, and so on up to one product; not of none."""
    levels = [list(leaves)]
    while len(levels[-1]) > 1:
        levels.append(_pairwise(levels[-1]))
    return levels


def product(numbers: Sequence[mpz]) -> mpz:
    """Return the product of all numbers; 1 of none."""
    level = list(numbers) or [mpz(1)]
    while len(level) > 1:
        level = _pairwise(level)
    return level[0]


def _pairwise(level: Sequence[mpz]) -> list[mpz]:
    release_gil(level[0].bit_length())
    even = len(level) & ~1
    above = [level[i] * level[i + 1] for i in range(0, even, 2)]
    above.extend(level[even:])
    return above


def remainders(number: mpz, moduli: Sequence[mpz]) -> list[mpz]:
    """Return number mod each of the moduli, which may be many; by a remainder tree."""
    if not moduli:
        return []
    levels = product_levels(moduli)
    release_gil(levels[-1][0].bit_length())
    row = [number % levels.pop()[0]]
    while levels:
        level = levels.pop()
        release_gil(level[0].bit_length())
        row = [row[i >> 1] % modulus for i, modulus in enumerate(level)]
    return row


def shared_parts(
    numbers: Sequence[mpz],
    workers: Workers,
    *,
    outside: Outside | None = None,
    memory: int | None = None,
) -> list[mpz]:
    """Return gcd(n, product of all the others) for each of the numbers.

    numbers: each at least 2. outside: returns the product of further numbers, which are
    not asked about, modulo its argument. memory: bytes that may be taken [what is free].
    Where one tree over all would take more, there are several, and each has the products
    of the others as its outside. Raises MemoryError, before it is taken, where that too
    is more than there is.
    """
    if not numbers:
        return []
    blocks = _blocks(numbers, available_memory() if memory is None else memory)
    workers.expect(sum(2.0 * work(block) for block in blocks))
    if len(blocks) == 1:
        return Tree(numbers, workers, sums=True).parts(workers, outside)
    workers.expect(sum(float(work(block)) for block in blocks))
    products = [Tree(block, workers, sums=False).root() for block in blocks]
    parts: list[mpz] = []
    for index, block in enumerate(blocks):
        others = products[:index] + products[index + 1 :]
        tree = Tree(block, workers, sums=True)
        parts += tree.parts(workers, together(others, workers, outside))
    return parts


def fits(numbers: Sequence[mpz], memory: int) -> bool:
    """Return whether one tree over them does. Raises MemoryError where several would not either."""
    return len(_blocks(numbers, memory)) == 1


def product_modulo(factors: Sequence[mpz], modulus: mpz, workers: Workers) -> mpz:
    """Return the product of all factors, modulo another number."""
    row = list(factors) or [mpz(1)]

    def multiply(a: mpz, b: mpz) -> mpz:
        release_gil(modulus.bit_length())
        return a * b % modulus

    while len(row) > 1:
        even = len(row) & ~1
        row = workers.map(multiply, [row[0:even:2], row[1:even:2]]) + row[even:]
    return row[0] % modulus


def together(products: Sequence[mpz], workers: Workers, outside: Outside | None = None) -> Outside:
    """Return a function of a modulus: the product of these, and of those outside, modulo it."""

    def all_of_them(modulus: mpz) -> mpz:
        further = [] if outside is None else [outside(modulus)]
        return product_modulo([*products, *further], modulus, workers)

    return all_of_them


def work(numbers: Sequence[mpz]) -> int:
    """Return the work of going up or down a tree once: its levels, times what a level has."""
    return len(numbers) * len(numbers).bit_length()


def tree_bytes(count: int, bits: int) -> int:
    """Return the bytes of shared_parts() for one tree over `count` numbers of `bits` bits in all.

    A level of products for every halving, and about as much as 19 levels beside them at
    the top, measured: sums or fractions, products of twice their length, and what GMP
    takes to make those. Every number has its own overhead besides.
    """
    levels = max(count - 1, 1).bit_length() + 1
    return (levels + 19) * (bits // 8 + 1) + 160 * count


def _blocks(numbers: Sequence[mpz], memory: int) -> list[Sequence[mpz]]:
    """Part the numbers so that a tree over each part fits beside the products of all."""
    bits = sum(number.bit_length() for number in numbers)
    parts = 1
    while parts <= 64:
        per = -(-len(numbers) // parts)
        need = tree_bytes(per, -(-bits // parts)) + (bits // 8 if parts > 1 else 0)
        if need <= max(memory, _SMALL):
            return [numbers[i : i + per] for i in range(0, len(numbers), per)]
        parts *= 2
    raise NotEnoughMemoryError("the product trees", need, memory, "need about")


class Tree:
    """Products of all levels, and of the top ones the sums. Of at least one number.

    whole: with the root. Without it fractions begin at the two below, which two threads can
    do at once; but one thread, which has an outside to bring in, does that once at the root.
    """

    def __init__(
        self, numbers: Sequence[mpz], workers: Workers, *, sums: bool, whole: bool = False
    ) -> None:
        self._count = len(numbers)
        self._work = work(numbers)
        branches = [numbers[i : i + BRANCH_LEAVES] for i in range(0, len(numbers), BRANCH_LEAVES)]
        height = min(len(numbers) - 1, BRANCH_LEAVES - 1).bit_length()
        grown = workers.map(
            lambda branch: _grow(branch, height, sums),
            [branches],
            self._work * self._share(height),
        )
        self._levels: Levels = [
            [number for levels, _ in grown for number in levels[at]] for at in range(height + 1)
        ]
        self._branch_height = height
        self._sums = [total for _, total in grown]
        while len(self._levels[-1]) > (1 if whole else 2):
            self._rise(workers, sums)

    def _share(self, levels: int) -> float:
        return levels / max(self._count.bit_length(), 1)

    def _rise(self, workers: Workers, sums: bool) -> None:
        below, even = self._levels[-1], len(self._levels[-1]) & ~1
        left, right = below[0:even:2], below[1:even:2]
        a, b = (left, right) if not sums else (
            left + self._sums[0:even:2] + self._sums[1:even:2],
            right + right + left,
        )  # fmt: skip
        made = workers.map(_multiply, [a, b], self._work * self._share(1))
        half = len(left)
        self._levels.append(made[:half] + below[even:])
        if sums:
            crossed = zip(made[half : 2 * half], made[2 * half :], strict=True)
            self._sums = [x + y for x, y in crossed] + self._sums[even:]

    def root(self) -> mpz:
        """Return the product of all leaves."""
        return product(self._levels[-1])

    def parts(self, workers: Workers, outside: Outside | None) -> list[mpz]:
        """Return the gcd of each leaf with the product of the others, and of those outside.

        Takes the levels away as it goes down.
        """
        top = self._levels[-1]
        rest = None if outside is None else outside(self.root())
        if len(top) == 1:
            numerators = [self._sums[0]]
        else:
            numerators = workers.map(_multiply, [self._sums, top[::-1]])
        fractions = workers.map(
            _first_fraction, [numerators, top, [rest] * len(top)], self._work * self._share(1)
        )
        self._sums = []
        while len(self._levels) > self._branch_height + 1:
            above, below = self._levels.pop(), self._levels[-1]
            even = len(below) & ~1
            sink = [fractions[i >> 1] for i in range(even)]
            widths = [above[i >> 1].bit_length() for i in range(even)]
            siblings = [below[i ^ 1] for i in range(even)]
            made = workers.map(
                _next_fraction, [sink, widths, siblings, below[:even]], self._work * self._share(1)
            )
            fractions = made + fractions[even >> 1 :]
        branches = [self._branch(i) for i in range(len(fractions))]
        self._levels = []
        found = workers.map(
            _leaf_parts, [branches, fractions], self._work * self._share(self._branch_height)
        )
        return [part for parts in found for part in parts]

    def _branch(self, index: int) -> Levels:
        """Return the levels below a number of the level `branch_height`."""
        height = self._branch_height
        return [
            level[index << (height - at) : (index + 1) << (height - at)]
            for at, level in enumerate(self._levels)
        ]


def _multiply(a: mpz, b: mpz) -> mpz:
    release_gil(a.bit_length())
    return a * b


def _grow(leaves: Sequence[mpz], height: int, sums: bool) -> tuple[Levels, mpz]:
    """Return `height` + 1 levels of products, and the sum that belongs to the last of them."""
    levels = [list(leaves)]
    totals = [mpz(1)] * len(leaves)
    for _ in range(height):
        below = levels[-1]
        levels.append(_pairwise(below))
        if sums:
            even = len(below) & ~1
            totals = [
                totals[i] * below[i + 1] + totals[i + 1] * below[i] for i in range(0, even, 2)
            ] + totals[even:]
    return levels, totals[0]


def _first_fraction(numerator: mpz, modulus: mpz, rest: mpz | None) -> mpz:
    """Return numerator * rest / modulus mod 1, with as many bits as the modulus, and GUARD."""
    width = modulus.bit_length()
    release_gil(width)
    remainder = numerator % modulus
    if rest is not None:
        remainder = remainder * (rest % modulus) % modulus
    return (remainder << (width + GUARD)) // modulus


def _next_fraction(fraction: mpz, width: int, sibling: mpz, modulus: mpz) -> mpz:
    """Take the fraction over modulus * sibling, a product of `width` bits, to that over modulus."""
    release_gil(width)
    kept = modulus.bit_length()
    return gmpy2.f_mod_2exp((fraction * sibling) >> (width - kept), kept + GUARD)


def _leaf_parts(levels: Levels, fraction: mpz) -> list[mpz]:
    """Take the fraction over the only number of the last level to the gcds of the leaves."""
    fractions = [fraction]
    while len(levels) > 1:
        above, below = levels.pop(), levels[-1]
        release_gil(above[0].bit_length())
        even = len(below) & ~1
        made = []
        for i in range(0, even, 2):
            half, left, right = fractions[i >> 1], below[i], below[i + 1]
            width = above[i >> 1].bit_length()
            kept = left.bit_length()
            made.append(gmpy2.f_mod_2exp((half * right) >> (width - kept), kept + GUARD))
            kept = right.bit_length()
            made.append(gmpy2.f_mod_2exp((half * left) >> (width - kept), kept + GUARD))
        fractions = made + fractions[even >> 1 :]
    parts = []
    for leaf, part in zip(levels[0], fractions, strict=True):
        places = leaf.bit_length() + GUARD
        remainder = (part * leaf + (mpz(1) << (places - 1))) >> places  # to the nearest
        parts.append(gmpy2.gcd(remainder, leaf))
    return parts
