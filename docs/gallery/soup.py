"""
A soup boils down
=================

Half of the cells of a torus live at random. Within a few hundred generations most of it is still
lifes and blinkers, and here and there something is still on its way.
"""

from lifesim import Life, random_grid
from lifesim.render import density_levels, save_png

life = Life(random_grid(1024, 1024, 0.5, seed=2024))
for generations in (0, 10, 90, 900, 4000):
    life.run(generations)
    share = life.population() / (1024 * 1024)
    print(f"generation {life.generation:5,}: {100 * share:5.2f} % live")

# %%
# The picture shows a quarter of it, each cell as one pixel.

corner = life.grid().crop((0, 0, 512, 512))
save_png("soup.png", density_levels(corner, None, 0))
