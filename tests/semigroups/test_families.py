"""The families' generators, against their definitions word by word."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from math import factorial

import numpy as np
import pytest

import semigroups
from kernels.transformations import MAX_DEGREE
from semigroups import families
from semigroups.families import FAMILIES, Family

Word = tuple[int, ...]
ROOK_VECTORS = [1, 2, 7, 34, 209, 1546, 13327, 130922]


def permutations(n: int) -> list[Word]:
    return list(itertools.permutations(range(1, n + 1)))


def rook_vectors(n: int) -> list[Word]:
    words = itertools.product(range(n + 1), repeat=n)
    return [w for w in words if all(w.count(letter) <= 1 for letter in range(1, n + 1))]


def antisorted(word: Word, i: int) -> Word:
    """Letters i and i + 1, from 0, as a descent."""
    a, b = sorted(word[i : i + 2])
    return (*word[:i], b, a, *word[i + 2 :])


def ordered(word: Word, i: int) -> Word:
    a, b = sorted(word[i : i + 2])
    return (*word[:i], a, b, *word[i + 2 :])


def exchanged(word: Word, i: int) -> Word:
    """pi_i by the text: exchange the two if the first is less; zeros stay as they are."""
    return antisorted(word, i) if word[i] < word[i + 1] else word


def images(words: list[Word], act: Callable[..., Word], *args: int) -> list[int]:
    return [words.index(act(word, *args)) for word in words]


def cleared(word: Word) -> Word:
    return (0, *word[1:])


def test_the_examples_of_the_definitions() -> None:
    assert semigroups.bihecke(3).tolist() == [
        [2, 4, 2, 5, 4, 5],
        [1, 1, 3, 3, 5, 5],
        [0, 1, 0, 3, 1, 3],
        [0, 0, 2, 2, 4, 4],
    ]
    assert semigroups.zero_rook(2).tolist() == [[0, 1, 2, 0, 2, 0, 1], [0, 3, 5, 3, 6, 5, 6]]


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_bihecke_and_zero_hecke(n: int) -> None:
    words = permutations(n)
    up = [images(words, antisorted, i) for i in range(n - 1)]
    down = [images(words, ordered, i) for i in range(n - 1)]
    assert families.bihecke(n).tolist() == up + down
    assert families.zero_hecke(n).tolist() == up


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_zero_rook(n: int) -> None:
    words = rook_vectors(n)
    assert len(words) == ROOK_VECTORS[n]
    expected = [images(words, cleared)]
    expected += [images(words, exchanged, i) for i in range(n - 1)]
    assert families.zero_rook(n).tolist() == expected


def test_families_on_few_points() -> None:
    assert families.full(1).tolist() == [[0]]
    assert families.full(2).tolist() == [[1, 0], [0, 0]]
    assert families.full(4).tolist() == [[1, 2, 3, 0], [1, 0, 2, 3], [0, 1, 2, 0]]
    assert families.symmetric(1).tolist() == [[0]]
    assert families.symmetric(2).tolist() == [[1, 0]]
    assert families.symmetric(3).tolist() == [[1, 2, 0], [1, 0, 2]]
    assert families.order_preserving(3).tolist() == [[1, 1, 2], [0, 2, 2], [0, 0, 2], [0, 1, 1]]
    assert families.regressive(3).tolist() == [[0, 0, 2], [0, 1, 0], [0, 1, 1]]
    assert families.catalan(3).tolist() == [[0, 0, 2], [0, 1, 1]]


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
def test_what_a_family_says_of_its_generators(name: str, n: int) -> None:
    if n == 1 and name not in ("zero_rook", "full", "symmetric"):
        with pytest.raises(ValueError, match=f"^{name}:1: n is 2 or more$"):
            Family(name, n)
        return
    family = Family(name, n)
    generators = family.generators()
    assert generators.shape == (family.count, family.degree)
    assert generators.nbytes == family.nbytes
    assert generators.max() < family.degree
    assert generators.flags.c_contiguous
    # No generator is there twice.
    assert len(np.unique(generators, axis=0)) == family.count
    assert Family.parse(str(family)) == family


@pytest.mark.parametrize(
    ("text", "degree", "dtype"),
    [
        ("bihecke:5", 120, np.uint8),
        ("zero_rook:4", 209, np.uint8),
        ("catalan:256", 256, np.uint8),
        ("catalan:257", 257, np.uint16),
        ("bihecke:6", 720, np.uint16),
        ("zero_hecke:8", 40320, np.uint16),
        ("symmetric:65536", 65536, np.uint16),
        ("full:65537", 65537, np.uint32),
        ("zero_rook:7", 130922, np.uint32),
    ],
)
def test_the_smallest_type_that_fits(text: str, degree: int, dtype: type) -> None:
    generators = Family.parse(text).generators()
    assert generators.shape[1] == degree
    assert generators.dtype == dtype


def test_larger_words_are_still_in_order() -> None:
    """Idempotent, the first word 12 … n goes up only, the last one down only."""
    for generators in (families.bihecke(8), families.zero_rook(7)):
        for x in generators:
            assert np.array_equal(x[x], x)
    up, down = np.split(families.bihecke(8), 2)
    places = np.arange(factorial(8))
    assert (up >= places).all()
    assert (down <= places).all()
    # pi_i and its opposite join the same two words.
    for x, y in zip(up, down, strict=True):
        assert np.array_equal(x[y], x)
        assert np.array_equal(y[x], y)


@pytest.mark.parametrize(
    ("text", "family"),
    [
        ("bihecke:5", "bihecke:5"),
        ("biHecke:5", "bihecke:5"),
        (" Bi-Hecke : 5 ", "bihecke:5"),
        ("zero_rook:4", "zero_rook:4"),
        ("0rook:4", "zero_rook:4"),
        ("0-rook:4", "zero_rook:4"),
        ("zerorook:04", "zero_rook:4"),
        ("Renner A:7", "zero_rook:7"),
        ("0-Hecke:3", "zero_hecke:3"),
        ("full:3", "full:3"),
        ("full transformation:3", "full:3"),
        ("T:3", "full:3"),
        ("S:4", "symmetric:4"),
        ("sym:4", "symmetric:4"),
        ("order-preserving:6", "order_preserving:6"),
        ("regressive:6", "regressive:6"),
        ("Catalan:6", "catalan:6"),
    ],
)
def test_names(text: str, family: str) -> None:
    assert str(Family.parse(text)) == family


KNOWN = ", ".join(FAMILIES)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", f"unknown family '': there are {KNOWN}, each with its n, as in bihecke:5"),
        ("5", f"unknown family '5': there are {KNOWN}, each with its n, as in bihecke:5"),
        ("x" * 50, f"unknown family '{'x' * 39}…': there are {KNOWN}, each with its n, as in "),
        ("bihecke", "bihecke of which n? Write it as bihecke:4"),
        ("0rook", "zero_rook of which n? Write it as zero_rook:4"),
        ("bihecke:", "'' is no n of bihecke: write it as bihecke:4"),
        ("full:3:4", "'3:4' is no n of full: write it as full:4"),
        ("full:-3", "'-3' is no n of full: write it as full:4"),
        ("full:٣", "'٣' is no n of full: write it as full:4"),
        ("full:1_0", "'1_0' is no n of full: write it as full:4"),
        ("full:" + "9" * 5000, f"'{'9' * 39}…' is no n of full: write it as full:4"),
        ("full:0", "full:0: n is 1 or more"),
        ("zero_rook:0", "zero_rook:0: n is 1 or more"),
        ("bihecke:1", "bihecke:1: n is 2 or more"),
        ("bihecke:13", "bihecke:13: n is 12 or less, for a degree of at most 2^32"),
        ("0rook:12", "zero_rook:12: n is 11 or less, for a degree of at most 2^32"),
        ("s:4294967297", "symmetric:4294967297: n is 4294967296 or less, for a degree of"),
    ],
)
def test_what_names_no_family(text: str, message: str) -> None:
    with pytest.raises(ValueError, match="^" + re.escape(message)) as error:
        Family.parse(text)
    assert "\n" not in str(error.value)


def test_the_functions_check_n_too() -> None:
    with pytest.raises(ValueError, match=r"^catalan:1: n is 2 or more$"):
        families.catalan(1)
    with pytest.raises(ValueError, match=r"^bihecke:13: n is 12 or less"):
        families.bihecke(13)
    with pytest.raises(ValueError, match=r"^unknown family 'hecke': there are bihecke, "):
        Family("hecke", 3)


@pytest.mark.parametrize("name", FAMILIES)
def test_the_largest_n(name: str) -> None:
    """It has a degree of at most 2^32, and no larger one has; none is made here."""
    kind = families._FAMILIES[name]
    assert Family(name, kind.most).degree <= MAX_DEGREE < kind.degree(kind.most + 1)
    with pytest.raises(ValueError, match=r"2\^32"):
        Family(name, kind.most + 1)


def test_numbers_of_rook_vectors() -> None:
    assert [Family("zero_rook", n).degree for n in range(1, 8)] == ROOK_VECTORS[1:]
