// Conway's rule on one word of cells and on two words one above the other: the
// circuits SINGLE-WORD and DOUBLE-WORD of Fujita 2017, 6.2 and 6.3, operation for
// operation, so that the ladder measures his counts. What the compiler then fuses
// into three-input instructions is its own affair. The library's circuit is
// kernels/life/circuit.hpp.
#pragma once
#include "../../kernels/bits.hpp"

namespace {

// A word of cells c; bit j of l (of r) is the cell to the left (right) of bit j of c.
template <class W>
struct Trio { W l, c, r; };

// before, after: the words to the left and to the right in the same row.
template <class W>
BITS_FN Trio<W> trio(W before, W c, W after) {
    constexpr int top = 8 * sizeof(W) - 1;
    return {W(c << 1 | before >> top), c, W(c >> 1 | after << top)};
}

// The same where nothing is known of the cells beyond the word: taken as dead.
template <class W>
BITS_FN Trio<W> trio(W c) { return {W(c << 1), c, W(c >> 1)}; }

template <class W>
struct Bits2 { W b1, b0; };  // a number of 0 to 2, or the low bits of a greater one
template <class W>
struct Bits3 { W b2, b1, b0; };

template <class W>
BITS_FN Bits2<W> add_bits(W a, W b) { return {a & b, a ^ b}; }  // 2 operations

// Five operations: neither summand is 3, so the carry out of bit 0 meets no carry there.
template <class W>
BITS_FN Bits3<W> add_pairs(Bits2<W> a, Bits2<W> b) {
    return {a.b1 & b.b1, a.b1 ^ b.b1 ^ (a.b0 & b.b0), a.b0 ^ b.b0};
}

// The cells of `cell` after one generation, a + b being the number of neighbours:
// nine operations for the sum with bits 2 and 3 as one, seven for the rule.
template <class W>
BITS_FN W next_state(W cell, Bits3<W> a, Bits3<W> b) {
    W s0 = a.b0 ^ b.b0;
    W x = a.b0 & b.b0, y = a.b1 ^ b.b1;
    W s1 = x ^ y;
    W s23 = a.b2 | b.b2 | (a.b1 & b.b1) | (x & y);
    W z = ~s23 & s1;
    W two = ~s0 & z, three = s0 & z;
    return (cell & two) | three;
}

// 34 operations.
template <class W>
BITS_FN W life_single(Trio<W> top, Trio<W> mid, Trio<W> low) {
    Bits3<W> a = add_pairs(add_bits(top.l, top.c), add_bits(top.r, mid.r));
    Bits3<W> b = add_pairs(add_bits(low.r, low.c), add_bits(low.l, mid.l));
    return next_state(mid.c, a, b);
}

template <class W>
struct Two { W upper, lower; };

// 59 operations for two words: what stands left and right of both is summed once.
template <class W>
BITS_FN Two<W> life_double(Trio<W> top, Trio<W> upper, Trio<W> lower, Trio<W> low) {
    Bits3<W> sides = add_pairs(add_bits(upper.l, lower.l), add_bits(lower.r, upper.r));
    Bits3<W> above = add_pairs(add_bits(top.l, top.c), add_bits(top.r, lower.c));
    Bits3<W> below = add_pairs(add_bits(low.l, low.c), add_bits(low.r, upper.c));
    return {next_state(upper.c, above, sides), next_state(lower.c, below, sides)};
}

}  // namespace
