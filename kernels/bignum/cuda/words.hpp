// Chains of 32-bit words with a carry, and rows of long products, in a lane's registers.
//
// A GPU keeps the carry of one instruction for the next that asks for it, outside of what C++
// can say. So each primitive is one volatile piece of PTX, and those of a chain stand one after
// the other. A function with _cc in its name sets the carry; one with addc, subc or madc takes
// it. On the host the carry is a variable.
#pragma once
#include "slabs.hpp"

#define WORDS_FN __device__ __forceinline__

namespace {

constexpr int STEP = SLAB;  // from a word of a number to its next

// Returns word i, zero where there is none. The index is signed, as ptxas believes that a sum
// with an unsigned one may wrap.
WORDS_FN u32 word_at(const Number& x, int i) {
    return u32(i) < x.width ? x.at[i * STEP] & x.live : 0;
}

#if defined(__CUDA_ARCH__)
#define WORDS_OP(name, instruction)                                                        \
    WORDS_FN u32 name(u32 a, u32 b) {                                                      \
        u32 r;                                                                             \
        asm volatile(instruction " %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));               \
        return r;                                                                          \
    }
WORDS_OP(add_cc, "add.cc.u32")
WORDS_OP(addc_cc, "addc.cc.u32")
WORDS_OP(addc, "addc.u32")
WORDS_OP(sub_cc, "sub.cc.u32")
WORDS_OP(subc_cc, "subc.cc.u32")
WORDS_OP(subc, "subc.u32")
#undef WORDS_OP

// Computes a b + c: the two halves become one IMAD.WIDE.U32.X. Pairs of words are passed as u64,
// as they then stay side by side in registers.
#define WORDS_MAD(name, low, high)                                                         \
    WORDS_FN u64 name(u32 a, u32 b, u64 c) {                                               \
        u64 r;                                                                             \
        asm volatile("{.reg .u32 l, h;\n\tmov.b64 {l, h}, %3;\n\t" low " l, %1, %2, l;\n\t" \
                     high " h, %1, %2, h;\n\tmov.b64 %0, {l, h};}"                         \
                     : "=l"(r) : "r"(a), "r"(b), "l"(c));                                  \
        return r;                                                                          \
    }
WORDS_MAD(mad_cc, "mad.lo.cc.u32", "madc.hi.cc.u32")
WORDS_MAD(madc_cc, "madc.lo.cc.u32", "madc.hi.cc.u32")
WORDS_MAD(madc, "madc.lo.cc.u32", "madc.hi.u32")
#undef WORDS_MAD
#else
static u32 carry_flag;

inline u32 sum_cc(u32 a, u32 b, u32 carry) {
    const u64 s = u64(a) + b + carry;
    carry_flag = u32(s >> 32);
    return u32(s);
}
inline u32 add_cc(u32 a, u32 b) { return sum_cc(a, b, 0); }
inline u32 addc_cc(u32 a, u32 b) { return sum_cc(a, b, carry_flag); }
inline u32 addc(u32 a, u32 b) { return a + b + carry_flag; }
// The carry of a subtraction is its borrow.
inline u32 difference_cc(u32 a, u32 b, u32 borrow) {
    const u64 d = u64(a) - b - borrow;
    carry_flag = u32(d >> 63);
    return u32(d);
}
inline u32 sub_cc(u32 a, u32 b) { return difference_cc(a, b, 0); }
inline u32 subc_cc(u32 a, u32 b) { return difference_cc(a, b, carry_flag); }
inline u32 subc(u32 a, u32 b) { return a - b - carry_flag; }

inline u64 mad_with(u32 a, u32 b, u64 c, u32 carry) {
    const u64 sum = u64(a) * b + c, all = sum + carry;
    carry_flag = (sum < c) | (all < sum);
    return all;
}
inline u64 mad_cc(u32 a, u32 b, u64 c) { return mad_with(a, b, c, 0); }
inline u64 madc_cc(u32 a, u32 b, u64 c) { return mad_with(a, b, c, carry_flag); }
inline u64 madc(u32 a, u32 b, u64 c) { return mad_with(a, b, c, carry_flag); }
#endif

WORDS_FN u32 low_word(u64 pair) { return u32(pair); }
WORDS_FN u32 high_word(u64 pair) { return u32(pair >> 32); }
WORDS_FN u64 pair_of(u32 low, u32 high) { return u64(high) << 32 | low; }

// The sum of a product's rows, which moves one word further down with each. Products of words at
// even places end in x, and those at odd places in y, one word up: the pairs of either do not
// overlap, so that each is one chain of wide multiplications. The value is x + y 2^32. When a
// row is done, the lowest word has been handed out but still stands.
template <u32 W>
struct Rows {
    static_assert(W >= 2 && W % 2 == 0, "pairs of words");
    static constexpr int P = W / 2;
    u64 x[P], y[P];

    WORDS_FN void clear() {
#pragma unroll
        for (int j = 0; j < P; j++) x[j] = y[j] = 0;
    }

    // Sets the sum to a number of W words, all of which the lowest row meets.
    WORDS_FN void set(const u32 (&c)[W]) {
        clear();
#pragma unroll
        for (int j = 0; j < P; j++) y[j] = pair_of(c[2 * j], c[2 * j + 1]);
    }

    // Adds a b one word above the row before, and returns the word below all later rows.
    WORDS_FN u32 row(const u32 (&a)[W], u32 b) {
        u64 even[P], odd[P];
        const u32 low = add_cc(low_word(y[0]), high_word(x[0]));
#pragma unroll
        for (int j = 0; j < P - 1; j++) odd[j] = madc_cc(a[2 * j + 1], b, x[j + 1]);
        odd[P - 1] = madc(a[W - 1], b, 0);
        even[0] = mad_cc(a[0], b, pair_of(low, high_word(y[0])));
#pragma unroll
        for (int j = 1; j < P; j++) even[j] = madc_cc(a[2 * j], b, y[j]);
        // All of it is below 2^(32 (W + 1)): no carry leaves the topmost word.
        y[P - 1] = pair_of(low_word(odd[P - 1]), addc(high_word(odd[P - 1]), 0));
#pragma unroll
        for (int j = 0; j < P - 1; j++) y[j] = odd[j];
#pragma unroll
        for (int j = 0; j < P; j++) x[j] = even[j];
        return low_word(even[0]);
    }

    // Returns the W words above those that the rows have returned.
    WORDS_FN void finish(u32 (&top)[W]) const {
        top[0] = add_cc(low_word(y[0]), high_word(x[0]));
#pragma unroll
        for (int j = 1; j < P; j++) {
            top[2 * j - 1] = addc_cc(high_word(y[j - 1]), low_word(x[j]));
            top[2 * j] = addc_cc(low_word(y[j]), high_word(x[j]));
        }
        top[W - 1] = addc(high_word(y[P - 1]), 0);
    }
};

// A number in memory, and how many words it has.
struct Long {
    const u32* at;
    int width;
};

// Loads words i to i + N - 1 of a number, zero past its end.
template <u32 N>
WORDS_FN void load(u32 (&to)[N], const Long& number, int i) {
    const u32* const from = number.at + i * STEP;
#pragma unroll
    for (int j = 0; j < int(N); j++) to[j] = i + j < number.width ? from[j * STEP] : 0;
}

// Loads the same words if the number has them all; else any words of it. It has at least N.
template <u32 N>
WORDS_FN void load_if_all(u32 (&to)[N], const Long& number, int i) {
    const u32* const from = number.at + (i + int(N) <= number.width ? i * STEP : 0);
#pragma unroll
    for (int j = 0; j < int(N); j++) to[j] = from[j * STEP];
}

// Adds the product of a and b to `sum` and hands it out word by word from the lowest, the rows
// rounded up to an even number: to(i, j, word, met, sure) gets words 0, 1, ... rows + W - 1 in
// turn, as word i + j, and those of the number `meets`. j is known to the compiler; sure says
// that i + j < b.width, and is known as well. AHEAD words of b and of `meets` are loaded before
// they are needed. MEETS: there is such a number, of at least b.width words. FIXED: b has AHEAD
// words or fewer, and as many rows are made.
template <u32 AHEAD, bool FIXED, bool MEETS, u32 W, class To>
WORDS_FN void stream_product(Rows<W>& sum, const u32 (&a)[W], const Long& b, const Long& meets,
                             To to) {
    static_assert(AHEAD % 2 == 0, "whole pairs of rows");
    const int rows = FIXED ? int(AHEAD) : (b.width + 1) / 2 * 2;
    u32 next[AHEAD], next_met[AHEAD] = {};
    int i = 0;
    if (!FIXED && int(AHEAD) <= b.width) {
        load_if_all(next, b, 0);
        if (MEETS) load_if_all(next_met, meets, 0);
#pragma unroll 1
        do {
            u32 now[AHEAD], met[AHEAD];
#pragma unroll
            for (u32 j = 0; j < AHEAD; j++) now[j] = next[j], met[j] = next_met[j];
            load_if_all(next, b, i + int(AHEAD));
            if (MEETS) load_if_all(next_met, meets, i + int(AHEAD));
#pragma unroll
            for (int j = 0; j < int(AHEAD); j++) to(i, j, sum.row(a, now[j]), met[j], true);
            i += AHEAD;
        } while (i + int(AHEAD) <= b.width);
    }
    if (FIXED || i < rows) {
        load(next, b, i);
        if (MEETS) load(next_met, meets, i);
#pragma unroll
        for (int j = 0; j < int(AHEAD); j += 2) {  // x and y change places with each row
            if (!FIXED && i + j >= rows) break;
            to(i, j, sum.row(a, next[j]), next_met[j], false);
            to(i, j + 1, sum.row(a, next[j + 1]), next_met[j + 1], false);
        }
    }
    u32 top[W], met[W] = {};
    if (MEETS) load(met, meets, rows);
    sum.finish(top);
#pragma unroll
    for (int j = 0; j < int(W); j++) to(rows, j, top[j], met[j], false);
}

}  // namespace
