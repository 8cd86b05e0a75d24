// Quotients and remainders of slabs of numbers on a CUDA device; each lane has one number.
//
// Each lane shifts its divisor up to the top of its W words, and the dividend by as much, so
// that divisors of all lengths go through the same steps: as many as the longest quotient of the
// warp has words.
//
// Macros: WIDTH, the even number W; QUOTIENT and REMAINDER, 1 where it is asked for.
#include "divide.hpp"

#ifndef WIDTH
#define WIDTH 8
#endif
#ifndef QUOTIENT
#define QUOTIENT 1
#endif
#ifndef REMAINDER
#define REMAINDER 1
#endif

namespace {

constexpr u32 W = WIDTH;
constexpr int AHEAD = 4;  // words of the dividend that are loaded before they are needed

}  // namespace

extern "C" __global__ void __launch_bounds__(64)
divide(const u32* a_words, const u32* a_negative, u32 a_width, u32 a_form,
       const u32* b_words, const u32* b_negative, u32 b_width, u32 b_form,
       u32* q_words, u32* q_negative, u32 q_width, u32 q_signed,
       u32* r_words, u32* r_negative, u32 r_width, u32 r_signed, u64 count) {
    const u64 k = thread_index();
    if (k / SLAB * SLAB >= count) return;
    const bool live = k < count;
    const Number a = number(a_words, a_negative, a_width, a_form, k, live);
    const Number b = number(b_words, b_negative, b_width, b_form, k, live);
    q_words += word_of(k, q_width);
    r_words += word_of(k, r_width);

    const u32 length = bit_length(b);
    const Shift shift(32 * W - length);
    Divisor<W> divisor;
    u32 r[W];
#pragma unroll
    for (int j = 0; j < int(W); j++) r[j] = shift(b, j);
    if (!length) r[W - 1] = 1u << 31;  // past the last number: any divisor that does no harm
    divisor.set(r);
    // How many words the quotient has, without a topmost one that can only be 1.
    const u32 bits = bit_length(a), least = length ? length : 32 * W;
    const int steps = int(most(bits > least ? (bits - least + 31) / 32 : 0));
#pragma unroll
    for (int j = 0; j < int(W); j++) r[j] = shift(a, steps + j);
    u32 any = divisor.reduce(r);
    if (QUOTIENT) {
        if (steps < int(q_width)) q_words[steps * STEP] = any;
        for (int i = steps + 1; i < int(q_width); i++) q_words[i * STEP] = 0;
    }

    // Words are brought down from the top, each made of two words of a.
    int at = steps - 2 - shift.words;
    u32 next[AHEAD], last = word_at(a, at + 1);
#pragma unroll
    for (int j = 0; j < AHEAD; j++) next[j] = word_at(a, at - j);
    for (int i = steps; i-- > 0; at--) {
        const u32 word = __funnelshift_l(next[0], last, shift.bits);
        last = next[0];
#pragma unroll
        for (int j = 0; j < AHEAD - 1; j++) next[j] = next[j + 1];
        next[AHEAD - 1] = word_at(a, at - AHEAD);
        const u32 q = divisor.digit(r, word);
        any |= q;
        if (QUOTIENT) q_words[i * STEP] = q;
    }

    u32 left = 0;
#pragma unroll
    for (u32 j = 0; j < W; j++) left |= r[j];
    const bool opposite = a.negative != b.negative;
    if (left && opposite) {  // the result is rounded down, not towards zero
        if (REMAINDER) divisor.complement(r);
        if (QUOTIENT) {
            any = 1;
            for (int i = 0; i < int(q_width); i++)
                if (++q_words[i * STEP]) break;
        }
    }
    if (QUOTIENT && q_signed) store_signs(q_negative, k, any && opposite);
    if (REMAINDER) {
#pragma unroll
        for (int j = 0; j < int(W); j++) {
            const int i = j - shift.words;
            const u32 above = j + 1 < int(W) ? r[j + 1] : 0;
            if (i >= 0 && i < int(r_width))
                r_words[i * STEP] = __funnelshift_r(r[j], above, shift.bits);
        }
        for (int i = int(W) - shift.words; i < int(r_width); i++) r_words[i * STEP] = 0;
        if (r_signed) store_signs(r_negative, k, left && b.negative);
    }
}
