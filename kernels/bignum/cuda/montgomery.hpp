// Products modulo odd numbers (Montgomery, Modular multiplication without trial division, 1985):
// T lanes of a warp share a number, and each has W of its words in registers.
//
// A word of the reduction follows each row of a product. Lanes add up their parts of the rows by
// themselves: what a part carries out stays with it until the last row.
//
// Macros: LANES, a power of two, 2 at least; OWN, words of a lane, a multiple of four; SQUARES, 1
// where squares are made otherwise than products.
#pragma once
#include "divide.hpp"
#include "square.hpp"
#include "team_multiply.hpp"

#ifndef LANES
#define LANES 4
#endif
#ifndef OWN
#define OWN 16
#endif
#ifndef SQUARES
#define SQUARES 1
#endif

namespace {

constexpr u32 T = LANES, W = OWN, N = T * W, BLOCK = 64;
constexpr u32 HALF = W / 2, TILES = 2 * T;
constexpr int PAIRS = W / 2;
constexpr int ROWS = W < 16 ? W : 16;  // that are written out, so that no words move between them
static_assert(T > 1 && W % 4 == 0, "halves are pairs of words");

// A lane's part of the sum of the rows of a product, to which multiples of the modulus have been
// added, so that the lowest word of the whole became zero each time. As Rows in words.hpp, but
// with words above: the value is x + y 2^32 + (late + above 2^32) 2^(32 W).
struct Part {
    u64 x[PAIRS], y[PAIRS];
    u32 above, late;

    WORDS_FN void clear() {
#pragma unroll
        for (int j = 0; j < PAIRS; j++) x[j] = y[j] = 0;
        above = late = 0;
    }

    // Sets the part to W words, all of which the first row meets, and to what is above them.
    WORDS_FN void set(const u32 (&word)[W], u32 over) {
        clear();
        above = over;
#pragma unroll
        for (int j = 0; j < PAIRS; j++) y[j] = pair_of(word[2 * j], word[2 * j + 1]);
    }

    // Returns the word that comes down from the lane above. not_top: zero in the topmost lane.
    WORDS_FN u32 coming(u32 not_top) const {
        return __shfl_down_sync(ALL, low_word(x[0]), 1, int(T)) & not_top;
    }

    // Adds a b and a multiple of m, one word above the row before. The rest of the modulus that
    // the lowest word needs comes from the lowest lane, and so the even words are first.
    WORDS_FN void row(const u32 (&a)[W], u32 b, const u32 (&m)[W], u32 inverse, u32 not_top) {
        u64 even[PAIRS], odd[PAIRS];
        const u32 in = coming(not_top);
        const u32 low = add_cc(low_word(y[0]), high_word(x[0]));
        const u32 carry = addc(0, 0);
        even[0] = mad_cc(a[0], b, pair_of(low, high_word(y[0])));
#pragma unroll
        for (int j = 1; j < PAIRS; j++) even[j] = madc_cc(a[2 * j], b, y[j]);
        const u32 over = addc(above, 0);
        const u32 factor = Team<T>::get(low_word(even[0]), 0) * inverse;
        const u32 top = add_cc(in, late);
        const u32 upper = addc(over, 0);
        add_cc(carry, ALL);
#pragma unroll
        for (int j = 0; j < PAIRS - 1; j++) odd[j] = madc_cc(a[2 * j + 1], b, x[j + 1]);
        odd[PAIRS - 1] = madc_cc(a[W - 1], b, pair_of(top, upper));
        above = addc(0, 0);
        add_multiple(even, odd, m, factor, 0);
    }

    // Adds a multiple of m only.
    WORDS_FN void reduce(const u32 (&m)[W], u32 inverse, u32 not_top) {
        u64 even[PAIRS], odd[PAIRS];
        const u32 in = coming(not_top);
        const u32 low = add_cc(low_word(y[0]), high_word(x[0]));
        const u32 carry = addc(0, 0);
        const u32 factor = Team<T>::get(low, 0) * inverse;
        const u32 top = add_cc(in, late);
        const u32 upper = addc(above, 0);
        even[0] = pair_of(low, high_word(y[0]));
#pragma unroll
        for (int j = 1; j < PAIRS; j++) even[j] = y[j];
#pragma unroll
        for (int j = 0; j < PAIRS - 1; j++) odd[j] = x[j + 1];
        odd[PAIRS - 1] = pair_of(top, upper);
        above = 0;
        add_multiple(even, odd, m, factor, carry);
    }

