"""Pairwise sums of k-bit numbers, one by one and bitwise: 32 pairs to a word.

The smallest example of bulk bit-parallel computing (Fujita 2017, 5.1). A batch of
numbers is either a uint32 array or its bit planes (k, groups), which slice_bits
makes; the bitwise sum takes time proportional to k.
"""

from .cpu.engine import add_bitwise_cpu, add_naive_cpu
from .cuda.engine import SOURCE, add_bitwise, add_naive
from .plan import SumLaunch, choose, sum_bits
from .slicing import slice_bits, unslice_bits

__all__ = [
    "SOURCE",
    "SumLaunch",
    "add_bitwise",
    "add_bitwise_cpu",
    "add_naive",
    "add_naive_cpu",
    "choose",
    "slice_bits",
    "sum_bits",
    "unslice_bits",
]
