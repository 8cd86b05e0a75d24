// Products by tiles of 8 x 8 words, a column of tiles to a lane.
#pragma once
#include "team.hpp"

namespace {

constexpr u32 TILE = 8;  // words

// A sum of products of tiles of SIZE words, of twice as many and one of carries. It is held so that every row of a
// tile is two chains of wide multiplications: products that begin at an even word in `even`,
// those that begin at an odd one in `odd`, one word down. What a chain carries out is only
// counted, in `carries` from word SIZE on.
template <u32 SIZE>
struct TileSum {
    static_assert(SIZE % 2 == 0, "pairs of words");
    u64 even[SIZE], odd[SIZE - 1];  // pairs of words
    u32 carries[SIZE + 1];
    u32 sum[2 * SIZE];  // there after fold(), with carries[SIZE] above

    // Begins the next column from what this one leaves: its value without its lower half.
    TEAM_FN void start(bool with_upper) {
#pragma unroll
        for (u32 i = 0; i < SIZE; i++) even[i] = 0;
        if (with_upper) {
#pragma unroll
            for (u32 i = 0; i < SIZE / 2; i++)
                even[i] = pair_of(sum[SIZE + 2 * i], sum[SIZE + 2 * i + 1]);
            even[SIZE / 2] = carries[SIZE];
        }
#pragma unroll
        for (u32 i = 0; i < SIZE - 1; i++) odd[i] = 0;
#pragma unroll
        for (u32 i = 0; i <= SIZE; i++) carries[i] = 0;
    }

    template <u32 FIRST>
    TEAM_FN static void chain(u64* pairs, const u32 (&a)[SIZE], u32 b, u32& carry) {
        pairs[0] = mad_cc(a[FIRST], b, pairs[0]);
#pragma unroll
        for (u32 i = 1; i < SIZE / 2; i++) pairs[i] = madc_cc(a[FIRST + 2 * i], b, pairs[i]);
        carry = addc(carry, 0);
    }

    TEAM_FN void add_product(const u32* a, const u32* b) {
        u32 x[SIZE];
#pragma unroll
        for (u32 i = 0; i < SIZE; i++) x[i] = a[i];
#pragma unroll
        for (u32 j = 0; j < SIZE; j += 2) {
            const u32 low = b[j], high = b[j + 1];
            chain<0>(even + j / 2, x, low, carries[j]);
            chain<1>(odd + j / 2, x, low, carries[j + 1]);
            chain<1>(even + j / 2 + 1, x, high, carries[j + 2]);
            chain<0>(odd + j / 2, x, high, carries[j + 1]);
        }
    }

    TEAM_FN void fold() {
        sum[0] = low_word(even[0]);
        sum[1] = add_cc(high_word(even[0]), low_word(odd[0]));
#pragma unroll
        for (u32 i = 1; i < SIZE - 1; i++) {
            sum[2 * i] = addc_cc(low_word(even[i]), high_word(odd[i - 1]));
            sum[2 * i + 1] = addc_cc(high_word(even[i]), low_word(odd[i]));
        }
        sum[2 * SIZE - 2] = addc_cc(low_word(even[SIZE - 1]), high_word(odd[SIZE - 2]));
        sum[2 * SIZE - 1] = addc_cc(high_word(even[SIZE - 1]), 0);
        carries[SIZE] = addc(carries[SIZE], 0);
        sum[SIZE] = add_cc(sum[SIZE], carries[0]);
#pragma unroll
        for (u32 i = 1; i < SIZE; i++) sum[SIZE + i] = addc_cc(sum[SIZE + i], carries[i]);
        carries[SIZE] = addc(carries[SIZE], 0);
    }
};

using Column = TileSum<TILE>;

// What the lanes of the team hand on from one round of columns to the next.
struct Handed {
    u32 middle[TILE], high, extra, carry;  // extra: the carries of a block, at most two
};

// Adds the column's lower half, the upper half of the lane below and the top word of the lane
// below that one, with all carries; the lowest lanes take those of the round before.
template <u32 T>
TEAM_FN void combine(const Team<T>& team, Column& column, Handed& last) {
    u32* sum = column.sum;
    const bool top = team.rank == T - 1, tops = team.rank + 2 >= T;
    const u32 below = (team.rank + T - 1) % T, lower = (team.rank + T - 2) % T;
    const u32 over = column.carries[TILE], old_over = last.high;
    const u32 high = team.get(tops ? old_over : over, lower);
    u32 extra = 0, middle[TILE];
#pragma unroll
    for (u32 i = 0; i < TILE; i++) {
        const u32 now = sum[TILE + i], old = last.middle[i];  // or a pointer is chosen
        middle[i] = team.get(top ? old : now, below);
    }
    sum[0] = add_cc(sum[0], middle[0]);
#pragma unroll
    for (u32 i = 1; i < TILE; i++) sum[i] = addc_cc(sum[i], middle[i]);
    extra = addc(0, 0);
    sum[0] = add_cc(sum[0], high);
#pragma unroll
    for (u32 i = 1; i < TILE; i++) sum[i] = addc_cc(sum[i], 0);
    extra = addc(extra, 0);
    const u32 more = team.get(top ? last.extra : extra, below);
    sum[0] = add_cc(sum[0], more);
#pragma unroll
    for (u32 i = 1; i < TILE; i++) sum[i] = addc_cc(sum[i], 0);
    const bool makes = addc(0, 0);
    u32 ones = sum[0];
#pragma unroll
    for (u32 i = 1; i < TILE; i++) ones &= sum[i];
    const u32 in = team.ripple(makes, ones == ALL, last.carry);
    sum[0] = add_cc(sum[0], in);
#pragma unroll
    for (u32 i = 1; i < TILE; i++) sum[i] = addc_cc(sum[i], 0);
#pragma unroll
    for (u32 i = 0; i < TILE; i++) last.middle[i] = sum[TILE + i];
    last.high = over;
    last.extra = extra;
}

// Computes r[0, room) = a b. a and b have whole tiles, a_tiles and b_tiles of them; room is a
// multiple of four, at most the tiles'. Returns whether word `top` of the product is not zero.
template <u32 T>
TEAM_FN bool multiply(const Team<T>& team, const u32* a, u32 a_tiles, const u32* b, u32 b_tiles,
                      u32* r, u32 room, u32 top) {
    Column column;
    column.start(false);
    Handed last = {};
    u32 reached = 0;  // words above are zero
    const u32 blocks = a_tiles && b_tiles ? a_tiles + b_tiles : 0;
    for (u32 first = 0; team.any(first < blocks); first += T) {
        const u32 k = first + team.rank;
        if (k < blocks) {
            const u32 from = k < b_tiles ? 0 : k - b_tiles + 1, to = k < a_tiles ? k + 1 : a_tiles;
#pragma unroll 1  // or registers are spilled
            for (u32 i = from; i < to; i++)
                column.add_product(a + i * TILE, b + (k - i) * TILE);
        }
        column.fold();
        if constexpr (T > 1) combine(team, column, last);
#pragma unroll
        for (u32 i = 0; i < TILE; i += 4) {
            const u32* four = column.sum + i;
            if (k * TILE + i < room)
                *reinterpret_cast<uint4*>(r + k * TILE + i) =
                    make_uint4(four[0], four[1], four[2], four[3]);
        }
#pragma unroll
        for (u32 i = 0; i < TILE; i++)  // no index chooses one, or all would lie in memory
            reached |= k * TILE + i >= top ? column.sum[i] : 0;
        column.start(T == 1);
    }
    return team.votes(reached != 0);
}

}  // namespace
