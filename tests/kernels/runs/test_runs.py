"""Text of run lengths: compiled and in numpy the same, and both what the text says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kernels import runs
from kernels.runs import ref
from tests.quick import examples
from tests.strategies import grids

ENGINES = runs.engines()
COMPILED = pytest.mark.skipif(len(ENGINES) < 2, reason="the extension is not built")


def spelled(text: str) -> tuple[int, int, set[tuple[int, int]]]:
    """Why and where reading ends, and the live cells: one character after the other."""
    x = y = total = 0
    digits, begun = "", 0
    cells: set[tuple[int, int]] = set()
    for place, character in enumerate(text):
        if character in "0123456789":
            begun = begun if digits else place
            if len(digits) == 18:
                return runs.DIGITS, begun, cells
            digits += character
        elif character in " \t\r\n\v\f":
            continue
        elif character in "b.oA$":
            if digits and not int(digits):
                return runs.ZERO, begun, cells
            count, digits = int(digits or 1), ""
            total += count
            if total >= 1 << 62:
                return runs.CELLS, place, cells
            if character == "$":
                x, y = 0, y + count
            else:
                if character in "oA":
                    cells |= {(x + i, y) for i in range(min(count, 1600))}
                x += count
        else:
            return (runs.END if character == "!" else runs.FOREIGN), place, cells
    return runs.NONE, len(text), cells


def result(engine: str, text: str, cuts: list[int], canvas: tuple[int, int, int, int] | None):
    """Return all that a walk in pieces says: the fault, its place, the bounds, the words."""
    data = text.encode("latin-1")
    walk = runs.Walk(engine=engine)
    if canvas:
        left, top, width, height = canvas
        words = np.zeros((height, -(-width // 64)), np.uint64)
        walk = runs.Walk(words, width, left, top, engine)
    fault, at, first = runs.NONE, 0, 0
    for last in [*sorted(cut for cut in cuts if cut <= len(data)), len(data)]:
        fault, at = walk.go(data, first, last)
        if fault:
            break
        first = last
    bounds = (
        walk.left_most,
        walk.top_most,
        walk.right,
        walk.bottom,
        walk.widest_at,
        walk.lowest_at,
    )
    whole = fault in (runs.NONE, runs.END)  # after a fault the rest means nothing
    said = (walk.live, bounds if walk.live else None, walk.started, walk.counting)
    return fault, at, said if whole else None, words.tolist() if canvas and whole else None


LIKELY = st.lists(
    st.one_of(
        st.sampled_from(["b", "o", "$", ".", "A", "\n", " ", "2", "3o", "11b", "\r\n"]),
        st.integers(0, 200).map(str),
        st.sampled_from(["0", "00", "!", "x", "\xff", "9" * 17, "9" * 18, "9" * 19, "0" * 18]),
        st.sampled_from(["999999999999999999$", "4611686018427387903b", "1" * 18 + "b"]),
    ),
    max_size=40,
).map("".join)
TEXTS = st.one_of(LIKELY, st.text("bo$!0123456789 \n.A", max_size=60))
CANVASES = st.tuples(
    st.integers(0, 3), st.integers(0, 3), st.sampled_from([1, 63, 64, 65, 200, 700]), st.just(9)
)


@COMPILED
@settings(deadline=None, max_examples=examples(300))
@given(TEXTS, st.lists(st.integers(0, 60), max_size=4), st.none() | CANVASES)
@example("999999999999999999b" * 4 + "611686018427387903b", [], None)
@example("999999999999999999b" * 4 + "611686018427387907b", [5, 30], None)
@example("o" * 80 + "$200o", [40], (0, 0, 200, 9))
@example("9" * 18 + "!", [4], None)
def test_engines_say_the_same(text, cuts, canvas) -> None:
    assert result("compiled", text, cuts, canvas) == result("reference", text, cuts, canvas)


@pytest.mark.parametrize("engine", ENGINES)
@settings(deadline=None, max_examples=examples(150))
@given(text=TEXTS, cuts=st.lists(st.integers(0, 60), max_size=3))
@example(text="1003o", cuts=[])
def test_text_is_read_as_it_is_spelled(engine, text, cuts) -> None:
    fault, at, cells = spelled(text)
    found = result(engine, text, cuts, None)
    assert found[:2] == (fault, at)
    if found[2] and cells:
        xs, ys = zip(*cells, strict=True)
        _, (left, top, _, bottom, _, lowest_at), _, _ = found[2]
        assert (left, top, bottom) == (min(xs), min(ys), max(ys))
        assert text[lowest_at] in "oA"
    room = (0, 0, 1500, 300)
    inside = all(x < room[2] and y < room[3] for x, y in cells)
    painted = result(engine, text, cuts, room)
    if painted[3] is not None:
        bits = np.unpackbits(np.array(painted[3], np.uint64).view(np.uint8), bitorder="little")
        ys, xs = np.nonzero(bits.reshape(room[3], -1))
        assert set(zip(xs.tolist(), ys.tolist(), strict=True)) == cells
    else:
        assert fault not in (runs.NONE, runs.END) or not inside or painted[0] == runs.OUTSIDE


@pytest.mark.parametrize("engine", ENGINES)
def test_cells_that_leave_the_words_are_refused(engine) -> None:
    for text, canvas, at in [
        ("64o$65o", (0, 0, 64, 2), 6),
        ("bo2$o", (0, 0, 64, 2), 4),
        ("o", (1, 0, 64, 1), 0),
        ("2bo$o", (1, 0, 64, 9), 4),
        ("$o$o", (0, 2, 64, 9), 1),
        ("4611686018427387o", (0, 0, 64, 1), 16),
    ]:
        assert result(engine, text, [], canvas)[:2] == (runs.OUTSIDE, at), text
    assert result(engine, "64b$$99b$", [], (0, 0, 1, 1))[0] == runs.NONE  # dead cells need no place


@pytest.mark.parametrize("engine", ENGINES)
def test_walks_check_their_arguments(engine) -> None:
    words = np.zeros((2, 2), np.uint64)
    for first, last in [(-1, 1), (2, 1), (0, 4), (0, 1 << 70)]:
        with pytest.raises(ValueError, match="no piece"):
            runs.Walk(engine=engine).go(b"3o!", first, last)
    sealed = words.copy()
    sealed.flags.writeable = False
    for walk in [
        runs.Walk(words.view(np.int64), 9, engine=engine),
        runs.Walk(words.T, 9, engine=engine),
        runs.Walk(words, 129, engine=engine),
        runs.Walk(words, 0, engine=engine),
        runs.Walk(words, 9, -1, engine=engine),
        runs.Walk(words[:0], 9, engine=engine),
        runs.Walk(sealed, 9, engine=engine),
    ]:
        with pytest.raises(ValueError, match="words"):
            walk.go(b"3o!", 0, 3)
    with pytest.raises(ValueError, match="no engine"):
        runs.Walk(engine="best").go(b"", 0, 0)
    for left, width in [(-1, 5), (0, 0), (0, 129), (120, 9), (1 << 62, 1 << 62)]:
        with pytest.raises(ValueError, match="columns"):
            runs.Writer(left, width, engine=engine).write(words)
    with pytest.raises(ValueError, match="uint64"):
        runs.Writer(0, 9, engine=engine).write(words[:, :1])


@COMPILED
def test_the_extension_itself_takes_no_wrong_argument() -> None:
    from kernels import _cpu

    assert _cpu.RUNS_FIELDS == ref.FIELDS
    words, state = np.zeros((2, 2), np.uint64), np.zeros(ref.FIELDS, np.int64)
    big = (1 << 63) - 1
    for first, last in [(-1, 1), (2, 1), (0, 4), (0, big), (-big, big), (big, big)]:
        with pytest.raises(ValueError, match="piece"):
            _cpu.runs_walk(b"3o!", first, last, state, None, 0, 0, 0)
    for width, left, top in [(0, 0, 0), (129, 0, 0), (big, 0, 0), (9, -1, 0), (9, 0, -big)]:
        with pytest.raises(ValueError, match="outside"):
            _cpu.runs_walk(b"3o!", 0, 3, state, words, width, left, top)
    assert _cpu.runs_walk(b"3o!", 0, 3, state, words, 9, big, big)[0] == runs.OUTSIDE
    for at, value in [(0, -1), (1, big), (0, 5), (2, -1), (2, big), (3, 19), (3, -1), (5, -1)]:
        wrong = np.zeros(ref.FIELDS, np.int64)
        wrong[at] = value
        with pytest.raises(ValueError, match="state"):
            _cpu.runs_walk(b"3o!", 0, 3, wrong, None, 0, 0, 0)
    with pytest.raises(ValueError, match="length"):
        _cpu.runs_walk(b"3o!", 0, 3, state[:-1], None, 0, 0, 0)
    for pen in ([-1, 0], [big, 0], [0, 71], [0, -1], [0]):
        with pytest.raises(ValueError, match="pen"):
            _cpu.runs_write(words, 0, 9, np.array(pen, np.int64))
    for left, width in [(-1, 5), (0, 0), (0, 129), (120, 9), (big, big), (128, 1)]:
        with pytest.raises(ValueError, match="columns"):
            _cpu.runs_write(words, left, width, np.zeros(2, np.int64))
    noise = np.random.default_rng(1).integers(0, 1 << 64, (3, 5), np.uint64, endpoint=False)
    for left, width in [(0, 1), (319, 1), (63, 2), (100, 7)]:  # whatever lives outside of them
        assert len(_cpu.runs_write(noise, left, width, np.array([1 << 61, 70], np.int64)))


@settings(deadline=None, max_examples=100)
@given(grid=grids(), most=st.integers(1, 5))
def test_runs_of_rows_that_are_looked_at_in_pieces(grid, most) -> None:
    """A run over several pieces stays one, however few words a piece has."""
    with pytest.MonkeyPatch.context() as patch:
        whole = [np.concatenate(parts) for parts in zip(*ref.live_runs(grid.words), strict=True)]
        patch.setattr(ref, "_WORDS", most)
        pieces = [np.concatenate(parts) for parts in zip(*ref.live_runs(grid.words), strict=True)]
    assert list(map(np.ndarray.tolist, pieces)) == list(map(np.ndarray.tolist, whole))
    words = np.zeros_like(grid.words)
    if pieces:
        ref.paint(words, tuple(pieces))
    assert np.array_equal(words, grid.words)


@pytest.mark.parametrize("count", [1, 2, 7])
def test_a_run_as_long_as_a_row(count, monkeypatch) -> None:
    monkeypatch.setattr(ref, "_WORDS", 1)
    found = list(ref.live_runs(np.full((2, count), ~np.uint64(0))))
    runs_of_rows = [np.concatenate(parts).tolist() for parts in zip(*found, strict=True)]
    assert runs_of_rows == [[0, 1], [0, 0], [64 * count] * 2]


@pytest.mark.parametrize("engine", ENGINES)
@settings(deadline=None, max_examples=examples(100))
@given(grid=grids(), block=st.integers(1, 70), cuts=st.lists(st.integers(0, 5000), max_size=3))
def test_what_is_written_is_read_again(engine, grid, block, cuts) -> None:
    box = grid.bounding_box() or (0, 0, grid.width, grid.height)
    texts = set()
    for name in ENGINES:
        writer = runs.Writer(box[0], box[2], engine=name)
        rows = grid.words[box[1] : box[1] + box[3]]
        parts = [writer.write(rows[y : y + block]) for y in range(0, len(rows), block)]
        text = b"".join(parts)
        texts.add(text)
        lines = text.split(b"\n")
        assert max(map(len, lines)) <= 70
        assert writer.line == len(lines[-1])
    assert len(texts) == 1
    words = np.zeros_like(grid.words)
    walk = runs.Walk(words, grid.width, engine=engine)
    first = 0
    for last in [*sorted(cut for cut in cuts if cut < len(text)), len(text)]:
        assert walk.go(text, first, last) == (runs.NONE, last)
        first = last
    moved = np.zeros_like(grid.words)
    moved[: box[3]] = np.array(grid.words[box[1] : box[1] + box[3]])
    if box[0] == 0:
        assert np.array_equal(words, moved)
    assert np.bitwise_count(words).sum() == grid.population()


@pytest.mark.parametrize("shape", [(1, 40_000), (300, 130), (40_000, 1)])
@pytest.mark.parametrize("left", [0, 61])
def test_long_texts_are_gone_through_in_parts(shape: tuple[int, int], left: int) -> None:
    """The extension looks between the parts whether Ctrl-C has come; they do not show."""
    rng = np.random.default_rng(1)
    words = rng.integers(0, 2**63, shape, np.uint64) & rng.integers(0, 2**63, shape, np.uint64)
    words[:, 0] &= np.uint64(2**64 - 2**left)
    words[shape[0] // 2 :, shape[1] // 2] = 2**64 - 1
    width = 64 * shape[1] - left
    text = runs.Writer(left, width).write(words)
    pieces = runs.Writer(left, width)
    step = max(1, shape[0] // 7)
    assert text == b"".join(pieces.write(words[y : y + step]) for y in range(0, shape[0], step))
    if shape[1] < 1000:
        assert text == runs.Writer(left, width, engine="reference").write(words)
    found = np.zeros(shape, np.uint64)
    walk = runs.Walk(found, 64 * shape[1])
    assert len(text) > 100_000
    assert walk.go(text, 0, len(text)) == (runs.NONE, len(text))
    if not left:
        assert np.array_equal(found, words)
