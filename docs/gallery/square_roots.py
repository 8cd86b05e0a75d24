"""
Digits of a thousand square roots
=================================

``isqrt`` of n * 100^k has k decimals of the root of n. One call does it for a thousand n; how
often each digit occurs in these million decimals is counted afterwards.
"""

from collections import Counter

import numpy as np

from arith import IntArray
from lifesim.render import save_png

DECIMALS = 1000
numbers = [n for n in range(2, 1034) if int(n**0.5) ** 2 != n][:1000]
roots = (IntArray(numbers) * 100**DECIMALS).isqrt()
print("root of 2:", str(roots[0])[:50])

digits = Counter("".join(str(root)[-DECIMALS:] for root in roots))
for digit, count in sorted(digits.items()):
    print(f"{digit}: {count:,}")

# %%
# The first 600 decimals of the first 200 roots, a line each, as bright as the digit is large: no
# pattern is to be seen.

lines = np.array([[int(digit) for digit in str(root)[-DECIMALS:][:600]] for root in roots[:200]])
save_png("digits.png", (lines * 28).astype(np.uint8), "viridis")
