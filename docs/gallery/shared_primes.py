"""
Keys that share a prime
=======================

A factory makes 3000 keys, but its source of randomness has only twenty thousand states: some
primes come twice. Nobody needs to factor anything to find them; greatest common divisors are
enough.
"""

import random

import gmpy2
from PIL import Image, ImageDraw

from arith import shared_factors

states = random.Random(1)
primes = [int(gmpy2.next_prime(states.getrandbits(128))) for _ in range(20000)]
moduli = [states.choice(primes) * states.choice(primes) for _ in range(3000)]

findings = shared_factors(moduli)
broken = {index for finding in findings for index in finding.indices}
print(f"{len(findings)} primes are shared, which breaks {len(broken)} of {len(moduli)} keys")
worst = max(findings, key=lambda finding: len(finding.indices))
print(f"{worst.value} divides {len(worst.indices)} of them: {worst.indices}")

# %%
# The keys on a line; an arc joins two of them where one finding names both.

picture = Image.new("RGB", (760, 390), "white")
draw = ImageDraw.Draw(picture)
for finding in findings:
    for one, other in zip(finding.indices, finding.indices[1:], strict=False):
        left, right = 5 + one // 4, 5 + other // 4
        draw.arc(
            (left, 380 - (right - left) // 2, right, 380 + (right - left) // 2), 180, 360, "#30588c"
        )
draw.line((5, 380, 755, 380), "black", 2)
picture.save("shared_primes.png")
