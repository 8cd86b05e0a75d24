// Powers of slabs of numbers modulo slabs of numbers on a CUDA device, by division; each lane has
// one number. This is for even moduli, and for those that are too long for powmod_odd.cu.
//
// Exponents are taken `window` bits at a time from the top, by a table of the lowest powers;
// digits that are zero in all lanes of a warp cost no product. Warps in which no number has such
// a modulus pass over them. Each warp has memory of its own, and takes one slab after the other.
//
// Macro: PART_WORDS, even.
#include "long.hpp"

namespace {

WORDS_FN u32 exponent_digit(const Number& e, int at, int window) {
    const u32 pair = __funnelshift_r(word_at(e, at / 32), word_at(e, at / 32 + 1), u32(at % 32));
    return pair & ((1u << window) - 1);
}

// Copies n words of a.
WORDS_FN void copy(u32* to, const u32* a, int n) {
    for (int i = 0; i < n; i++) to[i * STEP] = a[i * STEP];
}

// Writes the result as Python has it, with the sign of m, from the power modulo |m|. Returns
// whether it is negative.
WORDS_FN bool give_out(u32* to, int width, const u32* power, int n, const Number& m) {
    u32 any = 0, borrow = 0;
    for (int i = 0; i < n; i++) any |= power[i * STEP];
    const bool flip = m.negative && any;
    for (int i = 0; i < width; i++) {
        u32 word = i < n ? power[i * STEP] : 0;
        if (flip) {
            const u64 rest = u64(word_at(m, i)) - word - borrow;
            borrow = u32(rest >> 63);
            word = u32(rest);
        }
        to[i * STEP] = word;
    }
    return flip;
}

// Computes u = |a| mod |m|, or |m| less that where a is negative, shifted up. u has room for
// a.width + n words, v is |m| shifted up, of n words, and q has room for a.width.
WORDS_FN void reduce(u32* u, const Number& a, const u32* v, int n, const Shift& shift, u32 length,
                     u32* q) {
    const u32 bits = bit_length(a);
    const int steps = int(most(bits > length ? (bits - length + 31) / 32 : 0));
    shift_up(u, steps + n, a, shift);
    long_reduce(u + steps * STEP, v, n);
    long_divide(u, steps, v, n, q);
    u32 left = 0;
    for (int i = 0; i < n; i++) left |= u[i * STEP];
    if (left && a.negative) long_minus(u, v, u, n);
}

}  // namespace

// Computes powers modulo even moduli, or with `all` modulo any. scratch: `room` words for each
// thread, at least (2^window + 4) n + 2 max(a_width, n), where n = max(m_width, GUIDE).
extern "C" __global__ void __launch_bounds__(64)
by_division(const u32* a_words, const u32* a_negative, u32 a_width, u32 a_form,
            const u32* e_words, const u32* e_negative, u32 e_width, u32 e_form,
            const u32* m_words, const u32* m_negative, u32 m_width, u32 m_form,
            u32* out_words, u32* out_negative, u32 out_width, u32 is_signed,
            int window, u32 all, u32* scratch, u32 room, u64 count) {
    const int n = max(int(m_width), GUIDE), most_words = max(n, int(a_width));
    const u64 stride = u64(gridDim.x) * blockDim.x;
    u32* const table = scratch + word_of(thread_index(), room);
    u32* const v = table + u64(n << window) * SLAB;
    u32* const power = v + u64(n) * SLAB;
    u32* const shifted = power + u64(n) * SLAB;
    u32* const u = shifted + u64(n) * SLAB;
    u32* const q = u + u64(most_words + n) * SLAB;
    for (u64 k = thread_index(); k / SLAB * SLAB < count; k += stride) {
        const bool live = k < count;
        const Number a = number(a_words, a_negative, a_width, a_form, k, live);
        const Number e = number(e_words, e_negative, e_width, e_form, k, live);
        const Number m = number(m_words, m_negative, m_width, m_form, k, live);
        const bool mine = all || !(word_at(m, 0) & 1);
        if (!__any_sync(ALL, mine && live)) continue;
        u32 length = bit_length(m);
        const bool none = !length;  // past the last number
        if (none) length = 1;
        const Shift shift(u32(32 * n) - length);
        shift_up(v, n, m, shift);
        if (none) v[(n - 1) * STEP] = 1u << 31;

        for (int i = 0; i < n; i++) table[i * STEP] = i == 0 && length > 1;
        reduce(u, a, v, n, shift, length, q);
        shift_down(table + n * STEP, n, u, n, shift);
        const auto multiply_by = [&](const u32* factor) {  // power = power factor modulo m
            shift_up(shifted, n, Number{power, u32(n), ALL, false}, shift);
            long_multiply(u, shifted, n, factor, n);
            long_divide(u, n, v, n, q);
            shift_down(power, n, u, n, shift);
        };
        copy(power, table + n * STEP, n);
        for (int i = 2; i < 1 << window; i++) {
            multiply_by(table + n * STEP);
            copy(table + i * n * STEP, power, n);
        }
        int at = (int(most(bit_length(e))) + window - 1) / window * window;
        copy(power, table, n);
        for (bool first = true; (at -= window) >= 0; first = false) {
            for (int i = 0; i < window && !first; i++) multiply_by(power);
            const u32 digit = exponent_digit(e, at, window);
            if (__any_sync(ALL, digit != 0)) multiply_by(table + int(digit) * n * STEP);
        }
        if (mine) {
            const bool negative =
                give_out(out_words + word_of(k, out_width), int(out_width), power, n, m);
            if (is_signed && negative) atomicOr(out_negative + k / SLAB, 1u << k % SLAB);
        }
    }
}
