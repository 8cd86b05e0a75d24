"""Shared primes on a cluster: exactly what is found without one."""

from __future__ import annotations

import os
import signal
import threading
from itertools import pairwise
from pathlib import Path
from typing import Any

import gmpy2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("distributed")
pytest.importorskip("cryptography")

from arith import engines
from arith.factors import Finding, Kind, distributed, save_moduli, shared_factors, stored
from benchmarks.factors import random_moduli
from bulkbits.cluster import Cluster, worker
from kernels.bignum.cuda.engine import DeviceArithmetic
from kernels.targets.contract import BackendUnavailableError
from tests.clusters import InlineCluster, two_workers  # noqa: F401
from tests.emulation import EmulatedDevice
from tests.interrupts import assert_threads_end
from tests.quick import examples

PRIMES = [2, 3, 5, 7, 11, *(int(gmpy2.next_prime(1 << bits)) for bits in (16, 64, 65, 200))]
modulus = st.one_of(
    st.integers(-2, 40),
    st.tuples(st.sampled_from(PRIMES), st.sampled_from(PRIMES)).map(lambda p: p[0] * p[1]),
    st.integers(2, 1 << 400),
)
moduli = st.lists(modulus, max_size=30)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that few numbers are cut into as many subsets and pieces as there may be."""
    monkeypatch.setattr(distributed, "LEAST_BITS", 1)
    monkeypatch.setattr(distributed, "GROUP", 4)
    monkeypatch.setattr(stored, "GROUP", 4)


@settings(max_examples=examples(30))
@given(moduli, st.integers(1, 7), st.integers(0, 99), st.integers(1, 2))
def test_trees_find_what_they_do_without_a_cluster(
    new: list[int], workers: int, seed: int, threads: int
) -> None:
    shares: list[float] = []
    cluster: Any = InlineCluster(workers, seed, threads=threads)
    found = shared_factors(new, cluster=cluster, progress=shares.append)
    assert found == shared_factors(new)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


@settings(max_examples=examples(15))
@given(moduli, moduli, st.integers(1, 7), st.sampled_from([1, 1 << 9, 1 << 28]))
def test_trees_against_a_stored_set(
    tmp_path_factory: pytest.TempPathFactory,
    new: list[int],
    old: list[int],
    workers: int,
    piece: int,
) -> None:
    path = tmp_path_factory.mktemp("sets") / "set"
    save_moduli(path, old)
    shares: list[float] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distributed, "PIECE_BITS", piece)
        found = shared_factors(
            new, against=path, cluster=InlineCluster(workers), progress=shares.append
        )
    assert found == shared_factors(new, against=path)
    assert shares == sorted(shares)


@pytest.fixture(scope="module")
def emulated() -> DeviceArithmetic:
    return DeviceArithmetic(EmulatedDevice())


@settings(max_examples=3)
@given(moduli, moduli, st.integers(1, 3))
def test_pairs_on_workers_with_a_gpu_each(
    tmp_path_factory: pytest.TempPathFactory,
    emulated: DeviceArithmetic,
    new: list[int],
    old: list[int],
    workers: int,
) -> None:
    path = tmp_path_factory.mktemp("sets") / "set"
    new, old = [*range(3, 103, 2), *new], [*range(51, 131, 2), *old]
    save_moduli(path, old)
    expected = shared_factors(new, against=path, backend="cpu")
    shares: list[float] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engines, "named", lambda _: emulated)
        patch.setattr(worker, "_kept", type(worker._kept)())
        cluster: Any = InlineCluster(workers, backend="cuda")
        for backend in ("cuda", "auto"):
            found = shared_factors(
                new, against=path, backend=backend, cluster=cluster, progress=shares.append
            )
            assert found == expected
    assert cluster.sent >= 4
    assert shares[-1] == 1.0


def test_a_gpu_that_is_short_of_memory_leaves_it_to_trees(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def sharing(*_: Any) -> None:
        raise MemoryError("no room")

    cluster: Any = InlineCluster(2, backend="cuda")
    monkeypatch.setattr(distributed.OnCluster, "sharing", sharing)
    assert shared_factors([15, 35], cluster=cluster) == [Finding(Kind.SHARED_PRIME, 5, (0, 1))]
    with pytest.raises(MemoryError, match="no room"):
        shared_factors([15, 35], cluster=cluster, backend="cuda")


def test_workers_without_a_gpu_are_named() -> None:
    cluster: Any = InlineCluster(2, backend="cpu")
    with pytest.raises(BackendUnavailableError, match="worker 0 on here computes on cpu"):
        shared_factors([15, 35], cluster=cluster, backend="cuda")
    with pytest.raises(ValueError, match="devices of their own"):
        shared_factors([15, 35], cluster=cluster, device=1)


# --- how work is cut ----------------------------------------------------------------


@given(st.lists(st.integers(1, 1000), max_size=60), st.integers(1, 70))
def test_cuts_are_in_order_and_about_equal(sizes: list[int], count: int) -> None:
    ranges = distributed.cut(sizes, count)
    assert [i for r in ranges for i in r] == list(range(len(sizes)))
    assert len(ranges) <= count
    assert all(ranges)
    for r in ranges:
        assert sum(sizes[r.start : r.stop]) <= sum(sizes) / count + max(sizes)


def test_equal_numbers_are_cut_equally() -> None:
    assert [len(r) for r in distributed.cut([1024] * 1000, 7)] == [143] * 6 + [142]
    assert distributed.cut([5, 5], 9) == [range(1), range(1, 2)]
    assert distributed.cut([], 3) == []


def test_subsets_are_one_a_worker_or_few_where_there_is_little(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(distributed, "LEAST_BITS", 1 << 20)
    count = distributed.subset_count
    assert count(1 << 30, 7) == 7
    assert count(3 << 20, 64) == 3
    assert count(0, 64) == count(100, 1) == 1
    counts = [count(1 << bits, 64) for bits in range(40)]
    assert all(a <= b for a, b in pairwise(counts))


def test_pieces_keep_workers_busy_and_answers_short() -> None:
    count = distributed.piece_count
    assert count(0, 100, 4) == 0
    assert count(1 << 26, 1 << 20, 4) == 16  # four a worker
    assert count(1 << 40, 1 << 20, 4) == 1 << 12  # small enough to be sent
    assert count(1 << 40, 1 << 35, 2) == 16  # no more answers than what is asked about
    assert count(5, 1, 64) == 5


# --- progress and ends --------------------------------------------------------------


@pytest.fixture
def telling(monkeypatch: pytest.MonkeyPatch) -> InlineCluster:
    monkeypatch.setattr(distributed, "_TELL", 0.0)
    return InlineCluster(2)


def test_workers_tell_how_far_they_are(telling: Any) -> None:
    shares: list[float] = []
    shared_factors(range(3, 1203, 2), cluster=telling, progress=shares.append)
    assert shares == sorted(shares)
    assert len(set(shares)) > 10  # more than there are tasks
    assert 0 < shares[0] < 0.2


@pytest.mark.parametrize("at", [0.0, 0.1, 0.9])
def test_progress_can_end_the_work(telling: Any, at: float) -> None:
    def stop(share: float) -> None:
        if share > at:
            raise KeyboardInterrupt

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        shared_factors(range(3, 1203, 2), cluster=telling, progress=stop)
    assert_threads_end(before)


def test_a_task_that_nobody_waits_for_ends(telling: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "stopping", lambda: True)
    with pytest.raises(distributed._StoppedError):
        shared_factors(range(3, 1203, 2), cluster=telling)


# --- processes ----------------------------------------------------------------------


def semiprimes(count: int, bits: int) -> list[int]:
    """Each shares a prime with the one before."""
    state = gmpy2.random_state(3)
    primes = [gmpy2.next_prime(gmpy2.mpz_urandomb(state, bits)) for _ in range(count + 1)]
    return [int(p * q) for p, q in pairwise(primes)]


def test_two_processes(two_workers: Cluster, tmp_path: Path) -> None:  # noqa: F811
    numbers = [*semiprimes(40, 256), 35, 15, 0]
    save_moduli(tmp_path / "set", numbers[20:])
    shares: list[float] = []
    for new, against in ((numbers, None), (numbers[:21], tmp_path / "set")):
        found = shared_factors(new, against=against, cluster=two_workers, progress=shares.append)
        assert found == shared_factors(new, against=against)
    assert shares[-1] == 1.0

    def stop(share: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        shared_factors(numbers, cluster=two_workers, progress=stop)
    assert shared_factors(numbers[:9], cluster=two_workers) == shared_factors(numbers[:9])


@pytest.mark.slow
def test_a_worker_is_killed_at_work() -> None:
    numbers = [*semiprimes(20, 512), *random_moduli(12_000, 1024, smallest=2000)]
    killed: list[int] = []
    with Cluster.open("local:2", backend="cpu", threads=1) as cluster:

        def kill(share: float) -> None:
            if 0.1 < share < 0.9 and not killed:
                killed.append(cluster.workers[0].pid)
                os.kill(killed[0], signal.SIGKILL)

        found = shared_factors(numbers, cluster=cluster, progress=kill)
    assert killed
    assert found == shared_factors(numbers, backend="cpu")
