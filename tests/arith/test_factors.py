"""Shared primes: against the factorisations that the moduli were made from."""

from __future__ import annotations

import math
import threading
from collections import Counter

import gmpy2
import h5py
import pytest
from gmpy2 import mpz
from hypothesis import given, settings
from hypothesis import strategies as st

from arith import engines
from arith.factors import Finding, Kind, StoredModuli, pairs, save_moduli, shared_factors, trees
from arith.factors.coprime import coprime_base, touching
from arith.factors.trees import product, remainders, shared_parts
from arith.factors.workers import Workers
from arith.integer import IntArray
from kernels.bignum.cuda.engine import DeviceArithmetic
from kernels.targets.contract import BackendUnavailableError
from tests.emulation import EmulatedDevice
from tests.interrupts import assert_threads_end
from tests.leaks import leaked
from tests.quick import examples

SMALL = [2, 3, 5, 7, 11, 13]
LARGE = [int(gmpy2.next_prime(1 << bits)) for bits in (16, 31, 64, 65, 127)]
PRIMES = [[p] for p in range(17, 700, 2) if gmpy2.is_prime(p)][:110]  # a modulus each

# A modulus is a list of primes.
moduli_of_primes = st.lists(
    st.lists(st.sampled_from(SMALL + LARGE), min_size=1, max_size=4), max_size=12
)


