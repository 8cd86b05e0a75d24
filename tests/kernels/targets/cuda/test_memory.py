"""The reserve of device memory."""

from __future__ import annotations

import gc

from hypothesis import given
from hypothesis import strategies as st

from kernels.targets.cuda.memory import Reserve


def test_memory_goes_back_to_its_stream_and_size() -> None:
    reserve = Reserve(1000)
    reserve.give("one", 100, "a")
    reserve.give("two", 100, "b")
    reserve.give("one", 200, "c")
    assert reserve.held() == 400
    assert reserve.take("one", 50) is None
    assert reserve.take("one", 100) == "a"
    assert reserve.take("one", 100) is None
    assert reserve.take("one", 200) == "c"
    assert reserve.take("two", 100) == "b"
    assert reserve.held() == 0


def test_the_oldest_goes_first() -> None:
    reserve = Reserve(250)
    for name in "abc":
        reserve.give("s", 100, name)
    assert reserve.surplus() == ["a"]
    reserve.give("s", 50, "d")
    assert reserve.surplus() == []
    assert reserve.surplus(60) == ["b", "c"]
    assert reserve.surplus(0) == ["d"]
    assert reserve.held() == 0


@given(st.lists(st.tuples(st.sampled_from("gtf"), st.integers(0, 2), st.integers(1, 3))))
def test_nothing_is_lost_or_given_twice(steps: list[tuple[str, int, int]]) -> None:
    reserve, inside, number = Reserve(6), set(), 0
    for what, stream, nbytes in steps:
        if what == "g":
            number += 1
            reserve.give(stream, nbytes, (stream, nbytes, number))
            inside.add((stream, nbytes, number))
        elif what == "t":
            memory = reserve.take(stream, nbytes)
            matching = {x for x in inside if x[:2] == (stream, nbytes)}
            assert memory in matching if matching else memory is None
            inside.discard(memory)
        else:
            freed = reserve.surplus()
            assert set(freed) <= inside
            inside -= set(freed)
            assert sum(x[1] for x in inside) <= 6
        assert reserve.held() == sum(x[1] for x in inside)


def test_an_object_may_be_collected_while_memory_is_taken() -> None:
    reserve = Reserve(100)

    class Owner:
        def __del__(self) -> None:
            reserve.give("s", 1, "late")

    class Stream:
        """Its comparison, in the middle of take(), collects an owner."""

        def __hash__(self) -> int:
            owner: list[object] = [Owner()]
            owner.append(owner)
            del owner
            gc.collect()
            return 0

    assert reserve.take(Stream(), 1) is None
    assert reserve.take("s", 1) == "late"
