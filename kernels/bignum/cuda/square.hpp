// Squares of the words of a lane, or of two, in registers: each product of two unlike words is
// made once.
#pragma once
#include "team.hpp"

namespace {

// Computes low + high 2^(32 W) = a a.
//
// Row i has the products of word i with all words above it, two words above those of the row
// before. As in Rows, products that begin at an even word end in one array of pairs, and those
// that begin at an odd word in another. A row ends two words of the sum, and one of its chains
// carries out to where the next row has its topmost pair. What is there at last is doubled, and
// one chain more adds the squares of the words.
template <u32 WORDS>
WORDS_FN void square_words(u32 (&low)[WORDS], u32 (&high)[WORDS], const u32 (&a)[WORDS]) {
    static_assert(WORDS >= 4 && WORDS % 2 == 0, "pairs of words");
    constexpr int N = int(WORDS);
    u64 even[N], odd[N];  // from words 2 k and 2 k + 1 on
    u32 sum[2 * N];
#pragma unroll
    for (int k = 0; k < N; k++) even[k] = odd[k] = 0;
#pragma unroll
    for (int i = 0; i < N - 1; i++) {
        const int n = N - 1 - i, odds = (n + 1) / 2, evens = n / 2;
        if (i > 0) {
            sum[2 * i - 1] = add_cc(high_word(even[i - 1]), low_word(odd[i - 1]));
            sum[2 * i] = addc_cc(low_word(even[i]), high_word(odd[i - 1]));
            odd[i] = madc_cc(a[i], a[i + 1], odd[i]);
        } else {
            odd[i] = mad_cc(a[i], a[i + 1], odd[i]);
        }
#pragma unroll
        for (int k = 1; k < N / 2; k++)
            if (k < odds) odd[i + k] = madc_cc(a[i], a[i + 1 + 2 * k], odd[i + k]);
        if (n % 2 == 0) odd[i + odds] = addc(0, 0);
        if (evens) even[i + 1] = mad_cc(a[i], a[i + 2], even[i + 1]);
#pragma unroll
        for (int k = 1; k < N / 2; k++)
            if (k < evens) even[i + 1 + k] = madc_cc(a[i], a[i + 2 + 2 * k], even[i + 1 + k]);
        if (evens && n % 2) even[i + 1 + evens] = addc(0, 0);
    }
    sum[0] = 0;
    sum[2 * N - 3] = add_cc(high_word(even[N - 2]), low_word(odd[N - 2]));
    sum[2 * N - 2] = addc(low_word(even[N - 1]), high_word(odd[N - 2]));
    sum[2 * N - 1] = 0;
    u64 pair = mad_cc(a[0], a[0], pair_of(0, sum[1] << 1));
    low[0] = low_word(pair), low[1] = high_word(pair);
#pragma unroll
    for (int k = 1; k < N; k++) {
        pair = pair_of(__funnelshift_l(sum[2 * k - 1], sum[2 * k], 1),
                       __funnelshift_l(sum[2 * k], sum[2 * k + 1], 1));
        pair = madc_cc(a[k], a[k], pair);
        (2 * k < N ? low[2 * k % N] : high[2 * k % N]) = low_word(pair);
        (2 * k < N ? low[(2 * k + 1) % N] : high[(2 * k + 1) % N]) = high_word(pair);
    }
}

// Adds the words to others; returns the carry.
template <u32 WORDS, u32 FEW>
WORDS_FN u32 add_words(u32 (&to)[WORDS], const u32 (&more)[FEW]) {
    to[0] = add_cc(to[0], more[0]);
#pragma unroll
    for (u32 j = 1; j < WORDS; j++) to[j] = addc_cc(to[j], j < FEW ? more[j < FEW ? j : 0] : 0);
    return addc(0, 0);
}

// Gives the words of the square of a number that two lanes share: WORDS of a lane in the lower
// half, whose carry is returned, and WORDS in the upper half, with `over` above them. all: the
// number in shared memory; a: the lane's words of it.
//
// Each lane squares its own words, and multiplies the lower lane's by half of the upper lane's.
template <u32 TWO, u32 WORDS>
WORDS_FN u32 square_of_two(const Team<TWO>& team, u32 (&low)[WORDS], u32 (&high)[WORDS], u32& over,
                           const u32 (&a)[WORDS], const u32* all) {
    constexpr u32 HALVES = WORDS / 2, MIXED = WORDS + HALVES;
    const u32 upper = team.rank ? ALL : 0;
    u32 mixed[MIXED], top[WORDS], more[WORDS], low_more[WORDS], high_more[WORDS];
#pragma unroll
    for (u32 j = 0; j < WORDS; j++) more[j] = all[j];
    Rows<WORDS> sum;
    sum.clear();
#pragma unroll
    for (u32 i = 0; i < HALVES; i++)
        mixed[i] = sum.row(more, all[WORDS + team.rank * HALVES + i]);
    sum.finish(top);
#pragma unroll
    for (u32 j = 0; j < WORDS; j++) mixed[HALVES + j] = top[j];
    // The upper lane's product is HALVES words further up. It takes all of the sum but as many.
#pragma unroll
    for (u32 j = 0; j < WORDS; j++) more[j] = team.get(mixed[HALVES + j], 0) & upper;
    add_words(mixed, more);
    u32 below = team.get(mixed[HALVES - 1], 0) & upper;
    const u32 bit = mixed[MIXED - 1] >> 31;
#pragma unroll
    for (u32 j = 0; j < MIXED; j++) {
        const u32 word = mixed[j];
        mixed[j] = __funnelshift_l(below, word, 1);
        below = word;
    }
    // Of the doubled sum, the first WORDS words are the upper lane's in the lower half, and the
    // others the lower lane's in the upper half.
#pragma unroll
    for (u32 j = 0; j < HALVES; j++) {
        low_more[j] = team.get(mixed[j], 0) & upper;
        low_more[HALVES + j] = mixed[j] & upper;
    }
#pragma unroll
    for (u32 j = 0; j < WORDS; j++) {
        const u32 from = team.get(mixed[HALVES + j], 1);
        high_more[j] = team.rank ? j ? 0 : bit : from;
    }
    square_words(low, high, a);
#pragma unroll
    for (u32 j = 0; j < WORDS; j++) {
        const u32 own_low = low[j], own_high = high[j];
        const u32 other = team.get(team.rank ? own_low : own_high, 1 - team.rank);
        low[j] = team.rank ? other : own_low;
        high[j] = team.rank ? own_high : other;
    }
    over = add_words(high, high_more);
    return add_words(low, low_more);
}

}  // namespace
