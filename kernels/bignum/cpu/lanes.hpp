// Computes with eight numbers at a time, one in each lane of AVX-512 registers, by the 52-bit
// multiply-and-add of AVX-512 IFMA.
#pragma once
#include "bignum.hpp"

namespace bignum {

constexpr i64 LANES_COUNT = 8;
constexpr i64 GCD_ROWS = 16;  // rows of a GCD: two in each lane
// The longest numbers for lanes: above, GMP's algorithms for long numbers are faster.
constexpr i64 LANES_WIDEST = 512;

// What CPUs that have IFMA beside level v4 export. Operands and results are dense.
struct Lanes {
    // Returns how many words of scratch memory, aligned to 64 bytes, multiply() needs for
    // such widths and all below them.
    i64 (*multiply_scratch)(i64 a_width, i64 b_width);
    // Computes out = a * b. Widths: 1 to LANES_WIDEST. Room: the sum of them.
    void (*multiply)(const Operand& a, const Operand& b, const Result& out, u64* scratch, i64 first,
                     i64 last, Found& found);
    // Computes products of LANES_COUNT numbers of any lengths up to the widths, which may
    // lie anywhere. A product has room for the sum of the lengths. Numbers of length 0 are
    // not touched.
    void (*multiply_rows)(const Number* a, const Number* b, u64* const* products, i64 a_width,
                          i64 b_width, u64* scratch);
    i64 (*gcd_scratch)(i64 width);
    // Computes b = gcd(a, b) for GCD_ROWS pairs of numbers of `width` words, one after the
    // other; every b is odd. Overwrites a.
    void (*gcd)(u64* a, u64* b, i64 width, u64* scratch);
};
extern const Lanes bignum_lanes;

i64 gcd_scratch(i64 width);
void gcd_lanes(u64* a, u64* b, i64 width, u64* scratch);

}  // namespace bignum
