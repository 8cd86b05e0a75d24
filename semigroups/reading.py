"""Read generators from a text, which is one of these:

    [[1, 0, 2], [0, 0, 1]]                      JSON: a list of lists of images

    1 0 2                                       a generator a line, with spaces or commas,
    0, 0, 1                                     and brackets around each or not
    [0, 0, 1]

    gens := [ Transformation( [ 2, 1 ] ),       GAP, with or without a name, and a list,
              Transformation( [ 1, 1, 2 ] ) ];  Semigroup( … ) or Monoid( … ) around them

Semigroup and Monoid make no difference: whether the identity counts is asked elsewhere. A #
begins a comment. Points and images count from 0, but in GAP from 1; the arrays that are
made count from 0.

All generators must have as many points, but in GAP a list may leave off last points that are
fixed, as GAP itself does when it prints: the degree is that of the longest list. For the same
reason IdentityTransformation and Transformation( [ ] ) are read.
"""

from __future__ import annotations

import re
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from bulkbits.exit_codes import ExitCode
from kernels.transformations import Map, Maps, image_dtype

_SPACE = r"[ \t\r\n]*"
_NUMBER = r"-?[0-9]+(?![^ \t\r\n,\[\]()])"  # a whole word, that is
_LIST = re.compile(rf"{_SPACE}(?:{_NUMBER}{_SPACE}(?:,{_SPACE}{_NUMBER}{_SPACE})*)?")
_LINE = re.compile(
    rf"[ \t]*(\[)?[ \t]*((?:{_NUMBER}(?:(?:[ \t]*,[ \t]*|[ \t]+){_NUMBER})*)?)[ \t]*(\])?[ \t]*"
)
_SPACES = re.compile(_SPACE)
_WORD = re.compile(r"[A-Za-z_]\w*|:=|[^\s,;:\[\](){}]+|.", re.DOTALL)
_CHUNK = re.compile(r"[^\s,\[\]()]+|.", re.DOTALL)
_LINE_END = re.compile(r"\r\n|\r|\n")
_COMMENT = re.compile(r"#[^\r\n]*")
# What a text begins with tells its kind.
_IS_GAP = re.compile(rf"{_SPACE}(?:\[{_SPACE})?[A-Za-z_]")
_IS_JSON = re.compile(rf"{_SPACE}(?:\{{|\[{_SPACE}(?:[\[\]]|\Z))")


class GeneratorsError(ValueError):
    """Raised where a text says no generators; the message is one line, "G.json:3:14: ...".

    source: the file, or what stands for one. line, column: from 1; 0 where the whole is meant.
    """

    exit_code = ExitCode.BAD_INPUT

    def __init__(self, message: str, source: str, line: int = 0, column: int = 0) -> None:
        place = f"{source}:{line}:{column}" if line else source
        super().__init__(f"{place}: {message}")
        self.message, self.source, self.line, self.column = message, source, line, column

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.message, self.source, self.line, self.column), vars(self)


def read_generators(path: str | PathLike[str]) -> Maps:
    """Read a file in UTF-8, see parse_generators(). Raises GeneratorsError, for the file too."""
    try:
        data = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise GeneratorsError(f"cannot be read: {reason}", str(path)) from None
    return parse_generators(data, str(path))


def parse_generators(text: str | bytes, source: str = "<string>") -> Maps:
    """Return maps (count, degree), images from 0, of the smallest unsigned dtype that will do.

    Raises GeneratorsError, with line and column: where there are no generators, or one has no
    points, degrees differ, an image is out of range, the text ends within a list, is none of
    the kinds above, or its bytes are no UTF-8. source: the text's name in errors.
    """
    if isinstance(text, bytes):
        text = _decoded(text, source)
    text = _COMMENT.sub(lambda comment: " " * len(comment[0]), text)
    if _IS_GAP.match(text):
        return _GapReader(text, source).read()
    if _IS_JSON.match(text):
        return _JsonReader(text, source).read()
    return _LineReader(text, source).read()


