"""
A gun fires gliders
===================

Bill Gosper's gun of 1970 emits a glider every 30 generations. ``find_pattern`` finds them all, in
any orientation and phase, however they lie.
"""

from lifesim import Box, Life, count_pattern, read_pattern
from lifesim.gif import GifWriter

gun = Life.from_pattern("data/patterns/gosper-gun.rle")
glider = read_pattern("data/patterns/glider.rle").grid

for _ in range(4):
    gun.run(90)
    found = count_pattern(gun.grid(), glider, period=4)
    print(f"generation {gun.generation}: {gun.population()} cells, {found} gliders")

# %%
# The same as an animation, in a window that stays where it is: a cell is 4 x 4 pixels.

gun = Life.from_pattern("data/patterns/gosper-gun.rle", size=(100, 75), at=(0, 0))
with GifWriter("gun.gif", frame_ms=40) as film:
    for _ in range(60):
        film.append(gun.levels(Box(0, 0, 100, 75), -2))
        gun.run(1)
