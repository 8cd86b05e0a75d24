"""Draws the SVG files beside it, which the explanations show: `python docs/pictures/draw.py`."""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape

HERE = Path(__file__).parent
BLUE, PALE, ORANGE, GREY = "#30588c", "#dbe8f6", "#f3a54a", "#888888"


class Drawing:
    """A drawing of boxes, lines and words; coordinates are pixels from the top left."""

    def __init__(self, width: int, height: int) -> None:
        self.size, self.parts = (width, height), [""]

    def box(self, x: float, y: float, width: float, height: float, fill: str = "none") -> None:
        """Add a box with a thin frame."""
        self.parts.append(
            f'<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{fill}" '
            f'stroke="{BLUE}"/>'
        )

    def shape(self, points: list[tuple[float, float]], fill: str) -> None:
        """Add a polygon."""
        listed = " ".join(f"{x},{y}" for x, y in points)
        self.parts.append(f'<polygon points="{listed}" fill="{fill}" stroke="{BLUE}"/>')

    def text(self, x: float, y: float, words: str, anchor: str = "start", size: int = 14) -> None:
        """Add words that begin, end or have their middle at x, with their foot at y."""
        look = f'text-anchor="{anchor}" font-size="{size}"'
        self.parts.append(f'<text x="{x}" y="{y}" {look}>{escape(words)}</text>')

    def arrow(self, x0: float, y0: float, x1: float, y1: float) -> None:
        """Add an arrow from the first point to the second."""
        self.parts.append(
            f'<line x1="{x0}" y1="{y0}" x2="{x1}" y2="{y1}" stroke="black" marker-end="url(#tip)"/>'
        )

    def save(self, name: str) -> None:
        """Write the file NAME.svg."""
        width, height = self.size
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" font-family="sans-serif">\n'
            '<marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" '
            'markerHeight="8" orient="auto"><path d="M0 0 L8 4 L0 8 z"/></marker>'
        )
        (HERE / f"{name}.svg").write_text(head + "\n".join(self.parts) + "\n</svg>\n", "utf-8")


def circuits() -> None:
    """Draw eight full adders as five operations on words of eight bits."""
    made = Drawing(640, 280)
    rows = {"A": "01101001", "B": "11000101", "C": "10111010"}
    a, b, c = (int(bits, 2) for bits in rows.values())
    rows["sum"] = f"{a ^ b ^ c:08b}"
    rows["carry"] = f"{(a & b) | ((a ^ b) & c):08b}"
    for row, (name, bits) in enumerate(rows.items()):
        y = 40 + 36 * row + (24 if row > 2 else 0)
        made.text(64, y + 21, name, "end")
        for column, bit in enumerate(bits):
            fill = ORANGE if column == 2 else PALE if bit == "1" else "white"
            made.box(76 + 36 * column, y, 36, 30, fill)
            made.text(94 + 36 * column, y + 20, bit, "middle")
    made.text(76, 26, "a word: one bit of each of eight instances")
    made.text(400, 98, "T = A xor B")
    made.text(400, 120, "sum = T xor C")
    made.text(400, 142, "carry = (A and B) or (T and C)")
    made.text(400, 176, "five operations,")
    made.text(400, 198, "whatever the width of the word")
    made.text(166, 268, "one instance: 1 + 0 + 1 = 10", "middle", 12)
    made.save("circuits")


def blocking() -> None:
    """Draw how the right cells of a panel shrink from generation to generation."""
    made = Drawing(640, 270)
    for step in range(6):
        y = 50 + 32 * step
        made.box(60, y, 440, 22, "white")
        made.box(60 + 24 * step, y, 440 - 48 * step, 22, PALE)
        made.text(514, y + 16, f"generation {step}" if step else "generation 0: read", size=13)
    made.box(60 + 24 * 5, 50 + 32 * 5, 440 - 48 * 5, 22, ORANGE)
    made.text(514, 50 + 32 * 5 + 32, "written", size=13)
    made.text(60, 36, "halo")
    made.text(280, 36, "a panel and its halo", "middle")
    made.text(500, 36, "halo", "end")
    made.text(280, 262, "pale: right; white: wrong, as news from outside is missing", "middle", 13)
    made.save("blocking")


def phase() -> None:
    """Draw the way of a block of tiles from files to files."""
    made = Drawing(680, 270)
    for row in range(5):
        for column in range(4):
            inside = 1 <= row <= 2 and 1 <= column <= 2
            made.box(20 + 40 * column, 50 + 40 * row, 40, 40, ORANGE if inside else "white")
    made.shape([(46, 76), (154, 76), (154, 184), (46, 184)], "none")
    made.text(100, 36, "tiles: files on disk", "middle")
    made.text(100, 268, "a block, and its halo", "middle", 12)
    made.arrow(190, 110, 250, 110)
    made.text(220, 100, "read", "middle", 13)
    made.box(255, 70, 108, 108, PALE)
    made.box(281, 96, 56, 56, ORANGE)
    made.text(309, 200, "window in memory", "middle", 13)
    made.arrow(370, 124, 430, 124)
    made.text(400, 114, "T steps", "middle", 13)
    made.box(462, 96, 56, 56, ORANGE)
    made.text(490, 200, "what is right then", "middle", 13)
    made.arrow(524, 124, 584, 124)
    made.text(554, 114, "write", "middle", 13)
    made.box(592, 96, 28, 28, ORANGE)
    made.box(620, 96, 28, 28, ORANGE)
    made.box(592, 124, 28, 28, ORANGE)
    made.box(620, 124, 28, 28, ORANGE)
    made.text(620, 200, "new files", "middle", 13)
    made.text(430, 240, "meanwhile the next block is read and the last one written", "middle", 13)
    made.save("phase")


