// Computes sums and products of rationals in lowest terms, eight at a time in the lanes of AVX-512 registers.
#pragma once
#include "../../bignum/cpu/bignum.hpp"

namespace rational {

using bignum::Found;
using bignum::i64;
using bignum::Operand;
using bignum::Result;
using bignum::u64;

// The longest numerators and denominators, in words, of products and of sums. Longer ones are quicker by
// operations on integers.
constexpr i64 WIDEST = 256, WIDEST_IN_SUMS = 128;

enum class Operation { ADD, SUBTRACT, MULTIPLY };

// Rationals in lowest terms, dense: numerators, and denominators, which are above zero for sums. Of a product
// both numbers may be negative, and where a denominator is, the numerator has its sign instead.
struct Ratios {
    Operand n, d;
};

struct Results {
    Result n, d;
    Found found_n, found_d;
};

// What CPUs that have IFMA beside level v4 export.
struct RatioLanes {
    // Returns how many words of scratch memory, aligned to 64 bytes, compute() needs for operands of these widths
    // and all below them.
    i64 (*scratch)(i64 widest);
    // Computes a + b, a - b or a * b in lowest terms for numbers first <= i < last. Room: of a numerator of a sum
    // one word more than its two products have, of all else the sum of the widths.
    void (*compute)(Operation operation, const Ratios& a, const Ratios& b, Results& out, u64* scratch, i64 first,
                    i64 last);
};
extern const RatioLanes ratio_lanes;

}  // namespace rational
