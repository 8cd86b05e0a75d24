// Sums and differences of batches in slabs; a thread has a pair.
//
// Bound by memory: every access of a warp is a line, the words of CHUNK places are on
// their way at once, and the caches are told that each is used once.
//
// Macro CHUNK: words of the wider operand, or a part of them.
#include "slabs.hpp"

#ifndef CHUNK
#define CHUNK 8
#endif

namespace {

BITS_FN u32 add_carry(u32 x, u32 y, u32& carry) {
    const u64 sum = u64(x) + y + carry;
    carry = u32(sum >> 32);
    return u32(sum);
}

// Loads the words of x and y at CHUNK places from i on. WHOLE: none of these is above their
// widths.
template <bool WHOLE>
__device__ __forceinline__ void load(u32 (&p)[CHUNK], u32 (&q)[CHUNK], const Number& x,
                                     const Number& y, u32 i) {
#pragma unroll
    for (u32 j = 0; j < CHUNK; j++) {
        p[j] = WHOLE || i + j < x.width ? __ldcs(x.at + (i + j) * SLAB) : 0;
        q[j] = WHOLE || i + j < y.width ? __ldcs(y.at + (i + j) * SLAB) : 0;
    }
}

// Computes sum = x + (y ^ flip) + carry, word by word; returns the OR of its words.
template <bool WHOLE>
__device__ __forceinline__ u32 add_chunk(u32* sum, u32 width, const Number& x, const Number& y,
                                         u32 flip, u32 i, u32& carry) {
    u32 p[CHUNK], q[CHUNK], any = 0;
    load<WHOLE>(p, q, x, y, i);
#pragma unroll
    for (u32 j = 0; j < CHUNK; j++) {
        const u32 word = add_carry(p[j] & x.live, (q[j] & y.live) ^ flip, carry);
        any |= word;
        if (WHOLE || i + j < width) __stcs(sum + (i + j) * SLAB, word);
    }
    return any;
}

// Computes x + y in `width` words: at least those of either number, at most one more. With flip
// all ones and carry 1 it is x - y, which may not be negative.
__device__ __forceinline__ u32 add_words(u32* sum, u32 width, const Number& x, const Number& y,
                                         u32 flip, u32 carry) {
    const u32 least = x.width < y.width ? x.width : y.width;
    u32 i = 0, any = 0;
    for (; i + CHUNK <= least; i += CHUNK)
        any |= add_chunk<true>(sum, width, x, y, flip, i, carry);
    if (i == x.width && i == y.width) {
        if (i < width) __stcs(sum + i * SLAB, flip ? 0 : carry);
        return any | (flip ? 0 : carry);
    }
    for (; i < width; i += CHUNK) any |= add_chunk<false>(sum, width, x, y, flip, i, carry);
    return any;
}

}  // namespace

// Adds numbers of which none is negative.
extern "C" __global__ void slabs_add(const u32* __restrict__ a, u32 a_width, u32 a_form,
                                     const u32* __restrict__ b, u32 b_width, u32 b_form,
                                     u32* __restrict__ sum, u32 width, u64 count) {
    const u64 k = thread_index();
    if (k / SLAB * SLAB >= count) return;
    const Number x = number(a, nullptr, a_width, a_form, k, k < count);
    const Number y = number(b, nullptr, b_width, b_form, k, k < count);
    add_words(sum + word_of(k, width), width, x, y, 0, 0);
}

