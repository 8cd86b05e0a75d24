"""Egg boxes, against Green's relations by definition, and their pictures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings

from kernels.targets.contract import BackendUnavailableError
from semigroups import Family, Semigroup, semigroup
from semigroups.eggboxes import EggBox, EggBoxes
from semigroups.pictures import _covers, _placed
from tests.quick import examples
from tests.semigroups.test_semigroup import HURT, Rows, generator_sets, small
from tests.svg import texts
from tests.transformations_oracle import enumerate_maps


def is_below(oracle: Any) -> np.ndarray[Any, Any]:
    """Return whether element i is s x t of element j, for some s and t: bool (size, size)."""
    graph = np.hstack((oracle.right, oracle.left))
    found = np.eye(len(oracle), dtype=bool)
    for _ in range(len(oracle)):
        more = found | np.any([found[:, graph[:, g]] for g in range(graph.shape[1])], axis=0)
        if (more == found).all():
            break
        found = more
    return found


@settings(max_examples=examples(25), deadline=None)
@given(generator_sets())
@example(HURT[2])
@example([[1, 2, 3, 0], [1, 0, 2, 3], [0, 0, 2, 3]])
def test_boxes_are_those_of_the_definition(generators: Rows) -> None:
    oracle = enumerate_maps(generators)
    if len(oracle) > 150:
        return
    boxes = small(generators).egg_boxes()
    classes = {kind: oracle.green(kind) for kind in ("R", "L", "D", "H")}
    assert len(boxes) == classes["D"].max() + 1
    assert boxes.elements == sum(box.size for box in boxes) == len(oracle)
    for number, box in enumerate(boxes):
        members = np.flatnonzero(classes["D"] == number)
        assert box.number == number
        assert box.rows == np.unique(classes["R"][members]).size
        assert box.columns == np.unique(classes["L"][members]).size
        assert box.h_size == np.bincount(classes["H"][members]).max()
        ours = [i for i in oracle.idempotents if i in members]
        rows = np.unique(classes["R"][members], return_inverse=True)[1]
        columns = np.unique(classes["L"][members], return_inverse=True)[1]
        places = {
            (int(rows[np.searchsorted(members, i)]), int(columns[np.searchsorted(members, i)]))
            for i in ours
        }
        assert {tuple(place) for place in np.argwhere(box.groups).tolist()} == places
        assert box.is_regular == bool(ours)


@settings(max_examples=examples(25), deadline=None)
@given(generator_sets())
@example([[1, 2, 3, 0], [1, 0, 2, 3], [0, 0, 2, 3]])
def test_lines_go_between_neighbours_in_the_order_of_ideals(generators: Rows) -> None:
    oracle = enumerate_maps(generators)
    if len(oracle) > 150:
        return
    boxes = small(generators).egg_boxes()
    first = [int(np.flatnonzero(oracle.green("D") == k)[0]) for k in range(len(boxes))]
    less = is_below(oracle)[np.ix_(first, first)] & ~np.eye(len(boxes), dtype=bool)
    between = (less.astype(int) @ less.astype(int)) > 0
    expected = {(int(k), int(j)) for j, k in np.argwhere(less & ~between)}
    order = sorted(range(len(boxes)), key=lambda k: (boxes.depths[k], k))
    assert set(_covers(boxes, order)) == expected
    for upper, lower in expected:
        assert boxes.depths[upper] < boxes.depths[lower]
    some = order[: len(order) // 2 + 1]
    assert set(_covers(boxes, some)) == {pair for pair in expected if set(pair) <= set(some)}


def test_the_full_transformation_monoid() -> None:
    boxes = Semigroup(Family("full", 4), backend="reference").egg_boxes()
    assert [(box.rows, box.columns, box.h_size) for box in boxes] == [
        (1, 1, 24), (6, 4, 6), (7, 6, 2), (1, 4, 1),
    ]  # fmt: skip
    assert boxes.depths == [0, 1, 2, 3]
    assert boxes.below == [{1}, {2}, {3}, frozenset()]
    assert repr(boxes[1]) == "<EggBox 1: 6 x 4 H-classes of 6, 12 groups>"
    assert repr(boxes) == "<4 egg boxes>"
    assert [box.number for box in boxes[1:3]] == [1, 2]
    found = texts(boxes.svg())
    assert found == [
        "1 × 1, H of 24", "6 × 4, H of 6", "7 × 6, H of 2", "1 × 4",
        "256 elements in 4 D-classes; R-classes × L-classes, filled where they cross in a group",
    ]  # fmt: skip
    assert texts(boxes.svg(2))[-1].startswith("256 elements in 4 D-classes (2 of them shown, from")


def test_boxes_do_not_overlap() -> None:
    def box(number: int, rows: int, columns: int) -> EggBox:
        return EggBox(number, np.zeros((rows, columns), bool), 1)

    levels = [[box(0, 1, 1)], [box(k, k, 40) for k in range(1, 8)], [box(8, 100, 2)]]
    places, width, height = _placed(levels)
    areas = [(p.x, p.y, p.x + p.columns * 14, p.bottom + 20) for p in places.values()]
    for i, one in enumerate(areas):
        assert one[0] >= 0 and one[1] >= 0 and one[2] <= width and one[3] <= height  # noqa: PT018
        for other in areas[:i]:
            apart = one[0] >= other[2] or other[0] >= one[2]
            assert apart or one[1] >= other[3] or other[1] >= one[3]
    assert places[8].text == "16 × 2 of 100 × 2"


# --- notebooks ------------------------------------------------------------------------


def test_a_notebook_shows_a_small_semigroup_without_being_asked_for_more() -> None:
    S = small([[1, 0, 2], [0, 0, 2]])
    shown = S._repr_svg_()
    assert shown == S.egg_boxes().svg() == EggBoxes(S._whole)._repr_svg_()
    assert S.finished


def test_a_notebook_waits_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(semigroup, "_ENUMERATED", 5)
    S = small(Family("full", 4))
    assert S._repr_svg_() is None
    assert not S.finished
    found = S.current_size
    assert 0 < found <= 5
    assert S._repr_svg_() is None
    assert S.current_size == found  # it is not gone on with
    monkeypatch.setattr(semigroup, "_DRAWN", 200)
    S.run()
    assert S._repr_svg_() is None
    assert S.egg_boxes().svg()
    monkeypatch.setattr(semigroup, "_SMALL", 0)
    other = small(Family("full", 4))
    assert other._repr_svg_() is None
    assert other.current_size == 0


def test_a_backend_that_cannot_run_is_no_error_in_a_notebook(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise BackendUnavailableError("no such")

    S = small([[1, 0]])
    monkeypatch.setattr(S, "run", fail)
    assert S._repr_svg_() is None
