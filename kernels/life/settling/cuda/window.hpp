// A window of 32 x 32 cells in the registers of one thread: it loads five units, and writes the three in the
// middle, which are right after a round.
//
// Macros: the rule as kernels/life/cuda/rule.hpp takes it.
#pragma once
#include "../../cuda/rule.hpp"
#include "field.hpp"

namespace {

constexpr int ROWS = BAND + 2 * STEPS;  // of a window
constexpr u32 NEAR_LEFT = 0x0F0F0F0F;  // cells of a word near those to the left, all others near those to the right

// Which of the five units of a window have cells within four of one that has changed, a bit each: of the
// cells that have changed in the three in the middle, taken together.
__device__ __forceinline__ u32 reached(u32 left, u32 mid, u32 right) {
    const bool l = left & NEAR_LEFT, m = mid & NEAR_LEFT, r = right & NEAR_LEFT;
    const bool al = left & ~NEAR_LEFT, am = mid & ~NEAR_LEFT, ar = right & ~NEAR_LEFT;
    return u32(l) | u32(l | al | m) << 1 | u32(al | m | am | r) << 2 | u32(am | r | ar) << 3 | u32(ar) << 4;
}

__device__ __forceinline__ RowState<u32> state_of(u32 row) { return row_state(row << 1, row, row >> 1); }

// Which of 32 columns from one on are in the universe.
__device__ __forceinline__ u32 inside(int from, int size) {
    u32 all = ALL;
    if (from < 0) all = from > -32 ? all << -from : 0;
    const int end = size - from;
    if (end < 32) all &= end > 0 ? ALL >> (32 - end) : 0;
    return all;
}

// Rows of a window that are in the universe.
struct Rows {
    int first, height;  // the row of the universe at which the window begins

    __device__ __forceinline__ bool has(int r) const { return u32(first + r) < u32(height); }
    // The same of four rows, a bit each.
    __device__ __forceinline__ u32 four(int r) const {
        return u32(has(r)) | u32(has(r + 1)) << 1 | u32(has(r + 2)) << 2 | u32(has(r + 3)) << 3;
    }
};

struct Edges {
    u32 columns;  // of a window, that are in the universe
    Rows rows;
};

struct Window {
    u32 rows[ROWS];

    // Sets rows 4 s to 4 s + 3 from a word of each of five units.
    __device__ __forceinline__ void set(int s, u32 a, u32 b, u32 c, u32 d, u32 e) {
        const u32 ab0 = __byte_perm(a, b, 0x5140), ab1 = __byte_perm(a, b, 0x7362);
        const u32 cd0 = __byte_perm(c, d, 0x5140), cd1 = __byte_perm(c, d, 0x7362);
        rows[4 * s + 0] = shift_down(e, __byte_perm(ab0, cd0, 0x5410), 4);
        rows[4 * s + 1] = shift_down(e >> 8, __byte_perm(ab0, cd0, 0x7632), 4);
        rows[4 * s + 2] = shift_down(e >> 16, __byte_perm(ab1, cd1, 0x5410), 4);
        rows[4 * s + 3] = shift_down(e >> 24, __byte_perm(ab1, cd1, 0x7632), 4);
    }

    // Loads five units, from one on.
    __device__ __forceinline__ void load(const Unit* at) {
#pragma unroll
        for (int q = 0; q < UNIT / 4; q++) {
            uint4 h[5];
#pragma unroll
            for (int k = 0; k < 5; k++) h[k] = at[k].fours[q];
            set(place_of(4 * q), h[0].x, h[1].x, h[2].x, h[3].x, h[4].x);
            set(place_of(4 * q + 1), h[0].y, h[1].y, h[2].y, h[3].y, h[4].y);
            set(place_of(4 * q + 2), h[0].z, h[1].z, h[2].z, h[3].z, h[4].z);
            set(place_of(4 * q + 3), h[0].w, h[1].w, h[2].w, h[3].w, h[4].w);
        }
    }

    // Which four rows of a window a word of units holds.
    static BITS_FN constexpr int place_of(int word) { return word == ABOVE ? 0 : word + 1; }

    // Moves on by a round. What comes in at the edges of the window is wrong, and comes nearer by a cell each
    // generation. CUT: what comes to life beyond the edges of the universe is taken away each time.
    template <bool CUT>
    __device__ __forceinline__ void advance(const Edges& edges) {
#pragma unroll
        for (int g = 1; g <= STEPS; g++) {
            RowState<u32> top = state_of(rows[g - 1]), mid = state_of(rows[g]);
#pragma unroll
            for (int r = g; r < ROWS - g; r++) {
                const RowState<u32> low = state_of(rows[r + 1]);
                u32 next = LifeRule()(top, mid, low);
                if (CUT) next &= edges.rows.has(r) ? edges.columns : 0;
                rows[r] = next;
                top = mid, mid = low;
            }
        }
    }

    // The words of three units that hold the own rows 4 s to 4 s + 3.
    __device__ __forceinline__ void get(int s, u32& a, u32& b, u32& c) const {
        const u32* const w = rows + 4 * (s + 1);
        const u32 r0 = w[0] >> 4, r1 = w[1] >> 4, r2 = w[2] >> 4, r3 = w[3] >> 4;
        const u32 t0 = __byte_perm(r0, r1, 0x5140), t1 = __byte_perm(r0, r1, 0x7362);
        const u32 u0 = __byte_perm(r2, r3, 0x5140), u1 = __byte_perm(r2, r3, 0x7362);
        a = __byte_perm(t0, u0, 0x5410), b = __byte_perm(t0, u0, 0x7632), c = __byte_perm(t1, u1, 0x5410);
    }
};

// Cells of the own words of one unit.
struct Own {
    u32 words[OWN];

    __device__ __forceinline__ void load(const Unit* unit) {
#pragma unroll
        for (int q = 0; q < UNIT / 4 - 1; q++) {
            const uint4 four = unit->fours[q];
            words[4 * q] = four.x, words[4 * q + 1] = four.y, words[4 * q + 2] = four.z, words[4 * q + 3] = four.w;
        }
        const uint2 two = *reinterpret_cast<const uint2*>(unit->fours + UNIT / 4 - 1);
        words[OWN - 2] = two.x, words[OWN - 1] = two.y;
    }
    __device__ __forceinline__ void store(Unit* unit) const {
#pragma unroll
        for (int q = 0; q < UNIT / 4 - 1; q++)
            unit->fours[q] = make_uint4(words[4 * q], words[4 * q + 1], words[4 * q + 2], words[4 * q + 3]);
        *reinterpret_cast<uint2*>(unit->fours + UNIT / 4 - 1) = make_uint2(words[OWN - 2], words[OWN - 1]);
    }
};

}  // namespace
