// Computes with eight numbers at a time, one in each lane of AVX-512 registers, by the 52-bit
// multiply-and-add of AVX-512 IFMA.
#pragma once
#include "bignum.hpp"

namespace bignum {

constexpr i64 LANES_COUNT = 8;
constexpr i64 GCD_ROWS = 16;  // rows of a GCD: two in each lane
constexpr i64 POWER_ROWS = 16;  // rows of a power: two in each lane
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
    // Returns how many words of scratch memory, aligned to 64 bytes, power() needs for moduli up to a width.
    i64 (*power_scratch)(i64 width);
    // Computes bases^exponents modulo odd moduli for so many rows, whose arrays have POWER_ROWS entries, none
    // negative. The moduli need the same
    // number of limbs (power_limbs()), a base has at most one bit and no word more than its modulus, and
    // some exponent is not zero. A result has its modulus' length; rows whose result is null are not
    // written. Left early where the thread's calls are to be left (gmp_calls.hpp).
    void (*power)(const Number* bases, const Number* exponents, const Number* moduli, u64* const* results,
                  i64 rows, u64* scratch);
};
extern const Lanes bignum_lanes;

// Returns how many limbs a modulus of so many bits needs in power().
constexpr i64 power_limbs(i64 bits) { return (bits + 3 + 51) / 52; }

i64 gcd_scratch(i64 width);
i64 power_scratch(i64 width);
void power_lanes(const Number* bases, const Number* exponents, const Number* moduli, u64* const* results,
                 i64 rows, u64* scratch);
void gcd_lanes(u64* a, u64* b, i64 width, u64* scratch);

}  // namespace bignum
