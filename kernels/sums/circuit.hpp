// Addition of k-bit numbers, bit by bit, for any word type (see kernels/bits.hpp).
//
// Each bit of a word is of another number: a word of W bits adds W pairs at once, and the work
// is proportional to k (Fujita 2017, 5.1).
#pragma once
#include "../bits.hpp"

namespace {

// A ripple-carry adder, called with the bits from the lowest up.
template <class W>
struct RippleAdder {
    W carry;  // zero before the first call; after the last it is the top bit of the sum
    BITS_FN W operator()(W a, W b) {
        Sum2<W> s = full_add(a, b, carry);
        carry = s.carry;
        return s.sum;
    }
};

constexpr int MAX_BITS = 32;

// Returns the bits of a sum of two k-bit numbers, which is one more, but at most 32: it is taken
// modulo 2^32.
BITS_FN constexpr int sum_bits(int k) { return k < MAX_BITS ? k + 1 : MAX_BITS; }

}  // namespace
