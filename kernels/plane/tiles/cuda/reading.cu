// What is read of a plane, in one slot of its tiles.
#include "squares.hpp"

namespace {

__device__ __forceinline__ u32 mask_in(const Tile* t, u32 slot) {
    return slot == u32(NOW) ? t->life_now : t->life[slot];
}

// Tile (x, y), or 0 where nothing lives in it: what slot NOW holds of a tile made since is not told.
__device__ __forceinline__ u32 live_tile(const Plane& plane, u32 slot, i64 x, i64 y) {
    const u32 i = plane.find(x, y);
    return i && mask_in(plane.tile(i), slot) ? i : 0;
}

// Counts of 32 x 32 cells or less: adds what lives of a row to blocks of 2^level columns.
__device__ void add_row(const PlainRow& row, u32 level, i64 first, u32 columns, word64* blocks) {
    const u32 side = 1u << level;
    const u32 mask = side == 32 ? ALL : (1u << side) - 1;
    for (u32 c = 0; c < u32(SIDE); c += side) {
        const u32 cells = u32(row.from(c)) & mask;
        const i64 column = first + c / side;
        if (cells && column >= 0 && column < i64(columns)) atomicAdd(blocks + column, word64(__popc(cells)));
    }
}

}  // namespace

// Adds all live cells to FOUND.
extern "C" __global__ void population(PLANE_PARAMETERS, u32 slot) {
    const Plane plane = PLANE;
    const u32 lane = threadIdx.x & 31;
    each_tile(plane, [&](u32, Tile* t) {
        if (!mask_in(t, slot)) return;
        u32 count = 0;
        for (u32 r = lane; r < u32(SIDE); r += 32) {
            const uint4 w = t->cells_in(slot, r);
            count += u32(__popc(w.x) + __popc(w.y) + __popc(w.z) + __popc(w.w));
        }
        for (u32 n = 16; n; n /= 2) count += __shfl_xor_sync(ALL, count, n);
        if (lane == 0) atomicAdd(state + FOUND, word64(count));
    });
}

// Widens a box: its first column and row, its last column and row.
extern "C" __global__ void box(PLANE_PARAMETERS, u32 slot, long long* found) {
    const Plane plane = PLANE;
    const u32 lane = threadIdx.x & 31;
    each_tile(plane, [&](u32, Tile* t) {
        if (!mask_in(t, slot)) return;
        word64 low = 0;
        u32 high = 0, first = SIDE, last = 0;
        for (u32 n = 0; n < 3; n++) {
            const PlainRow row = plain_row(t, slot, 32 * n + lane);
            low |= row.low, high |= row.high;
            const u32 live = __ballot_sync(ALL, row.low != 0 || row.high != 0);
            if (!live) continue;
            if (first == u32(SIDE)) first = 32 * n + u32(__ffs(int(live))) - 1;
            last = 32 * n + 31 - u32(__clz(int(live)));
        }
        for (u32 n = 16; n; n /= 2) low |= __shfl_xor_sync(ALL, low, n), high |= __shfl_xor_sync(ALL, high, n);
        if (lane) return;
        const i64 x = t->x * SIDE, y = t->y * SIDE;
        atomicMin(found, x + (low ? __ffsll(i64(low)) - 1 : 63 + __ffs(int(high))));
        atomicMax(found + 2, x + (high ? 95 - __clz(int(high)) : 63 - __clzll(i64(low))));
        atomicMin(found + 1, y + first);
        atomicMax(found + 3, y + last);
    });
}

