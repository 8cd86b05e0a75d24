"""Lines of text as strings of terminals, compiled and in plain Python."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kernels.cky import text as text_module
from kernels.cky.text import ABSENT, INVALID, UNKNOWN, Encoded, TextEncoder, marked, marked_plainly
from tests.quick import examples

WORDS = ["(", ")", "a", "ab", "the", "é", "日", "😀", "naïve", " ", "\0", "a b", "longer than 8"]
BOTH = pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "plain"])


def array(data: bytes) -> np.ndarray:
    return np.frombuffer(data, np.uint8)


@pytest.fixture
def encode(compiled: bool):
    def run(data: bytes, mode="chars", words=WORDS, unknown=ABSENT, threads=1) -> Encoded:
        vocabulary = TextEncoder(words, mode, unknown, threads)
        if compiled and text_module._cpu is None:
            pytest.skip("the CPU kernels are not built")
        run = vocabulary.encode if compiled else vocabulary.encode_plainly
        return run(array(data))

    return run


def numbers(encoded: Encoded) -> list[list[int]]:
    return [encoded.batch[s].tolist() for s in range(len(encoded.batch))]


def same(a: Encoded, b: Encoded) -> None:
    for x, y in (
        (a.batch.terminals, b.batch.terminals),
        (a.batch.offsets, b.batch.offsets),
        (a.starts, b.starts),
        (a.bad, b.bad),
    ):
        assert x.dtype == y.dtype
        assert x.shape == y.shape
        np.testing.assert_array_equal(x, y)


@BOTH
def test_characters(encode) -> None:
    found = encode("()\n\né日😀\r\n a".encode())
    assert numbers(found) == [[0, 1], [], [5, 6, 7], [9, 2]]
    assert found.starts.tolist() == [0, 3, 4, 15, 17]
    assert found.bad.shape == (0, 3)


@BOTH
def test_words_between_blanks(encode) -> None:
    found = encode("the\tab  a\r\n\v naïve \f\n\nlonger".encode(), "space", [*WORDS, "longer"])
    assert numbers(found) == [[4, 3, 2], [8], [], [13]]
    assert found.bad.shape == (0, 3)


@BOTH
def test_unknown_tokens_are_reported_by_line_and_byte(encode) -> None:
    found = encode("(x)y\n()\né日ж\n".encode())
    assert numbers(found) == [[0, ABSENT, 1, ABSENT], [0, 1], [5, 6, ABSENT]]
    assert found.bad.tolist() == [[0, UNKNOWN, 1], [2, UNKNOWN, 13]]
    found = encode(b"the  cat a\nthecat\n", "space")
    assert numbers(found) == [[4, ABSENT, 2], [ABSENT]]
    assert found.bad.tolist() == [[0, UNKNOWN, 5], [1, UNKNOWN, 11]]


@BOTH
def test_unknown_tokens_become_another(encode) -> None:
    found = encode("(x)\nж".encode(), unknown=2)
    assert numbers(found) == [[0, 2, 1], [2]]
    assert not len(found.bad)


@BOTH
@pytest.mark.parametrize("mode", ["chars", "space"])
@pytest.mark.parametrize(
    ("bad", "at"),
    [(b"\x80", 0), (b"a\xff", 1), (b"\xc3", 0), (b"\xc0\x80", 0), (b"\xe0\x80\x80", 0),
     (b"\xed\xa0\x80", 0), (b"\xf4\x90\x80\x80", 0), (b"\xf5\x80\x80\x80", 0),
     (b"\xf0\x9f\x98", 0), (b"x \xe6\x97", 2), (b"\xe6\x97\xa5\xe6\x97a", 3)],
)  # fmt: skip
def test_what_is_no_utf8_has_no_tokens_and_harms_no_other(encode, mode, bad, at) -> None:
    found = encode(b"a\n" + bad + b"\na", mode)
    assert numbers(found) == [[2], [], [2]]
    assert found.bad.tolist() == [[1, INVALID, 2 + at]]


# Ranges of each byte, row by row, in table 3-7 of the Unicode Standard.
TABLE_3_7 = [
    [(0x00, 0x7F)],
    [(0xC2, 0xDF), (0x80, 0xBF)],
    [(0xE0, 0xE0), (0xA0, 0xBF), (0x80, 0xBF)],
    [(0xE1, 0xEC), (0x80, 0xBF), (0x80, 0xBF)],
    [(0xED, 0xED), (0x80, 0x9F), (0x80, 0xBF)],
    [(0xEE, 0xEF), (0x80, 0xBF), (0x80, 0xBF)],
    [(0xF0, 0xF0), (0x90, 0xBF), (0x80, 0xBF), (0x80, 0xBF)],
    [(0xF1, 0xF3), (0x80, 0xBF), (0x80, 0xBF), (0x80, 0xBF)],
    [(0xF4, 0xF4), (0x80, 0x8F), (0x80, 0xBF), (0x80, 0xBF)],
]


def near_the_table() -> list[bytes]:
    """Byte sequences at the ends of each range of each row, just inside and just outside."""
    found = set()
    for row in TABLE_3_7:
        for ends in product(*row):
            found.add(bytes(ends))
            for i, byte in enumerate(ends):
                for other in (byte - 1, byte + 1):
                    if 0 <= other <= 0xFF:
                        found.add(bytes([*ends[:i], other, *ends[i + 1 :]]))
    return sorted(found - {b"\n", b"\r"})


def test_the_ends_of_each_row_of_unicodes_table() -> None:
    """Compiled, plain and by Python's own decoder: what is a character, and what is none."""
    sequences = near_the_table()
    for mode in ("chars", "space"):
        for vocabulary in (TextEncoder(["a"], mode, 0), TextEncoder(["a"], mode)):
            text = array(b"\n".join(sequences))
            same(vocabulary.encode(text), vocabulary.encode_plainly(text))
    found = TextEncoder(["a"], "chars", 0).encode(array(b"\n".join(sequences)))
    bad = {line for line, fault, _ in found.bad.tolist() if fault == INVALID}
    for line, sequence in enumerate(sequences):
        try:
            characters = len(sequence.decode("utf-8"))
        except UnicodeDecodeError:
            assert line in bad, sequence
        else:
            assert line not in bad, sequence
            assert len(found.batch[line]) == characters, sequence
    firsts_and_lasts = {bytes(ends) for row in TABLE_3_7 for ends in zip(*row, strict=True)}
    assert firsts_and_lasts <= set(sequences)


