"""
Egg boxes of a semigroup
========================

Green's classes of all 256 maps of four points. Each box is a D-class: its rows are R-classes, its
columns L-classes, and where they cross lies an H-class, filled where it has an idempotent and so
is a group.
"""

from pathlib import Path

from semigroups import Family, Semigroup

S = Semigroup(Family("full", 4))
for box in S.egg_boxes():
    print(box)

# %%
# From the permutations, above, to the constant maps. A notebook shows the same picture for ``S``.

Path("egg_boxes.svg").write_text(S.egg_boxes().svg(), encoding="utf-8")

# %%
# The biHecke monoid of the permutations of four elements has 477 maps, in 28 D-classes. A line goes
# from a class down to the next smaller ideals.

B = Semigroup(Family("bihecke", 4))
Path("bihecke.svg").write_text(B.egg_boxes().svg(), encoding="utf-8")
