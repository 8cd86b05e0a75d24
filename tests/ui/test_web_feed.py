"""Pictures that pages are sent without asking: which, how many, and to whom."""

from __future__ import annotations

import gzip
from typing import Any

import numpy as np
import pytest

pytest.importorskip("tornado")

from lifesim import BitGrid, Life, random_grid
from tests.ui.served import Page, Served, serving
from tests.waiting import until
from ui.web.blocks import PictureBlock
from ui.web.feed import MOST_BYTES, MOST_FRAMES, PART, Feed
from ui.web.living import LifeBoard
from ui.web.orders import MOST_LOOKED, Look, OrderError, read_message
from ui.web.widget import WidgetLink


class Clock:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def block(version: int, body: bytes = b"b", tag: str = "") -> PictureBlock:
    return PictureBlock(version, body, 1, tag or str(version), True)


def send(feed: Feed, version: int, body: bytes = b"b") -> int:
    """Send a frame as a server does; return its number."""
    frame = feed.begin(version)
    assert frame is not None
    for keys in frame.parts:
        facts: dict[str, Any] | None = {} if keys is frame.parts[-1] else None
        frame.part(keys, [block(version, body)] * len(keys), facts)
    return frame.number


def test_a_page_that_draws_nothing_is_sent_two_frames() -> None:
    feed = Feed()
    assert feed.begin(1) is None  # it looks at nothing
    feed.look(Look(0, 0, 0, 1, 1))
    for version in (1, 2):
        assert feed.has_room
        send(feed, version)
    assert not feed.has_room
    for number in (0, 3, -1, 1 << 60):  # nor one that says it has drawn what it was never sent
        feed.seen(number)
    assert not feed.has_room
    assert feed.begin(2) is None  # which it has been told of


def test_a_long_line_has_more_under_way_but_never_more_than_that() -> None:
    clock = Clock()
    feed = Feed(clock)
    feed.look(Look(0, 0, 0, 1, 1))
    under_way: list[int] = []
    most = 0
    for version in range(1, 400):
        while not feed.has_room:
            clock.now += 0.01
            feed.seen(under_way.pop(0))
        clock.now += 0.001
        under_way.append(send(feed, version))
        most = max(most, len(under_way))
    assert most == MOST_FRAMES


def test_a_line_that_is_too_slow_has_three_frames_under_way_at_most() -> None:
    """Each frame takes 0.2 s more than the one before it that is still under way."""
    clock = Clock()
    feed = Feed(clock)
    feed.look(Look(0, 0, 0, 1, 1))
    under_way: list[int] = []
    free = 0.0  # when the line has sent what it was given
    arrives: dict[int, float] = {}
    for version in range(1, 60):
        assert version < 20 or len(under_way) <= 3
        while not feed.has_room:
            number = under_way.pop(0)
            clock.now = max(clock.now, arrives[number])
            feed.seen(number)
        number = send(feed, version)
        free = max(free, clock.now) + 0.2
        arrives[number] = free
        under_way.append(number)


def test_bytes_under_way_have_a_limit() -> None:
    clock = Clock()
    feed = Feed(clock)
    feed.look(Look(0, 0, 0, 1, 1))
    send(feed, 1, bytes(MOST_BYTES))
    assert not feed.has_room
    feed.seen(1)
    assert feed.has_room


def test_one_frame_that_is_drawn_is_said_for_all_before_it() -> None:
    feed = Feed()
    feed.look(Look(0, 0, 0, 1, 1))
    send(feed, 1)
    send(feed, 2)
    feed.seen(2)
    feed.seen(1)
    for version in (3, 4):
        assert feed.has_room
        send(feed, version)


def test_blocks_that_the_page_has_are_not_sent_again() -> None:
    feed = Feed()
    feed.look(Look(0, 0, 0, 2, 1))
    first, second = feed.begin(1), feed.begin(2)
    assert first is not None
    assert second is not None
    [(left, right)] = first.parts
    _, bodies = first.part((left, right), [block(1, b"l", "l"), block(1, b"r", "r")], {})
    assert bodies == [b"l", b"r"]
    told, bodies = second.part((left, right), [block(2, b"l", "l"), block(2, b"R", "R")], {})
    assert bodies == [b"R"]
    assert [one["size"] for one in told["blocks"]] == [0, 1]
    feed.look(Look(0, 2, 0, 1, 1))  # the left one may be forgotten there
    feed.look(Look(0, 0, 0, 2, 1))
    third = feed.begin(3)
    assert third is not None
    _, bodies = third.part((left, right), [block(3, b"l", "l"), block(3, b"R", "R")], {})
    assert bodies == [b"l"]


def test_large_views_come_in_parts() -> None:
    feed = Feed()
    feed.look(Look(3, -2, -2, 5, 4))
    frame = feed.begin(1)
    assert frame is not None
    assert [len(keys) for keys in frame.parts] == [PART, PART, 4]
    assert [(key.x, key.y) for keys in frame.parts for key in keys] == [
        (x, y) for y in (-2, 0, 2, 4) for x in (-2, 0, 2, 4, 6)
    ]


