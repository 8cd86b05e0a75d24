// A sum of multiples of a factor in a ring of words: each lane of a team has W of them, next to
// each other. The words stand still, and the factor moves past them, a word with each row. The
// topmost or the lowest word is done with each row, and its place is the next one's at the other
// end: there is the seam. So nothing is moved where rows are written out.
//
// Macros: LANES, a power of two; OWN, words of a lane, a multiple of four.
#pragma once
#include "team.hpp"

#ifndef LANES
#define LANES 4
#endif
#ifndef OWN
#define OWN 16
#endif

namespace {

constexpr u32 T = LANES, W = OWN, N = T * W;
static_assert(W % 4 == 0, "words are moved by fours");

WORDS_FN u32 mask_of(bool yes) { return yes ? ALL : 0; }

// Returns the pair, but where the mask is all ones a word without an upper half; and the pair
// without its upper half there.
WORDS_FN u64 word_or(u32 mask, u32 word, u64 pair) {
    return pair_of((word & mask) | (low_word(pair) & ~mask), high_word(pair) & ~mask);
}
WORDS_FN u64 without_high(u32 mask, u64 pair) {
    return pair_of(low_word(pair), high_word(pair) & ~mask);
}

// Computes a += b, or with ALL as `flip` a += ~b, of the words of a lane; returns the carry.
WORDS_FN u32 add_words(u32 (&a)[W], const u32 (&b)[W], u32 flip = 0) {
    a[0] = add_cc(a[0], b[0] ^ flip);
#pragma unroll
    for (u32 p = 1; p < W; p++) a[p] = addc_cc(a[p], b[p] ^ flip);
    return addc(0, 0);
}

// Word p of a lane is the sum of the lower half of pair[p] and the upper one of pair[p - 1]: so the
// products of every other word of the factor are one chain of wide multiplications. What the two
// chains carry out of a lane is counted and stays there until it is asked for.
struct Ring {
    Team<T> team;
    u64 pair[W];
    u32 factor[W];
    u32 late, later;  // to be added to words W and W + 1, which the next lane has

    WORDS_FN explicit Ring(const Team<T>& team) : team(team), late(0), later(0) {}

    // Returns the value of the next lane down, or up, round the ring.
    WORDS_FN u32 from_below(u32 value) const {
        return Team<T>::get(value, (team.rank + T - 1) % T);
    }
    WORDS_FN u32 from_above(u32 value) const { return Team<T>::get(value, (team.rank + 1) % T); }

    // Adds words FROM to TO - 1 of the factor, `times` as often; factor_at(p) is the one that meets
    // word p. What is carried to words TO and TO + 1 is counted. Nothing is carried over the seam,
    // as the upper halves of the two pairs below it are zero before.
    template <u32 FROM, u32 TO, class Factor>
    WORDS_FN void add_multiple(const Factor& factor_at, u32 times, u32& even, u32& odd) {
        pair[FROM] = mad_cc(factor_at(FROM), times, pair[FROM]);
#pragma unroll
        for (u32 p = FROM + 2; p < TO; p += 2) pair[p] = madc_cc(factor_at(p), times, pair[p]);
        even = addc(even, 0);
        pair[FROM + 1] = mad_cc(factor_at(FROM + 1), times, pair[FROM + 1]);
#pragma unroll
        for (u32 p = FROM + 3; p < TO; p += 2) pair[p] = madc_cc(factor_at(p), times, pair[p]);
        odd = addc(odd, 0);
    }

    // Adds to each lane's words what the lane below has over, and `in` to those of the lowest lane.
    // Returns what is above those of the topmost. Hardly ever does more than a word change.
    WORDS_FN u32 settle(u32 (&word)[W], u32 over, u32 in) const {
        const u32 below = from_below(over), above = Team<T>::get(over, T - 1);
        word[0] = add_cc(word[0], team.rank ? below : in);
        return above + carry_on<1>(word, addc(0, 0));
    }

    // Adds a carry to word FROM of each lane, and to the next lane what then leaves it. Returns
    // what leaves the topmost.
    template <u32 FROM>
    WORDS_FN u32 carry_on(u32 (&word)[W], u32 in) const {
        u32 carry = 0;
        if (__builtin_expect(Team<T>::any(in != 0), 0)) {
            u32 ones = ALL;
            add_cc(in, ALL);
#pragma unroll
            for (u32 p = FROM; p < W; p++) word[p] = addc_cc(word[p], 0);
            const bool makes = addc(0, 0);
#pragma unroll
            for (u32 p = 0; p < W; p++) ones &= word[p];
            word[0] = add_cc(word[0], team.ripple(makes, ones == ALL, carry));
#pragma unroll
            for (u32 p = 1; p < W; p++) word[p] = addc_cc(word[p], 0);
        }
        return carry;
    }

    // Computes word = -word modulo 2^(32 N) where `flip` is ALL, and nothing where it is zero.
    WORDS_FN void negate(u32 (&word)[W], u32 flip) const {
#pragma unroll
        for (u32 p = 0; p < W; p++) word[p] ^= flip;
        settle(word, 0, flip & 1);
    }
};

}  // namespace
