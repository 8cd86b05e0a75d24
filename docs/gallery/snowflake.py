"""
A snowflake from one cell
=========================

In the rule B1/S012345678 nothing dies, and a cell is born beside exactly one other. From one cell
it grows a fractal that is finished, again and again, at powers of two.
"""

from lifesim import BitGrid, Life
from lifesim.render import density_levels, save_png

life = Life(BitGrid.from_cells(259, 259, [(129, 129)]), rule="B1/S012345678", topology="plane")
for _ in range(8):
    life.run(max(1, life.generation))
    print(f"generation {life.generation:3}: {life.population():6,} cells")

save_png("snowflake.png", density_levels(life.grid(), None, -1))
