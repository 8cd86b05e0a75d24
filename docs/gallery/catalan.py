"""
Catalan numbers, counted by a parser
====================================

The grammar ``S -> S S | 'a'`` has as many parses of n letters as there are binary trees with n
leaves: a Catalan number. The parser counts them exactly, a whole batch at once; ``arith``
computes the same by the formula.
"""

import math

import numpy as np

from arith import IntArray
from ckyparse import CKYParser
from lifesim.render import save_png

lengths = range(1, 201)
parser = CKYParser("S -> S S | 'a'")
counted = parser.counts(["a" * n for n in lengths])

above = IntArray([math.comb(2 * (n - 1), n - 1) for n in lengths])
formula = above // IntArray(list(lengths))
print("equal:", list(counted) == list(formula))
for n in (1, 2, 3, 4, 5, 50, 200):
    print(f"{n:3} letters: {counted[n - 1]} parses")

# %%
# The same numbers in binary, a line each, the last bit on the right. The number is odd where n is
# a power of two.

bits = np.array([[count >> k & 1 for k in range(399, -1, -1)] for count in counted], np.uint8)
save_png("catalan.png", np.kron(bits * 255, np.ones((2, 2), np.uint8)), "viridis")