def expected(
    new: list[list[int]], stored: list[list[int]] = (), primes: list[int] = SMALL + LARGE
) -> set[Finding]:
    """Return the findings that the primes imply, by the definition of each kind."""
    values, theirs = products(new), products(stored)
    exponents = {math.prod(modulus): Counter(modulus) for modulus in [*new, *stored]}

    def where(chosen: set[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return (
            tuple(i for i, value in enumerate(values) if value in chosen),
            tuple(i for i, value in enumerate(theirs) if value in chosen),
        )

    found = set()
    even = {value for value in values if value % 2 == 0}
    if even:
        found.add(Finding(Kind.EVEN, 2, where(even)[0]))
    for value in set(values):
        if sum(map(len, where({value}))) > 1:
            found.add(Finding(Kind.DUPLICATE, value, *where({value})))
    # Only what shares something with a new modulus is looked at among the stored.
    seen = {
        value
        for value in exponents
        if value in values or any(math.gcd(value, each) > 1 for each in values)
    }
    for value in seen:
        multiples = {other for other in seen if other != value and other % value == 0}
        if multiples:
            if where({value, *multiples})[0]:
                found.add(Finding(Kind.DIVIDES, value, *where({value, *multiples})))
            if value in values and sum(exponents[value].values()) == 1:
                found.add(Finding(Kind.PRIME, value, *where({value})))
    # Primes that are everywhere in the same proportion cannot be told apart.
    shared: dict[tuple, list[tuple[int, int]]] = {}
    for prime in primes:
        holders = {value for value in seen if value % prime == 0}
        if len(holders) > 1 and where(holders)[0]:
            vector = {value: exponents[value][prime] for value in holders}
            unit = math.gcd(*vector.values())
            key = tuple(sorted((value, power // unit) for value, power in vector.items()))
            shared.setdefault(key, []).append((prime, unit))
    for key, powers in shared.items():
        smallest = math.gcd(*(unit for _, unit in powers))
        divisor = math.prod(prime ** (unit // smallest) for prime, unit in powers)
        kind = Kind.SHARED_PRIME if len(powers) == 1 else Kind.SHARED_DIVISOR
        at = where({value for value, _ in key})
        if divisor != 2:
            found.add(Finding(kind, divisor, *at))
    return found


def products(moduli: list[list[int]]) -> list[int]:
    return [math.prod(primes) for primes in moduli]


@pytest.fixture(autouse=True)
def low_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that few numbers reach every part of a tree."""
    monkeypatch.setattr(trees, "BRANCH_LEAVES", 4)


@given(moduli_of_primes)
def test_findings_are_those_of_the_factorisations(moduli: list[list[int]]) -> None:
    found = shared_factors(products(moduli))
    assert len(found) == len(set(found))
    assert set(found) == expected(moduli)


@settings(max_examples=examples(25))
@given(moduli_of_primes, moduli_of_primes, moduli_of_primes)
def test_findings_against_a_stored_set(
    tmp_path_factory: pytest.TempPathFactory,
    new: list[list[int]],
    old: list[list[int]],
    older: list[list[int]],
) -> None:
    folder = tmp_path_factory.mktemp("sets")
    save_moduli(folder / "older", products(older))
    save_moduli(folder / "all", products(old), onto=StoredModuli(folder / "older"))
    found = shared_factors(products(new), against=folder / "all")
    assert set(found) == expected(new, older + old)


def test_a_triangle_of_composites_is_taken_apart() -> None:
    p, q, r = (int(gmpy2.next_prime(1 << bits)) for bits in (511, 512, 513))
    assert shared_factors([p * q, q * r, r * p]) == [
        Finding(Kind.SHARED_PRIME, q, (0, 1)),
        Finding(Kind.SHARED_PRIME, p, (0, 2)),
        Finding(Kind.SHARED_PRIME, r, (1, 2)),
    ]


def test_many_composites_are_taken_apart() -> None:
    """Make a ring in which each modulus shares both primes: batch GCD gives nothing but moduli."""
    count, primes = 300, [gmpy2.mpz(1 << 64)]
    while len(primes) <= count:
        primes.append(gmpy2.next_prime(primes[-1]))
    ring = primes[1:]
    found = shared_factors([p * q for p, q in zip(ring, ring[1:] + ring[:1], strict=True)])
    assert {(f.kind, f.value, f.indices) for f in found} == {
        (Kind.SHARED_PRIME, prime, tuple(sorted({(i - 1) % count, i})))
        for i, prime in enumerate(ring)
    }


def test_what_is_no_modulus_is_reported() -> None:
    assert shared_factors([-15, 0, 1, 4, 0, 15]) == [
        Finding(Kind.INVALID, -15, (0,)),
        Finding(Kind.INVALID, 0, (1, 4)),
        Finding(Kind.INVALID, 1, (2,)),
        Finding(Kind.EVEN, 2, (3,)),
    ]
    assert shared_factors([]) == shared_factors([35]) == shared_factors(IntArray([35, 33])) == []


@pytest.mark.parametrize("bad", [1.5, "35", None, float("nan")])
def test_what_is_no_integer_is_refused(bad: object) -> None:
    with pytest.raises(TypeError, match=r"index 1"):
        shared_factors([35, bad])


def test_the_callers_context_of_gmpy2_stays_what_it_is() -> None:
    shared_factors([mpz(1) << 100_000, (mpz(1) << 100_000) + 1])
    assert not gmpy2.get_context().allow_release_gil


@pytest.mark.parametrize("threads", [1, 2])
def test_nothing_is_left_of_a_call(threads: int) -> None:
    """Threads that end take with them what gmpy2 keeps for each."""
    moduli = [15, 35, 77, 3 << 4000]
    size, blocks = leaked(lambda: shared_factors(moduli, backend="cpu", threads=threads))
    assert size < 64
    assert blocks < 0.5


# --- all pairs on a device ----------------------------------------------------------


@pytest.fixture(scope="module")
def emulated() -> DeviceArithmetic:
    return DeviceArithmetic(EmulatedDevice())


@pytest.fixture(scope="module")
def several() -> dict[str, DeviceArithmetic]:
    """Devices by the names that they have as places."""
    return {f"cuda:{i}": DeviceArithmetic(EmulatedDevice()) for i in range(3)}


@settings(max_examples=4)
@given(moduli_of_primes, moduli_of_primes)
def test_pairs_find_what_the_factorisations_say(
    tmp_path_factory: pytest.TempPathFactory,
    emulated: DeviceArithmetic,
    new: list[list[int]],
    old: list[list[int]],
) -> None:
    path = tmp_path_factory.mktemp("sets") / "set"
    save_moduli(path, [*products(old), 0, -1])
    shares: list[float] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engines, "named", lambda place: emulated)
        found = shared_factors(products(new), against=path, backend="cuda", progress=shares.append)
        assert set(found) == expected(new, old)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


@settings(max_examples=4)
@given(moduli_of_primes, moduli_of_primes, st.sampled_from([(1, 2), (2, 0, 1)]))
def test_several_devices_find_what_one_does(
    tmp_path_factory: pytest.TempPathFactory,
    several: dict[str, DeviceArithmetic],
    new: list[list[int]],
    old: list[list[int]],
    devices: tuple[int, ...],
) -> None:
    """Search few groups of numbers, most of which share nothing."""
    path = tmp_path_factory.mktemp("sets") / "set"
    new, old = [*PRIMES[:40], *new, *PRIMES[40:70]], [*PRIMES[60:100], *old]
    save_moduli(path, products(old))
    shares: list[float] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engines, "named", several.__getitem__)
        one = shared_factors(products(new), against=path, backend="cuda")
        found = shared_factors(
            products(new), against=path, backend="cuda", device=devices, progress=shares.append
        )
    assert found == one
    assert shares == sorted(shares)
    assert set(found) == expected(new, old, SMALL + LARGE + [p for [p] in PRIMES])


@given(st.integers(0, 3000), st.integers(0, 3000), st.integers(1, 9))
def test_blocks_have_every_pair_once(ours: int, theirs: int, devices: int) -> None:
    found = pairs.blocks(ours, theirs, devices)
    assert sum(block.pairs for block in found) == ours * (ours - 1) // 2 + ours * theirs
    assert [block.pairs for block in found] == sorted((b.pairs for b in found), reverse=True)
    for others, count in ((False, ours), (True, theirs if ours else 0)):
        groups = [i for block in found if block.theirs == others for i in block.groups]
        assert sorted(groups) == list(range(-(-count // 32)))
    assert len(found) <= (2 if devices == 1 else pairs.BLOCKS * devices + 2)


@pytest.mark.parametrize("bad", [0, 1])
def test_a_device_that_fails_stops_the_others(several, bad: int) -> None:
    class Failing(DeviceArithmetic):
        @property
        def device(self):
            raise MemoryError("no room")

        @device.setter
        def device(self, _) -> None: ...

    on = list(several.values())[:2]
    on[bad] = Failing(EmulatedDevice())
    numbers = [mpz(prime) for [prime] in PRIMES]
    with pytest.raises(MemoryError, match="no room"):
        pairs.sharing(on, numbers, [], None)


def test_an_interrupt_stops_all_devices(several) -> None:
    def stop(share: float) -> None:
        raise KeyboardInterrupt

    before = threading.active_count()
    numbers = [mpz(prime) for [prime] in PRIMES]
    with pytest.raises(KeyboardInterrupt):
        pairs.sharing(list(several.values()), numbers, [], stop)
    assert_threads_end(before + 18)  # threads that devices copy with


def test_a_device_that_is_not_there(monkeypatch) -> None:
    def named(place: str):
        raise BackendUnavailableError(f"no {place}")

    monkeypatch.setattr(engines, "named", named)
    for devices in (1, (0, 1)):
        with pytest.raises(BackendUnavailableError, match="no cuda"):
            shared_factors([15, 35], device=devices)
        with pytest.raises(ValueError, match="devices are GPUs"):
            shared_factors([15, 35], device=devices, backend="cpu")
    assert shared_factors([15, 35])


@pytest.mark.gpu
def test_pairs_and_trees_find_the_same() -> None:
    state = gmpy2.random_state(5)
    moduli = [int(gmpy2.mpz_urandomb(state, 1024)) | 1 for _ in range(2000)]
    assert shared_factors(moduli, backend="cuda") == shared_factors(moduli, backend="cpu")


@pytest.mark.gpu
def test_all_devices_of_a_host_find_the_same(tmp_path) -> None:
    from kernels.targets.cuda.target import device_count

    count = device_count()
    if count < 2:
        pytest.skip("one GPU")
    state = gmpy2.random_state(6)
    moduli = [int(gmpy2.mpz_urandomb(state, 1024)) | 1 for _ in range(3000)]
    save_moduli(tmp_path / "set", moduli[2000:])
    how = {"against": tmp_path / "set", "backend": "cuda"}
    found = shared_factors(moduli[:2000], device=range(count), **how)
    assert found == shared_factors(moduli[:2000], **how)


def test_few_moduli_are_compared_pair_by_pair() -> None:
    few, many = [mpz(1) << 1023] * 100, [mpz(1) << 1023] * 3_000_000
    assert pairs.are_faster(few, [], 1, 2)
    assert not pairs.are_faster(many, [], 1, 2)
    assert not pairs.are_faster([*few, mpz(1) << 200_000], [], 1, 2)


@pytest.mark.parametrize("short_of_memory", [False, True])
def test_auto_falls_back_on_trees(monkeypatch, emulated, short_of_memory: bool) -> None:
    def named(place: str):
        if not short_of_memory:
            raise BackendUnavailableError("no GPU")
        return emulated

    def sharing(*_):
        raise MemoryError("no room")

    monkeypatch.setattr(engines, "named", named)
    monkeypatch.setattr(pairs, "sharing", sharing)
    assert shared_factors([15, 35]) == [Finding(Kind.SHARED_PRIME, 5, (0, 1))]
    with pytest.raises(MemoryError if short_of_memory else BackendUnavailableError):
        shared_factors([15, 35], backend="cuda")
    with pytest.raises(ValueError, match="unknown backend 'gpu'"):
        shared_factors([15, 35], backend="gpu")


# --- the trees ------------------------------------------------------------------

nasty = st.one_of(
    st.integers(2, 20),
    st.integers(1, 3000).map(lambda bits: 1 << bits),
    st.integers(2, 3000).map(lambda bits: (1 << bits) - 1),
    st.integers(1, 3000).map(lambda bits: (1 << bits) + 1),
    st.integers(2, 1 << 600),
).map(mpz)


@given(
    st.lists(nasty, max_size=40, unique=True),
    st.one_of(st.none(), nasty),
    st.integers(1, 5),
    st.integers(1, 3),
)
def test_shared_parts_are_gcds_with_the_product_of_the_others(
    numbers: list[mpz], further: mpz | None, blocks: int, threads: int
) -> None:
    """Use one tree or several."""
    outside = None if further is None else (lambda modulus: further % modulus)
    per = max(1, -(-len(numbers) // blocks))
    parted = [numbers[i : i + per] for i in range(0, len(numbers), per)]
    with Workers(threads) as workers, pytest.MonkeyPatch.context() as patch:
        patch.setattr(trees, "_blocks", lambda *_: parted)
        parts = shared_parts(numbers, workers, outside=outside)
    whole = math.prod(numbers) * (1 if further is None else further)
    assert parts == [math.gcd(number, whole // number) for number in numbers]


def test_the_products_of_several_trees_are_all_of_them() -> None:
    """Low memory makes several trees, above what is not worth asking about."""
    numbers = [mpz(3) ** 20_000 + 2 * i for i in range(200)]
    with Workers(2) as workers:
        parts = [shared_parts(numbers, workers, memory=memory) for memory in (1 << 24, 1 << 40)]
    assert len(trees._blocks(numbers, 1 << 24)) > 1
    assert parts[0] == parts[1]


def test_trees_are_parted_to_fit_memory() -> None:
    numbers = [mpz(1) << 200_000] * 1000
    bits = 200_001 * 1000
    assert len(trees._blocks(numbers, trees.tree_bytes(1000, bits))) == 1
    parted = trees._blocks(numbers, trees.tree_bytes(1000, bits) // 2)
    assert len(parted) > 1
    assert [number for block in parted for number in block] == numbers
    with pytest.raises(MemoryError, match=r"about [\d,]+ bytes, 25,000,000 are available"):
        trees._blocks(numbers, 25_000_000)


@given(st.integers(0, 1 << 300).map(mpz), st.lists(nasty, max_size=9))
def test_remainders_and_products(number: mpz, moduli: list[mpz]) -> None:
    assert remainders(number, moduli) == [number % modulus for modulus in moduli]
    assert product(moduli) == math.prod(moduli)


def refined(numbers: list[int]) -> set[int]:
    """Return a coprime base by brute force, powers and all."""
    base = {number for number in numbers if number > 1}
    while True:
        pair = next(
            ((a, b) for a in base for b in base if a < b and math.gcd(a, b) > 1),
            None,
        )
        if pair is None:
            return base
        shared = math.gcd(*pair)
        base = (base - set(pair)) | {shared, pair[0] // shared, pair[1] // shared}
        base.discard(1)


@given(st.lists(st.lists(st.sampled_from(SMALL), max_size=5).map(math.prod), max_size=30))
def test_a_coprime_base_is_what_gcds_can_tell_apart(numbers: list[int]) -> None:
    base = coprime_base(map(mpz, numbers))
    assert base == sorted({root_of(element) for element in refined(numbers)})


def root_of(number: int) -> int:
    for exponent in range(number.bit_length(), 1, -1):
        root, exact = gmpy2.iroot(mpz(number), exponent)
        if exact:
            return int(root)
    return number


@given(st.sets(st.sampled_from(SMALL + LARGE)), st.lists(nasty, max_size=12))
def test_touching_finds_all_pairs(primes: set[int], numbers: list[mpz]) -> None:
    bases = [mpz(prime) for prime in sorted(primes)]
    assert sorted(touching(bases, numbers)) == [
        (i, j)
        for i, base in enumerate(bases)
        for j, number in enumerate(numbers)
        if math.gcd(base, number) > 1
    ]


# --- progress, threads, files ---------------------------------------------------


def test_progress_goes_from_nothing_to_all() -> None:
    shares: list[float] = []
    shared_factors(range(3, 2003, 2), progress=shares.append)
    assert len(shares) > 10
    assert shares == sorted(shares)
    assert 0 < shares[0] < 0.5
    assert shares[-1] == 1.0
    assert shares[-2] > 0.7


def test_progress_can_end_the_work() -> None:
    def stop(share: float) -> None:
        if share > 0.3:
            raise KeyboardInterrupt

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        shared_factors(range(3, 2003, 2), progress=stop)
    assert_threads_end(before)


def test_a_set_keeps_moduli_and_names(tmp_path) -> None:
    path = tmp_path / "set.h5"
    moduli = [0, -7, *range(100, 1000)]
    names = [f"ключ {i}" if i % 3 else "" for i in range(len(moduli))]
    save_moduli(path, moduli, names=names)
    stored = StoredModuli(path)
    assert stored.moduli().to_ints() == moduli
    assert stored.names() == names
    with pytest.raises(ValueError, match="2 names for 3 moduli"):
        save_moduli(path, [3, 5, 7], names=["a", "b"])
    save_moduli(tmp_path / "more.h5", [77], names=["last"], onto=stored)
    more = StoredModuli(tmp_path / "more.h5")
    assert more.moduli().to_ints() == [*moduli, 77]
    assert more.names() == [*names, "last"]
    with Workers(2) as workers:
        for modulus in (mpz(1), mpz(10**9 + 7), mpz(10) ** 5000 + 1):
            whole = math.prod(number for number in [*moduli, 77] if number > 1)
            assert more.product_modulo(modulus, workers) == whole % modulus
        assert [index for index, _ in more.sharing(mpz(997), workers)] == [899]


@pytest.mark.parametrize("part", ["moduli", "products", "names", "digests"])
def test_a_damaged_set_is_refused(tmp_path, part: str) -> None:
    path = tmp_path / "set.h5"
    save_moduli(path, [15, 35, 77], names=["a", "b", "c"])
    with h5py.File(path, "r+") as file:
        file[f"{part}/limbs"][0] ^= 4
    with pytest.raises(ValueError, match=r"set\.h5: .* damaged"):
        list(map(str, (shared_factors([21], against=path), StoredModuli(path).names())))


def test_what_is_no_set_is_refused(tmp_path) -> None:
    IntArray([1, 2]).save(tmp_path / "array.h5")
    (tmp_path / "text").write_text("15\n")
    for name in ("array.h5", "text"):
        with pytest.raises(ValueError, match=name):
            StoredModuli(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        StoredModuli(tmp_path / "missing")


@pytest.mark.slow
def test_planted_primes_among_thousands() -> None:
    """Use the size of real keys, through a whole tree with its usual branches."""
    state = gmpy2.random_state(7)
    primes = [gmpy2.next_prime(gmpy2.mpz_urandomb(state, 512) | (1 << 511)) for _ in range(4000)]
    moduli = [int(p * q) for p, q in zip(primes[::2], primes[1::2], strict=True)]
    moduli[1777] = int(primes[0] * primes[-1])
    assert shared_factors(moduli) == [
        Finding(Kind.SHARED_PRIME, int(primes[0]), (0, 1777)),
        Finding(Kind.SHARED_PRIME, int(primes[-1]), (1777, 1999)),
    ]
