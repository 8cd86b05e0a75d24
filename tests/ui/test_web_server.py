"""What the server of `lifesim serve` answers, and whom it refuses."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from http.client import HTTPConnection

import numpy as np
import pytest

pytest.importorskip("tornado")

from lifesim import BitGrid, Life, LifesimError, random_grid
from lifesim.render import density_levels
from tests.ui.served import TOKEN, Page, Served, serving
from tests.waiting import until
from ui.web import guard, server
from ui.web.board import Facts, Shot
from ui.web.living import LifeBoard
from ui.web.orders import OrderError, PageOrder, read_message
from ui.web.server import HOST, THREADS


def soup(width: int = 700, height: int = 600) -> Life:
    return Life(random_grid(width, height, 0.4, seed=1), backend="cpu")


@pytest.fixture
def served() -> Iterator[Served]:
    with serving(LifeBoard(soup(), "soup")) as server:
        yield server


def test_tiles_are_the_densities_of_cells(served: Served) -> None:
    grid = soup().grid()
    version = served.facts()["version"]
    near = served.tiles(version, 0, 1, 1, 2, 2)
    picture = np.zeros((512, 512), np.uint8)
    cells = np.asarray(grid)[256:768, 256:768] * np.uint8(255)
    picture[: cells.shape[0], : cells.shape[1]] = cells
    for n, tile in enumerate(near):
        y, x = divmod(n, 2)
        assert np.array_equal(tile, picture[256 * y : 256 * y + 256, 256 * x : 256 * x + 256])
    [far] = served.tiles(version, 2, 0, 0, 1, 1)
    expected = density_levels(grid, None, 2)
    assert np.array_equal(far[: expected.shape[0], : expected.shape[1]], expected)
    assert not far[expected.shape[0] :].any()
    [nothing] = served.tiles(version, 0, -3, 10**90, 1, 1)
    assert not nothing.any()


def test_blocks_are_kept_by_browsers_and_said_once(served: Served) -> None:
    version = served.facts()["version"]
    status, headers, _ = served.get(served.block(version, 0, 0, 0, 2, 2))
    assert status == 200
    assert "immutable" in headers["Cache-Control"]
    tag = headers["ETag"]
    status, _, body = served.get(served.block(version, 0, 0, 0, 2, 2), If_None_Match=tag)
    assert (status, body) == (304, b"")
    # Of a version that is not there one gets the newest, which is not to be kept under that name.
    status, headers, _ = served.get(served.block(version + 7, 0, 0, 0, 2, 2))
    assert (status, headers["X-Version"]) == (200, str(version))
    assert headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    "place",
    [
        (0, 0, 0, 5, 1),
        (0, 0, 0, 1, 0),
        (-1, 0, 0, 1, 1),
        (300, 0, 0, 1, 1),
        (0, 10**97 - 1, 0, 1, 1),
    ],
)
def test_blocks_that_there_are_none_of(served: Served, place: tuple[int, ...]) -> None:
    status, _, body = served.get(served.block(1, *place))
    assert status == 400
    assert b"\n" not in body


def test_addresses_that_there_are_none_of(served: Served) -> None:
    for path in ("blocks/1/0/0/0/1", "blocks/1/0/x/0/1/1", "../cli.py", "viewer.mjs", "cli.py"):
        assert served.get(f"/{TOKEN}/{path}")[0] == 404, path
    others = "/other/", "/other/facts", "/other/live", f"/{TOKEN}x/"
    for path in ("/", "/facts", *others, "/" + 1000 * "a"):
        assert served.get(path)[0] == 404, path


def test_the_page(served: Served) -> None:
    status, headers, body = served.get(f"/{TOKEN}/")
    assert (status, headers.get_content_type()) == (200, "text/html")
    assert b"http" not in body.lower()  # nothing is loaded from elsewhere
    assert headers["Cache-Control"] == "no-store"
    assert headers["Content-Security-Policy"].startswith("default-src 'self';")
    assert headers["Referrer-Policy"] == "no-referrer"
    assert served.get(f"/{TOKEN}")[1]["Location"] == f"/{TOKEN}/"
    for name in ("viewer.js", "page.js", "viewer.css"):
        assert served.get(f"/{TOKEN}/{name}")[0] == 200


def test_names_of_other_machines_are_refused(served: Served) -> None:
    for host in ("evil.example", f"evil.example:{served.port}", "127.0.0.1.evil.example", ""):
        for name in ("facts", "live"):
            status, headers, _ = served.get(f"/{TOKEN}/{name}", Host=host)
            assert status in (400, 403), host
            assert status == 400 or headers["Content-Security-Policy"]
    for host in ("localhost:9000", "127.0.0.1", "[::1]:80"):  # as at the near end of a tunnel
        assert served.get(f"/{TOKEN}/facts", Host=host)[0] == 200, host


def test_websockets_of_other_pages_are_refused(served: Served) -> None:
    from tornado.httpclient import HTTPClientError

    for origin in ("http://evil.example", "null", f"https://127.0.0.1:{served.port}"):
        with pytest.raises(HTTPClientError, match="403"):
            Page(served, Origin=origin)
    assert guard.is_own_page("http://localhost:9000", "localhost:9000")
    assert not guard.is_own_page(None, "localhost:9000")
    assert not guard.is_own_page("http://localhost:9001", "localhost:9000")


def test_tokens() -> None:
    assert guard.is_token("abc", "abc")
    assert not guard.is_token("abd", "abc")
    assert not guard.is_token("", "abc")
    assert not guard.is_token("\udcff\u20ac", "abc")
    assert guard.new_token() != guard.new_token()


def test_two_pages_see_what_one_does(served: Served) -> None:
    with Page(served) as one, Page(served) as other:
        first = one.hear()
        assert first is not None
        assert set(first) == {"palettes", "facts"}
        assert len(first["palettes"]["dark"]) == 768
        one.say({"do": "step", "count": 3})
        facts = other.hear_until("facts", lambda facts: facts["generation"] == "3")
        life = soup()
        life.run(3)
        tiles = served.tiles(facts["version"], 0, 0, 0, 1, 1)
        assert np.array_equal(tiles[0] > 0, np.asarray(life.grid())[:256, :256])


def test_playing_and_pausing(served: Served) -> None:
    with Page(served) as page:
        page.say({"do": "play"})
        page.hear_until("facts", lambda facts: facts["running"] and int(facts["generation"]) > 2)
        page.say({"do": "pause"})
        facts = page.hear_until("facts", lambda facts: not facts["running"])
        assert served.facts()["generation"] == facts["generation"]
        life = soup()
        life.run(int(facts["generation"]))
        tiles = served.tiles(facts["version"], 0, 1, 1, 1, 1)
        assert np.array_equal(tiles[0] > 0, np.asarray(life.grid())[256:512, 256:512])


def test_drawing_and_undoing() -> None:
    life = Life(BitGrid(64, 64), backend="cpu")
    with serving(LifeBoard(life)) as served, Page(served) as page:
        page.say({"do": "draw", "points": [["3", "4"], ["6", "4"]], "stroke": 1})
        page.say({"do": "draw", "points": [["6", "4"], ["6", "7"]], "stroke": 1})
        page.hear_until("facts", lambda facts: facts["population"] == "7")
        assert life.grid()[6, 7] == 1
        page.say({"do": "undo"})
        page.hear_until("facts", lambda facts: facts["population"] == "0" and not facts["undo"])
        page.say({"do": "undo"})
        assert page.hear_until("error") == "there is nothing to undo"


def test_nobody_draws_where_that_is_not_allowed() -> None:
    board = LifeBoard(soup(), draws=False)
    with serving(board) as served, Page(served) as page:
        page.say({"do": "draw", "points": [[1, 1]]})
        assert "read only" in page.hear_until("error")
        assert board.life.grid() == soup().grid()


@pytest.mark.parametrize(
    "message",
    [
        "",
        "[",
        "[]",
        "1",
        '"play"',
        '{"do": "format"}',
        '{"do": "step", "count": 0}',
        '{"do": "step", "count": 1.5}',
        '{"do": "step", "count": true}',
        '{"do": "step", "count": "1e3"}',
        '{"do": "draw", "points": 3}',
        '{"do": "draw", "points": [[1, 2, 3]]}',
        '{"do": "draw", "points": [[1, "x"]]}',
        '{"do": "draw", "points": [[1, NaN]]}',
        '{"do": "draw", "points": [[1, 1]], "state": 256}',
        '{"do": "draw", "points": [' + ",".join(["[1,1]"] * 4097) + "]}",
        "[" * 100_000,
        " " * 200_000,
    ],
)
def test_messages_that_no_page_sends(message: str) -> None:
    with pytest.raises(OrderError) as error:
        read_message(message)
    assert "\n" not in str(error.value)


class Failing(LifeBoard):
    """A board that cannot do what it is asked."""

    def __init__(self, error: Exception) -> None:
        super().__init__(soup())
        self.error = error

    def do(self, order: PageOrder) -> None:
        raise self.error

    def shot(self, version: int) -> Shot:
        raise self.error


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (LifesimError("cannot read\n50% of a"), "cannot read 50% of a"),
        (MemoryError(), "out of memory"),
    ],
)
def test_what_cannot_be_had_is_said_in_a_line(
    error: Exception, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = Failing(error)
    with serving(board) as served, Page(served) as page:
        status, _, body = served.get(served.block(1, 0, 0, 0, 1, 1))
        assert (status, body.decode()) == (500, says)
        page.say({"do": "step"})
        assert page.hear_until("error") == says
        monkeypatch.setattr(board, "facts", lambda: board.do(PageOrder("step")))
        status, _, body = served.get(f"/{TOKEN}/facts")
        assert (status, body.decode()) == (500, says)


def test_a_fault_of_the_server_ends_the_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Else the page would wait for nothing, as nobody reads its orders."""
    with serving(Failing(RuntimeError("driver\nlost"))) as served, Page(served) as page:
        page.say({"do": "step"})
        while page.hear() is not None:
            pass
        assert page.close_code == 1011
        assert served.facts()["generation"] == "0"
    assert capsys.readouterr().err.splitlines() == [
        "lifesim: a page is left: RuntimeError: driver lost"
    ]


