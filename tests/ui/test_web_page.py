"""The page of `lifesim serve` in headless Chromium."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("tornado")

from kernels.targets import cpu
from kernels.targets.choose import pick
from lifesim import BitGrid, Life, Rule, Universe, random_grid
from lifesim.colours import colours_of
from lifesim.render import palette_table
from lifesim.stream.run import StreamedLife
from tests.browsers import Browser
from tests.slow_line import slow_line
from tests.ui.served import TOKEN, Served, serving
from tests.universes import on_disk
from ui.web.living import LifeBoard
from ui.web.stored import StoredBoard

pytestmark = pytest.mark.slow

SHOTS = os.environ.get("SHOTS")  # a folder for screenshots, to be looked at


def shot(browser: Browser, name: str) -> None:
    if SHOTS:
        browser.picture(Path(SHOTS) / f"{name}.png")


@contextmanager
def page(served: Served, width: int = 900, height: int = 600, **more: Any) -> Iterator[Browser]:
    """Give a browser whose page shows all that it is to show."""
    with Browser(width, height, **more) as browser:
        scheme = [{"name": "prefers-color-scheme", "value": "dark"}]
        browser.do("Emulation.setEmulatedMedia", features=scheme)
        browser.open(f"http://127.0.0.1:{served.port}/{TOKEN}/")
        browser.until("viewer.facts !== null")
        sharp(browser)
        yield browser
        assert browser.problems() == []


def sharp(browser: Browser) -> None:
    """Wait until a frame is of the newest version, and of nothing coarser."""
    browser.until(
        "viewer.coverage === 1 && !viewer.due && viewer.target === viewer.facts.version"
        " && viewer.seen(viewer.level()).every((block) => "
        "viewer.blocks.get(viewer.address(...block))?.shown?.version >= viewer.target)"
    )


def canvas(browser: Browser) -> np.ndarray:
    """Return the red of all pixels of the canvas."""
    made = browser.value(
        "(() => { viewer.draw(); const { width, height } = viewer.canvas;"
        "const data = viewer.canvas.getContext('2d').getImageData(0, 0, width, height).data;"
        "const red = []; for (let i = 0; i < data.length; i += 4) red.push(data[i]);"
        "return [width, height, red]; })()"
    )
    width, height, red = made
    return np.array(red, np.uint8).reshape(height, width)


def look(browser: Browser, scale: int, left: int, top: int) -> np.ndarray:
    browser.value(f"viewer.look({scale}, {left}n, {top}n)")
    sharp(browser)
    return canvas(browser)


def test_what_is_drawn_is_the_universe() -> None:
    grid = random_grid(1500, 1200, 0.3, seed=3)
    live, dead = palette_table("dark")[255, 0], palette_table("dark")[0, 0]
    with serving(LifeBoard(Life(grid, backend="cpu"))) as served, page(served) as browser:
        shot(browser, "soup")
        cells = np.where(np.asarray(grid), live, dead)
        seen = look(browser, 0, 300, 260)
        height, width = seen.shape
        assert np.array_equal(seen, cells[260 : 260 + height, 300 : 300 + width])
        seen = look(browser, -2, 2001, 1402)
        assert np.array_equal(
            seen, np.kron(cells, np.ones((4, 4), np.uint8))[1402:, 2001:][:height, :width]
        )
        browser.value("viewer.fit()")
        sharp(browser)
        browser.drag((300, 300), (350, 320))
        browser.mouse("mouseWheel", 300, 300, deltaX=0, deltaY=-120)
        sharp(browser)
        assert browser.value("viewer.view.scale") == 1
        shot(browser, "soup-near")


def test_cells_that_are_drawn() -> None:
    life = Life(BitGrid(40, 30), backend="cpu")
    with serving(LifeBoard(life, "empty")) as served, page(served) as browser:
        browser.value("viewer.look(-4, 0n, 0n), viewer.buttons.draw.click()")
        top = browser.value("viewer.canvas.getBoundingClientRect().top")
        browser.drag((24, top + 24), (88, top + 24))
        browser.until("viewer.facts.population === '5'")
        sharp(browser)
        assert life.grid().cells().tolist() == [[x, 1] for x in range(1, 6)]
        shot(browser, "drawn")
        browser.drag((56, top + 24), (56, top + 24))  # it lives, so it is wiped out
        browser.until("viewer.facts.population === '4'")
        sharp(browser)
        browser.do("Input.dispatchKeyEvent", type="keyDown", key="z", modifiers=2)
        browser.until("viewer.facts.population === '5'")
        sharp(browser)
        browser.value("viewer.buttons.step.click()")
        browser.until("viewer.facts.generation === '1'")
        browser.value("viewer.buttons.play.click()")
        browser.until("viewer.facts.running && Number(viewer.facts.generation) > 5")
        shot(browser, "running")
        browser.value("viewer.buttons.play.click()")
        browser.until("!viewer.facts.running")
        sharp(browser)
        browser.value("viewer.buttons.reset.click()")
        browser.until("viewer.facts.generation === '0'")


def test_a_run_over_a_slow_line_asks_for_no_picture() -> None:
    """It sees a hundred generations, and at the end what there is."""
    grid = random_grid(700, 500, 0.4, seed=4)
    life = Life(grid, backend="cpu")
    with ExitStack() as opened:
        served = opened.enter_context(serving(LifeBoard(life)))
        port = opened.enter_context(slow_line(served.port, 0.05))
        with page(Served(port)) as browser:
            browser.value("viewer.look(0, 0n, 0n)")
            sharp(browser)
            asked = (
                "performance.getEntriesByType('resource')"
                ".filter((one) => /blocks/.test(one.name)).length"
            )
            before = browser.value(asked)
            browser.value("viewer.play()")
            browser.until("Number(viewer.facts.generation) > 100 && viewer.unseen === 0")
            assert browser.value(asked) - before < 50
            browser.value("viewer.pan(100, 60)")
            browser.until(f"Number(viewer.facts.generation) > {life.generation}")
            shot(browser, "running-far")
            browser.value("viewer.play()")
            browser.until("!viewer.facts.running")
            sharp(browser)
            live, dead = palette_table("dark")[255, 0], palette_table("dark")[0, 0]
            cells = np.where(np.asarray(life.grid()), live, dead)
            seen = canvas(browser)[:440, :600]
            assert np.array_equal(seen, cells[60:500, 100:700])


def test_coordinates_that_no_float_holds() -> None:
    if not cpu.levels():
        pytest.skip("the extension is not built")
    glider = BitGrid.from_cells(3, 3, [(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)])
    life = Life(glider, topology="unbounded", engine="hashlife")
    life.run(1 << 70)
    with serving(LifeBoard(life)) as served, page(served) as browser:
        x, y, _, _ = life.frame()
        assert browser.value(
            f"[[1,0],[2,1],[0,2],[1,2],[2,2]].every(([x, y]) => "
            f"viewer.lives({x}n + BigInt(x), {y}n + BigInt(y)))"
        )
        assert not browser.value(f"viewer.lives({x}n, {y}n)")
        shot(browser, "far")


def test_screens_of_other_kinds() -> None:
    life = Life(BitGrid.from_states(np.arange(200 * 100).reshape(100, 200) % 4), rule="345/2/4")
    board = LifeBoard(life, "a rule of four states", draws=True)
    with serving(board) as served, page(served, 380, 640, ratio=2) as browser:
        assert browser.value("document.documentElement.scrollWidth") <= 380
        shot(browser, "narrow")
    board = LifeBoard(Life(random_grid(90, 60, 0.4, seed=1)))
    with serving(board) as served, page(served) as browser:
        assert browser.value("viewer.palette") == "dark"
        scheme = [{"name": "prefers-color-scheme", "value": "light"}]
        browser.do("Emulation.setEmulatedMedia", features=scheme)
        browser.until("viewer.palette === 'light'")
        sharp(browser)
        shot(browser, "light")


def test_dead_cells_of_a_colour_of_their_own(tmp_path: Path) -> None:
    """They are no live ones, and all of a plane has their colour, at any scale."""
    rule = "@RULE Rust\n@TABLE\nn_states:3\nneighborhood:vonNeumann\nsymmetries:none\n1,0,0,0,0,2\n"
    (tmp_path / "Rust.rule").write_text(f"{rule}@COLORS\n0 60 90 120\n1 200 200 210\n2 180 60 10\n")
    life = Life(
        BitGrid.from_states([[1, 0, 2]], 2),
        rule=Rule.parse("Rust", [str(tmp_path)]),
        topology="unbounded",
    )
    with serving(LifeBoard(life, "rust")) as served, page(served) as browser:
        alive = "[-1, 0, 1, 2, 3].map((x) => viewer.lives(BigInt(x), 0n))"
        assert set(look(browser, -2, -100, -100).ravel().tolist()) >= {60, 180, 200}
        assert browser.value(alive) == [False, True, False, True, False]
        assert set(look(browser, 0, -600, -20).ravel().tolist()) == {60, 180, 200}
        shot(browser, "dead")
        seen = look(browser, 2, -200, -200)
        assert (seen[0] == 60).all()
        assert seen.min() == 60


def test_colours_of_a_universe_on_disk(tmp_path: Path) -> None:
    """Near by pixels are the cells' colours; from afar they have the mean of all, and a run of
    another process is followed."""
    rule = Rule.parse("345/2/4")
    states = np.random.default_rng(5).choice(4, (3000, 4000), p=[0.7, 0.1, 0.1, 0.1])
    states[:, 2000:] = 0
    grid = BitGrid.from_states(states, 2)
    with on_disk(grid, (2, 2), rule=rule, pyramid=True, folder=tmp_path) as universe:
        universe.close()
        board = StoredBoard(universe.path)
        with serving(board) as served, page(served) as browser:
            shot(browser, "stored-far")
            assert browser.value("viewer.blocks.values().next().value.shown.channels") == 3
            red = colours_of(rule, "dark")[:, 0]
            assert len(set(red.tolist())) == 4
            seen = look(browser, 0, 1500, 1200)
            part = np.s_[1200 : 1200 + seen.shape[0], 1500 : 1500 + seen.shape[1]]
            assert np.array_equal(seen, red[states[part]])
            shot(browser, "stored-near")
            alive = browser.value("viewer.lives(1500n, 1200n)")
            assert alive == bool(states[1200, 1500])
            with Universe.open(universe.path, writing=True) as writing:
                StreamedLife(writing, [pick("reference")]).run(3)
            browser.until("viewer.facts.generation === '3'")
            sharp(browser)
            life = Life(grid, rule=rule, backend="cpu")
            life.run(3)
            assert np.array_equal(canvas(browser), red[life.grid().states()[part]])
            look(browser, 5, -100, -100)
            shot(browser, "stored-outside")


def test_a_server_that_goes_away() -> None:
    with Browser(900, 600) as browser:
        with serving(LifeBoard(Life(BitGrid(40, 30), backend="cpu"))) as served:
            browser.open(f"http://127.0.0.1:{served.port}/{TOKEN}/")
            browser.until("viewer.facts !== null")
        browser.until("!viewer.note.hidden && viewer.note.textContent.includes('lost')")
        shot(browser, "lost")


@contextmanager
def piped(command: Sequence[str]) -> Iterator[subprocess.Popen[str]]:
    """Start a process of which all that it says can be read; end it afterwards."""
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command(number: int) -> None:
    gun = Path(__file__).parents[2] / "data" / "patterns" / "gosper-gun.rle"
    command = [sys.executable, "-m", "lifesim", "serve", str(gun), "--json"]
    with Browser(900, 600) as browser, piped(command) as server:
        assert server.stdout
        facts = json.loads(server.stdout.readline())
        browser.open(facts["address"])
        browser.until("globalThis.viewer?.facts?.population === '36'")
        browser.value("viewer.play()")
        browser.until("Number(viewer.facts.generation) > 3")
        assert browser.value("viewer.buttons.draw.hidden")
        server.send_signal(number)
        _, said = server.communicate(timeout=60)
        assert (server.returncode, said) == (0, "")
