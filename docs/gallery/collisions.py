"""
Two gliders meet
================

A glider flies into another one, which comes from the other side. What is left depends on how they
lie. Here are 144 ways, each run until nothing new will happen; ten cells are two gliders that
missed each other.
"""

from collections import Counter

import numpy as np

from lifesim import BitGrid, Life
from lifesim.render import save_png

GLIDER = [(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)]  # flies to the right, downwards
MEETING = [(20 - x, 20 - y) for x, y in GLIDER]  # flies to the left, upwards

left = np.zeros((12, 12), np.int64)
kinds = Counter()
for dy in range(12):
    for dx in range(12):
        cells = GLIDER + [(x + dx - 6, y + dy - 6) for x, y in MEETING]
        life = Life(BitGrid.from_cells(32, 32, cells), topology="unbounded", engine="tiles")
        life.run_until("stable")
        left[dy, dx] = life.population()
        kinds[left[dy, dx]] += 1

for population, count in kinds.most_common(6):
    print(f"{count:3} offsets leave {population} cells")

# %%
# Each square is an offset. Dark: nothing is left; brighter: more cells.

levels = np.where(left, 40 + 215 * left // left.max(), 0).astype(np.uint8)
save_png("collisions.png", np.kron(levels, np.ones((24, 24), np.uint8)), "viridis")