// Writes the squares that hold live cells of tiles `first` to `last` - 1, of those from (left, top) to
// (right, bottom), and counts them in FOUND. A square on several tiles is written by the first of them
// in which something of it lives.
extern "C" __global__ void squares(PLANE_PARAMETERS, u32 slot, u32 first, u32 last, long long left,
                                   long long top, long long right, long long bottom, long long* places,
                                   unsigned long long* words) {
    const Plane plane = PLANE;
    const u32 lane = threadIdx.x & 31, warps = gridDim.x * (blockDim.x / 32);
    for (u32 i = first + blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32; i < last; i += warps) {
        const Tile* const t = plane.tile(i);
        if (!t->there || !mask_in(t, slot)) continue;
        for (u32 n = 0; n < 4; n++) {
            const i64 x = ((3 * t->x) >> 1) + (n & 1), y = ((3 * t->y) >> 1) + (n >> 1);
            if (x < left || x > right || y < top || y > bottom) continue;
            word64 rows[2] = {0, 0};
            u32 writer = 0;
            for (u32 m = 0; m < 4; m++) {
                const Part part = part_of(x, y, m);
                const u32 there = part.columns && part.rows ? live_tile(plane, slot, part.x, part.y) : 0;
                if (!there) continue;
                word64 any = 0;
#pragma unroll
                for (u32 half = 0; half < 2; half++) {
                    const u32 r = 32 * half + lane - part.top;
                    if (r >= part.rows) continue;
                    word64 cells = plain_row(plane.tile(there), slot, part.row + r).from(part.column);
                    if (part.columns < u32(SQUARE)) cells &= (word64(1) << part.columns) - 1;
                    any |= cells;
                    rows[half] |= cells << (part.from & 63);
                }
                if (!writer && __any_sync(ALL, any != 0)) writer = there;
            }
            if (writer != i) continue;
            word64 at = 0;
            if (lane == 0) at = atomicAdd(state + FOUND, word64(1));
            at = __shfl_sync(ALL, at, 0);
            if (lane == 0) places[2 * at] = x, places[2 * at + 1] = y;
            words[SQUARE * at + lane] = rows[0], words[SQUARE * at + 32 + lane] = rows[1];
        }
    }
}

// Writes a rectangle of `rows` x `stride` words, its top-left cell at (x, y).
extern "C" __global__ void get(PLANE_PARAMETERS, u32 slot, long long x, long long y,
                               unsigned long long* words, u32 rows, u32 stride) {
    const Plane plane = PLANE;
    const word64 threads = word64(gridDim.x) * blockDim.x, count = word64(rows) * stride;
    for (word64 n = word64(blockIdx.x) * blockDim.x + threadIdx.x; n < count; n += threads) {
        const i64 at_x = x + i64(64 * (n % stride)), at_y = y + i64(n / stride);
        const i64 tile_x = tile_of(at_x), tile_y = tile_of(at_y);
        const u32 column = u32(at_x - SIDE * tile_x), row = u32(at_y - SIDE * tile_y);
        word64 cells = 0;
        if (const u32 i = live_tile(plane, slot, tile_x, tile_y))
            cells = plain_row(plane.tile(i), slot, row).from(column);
        if (column > 32)
            if (const u32 i = live_tile(plane, slot, tile_x + 1, tile_y))
                cells |= plain_row(plane.tile(i), slot, row).low << (SIDE - column);
        words[n] = cells;
    }
}

// Adds the live cells of blocks of 2^level a side, of which (x, y) is the first.
extern "C" __global__ void counts(PLANE_PARAMETERS, u32 slot, long long x, long long y, u32 level,
                                  unsigned long long* blocks, u32 rows, u32 columns) {
    const Plane plane = PLANE;
    const u32 lane = threadIdx.x & 31;
    each_tile(plane, [&](u32, Tile* t) {
        if (!mask_in(t, slot)) return;
        for (u32 n = 0; n < 3; n++) {
            const PlainRow row = plain_row(t, slot, 32 * n + lane);
            const i64 first = 3 * t->x, block_row = 3 * t->y + n;  // in blocks of 32 x 32
            if (level < 5) {
                const u32 more = 5 - level;
                const i64 at = block_row * (1 << more) + (lane >> level) - y;
                if (at >= 0 && at < i64(rows))
                    add_row(row, level, first * (1 << more) - x, columns, blocks + word64(at) * columns);
                continue;
            }
            const i64 at = (block_row >> (level - 5)) - y;
            for (u32 c = 0; c < 3; c++) {
                u32 count = u32(__popc(u32(row.from(32 * c))));
                for (u32 m = 16; m; m /= 2) count += __shfl_xor_sync(ALL, count, m);
                const i64 column = ((first + c) >> (level - 5)) - x;
                if (lane == 0 && count && at >= 0 && at < i64(rows) && column >= 0 && column < i64(columns))
                    atomicAdd(blocks + word64(at) * columns + word64(column), word64(count));
            }
        }
    });
}