@BOTH
def test_nothing_and_ends_of_lines(encode) -> None:
    for data, lines in [
        (b"", []), (b"\n", [[]]), (b"a", [[2]]), (b"a\n", [[2]]), (b"\r\n", [[]]),
        (b"\r\n\r\na\r\n", [[], [], [2]]), (b"a\0\n", [[2, 10]]),
    ]:  # fmt: skip
        assert numbers(encode(data)) == lines
    assert numbers(encode(b"a\ra\r")) == [[2, ABSENT, 2, ABSENT]]  # lone ones are characters
    assert numbers(encode(b"a\ra\r", "space")) == [[2, 2]]


@BOTH
def test_the_empty_vocabulary(encode) -> None:
    assert numbers(encode(b"a\n", words=[])) == [[ABSENT]]


def test_a_word_comes_once() -> None:
    with pytest.raises(ValueError, match="twice"):
        TextEncoder(["a", "b", "a"], "chars")


def test_many_words() -> None:
    words = [f"word{n}" * (n % 7 + 1) for n in range(20000)]
    data = array(" ".join(words).encode())
    found = TextEncoder(words, "space").encode(data)
    assert found.batch.terminals.tolist() == list(range(20000))


PIECES = [b"(", b"a", b"ab", b" ", b"\n", b"\r", b"\r\n", b"\t", b"\0", "é".encode(), b"the",
          "😀".encode(), b"\xff", b"\xc3", "ж".encode(), b"longer than 8", b"abcdefgh",
          b"\x80"]  # fmt: skip
texts = st.one_of(st.lists(st.sampled_from(PIECES), max_size=40).map(b"".join), st.binary())


@settings(max_examples=examples(300), deadline=None)
@given(texts, st.sampled_from(["chars", "space"]), st.sampled_from([ABSENT, 0, 3]))
@example(b"\xe2\x82", "chars", ABSENT)
def test_compiled_and_plain_agree_on_any_bytes(data, mode, unknown) -> None:
    vocabulary = TextEncoder(WORDS, mode, unknown)
    found, expected = vocabulary.encode(array(data)), vocabulary.encode_plainly(array(data))
    same(found, expected)
    lines = len(found.batch)
    marks = np.array([0, *b"1?"], np.uint8)[np.arange(lines) % 3]
    for shown in (True, False):
        written = marked(array(data), found.starts, marks, shown)
        assert written == marked_plainly(array(data), found.starts, marks, shown)


@pytest.mark.sample(2)
@pytest.mark.parametrize("mode", ["chars", "space"])
@pytest.mark.parametrize("threads", [2, 3, 8])
def test_threads_share_a_text(mode, threads) -> None:
    rng = np.random.default_rng(threads)
    lines = [b"".join(PIECES[i] for i in rng.integers(0, len(PIECES), rng.integers(0, 30)))
             for _ in range(40000)]  # fmt: skip
    lines[20000] = b"a" * 700_000  # longer than a thread's part
    lines[:10000] = [b"(a)" * 20] * 10000
    data = array(b"\n".join(lines))
    assert data.size > 3 * (1 << 18)
    alone = TextEncoder(WORDS, mode).encode(data)
    same(TextEncoder(WORDS, mode, threads=threads).encode(data), alone)
    assert len(alone.bad) > 100


@pytest.mark.parametrize("function", [marked, marked_plainly])
def test_marked_lines(function) -> None:
    data = array(b"one\n\nthree\r\nfour")
    starts = np.array([0, 4, 5, 12, 16])
    marks = np.frombuffer(b"10?1", np.uint8)
    assert function(data, starts, marks) == b"1\tone\n0\t\n?\tthree\n1\tfour\n"
    some = np.where(marks == ord("1"), marks, 0).astype(np.uint8)
    assert function(data, starts, some, False) == b"one\nfour\n"
    assert function(data, starts, np.zeros(4, np.uint8)) == b""


def test_starts_must_fit_the_text() -> None:
    if text_module._cpu is None:
        pytest.skip("the CPU kernels are not built")
    for starts in ([0, 5], [3, 2], [0], [-1, 2], [0, 1, 2]):
        with pytest.raises(ValueError, match="starts"):
            marked(array(b"abc\n"), np.array(starts), np.ones(1, np.uint8))
