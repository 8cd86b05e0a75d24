"""
The chart of an ambiguous sentence
==================================

"I saw the man with the telescope" has two parses. The chart says which phrases stand over which
words; it is the same for both.
"""

from pathlib import Path

from ckyparse import CKYParser, draw

parser = CKYParser("data/grammars/english.cfg")
words = ["I", "saw", "the", "man", "with", "the", "telescope"]
chart = parser.charts([words], tokens="space")[0]
print(chart.count(), "parses")
print(chart)

# %%
# The same as a picture, which a notebook shows by itself: above each span of words what derives it.

Path("chart.svg").write_text(draw(chart).svg(), encoding="utf-8")

# %%
# In the first parse the man has the telescope, in the second one it is what he is seen with.

for number, tree in enumerate(chart.trees(), 1):
    Path(f"tree{number}.svg").write_text(draw(tree).svg(), encoding="utf-8")

# %%
# For a paper there is LaTeX, for the packages forest and qtree.

print(draw(next(chart.trees())).latex("forest"))
