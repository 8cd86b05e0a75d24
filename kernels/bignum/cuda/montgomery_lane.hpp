// Products modulo odd numbers (Montgomery), each number in the registers of one lane.
//
// A product is made first and then reduced: squares need fewer multiplications than other
// products, and both are reduced by the same instructions. Rows are written out, so that no words
// move between them, as far as the instructions still find room near the processor.
//
// Macro: OWN, words of a number, a multiple of four.
#pragma once
#include "divide.hpp"
#include "square.hpp"
#include "team.hpp"

#ifndef OWN
#define OWN 16
#endif

namespace {

constexpr u32 T = 1, W = OWN, N = W, BLOCK = 64;
constexpr bool ALL_ROWS = W <= 40;
constexpr int ROWS = ALL_ROWS ? W : W / 2;  // that are written out

// Computes r = a - b; returns whether it is negative.
WORDS_FN bool minus(const Team<T>&, u32 (&r)[W], const u32 (&a)[W], const u32 (&b)[W]) {
    r[0] = sub_cc(a[0], b[0]);
#pragma unroll
    for (u32 j = 1; j < W; j++) r[j] = subc_cc(a[j], b[j]);
    return subc(0, 0) != 0;
}

// Numbers modulo m, one a lane. Factors go through shared memory, a word of all lanes of a block
// after the other.
struct Residues {
    static constexpr u32 SHARED = (ALL_ROWS ? 1 : 2) * W * BLOCK;  // words of a block

    Team<T> team;
    u32 modulus[W];
    u32 inverse;  // of -m modulo 2^32
    u32* shared;  // the lane's words of the factor, BLOCK words apart

    // m: odd, or else 1 takes its place.
    WORDS_FN Residues(const Team<T>& team, const Number& m, bool odd, u32* shared)
        : team(team), shared(shared + threadIdx.x) {
#pragma unroll
        for (u32 j = 0; j < W; j++) modulus[j] = odd ? word_at(m, int(j)) : j == 0;
        inverse = modulus[0];  // right to 3 bits, then twice as many
        for (int i = 0; i < 4; i++) inverse *= 2 - modulus[0] * inverse;
        inverse = 0 - inverse;
    }

    WORDS_FN void load(u32 (&to)[W], const Number& from) const {
#pragma unroll
        for (u32 j = 0; j < W; j++) to[j] = word_at(from, int(j));
    }

    WORDS_FN void share(const u32 (&factor)[W]) const {
#pragma unroll
        for (u32 j = 0; j < W; j++) shared[j * BLOCK] = factor[j];
    }

    WORDS_FN void share_one() const {
#pragma unroll
        for (u32 j = 0; j < W; j++) shared[j * BLOCK] = j == 0;
    }

    WORDS_FN void share_to_square(const u32 (&)[W]) const {}  // squares need nothing shared

    // Computes a = a b / 2^(32 W), where b is the factor in shared memory, or a itself where
    // `squaring`. Only one of them may be m or more.
    WORDS_FN void multiply(u32 (&a)[W], bool squaring) const {
        u32 low[W], high[W];
        if (squaring) {
            square_words(low, high, a);
        } else {
            Rows<W> sum;
            sum.clear();
            u32* const notes = shared + W * BLOCK;
#pragma unroll ROWS
            for (int i = 0; i < int(W); i++) {
                const u32 word = sum.row(a, shared[i * BLOCK]);
                if (ALL_ROWS)
                    low[i] = word;
                else
                    notes[i * BLOCK] = word;
            }
            if (!ALL_ROWS)
#pragma unroll
                for (u32 j = 0; j < W; j++) low[j] = notes[j * BLOCK];
            sum.finish(high);
        }
        reduce(a, low, high);
    }

private:
    // Computes a = low / 2^(32 W) + high modulo m.
    WORDS_FN void reduce(u32 (&a)[W], const u32 (&low)[W], const u32 (&high)[W]) const {
        Rows<W> sum;
        sum.set(low);
#pragma unroll ROWS
        for (int i = 0; i < int(W); i++)
            sum.row(modulus, (low_word(sum.y[0]) + high_word(sum.x[0])) * inverse);
        u32 word[W], less[W];
        sum.finish(word);
        word[0] = add_cc(word[0], high[0]);
#pragma unroll
        for (u32 j = 1; j < W; j++) word[j] = addc_cc(word[j], high[j]);
        const bool fits = addc(0, 0) == 0;
        const bool small = minus(team, less, word, modulus) && fits;
#pragma unroll
        for (u32 j = 0; j < W; j++) a[j] = small ? word[j] : less[j];
    }
};

}  // namespace