def _decoded(data: bytes, source: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # The error counts from behind a byte order mark.
        before = error.object[: error.start].decode()
        what = f"byte 0x{error.object[error.start]:02x} is not UTF-8"
        raise GeneratorsError(what, source, *_place(before, len(before))) from None


def _place(text: str, offset: int) -> tuple[int, int]:
    """Return the line and column of a character, from 1."""
    ends = [end.end() for end in _LINE_END.finditer(text, 0, offset)]
    return len(ends) + 1, offset - (ends[-1] if ends else 0) + 1


class _SyntaxReader:
    """Reads generators. text: without comments. first: the number of the first point."""

    first = 0

    def __init__(self, text: str, source: str) -> None:
        self.text, self.source, self.offset = text, source, 0
        self.generators: list[Map] = []

    def fail(self, what: str, offset: int | None = None) -> NoReturn:
        place = _place(self.text, self.offset if offset is None else offset)
        raise GeneratorsError(what, self.source, *place)

    def word(self) -> str:
        """Return what comes next, "" at the end; only spaces are passed over."""
        spaces = _SPACES.match(self.text, self.offset)
        assert spaces is not None
        self.offset = spaces.end()
        word = _WORD.match(self.text, self.offset)
        return word[0] if word else ""

    def accept(self, wanted: str) -> bool:
        found = self.word() == wanted
        if found:
            self.offset += len(wanted)
        return found

    def expect(self, *wanted: str) -> str:
        """Return which of these comes next, and pass over it."""
        for word in wanted:
            if self.accept(word):
                return word
        names = " or ".join(repr(word) for word in wanted)
        self.fail(f"{names} was expected, not {_shown(self.word())}")

    def images(self) -> None:
        """Read a generator, from behind its [ to behind its ]."""
        begin = self.offset
        body = _LIST.match(self.text, begin)
        assert body is not None
        self.offset = body.end()
        if not self.accept("]"):
            if self.accept(",") or not body[0].strip():
                self.no_image()
            self.expect(",", "]")
        self.add(body[0], begin)

    def no_image(self, end: int | None = None) -> NoReturn:
        """Fail for what is no image. end: of the line, where a generator may not go beyond it."""
        text = self.text[:end]
        spaces = _SPACES.match(text, self.offset)
        assert spaces is not None
        self.offset = spaces.end()
        chunk = _CHUNK.match(text, self.offset)
        nothing = "the end of the text" if end is None else "the end of the line"
        what = repr(_cut(chunk[0])) if chunk else nothing
        self.fail(f"an image, a whole number, was expected, not {what}")

    def add(self, body: str, begin: int) -> None:
        """Add the generator of the numbers in `body`, which is at `begin` in the text."""
        words = re.findall("-?[0-9]+", body)
        degree = self.degree(len(words), begin)
        # No degree has so many digits, and int() refuses thousands.
        images = [int(word) - self.first if len(word) < 20 else -1 for word in words]
        if images and not 0 <= min(images) <= max(images) < degree:
            k = next(k for k, image in enumerate(images) if not 0 <= image < degree)
            place = [match.start() for match in re.finditer("-?[0-9]+", body)][k]
            last = degree - 1 + self.first
            self.fail(
                f"image {_cut(words[k])} is out of range: the points are {self.first} to {last}",
                begin + place,
            )
        self.generators.append(np.array(images, image_dtype(max(degree, 1))))

    def degree(self, found: int, begin: int) -> int:
        """Check that a generator with `found` images has as many as the first; return how many."""
        if not found:
            self.fail("a generator without points: the degree is 0", begin)
        first = len(self.generators[0]) if self.generators else found
        if found != first:
            self.fail(f"degrees differ: {found} here, {first} in the first generator", begin)
        return found

    def result(self) -> Maps:
        if not self.generators:
            raise GeneratorsError("no generators", self.source)
        return np.stack(self.generators)


class _JsonReader(_SyntaxReader):
    def read(self) -> Maps:
        self.expect("[")
        if not self.accept("]"):
            self.generator()
            while self.expect(",", "]") == ",":
                self.generator()
        if self.word():
            self.fail(f"{_shown(self.word())} after the end of the list")
        return self.result()

    def generator(self) -> None:
        self.expect("[")
        self.images()


class _LineReader(_SyntaxReader):
    def read(self) -> Maps:
        begin = 0
        for line_end in _LINE_END.finditer(self.text):
            self.line(begin, line_end.start())
            begin = line_end.end()
        self.line(begin, len(self.text))
        return self.result()

    def line(self, begin: int, end: int) -> None:
        line = _LINE.match(self.text, begin, end)
        assert line is not None
        bracket, body, closed = line.groups()
        self.offset = line.end()
        if self.offset < end:
            if closed:
                self.fail(f"{_shown(self.word())} after the end of a generator")
            self.accept(",")
            self.no_image(end)
        if bracket and not closed:
            self.fail("']' was expected, not the end of the line")
        if closed and not bracket:
            self.fail("']' without a '['", line.start(3))
        if bracket or body:
            self.add(body, line.start(2))


class _GapReader(_SyntaxReader):
    first = 1

    def read(self) -> Maps:
        while self.word():
            self.name()
            self.value()
            while self.accept(";") or self.accept(","):
                pass
        return self.result()

    def name(self) -> None:
        """Pass over name :="""
        word, begin = self.word(), self.offset
        self.offset += len(word)
        if not (word.isidentifier() and self.accept(":=")):
            self.offset = begin

    def value(self) -> None:
        if self.accept("Semigroup") or self.accept("Monoid"):
            self.expect("(")
            if self.accept("["):
                self.transformations("]")
                self.expect(")")
            else:
                self.transformations(")")
        elif self.accept("["):
            self.transformations("]")
        else:
            self.transformation()

    def transformations(self, end: str) -> None:
        if not self.accept(end):
            self.transformation()
            while self.expect(",", end) == ",":
                self.transformation()

    def transformation(self) -> None:
        if self.accept("IdentityTransformation"):
            self.add("", self.offset)
        else:
            self.expect("Transformation")
            self.expect("(")
            self.expect("[")
            self.images()
            self.expect(")")

    def degree(self, found: int, begin: int) -> int:
        return found

    def result(self) -> Maps:
        degree = max((len(images) for images in self.generators), default=1)
        if not degree:
            raise GeneratorsError("all generators are without points: the degree is 0", self.source)
        points = np.arange(degree, dtype=image_dtype(degree))
        self.generators = [np.append(images, points[len(images) :]) for images in self.generators]
        return super().result()


def _shown(word: str) -> str:
    return repr(_cut(word)) if word else "the end of the text"


def _cut(word: str) -> str:
    return word if len(word) <= 30 else word[:29] + "…"
