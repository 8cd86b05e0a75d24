// Division of a number in a lane's registers: a word of the quotient for each word that is
// brought down (Knuth, The Art of Computer Programming 2, 4.3.1, algorithm D). Each is found
// from the upper three words of the remainder and the upper two of the divisor by a reciprocal
// (Möller and Granlund, Improved division by invariant integers, 2011, algorithms 4 and 6).
#pragma once
#include "slabs.hpp"
#include "words.hpp"

namespace {

// Gives the words of x << (32 words + bits); each lane may have a shift of its own.
struct Shift {
    int words;
    u32 bits;

    WORDS_FN explicit Shift(u32 by) : words(int(by / 32)), bits(by % 32) {}
    WORDS_FN u32 operator()(const Number& x, int i) const {
        return __funnelshift_l(word_at(x, i - words - 1), word_at(x, i - words), bits);
    }
};

// Computes to = x << (32 words + bits), of n words. Loads go ahead of stores, as the compiler
// does not know that these write elsewhere.
WORDS_FN void shift_up(u32* to, int n, const Number& x, const Shift& shift) {
    u32 below = word_at(x, -shift.words - 1);
    for (int i = 0; i < n; i += 8) {
        u32 words[8];
#pragma unroll
        for (int j = 0; j < 8; j++) words[j] = word_at(x, i + j - shift.words);
#pragma unroll
        for (int j = 0; j < 8; j++) {
            if (i + j < n) to[(i + j) * STEP] = __funnelshift_l(below, words[j], shift.bits);
            below = words[j];
        }
    }
}

// Computes to = x >> (32 words + bits), of `width` words. x has n words, and may be where `to`
// is.
WORDS_FN void shift_down(u32* to, int width, const u32* x, int n, const Shift& shift) {
    const int from = shift.words;
    u32 low = from < n ? x[from * STEP] : 0;
    for (int i = 0; i < width; i += 8) {
        u32 words[8];
#pragma unroll
        for (int j = 0; j < 8; j++)
            words[j] = from + i + j + 1 < n ? x[(from + i + j + 1) * STEP] : 0;
#pragma unroll
        for (int j = 0; j < 8; j++) {
            if (i + j < width) to[(i + j) * STEP] = __funnelshift_r(low, words[j], shift.bits);
            low = words[j];
        }
    }
}

WORDS_FN u32 bit_length(const Number& x) {
    int i = int(x.width);
    while (i && !word_at(x, i - 1)) i--;
    return i ? 32 * u32(i) - u32(__clz(int(word_at(x, i - 1)))) : 0;
}

// Returns the greatest value of any lane of the warp. Where there is an instruction for it, the
// compiler knows that all lanes get the same, and so take the same branches by it.
WORDS_FN u32 most(u32 value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    return __reduce_max_sync(ALL, value);
#else
    for (int i = 16; i; i /= 2) {
        const u32 other = __shfl_xor_sync(ALL, value, i);
        value = other > value ? other : value;
    }
    return value;
#endif
}

template <u32 W>
struct Divisor {
    static_assert(W >= 2 && W % 2 == 0, "pairs of words");
    u32 minus[W];  // 2^(32 W) less the divisor, whose topmost bit is set
    u32 high, low, reciprocal;

    // Sets up for a divisor, given by its words.
    WORDS_FN void set(const u32 (&divisor)[W]) {
        high = divisor[W - 1], low = divisor[W - 2];
        minus[0] = sub_cc(0, divisor[0]);
#pragma unroll
        for (u32 j = 1; j < W - 1; j++) minus[j] = subc_cc(0, divisor[j]);
        minus[W - 1] = subc(0, divisor[W - 1]);
        u32 v = u32(~u64(0) / high);  // 2^32 less than the reciprocal, which does not fit a word
        u32 p = high * v + low;
        if (p < low) {
            v--;
            if (p >= high) v--, p -= high;
            p -= high;
        }
        const u64 t = u64(v) * low;
        p += u32(t >> 32);
        if (p < u32(t >> 32)) {
            v--;
            if ((u64(p) << 32 | u32(t)) >= (u64(high) << 32 | low)) v--;
        }
        reciprocal = v;
    }

    // Returns floor((u2, u1, u0) / (high, low)), or the largest word where that is too large
    // for one.
    WORDS_FN u32 guess(u32 u2, u32 u1, u32 u0) const {
        const u64 d = u64(high) << 32 | low;
        const u64 q = u64(reciprocal) * u2 + (u64(u2) << 32 | u1);
        u32 q1 = u32(q >> 32);
        u64 r = (u64(u1 - q1 * high) << 32 | u0) - u64(low) * q1 - d;
        q1++;
        if (u32(r >> 32) >= u32(q)) q1--, r += d;
        if (r >= d) q1++;
        return (u64(u2) << 32 | u1) >= d ? ~0u : q1;
    }

    // Takes the divisor from r where r is not below it; returns whether it did.
    WORDS_FN bool reduce(u32 (&r)[W]) const {
        u32 less[W];
        less[0] = add_cc(r[0], minus[0]);
#pragma unroll
        for (u32 j = 1; j < W; j++) less[j] = addc_cc(r[j], minus[j]);
        const bool fits = addc(0, 0);
#pragma unroll
        for (u32 j = 0; j < W; j++) r[j] = fits ? less[j] : r[j];
        return fits;
    }

    // Computes r = divisor - r.
    WORDS_FN void complement(u32 (&r)[W]) const {
        u32 sum[W];
        sum[0] = add_cc(r[0], minus[0]);
#pragma unroll
        for (u32 j = 1; j < W - 1; j++) sum[j] = addc_cc(r[j], minus[j]);
        sum[W - 1] = addc(r[W - 1], minus[W - 1]);
        r[0] = sub_cc(0, sum[0]);
#pragma unroll
        for (u32 j = 1; j < W - 1; j++) r[j] = subc_cc(0, sum[j]);
        r[W - 1] = subc(0, sum[W - 1]);
    }

    // Divides (r, next), where r is below the divisor. Returns the quotient; r becomes the
    // remainder.
    WORDS_FN u32 digit(u32 (&r)[W], u32 next) const {
        u32 q = guess(r[W - 1], r[W - 2], W > 2 ? r[W - 3] : next);
        constexpr int P = W / 2;
        u64 even[P], odd[P];
#pragma unroll
        for (int j = 0; j < P; j++) odd[j] = u64(minus[2 * j + 1]) * q;
        even[0] = mad_cc(minus[0], q, pair_of(next, r[0]));
#pragma unroll
        for (int j = 1; j < P; j++)
            even[j] = madc_cc(minus[2 * j], q, pair_of(r[2 * j - 1], r[2 * j]));
        u32 top = addc(r[W - 1] - q, 0);
        r[0] = low_word(even[0]);
        r[1] = add_cc(high_word(even[0]), low_word(odd[0]));
#pragma unroll
        for (int j = 1; j < P; j++) {
            r[2 * j] = addc_cc(low_word(even[j]), high_word(odd[j - 1]));
            r[2 * j + 1] = addc_cc(high_word(even[j]), low_word(odd[j]));
        }
        top = addc(top, high_word(odd[P - 1]));
        if (top) {  // the guess is one too large, which is rare
            q--;
            r[0] = sub_cc(r[0], minus[0]);
#pragma unroll
            for (u32 j = 1; j < W - 1; j++) r[j] = subc_cc(r[j], minus[j]);
            r[W - 1] = subc(r[W - 1], minus[W - 1]);
        }
        return q;
    }
};

}  // namespace
