"""
Egg boxes of a semigroup
========================

Green's classes of all 256 maps of four points. Each box is a D-class: its rows are R-classes, its
columns L-classes, and where they cross lies an H-class, filled where it has an idempotent and so
is a group.
"""

import numpy as np
from PIL import Image, ImageDraw

from semigroups import Family, Semigroup

S = Semigroup(Family("full", 4))
classes = {kind: S.green(kind) for kind in "RLD"}
idempotents = np.zeros(S.size, bool)
idempotents[S.idempotents] = True

CELL, boxes = 22, []
for k in range(classes["D"].count):
    members = np.asarray(classes["D"].members(k))
    rows, row = np.unique(classes["R"].of[members], return_inverse=True)
    columns, column = np.unique(classes["L"].of[members], return_inverse=True)
    groups = set(zip(row[idempotents[members]], column[idempotents[members]], strict=True))
    size = members.size // (rows.size * columns.size)
    print(
        f"rank {4 - k}: {rows.size} x {columns.size} H-classes of {size}, {len(groups)} are groups"
    )
    boxes.append((rows.size, columns.size, groups))

# %%
# From the permutations, above, to the constant maps.

height = sum(rows * CELL + 20 for rows, _, _ in boxes)
picture = Image.new("RGB", (max(columns for _, columns, _ in boxes) * CELL + 40, height), "white")
draw, top = ImageDraw.Draw(picture), 10
for rows, columns, groups in boxes:
    left = (picture.width - columns * CELL) // 2
    for row in range(rows):
        for column in range(columns):
            corner = (left + column * CELL, top + row * CELL)
            colour = "#30588c" if (row, column) in groups else "#eef3f9"
            draw.rectangle((*corner, corner[0] + CELL, corner[1] + CELL), colour, "#10203c")
    top += rows * CELL + 20
picture.save("egg_boxes.png")
