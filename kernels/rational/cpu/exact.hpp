// Exact operations on numbers of several limbs, one in each lane. Only for files compiled for AVX-512 with IFMA.
#pragma once
#include "../../bignum/cpu/lane_words.hpp"

namespace rational {
namespace {

using namespace bignum;

// A number in each lane: limbs of 52 bits, the lowest first.
struct Limbs {
    V* at;
    i64 count;
};

INLINE V zero() { return _mm512_setzero_si512(); }

// Copies, with zeros above or without what is above.
INLINE void copy(Limbs to, Limbs from) {
    for (i64 j = 0; j < to.count; j++) store(to.at + j, j < from.count ? load(from.at + j) : zero());
}

INLINE bool is_one(Limbs x) {
    V other = _mm512_xor_si512(load(x.at), _mm512_set1_epi64(1));
    for (i64 j = 1; j < x.count; j++) other = _mm512_or_si512(other, load(x.at + j));
    return !_mm512_test_epi64_mask(other, other);
}

// Returns how often two divides the numbers: of zero more often than any number here has bits.
INLINE V trailing_zeros(Limbs x) {
    V zeros = _mm512_set1_epi64(i64(1) << 40);
    for (i64 j = x.count - 1; j >= 0; j--) {
        const V limb = load(x.at + j), lowest = _mm512_and_si512(limb, _mm512_sub_epi64(zero(), limb));
        const V here = _mm512_sub_epi64(_mm512_set1_epi64(63 + BITS * j), _mm512_lzcnt_epi64(lowest));
        zeros = _mm512_mask_mov_epi64(zeros, _mm512_test_epi64_mask(limb, limb), here);
    }
    return zeros;
}

// Divides by 2^bits, which leaves no rest; a zero stays one however often.
INLINE void shift_right(Limbs x, V bits) {
    const V whole = _mm512_set1_epi64(BITS);
    bits = _mm512_min_epu64(bits, _mm512_set1_epi64(BITS * x.count));
    for (__mmask8 far; (far = _mm512_cmpge_epu64_mask(bits, whole)) != 0;) {
        for (i64 j = 0; j < x.count; j++) {
            const V above = j + 1 < x.count ? load(x.at + j + 1) : zero();
            store(x.at + j, _mm512_mask_mov_epi64(load(x.at + j), far, above));
        }
        bits = _mm512_mask_sub_epi64(bits, far, bits, whole);
    }
    if (!_mm512_test_epi64_mask(bits, bits)) return;
    const V up = _mm512_sub_epi64(whole, bits);
    V low = load(x.at);
    for (i64 j = 0; j < x.count; j++) {
        const V above = j + 1 < x.count ? load(x.at + j + 1) : zero();
        const V limb = _mm512_or_si512(_mm512_srlv_epi64(low, bits), _mm512_sllv_epi64(above, up));
        store(x.at + j, _mm512_and_si512(limb, limb_mask()));
        low = above;
    }
}

// Returns 1 / m modulo 2^52, for odd m. Each step doubles how many bits are right; m is right to three.
INLINE V inverse_of(V m) {
    V x = m;
    for (int i = 0; i < 5; i++) {
        const V product = _mm512_and_si512(_mm512_madd52lo_epu64(zero(), m, x), limb_mask());
        x = _mm512_madd52lo_epu64(zero(), x, _mm512_sub_epi64(_mm512_set1_epi64(2), product));
    }
    return x;
}

// Divides by an odd number, which leaves no rest, from the lowest limb on.
INLINE void divide_exactly(Limbs x, Limbs odd) {
    const V inverse = inverse_of(load(odd.at));
    V carry = zero();
    for (i64 j = 0; j < x.count; j++) {
        // Here are the limbs of the quotient below j.
        V low = zero(), high = zero();
        for (i64 i = j - odd.count < 0 ? 0 : j - odd.count; i < j; i++) {
            const V q = load(x.at + i);
            if (j - i < odd.count) low = _mm512_madd52lo_epu64(low, q, load(odd.at + j - i));
            high = _mm512_madd52hi_epu64(high, q, load(odd.at + j - 1 - i));
        }
        const V left = _mm512_add_epi64(
            _mm512_sub_epi64(load(x.at + j), _mm512_add_epi64(low, high)), carry);
        const V q = _mm512_madd52lo_epu64(zero(), left, inverse);
        carry = _mm512_srai_epi64(_mm512_sub_epi64(left, _mm512_madd52lo_epu64(zero(), q, load(odd.at))), BITS);
        store(x.at + j, q);
    }
}

// Adds multiples of an odd number to x, whose topmost limb is zero, until its lower limbs are zero, and returns
// what is above them: x modulo the number, but for a power of two. It has one limb more than the number.
INLINE Limbs remainder_of(Limbs x, Limbs odd) {
    const V negative = _mm512_sub_epi64(zero(), inverse_of(load(odd.at)));
    const i64 steps = x.count - 1 - odd.count;
    if (steps <= 0) return x;
    for (i64 k = 0; k < steps; k++) {
        const V q = _mm512_madd52lo_epu64(zero(), load(x.at + k), negative);
        V carry = zero(), high = zero();
        for (i64 j = k; j < x.count; j++) {
            const i64 i = j - k;
            V sum = _mm512_add_epi64(_mm512_add_epi64(load(x.at + j), high), carry);
            if (i < odd.count) {
                const V m = load(odd.at + i);
                sum = _mm512_madd52lo_epu64(sum, q, m);
                high = _mm512_madd52hi_epu64(zero(), q, m);
            } else {
                high = zero();
            }
            carry = _mm512_srli_epi64(sum, BITS);
            store(x.at + j, _mm512_and_si512(sum, limb_mask()));
        }
    }
    return {x.at + steps, odd.count + 1};
}

// Carries what sums of products are above 52 bits. Nothing is left above the topmost limb.
INLINE void carry_over(Limbs x) {
    V carry = zero();
    for (i64 j = 0; j < x.count; j++) {
        const V sum = _mm512_add_epi64(load(x.at + j), carry);
        carry = _mm512_srli_epi64(sum, BITS);
        store(x.at + j, _mm512_and_si512(sum, limb_mask()));
    }
}

// Computes the absolute value of x + y, or of x - y where `apart`; returns in which lanes y was the larger. The
// result has at least a limb more than x and y.
INLINE __mmask8 add_signed(Limbs sum, Limbs x, Limbs y, __mmask8 apart) {
    V carry = zero();
    for (i64 j = 0; j < sum.count; j++) {
        const V a = j < x.count ? load(x.at + j) : zero(), b = j < y.count ? load(y.at + j) : zero();
        const V t = _mm512_add_epi64(_mm512_mask_sub_epi64(_mm512_add_epi64(a, b), apart, a, b), carry);
        carry = _mm512_srai_epi64(t, BITS);
        store(sum.at + j, _mm512_and_si512(t, limb_mask()));
    }
    const __mmask8 negative = _mm512_movepi64_mask(carry);
    if (!negative) return 0;
    carry = _mm512_set1_epi64(1);
    for (i64 j = 0; j < sum.count; j++) {
        const V limb = load(sum.at + j);
        const V t = _mm512_add_epi64(_mm512_andnot_si512(limb, limb_mask()), carry);
        carry = _mm512_srli_epi64(t, BITS);
        store(sum.at + j, _mm512_mask_and_epi64(limb, negative, t, limb_mask()));
    }
    return negative;
}

}  // namespace
}  // namespace rational