@pytest.mark.parametrize(
    "message",
    [
        '{"look": 3}',
        '{"look": {"scale": 0, "x": 0, "y": 0, "columns": 97, "rows": 0}}',
        '{"look": {"scale": 0, "x": 0, "y": 0, "columns": 50, "rows": 2}}',
        '{"look": {"scale": -1, "x": 0, "y": 0, "columns": 1, "rows": 1}}',
        '{"look": {"scale": 0, "x": "1e9", "y": 0, "columns": 1, "rows": 1}}',
        '{"look": {"scale": 0, "x": 0, "columns": 1, "rows": 1}}',
        '{"seen": "x"}',
        '{"seen": -1}',
        '{"seen": null}',
    ],
)
def test_messages_that_no_page_sends(message: str) -> None:
    with pytest.raises(OrderError):
        read_message(message)


# --- over a websocket --------------------------------------------------------------


def look(columns: int, rows: int, x: int = 0, y: int = 0) -> dict[str, Any]:
    blocks = {"scale": 0, "x": str(x), "y": str(y), "columns": columns, "rows": rows}
    return {"look": blocks}


def moved(served: Served, page: Page, generation: int) -> None:
    """Make one more generation, and wait until it is there."""
    page.say({"do": "step"})
    until(lambda: served.facts()["generation"] == str(generation))


def test_frames_are_the_cells_of_their_generation() -> None:
    grid = random_grid(900, 700, 0.4, seed=1)
    with serving(LifeBoard(Life(grid, backend="cpu"))) as served, Page(served) as page:
        page.hear_until("facts")
        page.say(look(2, 2))
        life = Life(grid, backend="cpu")
        shown = np.zeros((1024, 1024), np.uint8)
        for generation in range(1, 4):
            page.say({"do": "step"})
            part = page.hear_until("part", lambda part: part["facts"])
            at = 0
            for one in part["blocks"]:
                data = gzip.decompress(part["bytes"][at : at + one["size"]])
                at += one["size"]
                tiles = np.frombuffer(data, np.uint8).reshape(2, 2, 256, 256)
                x, y = (256 * int(number) for number in one["address"][1:])
                shown[y : y + 512, x : x + 512] = tiles.swapaxes(1, 2).reshape(512, 512)
            life.run(1)
            assert part["facts"]["generation"] == str(generation)
            assert np.array_equal(shown[:700, :900] > 0, np.asarray(life.grid()))
            page.say({"seen": part["frame"]})


def test_a_page_that_draws_nothing_is_waited_for() -> None:
    """It is sent two frames, and when it has drawn them what there is then."""
    life = Life(random_grid(300, 200, 0.4, seed=1), backend="cpu")
    with serving(LifeBoard(life)) as served, Page(served) as page, Page(served) as other:
        page.hear_until("facts")
        page.say(look(1, 1))
        page.say({"do": "step"})
        first = page.hear_until("part")
        assert first["frame"] == 1
        for generation in range(2, 12):
            moved(served, other, generation)
        page.say({"seen": 1})
        page.say({"seen": 2})
        generations = []
        while True:
            part = page.hear_until("part")
            generations.append(part["facts"]["generation"])
            if generations[-1] == "11":
                break
        assert part["frame"] <= 3


def test_views_that_are_refused_leave_the_line_open() -> None:
    with serving(LifeBoard(Life(BitGrid(64, 64), backend="cpu"))) as served, Page(served) as page:
        page.say(look(MOST_LOOKED, 2))
        assert "at most" in page.hear_until("error")
        page.say(look(0, 0))
        page.say({"do": "step"})
        page.hear_until("facts", lambda facts: facts["generation"] == "1")


# --- over a notebook's messages ----------------------------------------------------


def test_a_widget_sends_to_each_viewer_what_it_looks_at() -> None:
    said: list[tuple[dict[str, Any], Any]] = []
    life = Life(random_grid(300, 200, 0.4, seed=6), backend="cpu")
    board = LifeBoard(life)
    try:
        link = WidgetLink(board, lambda message, buffers=(): said.append((message, buffers)))
        for name in ("a", "b"):
            link.hear({"ask": "facts", "from": name})
        link.hear({**look(1, 1), "from": "a"})
        said.clear()
        for _ in range(5):
            life.run(1)
            link.tell()
        parts = [message["part"] for message, _ in said if "part" in message]
        assert {message["to"] for message, _ in said} == {"a", "b"}
        assert len(parts) == 2  # neither has been drawn
        assert [part["facts"]["generation"] for part in parts] == ["1", "2"]
        said.clear()
        link.hear({"seen": 2, "from": "a"})
        [(message, [body])] = said
        assert message["to"] == "a"
        tiles = np.frombuffer(gzip.decompress(body), np.uint8).reshape(4, 256, 256)
        assert message["part"]["facts"]["generation"] == "5"
        assert np.array_equal(tiles[0, :200] > 0, np.asarray(life.grid())[:, :256])
        said.clear()
        link.hear({"leave": True, "from": "a"})
        life.run(1)
        link.tell()
        assert {message["to"] for message, _ in said} == {"b"}
    finally:
        board.close()


def test_a_widget_knows_few_viewers() -> None:
    said: list[dict[str, Any]] = []
    board = LifeBoard(Life(BitGrid(64, 64), backend="cpu"))
    try:
        link = WidgetLink(board, lambda message, buffers=(): said.append(message))
        for n in range(100):
            link.hear({"ask": "facts", "from": f"v{n}"})
        for name in (["list"], 3, "x" * 1000, ""):
            link.hear({"ask": "facts", "from": name})
            link.hear({**look(1, 1), "from": name})
        said.clear()
        link.tell()
        assert len(said) == 16
        assert said[-1]["to"] == "v99"
        link.hear({"look": 3, "from": "v99"})
        assert "no object" in said[-1]["error"]
    finally:
        board.close()
