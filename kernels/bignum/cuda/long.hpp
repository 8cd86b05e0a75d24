// Products and quotients of numbers that are too long for a lane's registers: they are in
// memory, and PART words of one operand at a time are in registers. Word i of a number is at [i
// * SLAB].
#pragma once
#include "divide.hpp"

// These are called, not copied into each place, as they are long.
#define LONG_FN __device__ __noinline__ inline

namespace {

#ifndef PART_WORDS
#define PART_WORDS 32
#endif
#ifndef AHEAD_WORDS
#define AHEAD_WORDS 4
#endif
constexpr int PART = PART_WORDS;
constexpr int AHEAD = AHEAD_WORDS;  // words of an operand in memory that are loaded ahead
constexpr int GUIDE = PART + 2;  // words of a divisor that PART words of a quotient are found from

// Computes out = a b, of a_width + b_width words.
LONG_FN void long_multiply(u32* out, const u32* a, int a_width, const u32* b, int b_width) {
    const int rows = (b_width + 1) / 2 * 2;
    for (int at = 0; at < a_width; at += PART) {
        u32 part[PART];
        load(part, Long{a, a_width}, at);
        u32* to = out + at * STEP;
        const int room = a_width + b_width - at;
        // Before the first part there is nothing in `out` yet; later there is nothing
        // above what the parts before have written.
        if (at == 0)
            for (int i = 0; i < rows; i++) out[i * STEP] = 0;
        Rows<PART> sum;
        sum.clear();
        u32 carry = 0;
        stream_product<AHEAD, false, true>(
            sum, part, Long{b, b_width}, Long{to, min(rows, room)},
            [&](int i, int j, u32 word, u32 met, bool sure) {
                const u64 total = u64(word) + met + carry;
                carry = u32(total >> 32);
                if (sure || i + j < room) *to = u32(total);
                to += STEP;
            });
    }
}

// Computes u -= a v, where v has `width` words and u has `u_width`, at most PART words more.
// Returns 1 if u would become negative, and then leaves it 2^(32 u_width) too large.
WORDS_FN u32 long_subtract(u32* u, int u_width, const u32 (&a)[PART], const u32* v, int width) {
    u32* to = u;
    u32 borrow = 0;
    Rows<PART> sum;
    sum.clear();
    stream_product<AHEAD, false, true>(sum, a, Long{v, width}, Long{u, u_width},
                             [&](int i, int j, u32 word, u32 met, bool sure) {
                                 if (!sure && i + j >= u_width) return;
                                 const u64 rest = u64(met) - word - borrow;
                                 borrow = u32(rest >> 63);
                                 *to = u32(rest);
                                 to += STEP;
                             });
    return borrow;
}

// Computes u += v; returns the carry.
WORDS_FN u32 long_add(u32* u, int u_width, const u32* v, int width) {
    u32 carry = 0;
    for (int i = 0; i < u_width && (i < width || carry); i++) {
        const u64 sum = u64(u[i * STEP]) + (i < width ? v[i * STEP] : 0) + carry;
        carry = u32(sum >> 32);
        u[i * STEP] = u32(sum);
    }
    return carry;
}

// Computes to = a - b, of n words each, where a is not below b; `to` may be one of them. Loads
// go ahead of stores, as the compiler does not know that these write elsewhere.
WORDS_FN void long_minus(u32* to, const u32* a, const u32* b, int n) {
    u32 borrow = 0;
    for (int i = 0; i < n; i += 8) {
        u32 x[8], y[8];
        load(x, Long{a, n}, i);
        load(y, Long{b, n}, i);
#pragma unroll
        for (int j = 0; j < 8; j++) {
            const u64 rest = u64(x[j]) - y[j] - borrow;
            borrow = u32(rest >> 63);
            if (i + j < n) to[(i + j) * STEP] = u32(rest);
        }
    }
}

// Takes v from u if u is not below v, and returns whether it was so; both have `width` words.
WORDS_FN bool long_reduce(u32* u, const u32* v, int width) {
    int i = width;
    while (i > 0 && u[(i - 1) * STEP] == v[(i - 1) * STEP]) i--;
    if (i > 0 && u[(i - 1) * STEP] < v[(i - 1) * STEP]) return false;
    long_minus(u, u, v, width);
    return true;
}

// Divides u, of width + steps words, by v, of `width` >= GUIDE words with the topmost bit set.
// The upper words of u are below v. Words of the quotient go to q; the remainder stays in u.
// PART words of the quotient at a time are guessed from the uppermost words of both (Burnikel
// and Ziegler, Fast recursive division, 1998). They are too large by at most 2, and, as the
// divisor takes part with two words more, hardly ever. steps and width are the same in all
// lanes.
LONG_FN void long_divide(u32* u, int steps, const u32* v, int width, u32* q) {
    Divisor<GUIDE> divisor;
    u32 r[GUIDE];
    load(r, Long{v, width}, width - GUIDE);
    divisor.set(r);
    for (int words; steps > 0;) {
        words = steps % PART ? steps % PART : PART;
        steps -= words;
        const u32* const top = u + (steps + width - GUIDE) * STEP;
#pragma unroll
        for (int j = 0; j < GUIDE; j++) r[j] = top[(words + j) * STEP];
        // The upper words of both may be equal, but those of u are never above: then all
        // words of the quotient are the largest.
        const u32 largest = divisor.reduce(r) ? ~0u : 0;
        u32 next = top[(words - 1) * STEP], after = words > 1 ? top[(words - 2) * STEP] : 0;
        for (int i = words; i-- > 0;) {
            const u32 now = next;
            next = after;
            if (i > 1) after = top[(i - 2) * STEP];
            q[(steps + i) * STEP] = divisor.digit(r, now) | largest;
        }
        u32 part[PART];
        load(part, Long{q, steps + words}, steps);
        u32 over = long_subtract(u + steps * STEP, width + words, part, v, width);
        while (over) {
            over -= long_add(u + steps * STEP, width + words, v, width);
            for (int i = steps; q[i * STEP]-- == 0; i++) {}
        }
    }
}

}  // namespace