// Computes a + b, or a - b where `subtract` is 1, of any signs and at most CHUNK words. The
// difference of unlike signs is negated in registers where it comes out negative.
extern "C" __global__ void slabs_add_signed(const u32* __restrict__ a,
                                            const u32* __restrict__ a_negative, u32 a_width,
                                            u32 a_form, const u32* __restrict__ b,
                                            const u32* __restrict__ b_negative, u32 b_width,
                                            u32 b_form, u32 subtract, u32* __restrict__ sum,
                                            u32* __restrict__ negative, u32 width, u64 count) {
    const u64 k = thread_index();
    if (k / SLAB * SLAB >= count) return;
    const Number x = number(a, a_negative, a_width, a_form, k, k < count);
    const Number y = number(b, b_negative, b_width, b_form, k, k < count);
    const bool minus = y.negative != (subtract != 0), unlike = x.negative != minus;
    u32 p[CHUNK], q[CHUNK], carry = unlike, any = 0;
    load<false>(p, q, x, y, 0);
#pragma unroll
    for (u32 j = 0; j < CHUNK; j++)
        p[j] = add_carry(p[j] & x.live, (q[j] & y.live) ^ (unlike ? ALL : 0), carry);
    const bool below = unlike && !carry;
    const u32 top = unlike ? 0 : carry;
    u32* to = sum + word_of(k, width);
    carry = below;
#pragma unroll
    for (u32 j = 0; j < CHUNK; j++) {
        const u32 word = add_carry(p[j] ^ (below ? ALL : 0), 0, carry);
        any |= word;
        if (j < width) __stcs(to + j * SLAB, word);
    }
    if (CHUNK < width) __stcs(to + CHUNK * SLAB, top);
    store_signs(negative, k, (any | top) && (below ? minus : x.negative));
}

// Computes the same for any width. Where signs are unlike it takes two passes: the first ends at
// the topmost words that differ.
extern "C" __global__ void slabs_add_wide(const u32* __restrict__ a,
                                          const u32* __restrict__ a_negative, u32 a_width,
                                          u32 a_form, const u32* __restrict__ b,
                                          const u32* __restrict__ b_negative, u32 b_width,
                                          u32 b_form, u32 subtract, u32* __restrict__ sum,
                                          u32* __restrict__ negative, u32 width, u64 count) {
    const u64 k = thread_index();
    if (k / SLAB * SLAB >= count) return;
    Number x = number(a, a_negative, a_width, a_form, k, k < count);
    Number y = number(b, b_negative, b_width, b_form, k, k < count);
    y.negative ^= subtract != 0;
    const bool unlike = x.negative != y.negative;
    if (unlike && compare_magnitudes(x, y) < 0) {
        const Number lesser = x;
        x = y;
        y = lesser;
    }
    const u32 any = add_words(sum + word_of(k, width), width, x, y, unlike ? ALL : 0, unlike);
    store_signs(negative, k, any && x.negative);
}

// Computes a + b, or a - b where `subtract` is 1, of any signs and widths, modulo 2^(32 width), and
// the topmost word of that with `mask`. Negative numbers are taken as complements to a power of
// two; what these begin with, one each, is the first carry.
extern "C" __global__ void slabs_add_low(const u32* __restrict__ a,
                                         const u32* __restrict__ a_negative, u32 a_width,
                                         u32 a_form, const u32* __restrict__ b,
                                         const u32* __restrict__ b_negative, u32 b_width,
                                         u32 b_form, u32 subtract, u32* __restrict__ sum,
                                         u32 width, u32 mask, u64 count) {
    const u64 k = thread_index();
    if (k / SLAB * SLAB >= count) return;
    const Number x = number(a, a_negative, a_width, a_form, k, k < count);
    const Number y = number(b, b_negative, b_width, b_form, k, k < count);
    const bool minus = y.negative != (subtract != 0);
    const u32 flip_x = x.negative ? ALL : 0, flip_y = minus ? ALL : 0;
    const u32 least = x.width < y.width ? x.width : y.width;
    const u32 whole = mask == ALL ? width : width - 1, sure = whole < least ? whole : least;
    u32* const to = sum + word_of(k, width);
    u32 carry = u32(x.negative) + u32(minus), i = 0, p[CHUNK], q[CHUNK];
    for (; i + CHUNK <= sure; i += CHUNK) {
        load<true>(p, q, x, y, i);
#pragma unroll
        for (u32 j = 0; j < CHUNK; j++)
            __stcs(to + (i + j) * SLAB,
                   add_carry((p[j] & x.live) ^ flip_x, (q[j] & y.live) ^ flip_y, carry));
    }
    for (; i < width; i += CHUNK) {
        load<false>(p, q, x, y, i);
#pragma unroll
        for (u32 j = 0; j < CHUNK; j++) {
            const u32 word = add_carry((p[j] & x.live) ^ flip_x, (q[j] & y.live) ^ flip_y, carry);
            if (i + j < width) __stcs(to + (i + j) * SLAB, i + j < width - 1 ? word : word & mask);
        }
    }
}
