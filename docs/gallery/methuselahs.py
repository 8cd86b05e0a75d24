"""
A search for methuselahs
========================

Which seven cells in a box of 6 x 4 live longest before they settle? A small search at random,
each pattern run until it is proved that nothing new will happen.
"""

import random

from lifesim import BitGrid, Life
from lifesim.render import save_png

choose = random.Random(7)
places = [(x, y) for x in range(6) for y in range(4)]
best, start = 0, []
for _ in range(150):
    cells = choose.sample(places, 7)
    life = Life(BitGrid.from_cells(6, 4, cells), topology="unbounded", engine="tiles")
    found = life.run_until("stable", 20000)
    if found.met and found.generation > best:
        best, start = found.generation, cells
        print(f"{sorted(cells)}: {found}")

# %%
# The longest-lived of them, at the end; two by two pixels for each cell of its middle.

life = Life(BitGrid.from_cells(6, 4, start), topology="unbounded")
life.run(best)
save_png(
    "methuselah.png", life.levels(life.frame()._replace(x=-120, y=-80, width=240, height=160), -1)
)