    // Sets x and y to even and odd, with m times the factor added, and the carry to odd.
    WORDS_FN void add_multiple(const u64 (&even)[PAIRS], const u64 (&odd)[PAIRS],
                               const u32 (&m)[W], u32 factor, u32 carry) {
        x[0] = mad_cc(m[0], factor, even[0]);
#pragma unroll
        for (int j = 1; j < PAIRS; j++) x[j] = madc_cc(m[2 * j], factor, even[j]);
        late = addc(0, 0);
        add_cc(carry, ALL);
#pragma unroll
        for (int j = 0; j < PAIRS; j++) y[j] = madc_cc(m[2 * j + 1], factor, odd[j]);
        above = addc(above, 0);
    }

    // Gives the words above the lowest, which is zero in all, and returns what is above them.
    WORDS_FN u32 finish(u32 (&word)[W], u32 not_top) const {
        const u32 in = coming(not_top);
        word[0] = add_cc(low_word(y[0]), high_word(x[0]));
#pragma unroll
        for (int j = 1; j < PAIRS; j++) {
            word[2 * j - 1] = addc_cc(high_word(y[j - 1]), low_word(x[j]));
            word[2 * j] = addc_cc(low_word(y[j]), high_word(x[j]));
        }
        word[W - 1] = addc_cc(high_word(y[PAIRS - 1]), in);
        const u32 over = addc(above, 0);
        word[W - 1] = add_cc(word[W - 1], late);
        return addc(over, 0);
    }
};

// Computes r = a - b of numbers that a team shares; returns whether it is negative.
WORDS_FN bool minus(const Team<T>& team, u32 (&r)[W], const u32 (&a)[W], const u32 (&b)[W]) {
    u32 any = 0, carry = 0;
    r[0] = sub_cc(a[0], b[0]);
#pragma unroll
    for (u32 j = 1; j < W; j++) r[j] = subc_cc(a[j], b[j]);
    const bool makes = subc(0, 0) != 0;
#pragma unroll
    for (u32 j = 0; j < W; j++) any |= r[j];
    const u32 in = team.ripple(makes, any == 0, carry);
    r[0] = sub_cc(r[0], in);
#pragma unroll
    for (u32 j = 1; j < W; j++) r[j] = subc_cc(r[j], 0);
    return carry != 0;
}

// Loads HALF words of shared memory, the first at an even place; and stores the sum of a column.
WORDS_FN void load_half(u32 (&to)[HALF], const u32* from) {
#pragma unroll
    for (u32 j = 0; j < HALF; j += 2) {
        const uint2 two = *reinterpret_cast<const uint2*>(from + j);
        to[j] = two.x, to[j + 1] = two.y;
    }
}
WORDS_FN void store_sum(u32* to, const TileSum<HALF>& column) {
#pragma unroll
    for (u32 j = 0; j < W; j += 2)
        *reinterpret_cast<uint2*>(to + j) = make_uint2(column.sum[j], column.sum[j + 1]);
    to[W] = column.carries[HALF];
}

// Numbers modulo m in the lanes of teams. Factors go through shared memory.
struct Residues {
    static constexpr u32 PITCH = N + 2;  // between factors: even, and teams meet other banks
    static constexpr u32 NOTE = W + 2;     // words of a sum that is noted down
    static constexpr u32 ROOM = T == 2 ? 0 : 3 * NOTE;  // of a lane
    static constexpr u32 SHARED = BLOCK / T * PITCH + BLOCK * ROOM;  // words of a block

    Team<T> team;
    u32 modulus[W];
    u32 inverse;  // of -m modulo 2^32
    u32 not_top;  // zero in the topmost lane, else all ones
    u32* shared;  // N words of the team, the factor
    u32* room;    // ROOM words of the lane

