// Greatest common divisors in lanes: the binary algorithm on 64-bit approximations, 31 steps
// at a time (Pornin, "Optimized Binary GCD for Modular Inversion", 2020, algorithm 2).
// Only for files compiled for AVX-512 with IFMA.
#pragma once
#include "lane_words.hpp"

namespace bignum {
namespace {

constexpr int STEPS = 31;

// Eight pairs, of `limbs` limbs for each of a and b; those from `limbs` on are zero. b is odd.
struct Pairs {
    V *a, *b;
    i64 limbs;
};

// Finds 64 bits that stand for a, and for b: the lowest 31 bits, and the 33 uppermost bits of as
// many as the longer number has. They are exact where both numbers have at most 64 bits.
INLINE void approximate(const Pairs& p, V& a, V& b) {
    const V a0 = load(p.a), b0 = load(p.b), zero = _mm512_setzero_si512();
    V a_top = a0, b_top = b0, a_next = zero, b_next = zero;
    __mmask8 missing = 0xff, longer = 0;  // lanes in which no limb was found yet; with over 64 bits
    for (i64 j = p.limbs - 1; j > 0 && missing; j--) {
        const V x = load(p.a + j), y = load(p.b + j), both = _mm512_or_si512(x, y);
        const __mmask8 here = _mm512_mask_test_epi64_mask(missing, both, both);
        a_top = _mm512_mask_mov_epi64(a_top, here, x);
        b_top = _mm512_mask_mov_epi64(b_top, here, y);
        a_next = _mm512_mask_mov_epi64(a_next, here, load(p.a + j - 1));
        b_next = _mm512_mask_mov_epi64(b_next, here, load(p.b + j - 1));
        if (j > 1)
            longer |= here;
        else
            longer |= _mm512_mask_cmpge_epu64_mask(here, both, _mm512_set1_epi64(1 << 12));
        missing &= __mmask8(~here);
    }
    // Bits of the topmost limb; a shift by 64 or more, or by a negative number, gives zero.
    const V bits = _mm512_sub_epi64(_mm512_set1_epi64(64),
                                    _mm512_lzcnt_epi64(_mm512_or_si512(a_top, b_top)));
    const V up = _mm512_sub_epi64(_mm512_set1_epi64(33), bits);
    const V down = _mm512_sub_epi64(bits, _mm512_set1_epi64(33));
    const V next = _mm512_add_epi64(bits, _mm512_set1_epi64(BITS - 33));
    const V low = _mm512_set1_epi64((1LL << STEPS) - 1);
    auto window = [&](V top, V below, V lowest) __attribute__((always_inline)) {
        const V upper = _mm512_or_si512(
            _mm512_or_si512(_mm512_sllv_epi64(top, up), _mm512_srlv_epi64(top, down)),
            _mm512_srlv_epi64(below, next));
        return _mm512_or_si512(_mm512_slli_epi64(upper, STEPS), _mm512_and_si512(lowest, low));
    };
    const V a1 = p.limbs > 1 ? load(p.a + 1) : zero, b1 = p.limbs > 1 ? load(p.b + 1) : zero;
    a = _mm512_mask_mov_epi64(_mm512_or_si512(a0, _mm512_slli_epi64(a1, BITS)), longer,
                              window(a_top, a_next, a0));
    b = _mm512_mask_mov_epi64(_mm512_or_si512(b0, _mm512_slli_epi64(b1, BITS)), longer,
                              window(b_top, b_next, b0));
}

// What STEPS steps make of a and b: 2^31 a' = ±(f a - g b) and 2^31 b' = ∓(h a - k b), with the
// upper signs where `swapped` is not set.
struct Factors {
    V f, g, h, k;
    __mmask8 swapped;
};

// Makes steps. Each replaces the larger of two odd numbers a and b by their difference, which is
// then called a, and halves a. f and g, and h and k, lie in the halves of a word each.
template <int G>
INLINE void make_steps(const V* a_in, const V* b_in, Factors* factors) {
    V a[G], b[G], u[G], v[G];
    __mmask8 swapped[G];
#pragma GCC unroll 4
    for (int i = 0; i < G; i++) {
        a[i] = a_in[i];
        b[i] = b_in[i];
        u[i] = _mm512_set1_epi64(1);
        v[i] = _mm512_set1_epi64(1LL << 32);
        swapped[i] = 0;
    }
    const V one = _mm512_set1_epi64(1);
    for (int step = 0; step < STEPS; step++) {
#pragma GCC unroll 4
        for (int i = 0; i < G; i++) {
            const __mmask8 odd = _mm512_test_epi64_mask(a[i], one);
            const __mmask8 less = _mm512_mask_cmplt_epu64_mask(odd, a[i], b[i]);
            V next = _mm512_mask_sub_epi64(a[i], odd, a[i], b[i]);
            next = _mm512_mask_sub_epi64(next, less, b[i], a[i]);
            b[i] = _mm512_mask_mov_epi64(b[i], less, a[i]);
            a[i] = _mm512_srli_epi64(next, 1);
            const V sum = _mm512_mask_add_epi64(u[i], odd, u[i], v[i]);
            v[i] = _mm512_mask_mov_epi64(v[i], less, u[i]);
            v[i] = _mm512_add_epi64(v[i], v[i]);
            u[i] = sum;
            swapped[i] ^= less;
        }
    }
    const V half = _mm512_set1_epi64(0xffffffff);
#pragma GCC unroll 4
    for (int i = 0; i < G; i++)
        factors[i] = {_mm512_and_si512(u[i], half), _mm512_srli_epi64(u[i], 32),
                      _mm512_and_si512(v[i], half), _mm512_srli_epi64(v[i], 32), swapped[i]};
}

// One of the two linear combinations, divided by 2^31; it is computed limb by limb from the
// lowest.
struct Combination {
    V f, g;
    __mmask8 reversed;  // compute g b - f a instead of f a - g b
    V f_high, g_high, carry, previous;

