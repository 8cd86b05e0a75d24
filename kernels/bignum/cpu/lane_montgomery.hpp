// Products modulo odd numbers in lanes, over R = 2^(52 n), as Montgomery has them ("Modular multiplication
// without trial division", 1985). Only for files compiled for AVX-512 with IFMA.
//
// R, of n limbs, is more than 8 m: then the product of two numbers below 2.75 m, over R, is below 2 m, and no
// number has to be compared with m before the last.
#pragma once
#include "lane_products.hpp"

namespace bignum {
namespace {

INLINE V zero() { return _mm512_setzero_si512(); }

// Eight moduli. Limbs from `used` to `limbs` are zero, which makes whole tiles; inverse: -1 / m modulo 2^52.
struct Moduli {
    V* m;
    V inverse;
    i64 used, limbs;
    V* columns;  // 2 limbs
};

// Adds multiples of m to the columns, so that the first T of them become zero. What they carry is added to the
// next one.
template <int T>
INLINE void clear_tile(V* columns, const Moduli& moduli) {
    const V* const m = moduli.m;
    V q[T], low[T], high[T], carry = zero();
#pragma GCC unroll 10
    for (int k = 0; k < T; k++) {
        // What was known last is added last: all else is computed while the last q is waited for.
        V even = load(columns + k), odd = zero();
#pragma GCC unroll 10
        for (int i = 0; i < k; i++) {
            even = _mm512_madd52lo_epu64(even, q[i], load(m + k - i));
            odd = _mm512_madd52hi_epu64(odd, q[i], load(m + k - 1 - i));
        }
        const V sum = _mm512_add_epi64(even, _mm512_add_epi64(odd, carry));
        q[k] = _mm512_madd52lo_epu64(zero(), sum, moduli.inverse);
        carry = _mm512_srli_epi64(_mm512_madd52lo_epu64(sum, q[k], load(m)), BITS);
    }
    // What the first T limbs of m give to the columns from T on, as add_tile() has it after as many steps.
#pragma GCC unroll 10
    for (int t = 0; t < T; t++) {
        low[t] = high[t] = zero();
#pragma GCC unroll 10
        for (int i = t + 1; i < T; i++) {
            low[t] = _mm512_madd52lo_epu64(low[t], q[i], load(m + T + t - i));
            high[t] = _mm512_madd52hi_epu64(high[t], q[i], load(m + T + t - i));
        }
    }
    V first = carry;
#pragma GCC unroll 10
    for (int i = 0; i < T; i++) first = _mm512_madd52hi_epu64(first, q[i], load(m + T - 1 - i));
    low[0] = _mm512_add_epi64(low[0], first);
    for (i64 j = T; j < moduli.limbs; j++) {
        const V y = load(m + j);
#pragma GCC unroll 10
        for (int t = 0; t < T; t++) {
            low[t] = _mm512_madd52lo_epu64(low[t], q[t], y);
            high[t] = _mm512_madd52hi_epu64(high[t], q[t], y);
        }
        store(columns + j, _mm512_add_epi64(load(columns + j), low[0]));
        first = high[0];
#pragma GCC unroll 10
        for (int t = 0; t + 1 < T; t++) {
            low[t] = low[t + 1];
            high[t] = high[t + 1];
        }
        low[T - 1] = high[T - 1] = zero();
        low[0] = _mm512_add_epi64(low[0], first);
    }
    columns += moduli.limbs;
#pragma GCC unroll 10
    for (int t = 0; t < T; t++) {
        V last = low[t];
        if (t) last = _mm512_add_epi64(last, high[t - 1]);
        store(columns + t, _mm512_add_epi64(load(columns + t), last));
    }
}

// Computes out = columns / R modulo m, below 2 m.
template <int T>
INLINE void reduce(V* out, const Moduli& moduli) {
    for (i64 t = 0; t < moduli.limbs; t += T) clear_tile<T>(moduli.columns + t, moduli);
    const V* const upper = moduli.columns + moduli.limbs;
    V carry = zero();
    for (i64 j = 0; j < moduli.limbs; j++) {
        const V sum = _mm512_add_epi64(load(upper + j), carry);
        carry = _mm512_srli_epi64(sum, BITS);
        store(out + j, _mm512_and_si512(sum, limb_mask()));
    }
}

// Computes out = a b / R modulo m.
template <int T>
void multiply(V* out, const V* a, const V* b, const Moduli& moduli) {
    add_tile<T, Columns::EMPTY>(moduli.columns, a, b, moduli.limbs);
    for (i64 t = T; t < moduli.limbs; t += T)
        add_tile<T, Columns::LAST_EMPTY>(moduli.columns + t, a + t, b, moduli.limbs);
    reduce<T>(out, moduli);
}

// Doubles what is in 2 T columns, or takes nothing for it, and adds the square of T limbs.
template <int T, bool ALONE>
INLINE void add_square(V* columns, const V* a) {
#pragma GCC unroll 20
    for (int c = 0; c < 2 * T; c++) {
        V low = ALONE ? zero() : load(columns + c), high = zero();
#pragma GCC unroll 10
        for (int i = c < T ? 0 : c - T + 1; i < c - i; i++)
            low = _mm512_madd52lo_epu64(low, load(a + i), load(a + c - i));
#pragma GCC unroll 10
        for (int i = c <= T ? 0 : c - T; i < c - 1 - i; i++)
            high = _mm512_madd52hi_epu64(high, load(a + i), load(a + c - 1 - i));
        V sum = _mm512_add_epi64(low, high);
        sum = _mm512_add_epi64(sum, sum);
        const V x = load(a + c / 2);
        store(columns + c, c % 2 ? _mm512_madd52hi_epu64(sum, x, x) : _mm512_madd52lo_epu64(sum, x, x));
    }
}

// Computes out = a a / R modulo m. Products of different limbs are made once, and doubled.
template <int T>
void square(V* out, const V* a, const Moduli& moduli) {
    V* const columns = moduli.columns;
    const i64 limbs = moduli.limbs;
    if (limbs == T) {
        add_square<T, true>(columns, a);
    } else {
        for (i64 j = 0; j < T; j++) {
            store(columns + j, zero());
            store(columns + 2 * limbs - 1 - j, zero());
        }
        add_tile<T, Columns::EMPTY>(columns + T, a, a + T, limbs - T);
        for (i64 t = T; t + T < limbs; t += T)
            add_tile<T, Columns::LAST_EMPTY>(columns + 2 * t + T, a + t, a + t + T, limbs - t - T);
        for (i64 t = 0; t < limbs; t += T) add_square<T, false>(columns + 2 * t, a + t);
    }
    reduce<T>(out, moduli);
}

// Computes out = a / R modulo m.
template <int T>
void divide(V* out, const V* a, const Moduli& moduli) {
    for (i64 j = 0; j < moduli.limbs; j++) {
        store(moduli.columns + j, load(a + j));
        store(moduli.columns + moduli.limbs + j, zero());
    }
    reduce<T>(out, moduli);
}

struct Products {
    void (*multiply)(V*, const V*, const V*, const Moduli&);
    void (*square)(V*, const V*, const Moduli&);
    void (*divide)(V*, const V*, const Moduli&);
};
#define TILES(T) {multiply<T>, square<T>, divide<T>}
const Products products_of_tile[TILE + 1] = {{},       TILES(1), TILES(2), TILES(3), TILES(4), TILES(5),
                                             TILES(6), TILES(7), TILES(8), TILES(9), TILES(10)};
#undef TILES

// Returns -1 / m modulo 2^52. Each step doubles how many bits are right; m is right to three.
INLINE V negative_inverse(V m) {
    V x = m;
    for (int i = 0; i < 5; i++)
        x = _mm512_mullo_epi64(x, _mm512_sub_epi64(_mm512_set1_epi64(2), _mm512_mullo_epi64(m, x)));
    return _mm512_and_si512(_mm512_sub_epi64(zero(), x), limb_mask());
}

}  // namespace
}  // namespace bignum
