// The window of a visit: 128 x 128 cells, a tile and a halo of 16 cells around it, in the registers of
// a warp. Lane n holds its rows 4 n to 4 n + 3, as four words each (tile.hpp).
//
// What comes in at the edges of the window is wrong, and comes nearer by a cell each generation.
#pragma once
#include "../../../life/circuit.hpp"
#include "table.hpp"

namespace {

constexpr int ROWS = 4;                // of a lane
constexpr u32 UPPER = 0x000000F0u;     // lanes that hold the tile's first 16 rows
constexpr u32 LOWER = 0x0F000000u;     // its last 16
constexpr u32 FIRST_LANE = 4, LAST_LANE = 27;

// The mask of nine bits (tile.hpp) of cells that lanes hold of a tile: bits of words, all in one.
__device__ __forceinline__ u32 mask_of(u32 cells) {
    const u32 any = __ballot_sync(ALL, cells != 0);
    const u32 west = __ballot_sync(ALL, (cells & 0x00000F) != 0);
    const u32 east = __ballot_sync(ALL, (cells & 0xF00000) != 0);
    return u32((west & UPPER) != 0) | u32((any & UPPER) != 0) << 1 | u32((east & UPPER) != 0) << 2 |
           u32(west != 0) << 3 | u32(east != 0) << 4 | u32((west & LOWER) != 0) << 5 |
           u32((any & LOWER) != 0) << 6 | u32((east & LOWER) != 0) << 7 | u32(any != 0) << ANY;
}

__device__ __forceinline__ void unpack(u32* words, uint4 row) {
    words[0] = row.x, words[1] = row.y, words[2] = row.z, words[3] = row.w;
}

// A row's cells and the sums of each with its neighbours beside it.
struct RowStates {
    RowState<u32> at[4];

    __device__ __forceinline__ static RowStates of(const u32* w) {
        return {{row_state(w[3] << 1, w[0], w[1]), row_state(w[0], w[1], w[2]), row_state(w[1], w[2], w[3]),
                 row_state(w[2], w[3], w[0] >> 1)}};
    }
};

struct Window {
    u32 cells[ROWS][4];

    // near: of lanes 0 to 7 the number of the neighbour in that direction, of lane 8 the tile's.
    __device__ __forceinline__ void load(const Plane& plane, u32 near, u32 slot, u32 lane) {
        const u32 west = lane < FIRST_LANE ? 0 : lane <= LAST_LANE ? 3 : 5;
        const u32 middle = lane < FIRST_LANE ? 1 : lane <= LAST_LANE ? 8 : 6;
        const u32 east = lane < FIRST_LANE ? 2 : lane <= LAST_LANE ? 4 : 7;
        const u32 first = lane < FIRST_LANE ? SIDE - 16 + 4 * lane
                          : lane <= LAST_LANE ? 4 * (lane - FIRST_LANE) : 4 * (lane - LAST_LANE - 1);
        const Tile* const w = plane.tile(__shfl_sync(ALL, near, west));
        const Tile* const m = plane.tile(__shfl_sync(ALL, near, middle));
        const Tile* const e = plane.tile(__shfl_sync(ALL, near, east));
#pragma unroll
        for (u32 r = 0; r < u32(ROWS); r++) {
            u32 left[4], own[4], right[4];
            unpack(left, w->cells_in(slot, first + r));
            unpack(own, m->cells_in(slot, first + r));
            unpack(right, e->cells_in(slot, first + r));
#pragma unroll
            for (int k = 0; k < 4; k++) cells[r][k] = left[k] >> 20 | own[k] << 4 | right[k] << 28;
        }
    }

    __device__ __forceinline__ bool empty() const {
        u32 any = 0;
#pragma unroll
        for (int r = 0; r < ROWS; r++) any |= cells[r][0] | cells[r][1] | cells[r][2] | cells[r][3];
        return !__any_sync(ALL, any != 0);
    }

    // One generation, in place.
    template <class Rule>
    __device__ __forceinline__ void advance() {
        const auto pair = [](u32 low, u32 high) { return word64(high) << 32 | low; };
        u32 above[4], below[4];
#pragma unroll
        for (int k = 0; k < 4; k += 2) {
            const word64 up = __shfl_up_sync(ALL, pair(cells[ROWS - 1][k], cells[ROWS - 1][k + 1]), 1);
            const word64 down = __shfl_down_sync(ALL, pair(cells[0][k], cells[0][k + 1]), 1);
            above[k] = u32(up), above[k + 1] = u32(up >> 32);
            below[k] = u32(down), below[k + 1] = u32(down >> 32);
        }
        RowStates top = RowStates::of(above), own = RowStates::of(cells[0]);
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const RowStates low = RowStates::of(r + 1 < ROWS ? cells[r + 1] : below);
#pragma unroll
            for (int k = 0; k < 4; k++) cells[r][k] = Rule()(top.at[k], own.at[k], low.at[k]);
            top = own, own = low;
        }
    }

    // Row r of the lane as the tile has it.
    __device__ __forceinline__ uint4 row(int r) const {
        return make_uint4(cells[r][0] >> 4 & ROW, cells[r][1] >> 4 & ROW, cells[r][2] >> 4 & ROW,
                          cells[r][3] >> 4 & ROW);
    }
};

// The rows of a lane in a slot: of lanes that hold none of the tile, zeros.
struct Old {
    uint4 rows[ROWS];

    __device__ __forceinline__ Old(const Tile* t, u32 slot, u32 lane) {
#pragma unroll
        for (u32 r = 0; r < u32(ROWS); r++)
            rows[r] = lane >= FIRST_LANE && lane <= LAST_LANE ? t->cells_in(slot, 4 * (lane - FIRST_LANE) + r)
                                                              : make_uint4(0, 0, 0, 0);
    }
};

// Writes a window's tile into a slot that holds others now; returns the masks of where something lives
// there then, and of what is other than before.
struct Stored {
    u32 life, changed;
};
__device__ __forceinline__ Stored store(const Window& window, Tile* t, u32 slot, const Old& old, u32 lane) {
    u32 lives = 0, differs = 0;
    if (lane >= FIRST_LANE && lane <= LAST_LANE) {
#pragma unroll
        for (u32 r = 0; r < u32(ROWS); r++) {
            const uint4 now = window.row(int(r)), was = old.rows[r];
            const u32 differ = (now.x ^ was.x) | (now.y ^ was.y) | (now.z ^ was.z) | (now.w ^ was.w);
            lives |= now.x | now.y | now.z | now.w;
            differs |= differ;
            if (differ) __stcg(t->row(slot, 4 * (lane - FIRST_LANE) + r), now);
        }
    }
    return {mask_of(lives), mask_of(differs)};
}

}  // namespace
