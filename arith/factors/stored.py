"""Sets of moduli kept in a file, so that new ones are checked against them at little cost.

An HDF5 file of IntArrays (arith/storage.py) with `type` = "moduli": the groups `moduli`;
`products`, those of GROUP moduli each, one after the other; `names`, the bytes of each
name (UTF-8) as a number, the first the lowest; `digests`, XXH3 of the limbs of the three.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import gmpy2
import xxhash
from gmpy2 import mpz

from arith import storage
from arith.convert import pack
from arith.integer import IntArray
from bulkbits.exit_codes import DamagedFileError
from kernels.bignum.numbers import Numbers

from . import trees
from .numbers import Moduli, as_mpz
from .trees import product, remainders
from .workers import Workers, release_gil

KIND = "moduli"
GROUP = 256
_PARTS = ("moduli", "products", "names")
_BATCH_BITS = 1 << 20


class StoredModuli:
    """A set that save_moduli() has written. Products are read when asked for, moduli only
    where something was found. Raises ValueError with the path where the file is damaged
    or no such set, OSError where it cannot be opened.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self.products = as_mpz(self._load("products"))

    def _load(self, part: str) -> IntArray:
        loaded = storage.load(self.path, [part, "digests"], KIND)
        digests = IntArray.from_numbers(loaded["digests"]).to_ints()
        if len(digests) != len(_PARTS) or digests[_PARTS.index(part)] != _digest(loaded[part]):
            raise DamagedFileError(f"{self.path}: {part} are damaged: their digest is another")
        return IntArray.from_numbers(loaded[part])

    def moduli(self) -> IntArray:
        """Return the moduli. Raises ValueError where the file contradicts itself."""
        moduli = self._load("moduli")
        if -(-len(moduli) // GROUP) != len(self.products):
            raise ValueError(f"{self.path}: {len(moduli)} moduli, {len(self.products)} products")
        return moduli

    def names(self) -> list[str]:
        """Return a name for each modulus, empty where none was given."""
        return [_text(number) for number in self._load("names").to_ints()]

    def numbers(self) -> list[mpz]:
        """Return moduli() as GMP has them."""
        return as_mpz(self.moduli())

    def product_modulo(self, modulus: mpz, workers: Workers) -> mpz:
        """Return the product of all moduli modulo another number, in one pass over the products."""
        return product_modulo(self.products, modulus, workers)

    def sharing(self, divisor: mpz, workers: Workers) -> list[tuple[int, mpz]]:
        """Return the moduli that are not coprime to `divisor`, with their indices."""
        return search(self.numbers(), self.products, divisor, workers)


def product_modulo(products: Sequence[mpz], modulus: mpz, workers: Workers) -> mpz:
    """Return the product of products of GROUP moduli each, modulo another number."""

    def residue(batch: Sequence[mpz]) -> mpz:
        factor = product(batch)
        release_gil(factor.bit_length())
        return factor % modulus

    size = _groups_of(max(modulus.bit_length(), _BATCH_BITS), products)
    rests = workers.map(residue, [_parted(products, size)])
    return trees.product_modulo(rests, modulus, workers)


def search(
    moduli: Sequence[mpz], products: Sequence[mpz], divisor: mpz, workers: Workers
) -> list[tuple[int, mpz]]:
    """Those that are not coprime to `divisor`, with their indices. products: of GROUP each."""
    size = _groups_of(divisor.bit_length(), products)

    def some(start: int) -> list[tuple[int, mpz]]:
        whole = products[start // GROUP]
        release_gil(divisor.bit_length())
        # A longer divisor makes this test as dear as the search itself.
        short = 16 * divisor.bit_length() <= whole.bit_length()
        if short and gmpy2.gcd(whole % divisor, divisor) == 1:
            return []
        chosen = _valid(moduli[start : start + size * GROUP])
        rests = remainders(divisor, chosen)
        return [
            (start + i, number)
            for i, (number, rest) in enumerate(zip(chosen, rests, strict=True))
            if gmpy2.gcd(number, rest) > 1
        ]

    found = workers.map(some, [range(0, len(moduli), size * GROUP)])
    return [each for batch in found for each in batch]


def _groups_of(bits: int, products: Sequence[mpz]) -> int:
    """Return how many groups have a product of about so many bits; 1 at least."""
    longest = max((each.bit_length() for each in products), default=1)
    return max(1, bits // longest)


def save_moduli(
    path: str | os.PathLike[str],
    moduli: Moduli,
    *,
    names: Sequence[str] | None = None,
    onto: StoredModuli | None = None,
) -> None:
    """Keep moduli for shared_factors(against=path); put under its name when whole.

    names: one for each, returned by StoredModuli.names(). onto: a set whose moduli come
    first in the new one. Raises ValueError where names are too many or too few.
    """
    array = moduli if isinstance(moduli, IntArray) else IntArray(moduli)
    if names is None:
        names = [""] * len(array)
    if len(names) != len(array):
        raise ValueError(f"{len(names)} names for {len(array)} moduli")
    labels = IntArray([int.from_bytes(name.encode(), "little") for name in names])
    products: list[mpz] = []
    if onto is not None:
        before = onto.moduli()
        products = onto.products[: len(before) // GROUP]
        array = IntArray.concatenate([before, array])
        labels = IntArray.concatenate([onto._load("names"), labels])
    rest = as_mpz(array[len(products) * GROUP :])
    with gmpy2.context(gmpy2.get_context()):
        products = products + [product(_valid(group)) for group in _parted(rest, GROUP)]
    parts = dict(zip(_PARTS, (array, IntArray(list(map(int, products))), labels), strict=True))
    batches = {name: part.numbers() for name, part in parts.items()}
    digests = IntArray([_digest(batch) for batch in batches.values()])
    storage.save(path, {**batches, "digests": digests.numbers()}, KIND)


def _valid(moduli: Sequence[mpz]) -> list[mpz]:
    """Return moduli with 1 for what is no modulus, and shares nothing."""
    return [max(number, mpz(1)) for number in moduli]


def _parted(numbers: Sequence[mpz], size: int) -> list[Sequence[mpz]]:
    return [numbers[i : i + size] for i in range(0, len(numbers), size)]


def _digest(numbers: Numbers) -> int:
    packed = pack(numbers)
    lengths = xxhash.xxh3_64_intdigest(packed.length_array().tobytes())
    return int(xxhash.xxh3_64_intdigest(packed.words.tobytes(), seed=lengths))


def _text(number: int) -> str:
    raw = number.to_bytes((number.bit_length() + 7) // 8, "little")
    return raw.decode(errors="backslashreplace")