    INLINE void start(V f_, V g_, __mmask8 reversed_) {
        f = f_;
        g = g_;
        reversed = reversed_;
        f_high = g_high = carry = previous = _mm512_setzero_si512();
    }
    INLINE V difference(V x, V y) const {
        return _mm512_add_epi64(
            _mm512_mask_sub_epi64(_mm512_sub_epi64(x, y), reversed, y, x), carry);
    }
    // Takes the next limbs x and y, and returns the limb of the result below theirs.
    INLINE V next(V x, V y) {
        const V zero = _mm512_setzero_si512();
        const V t = difference(_mm512_madd52lo_epu64(f_high, f, x),
                               _mm512_madd52lo_epu64(g_high, g, y));
        f_high = _mm512_madd52hi_epu64(zero, f, x);
        g_high = _mm512_madd52hi_epu64(zero, g, y);
        carry = _mm512_srai_epi64(t, BITS);
        return shifted_in(t);
    }
    INLINE V shifted_in(V t) {
        const V low = _mm512_srli_epi64(previous, STEPS);
        const V high = _mm512_slli_epi64(t, BITS - STEPS);
        previous = _mm512_and_si512(t, limb_mask());
        // The value is low | (high & mask).
        return _mm512_ternarylogic_epi64(low, high, limb_mask(), 0xf8);
    }
    // Returns the topmost limb, and in which lanes the number is negative.
    INLINE V finish(__mmask8& negative) {
        const V t = difference(f_high, g_high);
        negative = _mm512_movepi64_mask(t);
        return shifted_in(t);
    }
};

// Negates numbers in the lanes where they are negative.
INLINE void negate(V* limbs, i64 count, __mmask8 negative) {
    V carry = _mm512_set1_epi64(1);
    for (i64 j = 0; j < count; j++) {
        const V x = load(limbs + j);
        const V t = _mm512_add_epi64(_mm512_andnot_si512(x, limb_mask()), carry);
        carry = _mm512_srli_epi64(t, BITS);
        store(limbs + j, _mm512_mask_and_epi64(x, negative, t, limb_mask()));
    }
}

// Puts a' and b' in the place of a and b. Returns whether any a' is not zero.
INLINE bool update(Pairs& p, const Factors& factors) {
    Combination a, b;
    a.start(factors.f, factors.g, factors.swapped);
    b.start(factors.h, factors.k, __mmask8(~factors.swapped));
    V x = load(p.a), y = load(p.b), any = _mm512_setzero_si512();
    a.next(x, y);
    b.next(x, y);
    for (i64 j = 1; j < p.limbs; j++) {
        x = load(p.a + j);
        y = load(p.b + j);
        const V below = a.next(x, y);
        store(p.a + j - 1, below);
        any = _mm512_or_si512(any, below);
        store(p.b + j - 1, b.next(x, y));
    }
    __mmask8 a_negative, b_negative;
    const V top = a.finish(a_negative);
    store(p.a + p.limbs - 1, top);
    any = _mm512_or_si512(any, top);
    store(p.b + p.limbs - 1, b.finish(b_negative));
    // This is rare: the approximations did not tell which number is the larger.
    if (a_negative) negate(p.a, p.limbs, a_negative);
    if (b_negative) negate(p.b, p.limbs, b_negative);
    while (p.limbs > 1) {
        const V both = _mm512_or_si512(load(p.a + p.limbs - 1), load(p.b + p.limbs - 1));
        if (_mm512_test_epi64_mask(both, both)) break;
        p.limbs--;
    }
    return _mm512_test_epi64_mask(any, any);
}

// Computes greatest common divisors, which take the place of b; a becomes zero. Limbs from the pairs' `limbs` on
// are then zero.
template <int G>
INLINE void divisors_of(Pairs* pairs) {
    for (bool going = true; going;) {
        V x[G], y[G];
        Factors factors[G];
        for (int i = 0; i < G; i++) approximate(pairs[i], x[i], y[i]);
        make_steps<G>(x, y, factors);
        going = false;
        for (int i = 0; i < G; i++) going |= update(pairs[i], factors[i]);
    }
}

}  // namespace
}  // namespace bignum
