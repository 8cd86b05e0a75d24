// Quotients and remainders of slabs of numbers by divisors that are too long for registers. As
// in divide.cu, but the shifted operands are in memory: each warp has memory of its own, and
// takes one slab after the other.
//
// Macros: QUOTIENT and REMAINDER, 1 where it is asked for; RESIDENT, the blocks of a multiprocessor
// that there are registers for; those of long.hpp.
#include "long.hpp"

#ifndef QUOTIENT
#define QUOTIENT 1
#endif
#ifndef REMAINDER
#define REMAINDER 1
#endif
#ifndef RESIDENT
#define RESIDENT 1
#endif

// Divides. scratch: a_width + 2 n words for each thread and, without QUOTIENT, a_width more,
// where n = max(b_width, GUIDE).
extern "C" __global__ void __launch_bounds__(64, RESIDENT)
divide_long(const u32* a_words, const u32* a_negative, u32 a_width, u32 a_form,
            const u32* b_words, const u32* b_negative, u32 b_width, u32 b_form,
            u32* q_words, u32* q_negative, u32 q_width, u32 q_signed,
            u32* r_words, u32* r_negative, u32 r_width, u32 r_signed,
            u32* scratch, u64 count) {
    const int n = int(b_width) < GUIDE ? GUIDE : int(b_width);
    const u32 room = a_width + 2 * u32(n) + (QUOTIENT ? 0 : a_width);
    const u64 stride = u64(gridDim.x) * blockDim.x;
    u32* const u = scratch + word_of(thread_index(), room);
    u32* const v = u + u64(a_width + u32(n)) * SLAB;
    for (u64 k = thread_index(); k / SLAB * SLAB < count; k += stride) {
        const bool live = k < count;
        const Number a = number(a_words, a_negative, a_width, a_form, k, live);
        const Number b = number(b_words, b_negative, b_width, b_form, k, live);
        u32* const q = QUOTIENT ? q_words + word_of(k, q_width) : v + u64(n) * SLAB;

        const u32 length = bit_length(b);
        const Shift shift(u32(32 * n) - length);
        shift_up(v, n, b, shift);
        if (!length) v[(n - 1) * STEP] = 1u << 31;  // past the last number
        const u32 bits = bit_length(a), least = length ? length : u32(32 * n);
        const int steps = int(most(bits > least ? (bits - least + 31) / 32 : 0));
        shift_up(u, steps + n, a, shift);
        u32 any = long_reduce(u + steps * STEP, v, n);
        if (QUOTIENT) {
            if (steps < int(q_width)) q[steps * STEP] = any;
            for (int i = steps + 1; i < int(q_width); i++) q[i * STEP] = 0;
        }
        long_divide(u, steps, v, n, q);

        u32 left = 0;
        for (int i = 0; i < n; i++) left |= u[i * STEP];
        const bool opposite = a.negative != b.negative;
        if (REMAINDER && left && opposite) long_minus(u, v, u, n);  // rounds down
        if (QUOTIENT && q_signed) {
            for (int i = 0; i < steps; i++) any |= q[i * STEP];
            if (left && opposite) {
                any = 1;
                for (int i = 0; i < int(q_width); i++)
                    if (++q[i * STEP]) break;
            }
            store_signs(q_negative, k, any && opposite);
        }
        if (REMAINDER) {
            shift_down(r_words + word_of(k, r_width), int(r_width), u, n, shift);
            if (r_signed) store_signs(r_negative, k, left && b.negative);
        }
    }
}