def test_pictures_do_not_wait_for_what_waits_for_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    board = LifeBoard(soup())
    version = board.facts().version
    waiting, step_ends = threading.Semaphore(0), threading.Event()
    facts_of_now = board.facts

    def facts() -> Facts:
        waiting.release()
        assert step_ends.wait(60)
        return facts_of_now()

    with serving(board) as served:
        monkeypatch.setattr(board, "facts", facts)
        asking = [
            threading.Thread(target=served.get, args=(f"/{TOKEN}/facts",)) for _ in range(THREADS)
        ]
        for thread in asking:
            thread.start()
        for _ in asking:
            assert waiting.acquire(timeout=60)
        status, _, _ = served.get(served.block(version, 0, 0, 0, 1, 1))
        assert status == 200
        assert not step_ends.is_set()
        step_ends.set()
        for thread in asking:
            thread.join()


def test_threads_end_with_the_server() -> None:
    def threads() -> set[threading.Thread]:
        return {thread for thread in threading.enumerate() if thread.name in ("asking", "drawing")}

    before = threads()
    with serving(LifeBoard(soup())) as served:
        assert served.facts()["generation"] == "0"
        made = threads() - before
    assert made
    until(lambda: not threads() & made)


def test_lines_end_with_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "_LEAVING", 0)  # as on a busy machine: nobody is waited for
    with contextlib.ExitStack() as stack:
        with serving(LifeBoard(soup())) as served:
            page = stack.enter_context(Page(served))
            page.hear_until("facts")
            lines = [
                stack.enter_context(
                    contextlib.closing(HTTPConnection(HOST, served.port, timeout=60))
                )
                for _ in range(3)
            ]
            for line in lines:
                line.request("GET", f"/{TOKEN}/facts")
                assert line.getresponse().read()
        for line in lines:  # kept open for another request
            assert line.sock.recv(1) == b""
        assert page.hear() is None
        assert page.close_code == 1001


def test_a_message_too_long_ends_the_line(served: Served) -> None:
    with Page(served) as page:
        page.say(" " * 200_000)
        while page.hear() is not None:
            pass
    assert served.facts()["generation"] == "0"
