"""
A replicator draws Sierpinski's triangle
========================================

In HighLife, B36/S23, a pattern of six cells makes copies of itself along a diagonal, every 12
generations. Where two copies would meet, both vanish: a copy is there if one of its neighbours
was, and not both. That is the rule of Pascal's triangle modulo 2.
"""

import numpy as np

from lifesim import Life
from lifesim.render import save_png

# Each line is a moment, 12 generations after the one before. What lies on one diagonal of the
# plane is one pixel; the copies lie along the other diagonal.
lines = np.zeros((64, 600), bool)
life = Life.from_pattern("data/patterns/highlife-replicator.rle")
for line in lines:
    line[life.live_cells().sum(1) + 300] = True  # rows (x, y)
    life.run(12)

for line in lines[:9]:
    print("".join(" #"[bool(part.any())] for part in np.split(line[228:384], 39)))

# %%
# The same for all 64 moments.

save_png("replicator.png", np.kron(lines, np.ones((4, 1), bool)).astype(np.uint8) * 255)
