"""The pieces of which proofs are made, each against an obvious version of it."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lifesim.until.apart import never_near, rectangles
from lifesim.until.law import last_breach, period_of
from lifesim.until.movers import clusters
from tests.quick import examples

small = st.integers(-5, 5)
vectors = st.tuples(small, small)


@given(
    corner=st.tuples(st.integers(-30, 30), st.integers(-30, 30)),
    size=st.tuples(st.integers(0, 8), st.integers(0, 8)), v=vectors, w=vectors,
)  # fmt: skip
@settings(max_examples=examples(300), deadline=None)
def test_a_rectangle_is_missed_by_a_cone_or_met(corner, size, v, w):
    near = np.array([[*corner, corner[0] + size[0], corner[1] + size[1]]])
    never = bool(never_near(near, np.array(v), np.array(w))[0])
    k, s = np.meshgrid(np.arange(501), np.arange(501))
    x, y = k * v[0] + s * w[0], k * v[1] + s * w[1]
    left, top, right, bottom = near[0]
    assert not (never and ((x >= left) & (x <= right) & (y >= top) & (y <= bottom)).any())
    if not never:  # whole numbers of v and w are within half of both of any point of the cone
        far = [(abs(a) + abs(b)) / 2 for a, b in zip(v, w, strict=True)]
        across, down = (x >= left - far[0]) & (x <= right + far[0]), y <= bottom + far[1]
        assert (across & down & (y >= top - far[1])).any()


def test_gaps_are_measured_between_cells():
    box = np.array([0, 0, 2, 2])
    zero = np.zeros(2, np.int64)
    for gap, apart in ((1, False), (2, False), (3, True)):
        other = np.array([[2 + gap, 0, 5 + gap, 2]])
        for unit in (1, 4):
            near = rectangles(unit * box, unit * other, unit)
            assert never_near(near, zero, zero).tolist() == [apart]


@given(st.sets(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), max_size=40))
@settings(max_examples=examples(100), deadline=None)
def test_clusters_are_connected_and_apart(cells):
    listed = np.array(sorted(cells, key=lambda cell: cell[::-1]), np.int64).reshape(-1, 2)
    parts = [set(map(tuple, part.tolist())) for part in clusters(listed)]
    assert sum(map(len, parts)) == len(cells)
    assert set().union(*parts) == cells
    for one, other in itertools.combinations(parts, 2):
        assert min(distance(a, b) for a in one for b in other) > 2
    for part in parts:
        reached, todo = set(), [next(iter(part))]
        while todo:
            cell = todo.pop()
            if cell not in reached:
                reached.add(cell)
                todo += [other for other in part if distance(cell, other) <= 2]
        assert reached == part


def distance(a: tuple[int, int], b: tuple[int, int]) -> int:
    return max(abs(a[0] - b[0]), abs(a[1] - b[1]))


@given(
    start=st.lists(st.integers(0, 9), max_size=6),
    steps=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), min_size=1, max_size=6),
    large=st.sampled_from([0, 1 << 70]),
)
@settings(max_examples=examples(100), deadline=None)
def test_a_law_is_found_with_its_least_period(start, steps, large):
    """Numbers that grow by the same each period, after some that do not."""
    rounds = 5
    tail = [large + value + each * turn for turn in range(rounds) for value, each in steps]
    assert period_of(tail, len(steps)) == naive_period(tail, len(steps))
    numbers = [*start, *tail]
    p = len(steps)
    breaches = [
        t for t in range(len(numbers) - 2 * p)
        if numbers[t + 2 * p] - 2 * numbers[t + p] + numbers[t]
    ]  # fmt: skip
    assert last_breach(numbers, p) == (breaches[-1] if breaches else None)


def naive_period(numbers: list[int], most: int) -> int | None:
    for p in range(1, most + 1):
        if all(
            numbers[t + 2 * p] - numbers[t + p] == numbers[t + p] - numbers[t]
            for t in range(len(numbers) - 2 * p)
        ):
            return p
    return None