    // m: odd, or else 1 takes its place.
    WORDS_FN Residues(const Team<T>& team, const Number& m, bool odd, u32* block)
        : team(team),
          not_top(team.rank == T - 1 ? 0 : ALL),
          shared(block + threadIdx.x / T * PITCH),
          room(block + BLOCK / T * PITCH + threadIdx.x * ROOM) {
#pragma unroll
        for (u32 j = 0; j < W; j++) {
            const u32 i = team.rank * W + j;
            modulus[j] = odd ? word_at(m, int(i)) : i == 0;
        }
        const u32 lowest = Team<T>::get(modulus[0], 0);
        inverse = lowest;  // right to 3 bits, then twice as many
        for (int i = 0; i < 4; i++) inverse *= 2 - lowest * inverse;
        inverse = 0 - inverse;
    }

    WORDS_FN void load(u32 (&to)[W], const Number& from) const {
#pragma unroll
        for (u32 j = 0; j < W; j++) to[j] = word_at(from, int(team.rank * W + j));
    }

    WORDS_FN void share(const u32 (&factor)[W]) const {
        __syncwarp();
#pragma unroll
        for (u32 j = 0; j < W; j++) shared[team.rank * W + j] = factor[j];
        __syncwarp();
    }

    WORDS_FN void share_one() const {
        __syncwarp();
#pragma unroll
        for (u32 j = 0; j < W; j++) shared[team.rank * W + j] = team.rank == 0 && j == 0;
        __syncwarp();
    }

    WORDS_FN void share_to_square(const u32 (&a)[W]) const { share(a); }

    // Computes a = a b / 2^(32 N), where b is the factor in shared memory, and with `squaring` is
    // a. Only one of them may be m or more.
    WORDS_FN void multiply(u32 (&a)[W], bool squaring) const {
        if (SQUARES && squaring)
            square(a);
        else
            multiply(a);
    }

private:
    WORDS_FN void multiply(u32 (&a)[W]) const {
        Part sum;
        sum.clear();
        u32 next = shared[0];
#pragma unroll ROWS
        for (int i = 0; i < int(N); i++) {
            const u32 now = next;
            next = shared[i + 1];
            sum.row(a, now, modulus, inverse, not_top);
        }
        u32 word[W];
        const u32 above = sum.finish(word, not_top);
        settle(a, word, above);
    }

    // Computes a = a a / 2^(32 N); a is in shared memory, too, and below m.
    WORDS_FN void square(u32 (&a)[W]) const {
        u32 low[W], high[W], over, above;
        if constexpr (T == 2)
            over = square_of_two(team, low, high, above, a, shared);
        else
            over = square_by_columns(low, high, above, a);
        Part sum;
        sum.set(low, over);
#pragma unroll ROWS
        for (int i = 0; i < int(N); i++) sum.reduce(modulus, inverse, not_top);
        above += sum.finish(low, not_top);
        above += add_words(low, high);
        settle(a, low, above);
    }

    // Does what square_of_two() does for any team. What is above the columns of a lane is the next
    // one's. That of the topmost lane in the lower half comes to the lowest lane in the upper half.
    WORDS_FN u32 square_by_columns(u32 (&low)[W], u32 (&high)[W], u32& over,
                                   const u32 (&a)[W]) const {
        u32 over_low[HALF + 1], over_high[HALF + 1], lost[W];
        sum_columns(low, over_low, high, over_high);
        const u32 below = (team.rank + T - 1) % T;
#pragma unroll
        for (u32 j = 0; j <= HALF; j++) {
            const u32 from_low = Team<T>::get(over_low[j], below);
            const u32 from_high = Team<T>::get(over_high[j], below);
            over_low[j] = team.rank ? from_low : 0;
            over_high[j] = team.rank ? from_high : from_low;
        }
        const u32 bit = u32(int(Team<T>::get(a[W - 1], T - 1)) >> 31);
#pragma unroll
        for (u32 j = 0; j < W; j++) lost[j] = a[j] & bit & (j < HALF ? ALL : not_top);
        over = add_words(high, over_high);
        over += add_words(high, lost);
        return add_words(low, over_low);
    }

