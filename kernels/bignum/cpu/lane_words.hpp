// Moves eight numbers between rows of words in memory and registers that hold one word, or one
// limb of 52 bits, of each. Only for files compiled for AVX-512.
#pragma once
#include <immintrin.h>

#include "lanes.hpp"

namespace bignum {

#define INLINE inline __attribute__((always_inline))

typedef __m512i V;  // one word, or one limb of 52 bits, of eight numbers
constexpr int LANES = int(LANES_COUNT);
constexpr int BITS = 52;

static INLINE V load(const V* p) { return _mm512_load_si512(p); }
static INLINE void store(V* p, V x) { _mm512_store_si512(p, x); }
static INLINE V shift_right(V x, int bits) { return _mm512_srl_epi64(x, _mm_cvtsi32_si128(bits)); }
static INLINE V shift_left(V x, int bits) { return _mm512_sll_epi64(x, _mm_cvtsi32_si128(bits)); }
static INLINE V limb_mask() { return _mm512_set1_epi64((1LL << BITS) - 1); }

static INLINE i64 round_up(i64 n, i64 to) { return (n + to - 1) / to * to; }
static INLINE i64 limbs_for(i64 words) { return (64 * words + BITS - 1) / BITS; }

// Transposes: word k of x[i] becomes word i of x[k].
static INLINE void transpose(V x[8]) {
    V t[8], u[8];
#pragma GCC unroll 4
    for (int i = 0; i < 8; i += 2) {
        t[i / 2] = _mm512_unpacklo_epi64(x[i], x[i + 1]);      // even columns of two rows
        t[4 + i / 2] = _mm512_unpackhi_epi64(x[i], x[i + 1]);  // odd columns
    }
#pragma GCC unroll 2
    for (int h = 0; h < 8; h += 4)
#pragma GCC unroll 2
        for (int i = 0; i < 4; i += 2) {
            u[h + i] = _mm512_shuffle_i64x2(t[h + i], t[h + i + 1], 0x88);
            u[h + i + 1] = _mm512_shuffle_i64x2(t[h + i], t[h + i + 1], 0xdd);
        }
#pragma GCC unroll 2
    for (int odd = 0; odd < 2; odd++) {
        const V* v = u + 4 * odd;
        x[odd] = _mm512_shuffle_i64x2(v[0], v[2], 0x88);
        x[4 + odd] = _mm512_shuffle_i64x2(v[0], v[2], 0xdd);
        x[2 + odd] = _mm512_shuffle_i64x2(v[1], v[3], 0x88);
        x[6 + odd] = _mm512_shuffle_i64x2(v[1], v[3], 0xdd);
    }
}

static INLINE __mmask8 first_words(i64 count) {
    return count >= 8 ? 0xff : count > 0 ? __mmask8((1 << count) - 1) : 0;
}

// Reads eight rows: words[k] = word k of each, for k below `width` rounded up to 8; words from
// `width` on are zero.
static INLINE void gather(V* words, const u64* const rows[LANES], i64 width) {
    for (i64 k = 0; k < width; k += 8) {
        const __mmask8 mask = first_words(width - k);
        V x[8];
#pragma GCC unroll 8
        for (int i = 0; i < 8; i++) x[i] = _mm512_maskz_loadu_epi64(mask, rows[i] + k);
        transpose(x);
#pragma GCC unroll 8
        for (int i = 0; i < 8; i++) store(words + k + i, x[i]);
    }
}

// Reads rows of different lengths as gather() does, with zeros above them.
static INLINE void gather_mixed(V* words, const Number rows[LANES], i64 width) {
    for (i64 k = 0; k < width; k += 8) {
        V x[8];
#pragma GCC unroll 8
        for (int i = 0; i < 8; i++)
            x[i] = _mm512_maskz_loadu_epi64(first_words(rows[i].length - k), rows[i].words + k);
        transpose(x);
#pragma GCC unroll 8
        for (int i = 0; i < 8; i++) store(words + k + i, x[i]);
    }
}

// Writes eight rows of different lengths, as gather_mixed() reads them.
static INLINE void scatter_mixed(u64* const rows[LANES], const i64 lengths[LANES], const V* words,
                                 i64 width) {
    for (i64 k = 0; k < width; k += 8) {
        V x[8];
#pragma GCC unroll 8
        for (int i = 0; i < 8; i++) x[i] = load(words + k + i);
        transpose(x);
#pragma GCC unroll 8
        for (int i = 0; i < 8; i++)
            _mm512_mask_storeu_epi64(rows[i] + k, first_words(lengths[i] - k), x[i]);
    }
}

// Writes the first `lanes` rows, of `width` words each.
static INLINE void scatter(u64* const rows[LANES], int lanes, const V* words, i64 width) {
    for (i64 k = 0; k < width; k += 8) {
        const __mmask8 mask = first_words(width - k);
        V x[8];
#pragma GCC unroll 8
        for (int i = 0; i < 8; i++) x[i] = load(words + k + i);
        transpose(x);
        if (lanes == 8) {
#pragma GCC unroll 8
            for (int i = 0; i < 8; i++) _mm512_mask_storeu_epi64(rows[i] + k, mask, x[i]);
        } else {
            for (int i = 0; i < lanes; i++) _mm512_mask_storeu_epi64(rows[i] + k, mask, x[i]);
        }
    }
}

// Splits words of 64 bits into limbs of 52. words[width] is read, and must be zero.
static INLINE void split(V* limbs, i64 count, const V* words) {
    for (i64 j = 0; j < count; j++) {
        const i64 bit = BITS * j, k = bit / 64;
        const int s = int(bit % 64);
        V limb = shift_right(load(words + k), s);
        if (s > 64 - BITS) limb = _mm512_or_si512(limb, shift_left(load(words + k + 1), 64 - s));
        store(limbs + j, _mm512_and_si512(limb, limb_mask()));
    }
}

// Joins limbs of 52 bits, which lie below 2^52, to words of 64. Two limbs past the last are
// read, and must be zero.
static INLINE void join(V* words, i64 width, const V* limbs) {
    for (i64 k = 0; k < width; k++) {
        const i64 bit = 64 * k, j = bit / BITS;
        const int s = int(bit % BITS);
        V word = _mm512_or_si512(shift_right(load(limbs + j), s),
                                 shift_left(load(limbs + j + 1), BITS - s));
        if (s > 2 * BITS - 64)
            word = _mm512_or_si512(word, shift_left(load(limbs + j + 2), 2 * BITS - s));
        store(words + k, word);
    }
}

}  // namespace bignum
