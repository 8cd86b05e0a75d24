"""
The chart of an ambiguous sentence
==================================

"I saw the man with the telescope" has two parses. The chart says which phrases stand over which
words; it is the same for both.
"""

from PIL import Image, ImageDraw

from ckyparse import CKYParser

parser = CKYParser("data/grammars/english.cfg")
words = ["I", "saw", "the", "man", "with", "the", "telescope"]
chart = parser.charts([words], tokens="space")[0]
print(chart.count(), "parses")
for tree in chart.trees():
    print(tree)

# %%
# A box for each span of words that some phrase covers: wide ones are long spans, with their
# symbols.

WIDE, HIGH = 110, 34
picture = Image.new("RGB", (WIDE * len(words), HIGH * (len(words) + 1)), "white")
draw = ImageDraw.Draw(picture)
for start, word in enumerate(words):
    draw.text((WIDE * start + 8, HIGH * len(words) + 8), word, "black", font_size=15)
    for end in range(start + 1, len(words) + 1):
        symbols = sorted(map(str, chart.symbols(start, end)))
        if symbols:
            top = HIGH * (len(words) - (end - start))
            box = (WIDE * start + 3, top + 3, WIDE * end - 4, top + HIGH - 4)
            draw.rectangle(box, fill="#dbe8f6", outline="#30588c")
            draw.text((box[0] + 6, box[1] + 5), " ".join(symbols), "#10203c", font_size=13)
picture.save("chart.png")