def counts() -> None:
    """Draw how a count is computed modulo several primes and put together."""
    made = Drawing(640, 230)
    for row, (prime, left, right) in enumerate([(5, 4, 3), (7, 6, 5), (11, 3, 9)]):
        y = 30 + 60 * row
        made.box(20, y, 150, 40, PALE)
        made.text(95, y + 25, f"chart modulo {prime}", "middle")
        made.arrow(176, y + 20, 236, y + 20)
        total = left * right % prime
        made.box(242, y, 190, 40, "white")
        made.text(337, y + 25, f"{left} · {right} mod {prime} = {total}", "middle")
        made.arrow(438, y + 20, 488, 110 + 6 * (row - 1))
    made.box(494, 80, 120, 60, ORANGE)
    value = next(n for n in range(385) if (n % 5, n % 7, n % 11) == (12 % 5, 30 % 7, 27 % 11))
    made.text(554, 106, f"n = {value}", "middle")
    made.text(554, 128, "of 0 .. 384", "middle", 12)
    made.text(320, 222, "as 5 · 7 · 11 = 385 is more than n can be, n is certain", "middle", 13)
    made.save("counts")


def hashlife() -> None:
    """Draw a square, its nine smaller ones, and the middle that becomes of it."""
    made = Drawing(660, 280)
    made.box(20, 40, 192, 192, "white")
    for row in range(4):
        for column in range(4):
            made.box(
                20 + 48 * column,
                40 + 48 * row,
                48,
                48,
                PALE if (row // 2 + column // 2) % 2 else "white",
            )
    made.text(116, 28, "a square of level n", "middle", 13)
    made.text(116, 256, "made of four of level n - 1", "middle", 12)
    made.arrow(222, 136, 262, 136)
    for row in range(3):
        for column in range(3):
            made.box(272 + 44 * column, 70 + 44 * row, 36, 36, PALE)
            made.box(281 + 44 * column, 79 + 44 * row, 18, 18, ORANGE)
    made.text(334, 28, "nine of n - 1, which overlap:", "middle", 13)
    made.text(334, 48, "what becomes of each?", "middle", 13)
    made.text(334, 226, "looked up in the table, or computed;", "middle", 12)
    made.text(334, 244, "then four squares of these, likewise", "middle", 12)
    made.arrow(412, 136, 452, 136)
    for row in range(4):
        for column in range(4):
            inside = 1 <= row <= 2 and 1 <= column <= 2
            made.box(460 + 48 * column, 40 + 48 * row, 48, 48, ORANGE if inside else "white")
    made.text(556, 28, "the result: its middle", "middle", 13)
    made.text(556, 256, "2^(n - 2) generations later", "middle", 12)
    made.save("hashlife")


def cky() -> None:
    """Draw a chart whose cells are words, a bit for each sentence.

    The grammar is A → A B | 'a', B → B A | 'b'; the sentences are four of as many tokens.
    """
    rules, cells = {("A", "B"): "A", ("B", "A"): "B"}, []
    for sentence in ("ABBA", "ABAB", "BABA", "AABB"):
        cell = {(start, 0): {symbol} for start, symbol in enumerate(sentence)}
        for length in range(1, 4):
            for start in range(4 - length):
                cell[start, length] = {
                    rules[left, right]
                    for k in range(length)
                    for left in cell[start, k]
                    for right in cell[start + k + 1, length - k - 1]
                    if (left, right) in rules
                }
        cells.append(cell)
    made = Drawing(660, 300)
    for length in range(4):
        for start in range(4 - length):
            x, y = 30 + 84 * start + 42 * length, 200 - 56 * length
            chosen = (start, length) == (0, 3)
            made.box(x, y, 76, 44, ORANGE if chosen else PALE)
            for line, symbol in enumerate("AB"):
                bits = "".join(str(int(symbol in cell[start, length])) for cell in cells)
                made.text(x + 38, y + 19 + 17 * line, f"{symbol} {bits}", "middle", 12)
    for start in range(4):
        made.text(68 + 84 * start, 266, f"token {start + 1}", "middle", 13)
    made.text(
        30,
        290,
        "a cell for each span; in it, for each symbol, a bit for each of four sentences",
        size=13,
    )
    made.text(400, 60, "for each split point of a span:")
    made.text(420, 86, "P[B, C] |= left[B] & right[C]", size=13)
    made.text(400, 124, "then, once, for each rule A → B C:")
    made.text(420, 150, "span[A] |= P[B, C]", size=13)
    made.text(400, 188, "32 sentences at once on a GPU,")
    made.text(400, 210, "512 on a CPU")
    made.save("cky")


if __name__ == "__main__":
    for draw in (circuits, blocking, phase, counts, hashlife, cky):
        draw()
