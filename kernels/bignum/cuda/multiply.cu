// Products of slabs of numbers on a CUDA device; each lane has one number.
//
// W words of a stand in registers. The words of b stream past them, each for one row of the long
// product, and each row hands out a finished word. A longer a is taken W words at a time: the
// rows are then added to what the passes before have left in memory.
//
// Macros: WIDTH, the even number W; SHORT 1 where a has no more words, nor b with ADD; EXACT 1
// where both have that many, and the result twice as many; ROWS, the words of b, even, or 0 for
// any number; ADD 1 for a b + c; SIGNS 1 where the result has signs.
#include "words.hpp"

#ifndef WIDTH
#define WIDTH 8
#endif
#ifndef SHORT
#define SHORT 0
#endif
#ifndef EXACT
#define EXACT 0
#endif
#ifndef ROWS
#define ROWS 0
#endif
#ifndef ADD
#define ADD 0
#endif
#ifndef SIGNS
#define SIGNS 1
#endif

namespace {

constexpr u32 W = WIDTH;
constexpr int AHEAD = ROWS ? ROWS : SHORT ? 4 : 8;  // words of b loaded before needed

// The result: where it is, and what was seen while it was written.
struct Out {
    u32* words;
    int width;
    u32 any;    // a bit of a word that is not zero, where that matters
    u32 carry;  // of the addition

    WORDS_FN void put(u32* to, u32 word) {
        *to = word;
        if (SIGNS) any |= word;
    }
    WORDS_FN u32 sum(u32 word, u32 other) {
        const u64 all = u64(word) + other + carry;
        carry = u32(all >> 32);
        return u32(all);
    }

    WORDS_FN void negate() {
        u32 more = 1;
        for (int i = 0; i < width; i++) {
            const u32 word = ~words[i * STEP] + more;
            more &= word == 0;
            words[i * STEP] = word;
        }
    }
};

// Computes out = a b, where a has at most W words.
WORDS_FN void product(Out& out, const u32 (&a)[W], const Long& b) {
    u32* to = out.words;
    Rows<W> sum;
    sum.clear();
    stream_product<AHEAD, ROWS != 0, false>(
        sum, a, b, {}, [&](int i, int j, u32 word, u32, bool sure) {
            if (sure || i + j < out.width) out.put(to, word);
            to += STEP;
        });
}

// Computes out = a b + (c ^ flip) + (flip & 1), where a and b have at most W words.
WORDS_FN void product_and(Out& out, const u32 (&a)[W], const Long& b, const Number& c, u32 flip) {
    // The lower words of c are there before the first row; the others meet the words as they
    // come out.
    u32 low[W];
    low[0] = add_cc(word_at(c, 0) ^ flip, flip & 1);
#pragma unroll
    for (int j = 1; j < int(W); j++) low[j] = addc_cc(word_at(c, j) ^ flip, 0);
    const u32 carry = addc(0, 0);
    u32* to = out.words;
    Rows<W> sum;
    sum.set(low);
    out.carry = 0;
    stream_product<AHEAD, ROWS != 0, false>(
        sum, a, b, {}, [&](int i, int j, u32 word, u32, bool sure) {
            if (!sure && i + j >= int(W)) {  // the result may have no room for the carry
                if (i + j == int(W)) out.carry = carry;
                word = out.sum(word, word_at(c, i + j) ^ flip);
            }
            if (sure || i + j < out.width) out.put(to, word);
            to += STEP;
        });
    const int done = (ROWS ? ROWS : (b.width + 1) / 2 * 2) + int(W);
    for (int i = done; i < out.width; i++, to += STEP)
        out.put(to, out.sum(0, word_at(c, i) ^ flip));
}

// Adds a b 2^(32 at) to out, which has as many words as the passes before have written.
WORDS_FN void add_product(Out& out, int at, const u32 (&a)[W], const Long& b) {
    u32* to = out.words + at * STEP;
    const int rows = (b.width + 1) / 2 * 2, room = out.width - at;
    out.carry = 0;
    Rows<W> sum;
    sum.clear();
    stream_product<AHEAD, ROWS != 0, true>(
        sum, a, b, Long{to, min(rows, room)},
        [&](int i, int j, u32 word, u32 met, bool sure) {
            if (sure || i + j < room) out.put(to, out.sum(word, met));
            to += STEP;
        });
}

}  // namespace

extern "C" __global__ void __launch_bounds__(64, W > 16 ? (SHORT ? 7 : 6) : 1)
multiply(const u32* a_words, const u32* a_negative, u32 a_width, u32 a_form,
         const u32* b_words, const u32* b_negative, u32 b_width, u32 b_form,
         const u32* c_words, const u32* c_negative, u32 c_width, u32 c_form,
         u32* out_words, u32* out_negative, u32 out_width, u64 count) {
    if (EXACT) a_width = b_width = W, out_width = 2 * W;
    const u64 k = thread_index();
    if (k / SLAB * SLAB >= count) return;
    const bool live = k < count;
    const Number a = number(a_words, a_negative, a_width, a_form, k, live);
    const Number b = number(b_words, b_negative, b_width, b_form, k, live);
    const Number c = number(c_words, c_negative, c_width, c_form, k, live);
    const Long rows{b.at, int(b_width)};
    bool negative = a.negative != b.negative;
    Out out{out_words + word_of(k, out_width), int(out_width)};
    const u32 flip = ADD && negative != c.negative ? ALL : 0;  // c is then subtracted

    // Lanes past the last number find zeros in one operand, unless each operand is one
    // number for all.
    const Long columns{a.at, ADD && !live ? 0 : int(a_width)};
    u32 part[W];
    load(part, columns, 0);
    if (ADD && SHORT) product_and(out, part, rows, c, flip);
    else product(out, part, rows);
    if (!SHORT) {
        int at = W;
        for (; at < int(a_width); at += W) {
            load(part, columns, at);
            add_product(out, at, part, rows);
        }
        if (ADD) {
            const int done = at + int(b_width + 1) / 2 * 2;
            out.any = 0, out.carry = flip & 1;
            for (int i = 0; i < out.width; i++) {
                u32* const to = out.words + i * STEP;
                out.put(to, out.sum(i < done ? *to : 0, word_at(c, i) ^ flip));
            }
        }
    }
    if (ADD && SIGNS && flip && !out.carry) {  // the difference is negative: |a b| < |c|
        negative = !negative;
        out.negate();
    }
    if (SIGNS) store_signs(out_negative, k, negative && out.any);
}