    // Gives the words of a a that are the lane's: W in the lower half, what is above them, and
    // the same of the upper half. a is in shared memory.
    //
    // Each half has two columns of a lane. A column is a sum of products of tiles of HALF words
    // whose places add up to its own. Two unlike tiles count twice; for that the upper one is
    // doubled. Its lowest bit then comes from the tile below, but where that is the other of the
    // two. The bit that the topmost tile loses is left to the caller. All lanes have equally many
    // products, but their columns end at different times. So the sum goes on through all
    // columns, and where one ends it is only noted down.
    WORDS_FN void sum_columns(u32 (&low)[W], u32 (&over_low)[HALF + 1], u32 (&high)[W],
                              u32 (&over_high)[HALF + 1]) const {
        TileSum<HALF> column;
        column.start(false);
        u32 done = 0;
        int s = 0, u = int(2 * team.rank);
#pragma unroll 1
        for (u32 step = 0; step <= TILES; step++) {
            u32 x[HALF], y[HALF];
            load_half(x, shared + s * int(HALF));
            load_half(y, shared + u * int(HALF));
            u32 below = s + 1 < u ? shared[u * int(HALF) - 1] : 0;
            const u32 twice = s < u;
#pragma unroll
            for (u32 j = 0; j < HALF; j++) {
                const u32 word = y[j];
                y[j] = __funnelshift_l(below, word, twice);
                below = word;
            }
            column.add_product(x, y);
            s++, u--;
            if (s > u && done < 3) {
                TileSum<HALF> so_far = column;
                so_far.fold();
                store_sum(room + done * NOTE, so_far);
                done++;
                const int c = int(2 * team.rank + (done & 1) + (done >> 1) * TILES);
                s = c < int(TILES) ? 0 : c - int(TILES) + 1;
                u = c - s;
            }
        }
        column.fold();
        u32 notes[4][W + 1];
#pragma unroll
        for (u32 k = 0; k < 3; k++)
#pragma unroll
            for (u32 j = 0; j <= W; j++) notes[k][j] = room[k * NOTE + j];
#pragma unroll
        for (u32 j = 0; j < W; j++) notes[3][j] = column.sum[j];
        notes[3][W] = column.carries[HALF];
        take_off(notes[3], notes[2]);
        take_off(notes[2], notes[1]);
        take_off(notes[1], notes[0]);
        join(low, over_low, notes[0], notes[1]);
        join(high, over_high, notes[2], notes[3]);
    }

    // Computes a -= b.
    WORDS_FN static void take_off(u32 (&a)[W + 1], const u32 (&b)[W + 1]) {
        a[0] = sub_cc(a[0], b[0]);
#pragma unroll
        for (u32 j = 1; j < W; j++) a[j] = subc_cc(a[j], b[j]);
        a[W] = subc(a[W], b[W]);
    }

    // Gives the words of first + second 2^(32 HALF).
    WORDS_FN static void join(u32 (&word)[W], u32 (&over)[HALF + 1], const u32 (&first)[W + 1],
                              const u32 (&second)[W + 1]) {
#pragma unroll
        for (u32 j = 0; j < HALF; j++) word[j] = first[j];
        word[HALF] = add_cc(first[HALF], second[0]);
#pragma unroll
        for (u32 j = 1; j < HALF; j++) word[HALF + j] = addc_cc(first[HALF + j], second[j]);
        over[0] = addc_cc(first[W], second[HALF]);
#pragma unroll
        for (u32 j = 1; j < HALF; j++) over[j] = addc_cc(second[HALF + j], 0);
        over[HALF] = addc(second[W], 0);
    }

    // Sets a to the sum of the words and of what each lane has above them, or to m less, so that
    // it is below m. The sum is below 2 m.
    WORDS_FN void settle(u32 (&a)[W], u32 (&word)[W], u32 above) const {
        const u32 below = Team<T>::get(above, (team.rank + T - 1) % T);
        u32 ones = ALL, carry = 0, less[W];
        word[0] = add_cc(word[0], team.rank ? below : 0);
#pragma unroll
        for (u32 j = 1; j < W; j++) word[j] = addc_cc(word[j], 0);
        const bool makes = addc(0, 0) != 0;
#pragma unroll
        for (u32 j = 0; j < W; j++) ones &= word[j];
        const u32 in = team.ripple(makes, ones == ALL, carry);
        word[0] = add_cc(word[0], in);
#pragma unroll
        for (u32 j = 1; j < W; j++) word[j] = addc_cc(word[j], 0);
        const bool fits = carry + Team<T>::get(above, T - 1) == 0;
        const bool small = minus(team, less, word, modulus) && fits;
#pragma unroll
        for (u32 j = 0; j < W; j++) a[j] = small ? word[j] : less[j];
    }
};

}  // namespace
