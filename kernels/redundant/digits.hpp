// Digits that take up a carry without passing it on (Avizienis 1961; Bainville 2009).
//
// A number is a sum of digits d_i base^i, base = 2^LOG with LOG two bits short of the word,
// each digit within -LIMIT..LIMIT in two's complement. LIMIT = base / 2 + 1 is the least that
// Avizienis allows (base < 2 LIMIT): digits that are left of a sum lie in -base/2..base/2 - 1,
// and the carry from below, at most 1 either way, stays in its neighbour.
#pragma once
#include "../bits.hpp"

namespace {

template <class U>  // the unsigned word
struct Digits {
    static constexpr int LOG = 8 * int(sizeof(U)) - 2;
    static constexpr U BASE = U(U(1) << LOG), HALF = BASE / 2, MASK = BASE - 1, LIMIT = HALF + 1;
    // Stands for a sum where there are no digits, below the lowest: no carry comes out of
    // it.
    static constexpr U NOTHING = BASE + HALF;

    // Returns a sum of two digits, moved to where it is positive. Carries are then 0, 1 or
    // 2, which is one too many, and shifts are logical.
    static BITS_FN U moved(U sum) { return U(sum + NOTHING); }
    // Returns the digit of one sum and of what its neighbour below carries; both sums are
    // moved.
    static BITS_FN U digit(U here, U below) { return U((here & MASK) + (below >> LOG) - LIMIT); }
};

// A digit's place in a sum of many numbers in binary: what is left in it, and what went up.
// After n numbers `up` lies in -n..n and low() in -base/2..base/2 - 1. For n <= base / 2 the sum
// is then low() and the `up` of the place below: a sum of two digits.
template <class U>
struct Place {
    using D = Digits<U>;
    U rest, up;
    static BITS_FN Place empty() { return {D::HALF, 0}; }
    BITS_FN void add(U bits) {  // LOG bits of a number
        rest = U(rest + bits);
        up = U(up + (rest >> D::LOG));
        rest &= D::MASK;
    }
    BITS_FN void subtract(U bits) {
        rest = U(rest + D::BASE - bits);
        up = U(up + (rest >> D::LOG) - 1);
        rest &= D::MASK;
    }
    BITS_FN U low() const { return U(rest - D::HALF); }
};

}  // namespace
