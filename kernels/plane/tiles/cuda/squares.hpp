// How squares of 64 x 64 cells lie on tiles of 96 x 96, and rows of plain bits on words of tiles.
#pragma once
#include "table.hpp"

namespace {

constexpr int SQUARE = 64;  // cells along the squares that cells are handed over in

__device__ __forceinline__ i64 third(i64 n) { return (n - (n % 3 + 3) % 3) / 3; }    // rounded down
__device__ __forceinline__ i64 tile_of(i64 n) { return third(n >> 5); }             // of a cell

// Bits 0, 4, 8 ... of x, side by side.
__device__ __forceinline__ u32 gathered(word64 x) {
    x &= 0x1111111111111111ull;
    x = (x | x >> 3) & 0x0303030303030303ull;
    x = (x | x >> 6) & 0x000F000F000F000Full;
    x = (x | x >> 12) & 0x000000FF000000FFull;
    return u32((x | x >> 24) & 0xFFFF);
}

// A part of a square that lies in one tile: columns from bit `from` on of its rows, and rows.
struct Part {
    i64 x, y;           // the tile
    u32 column, row;    // its first one there
    u32 from, columns;  // bits of the square's rows
    u32 top, rows;      // rows of the square
};

// The parts of square (i, j), of which some have no cells.
__device__ __forceinline__ Part part_of(i64 i, i64 j, u32 n) {
    Part part;
    const i64 x = third(2 * i), y = third(2 * j);
    const u32 column = u32(SQUARE * i - SIDE * x), row = u32(SQUARE * j - SIDE * y);
    const u32 wide = column == SQUARE ? 32 : SQUARE, high = row == SQUARE ? 32 : SQUARE;
    const bool right = n & 1, down = n & 2;
    part.x = x + right, part.y = y + down;
    part.column = right ? 0 : column, part.row = down ? 0 : row;
    part.from = right ? wide : 0, part.columns = right ? SQUARE - wide : wide;
    part.top = down ? high : 0, part.rows = down ? SQUARE - high : high;
    return part;
}

// Bits of x with three zeros behind each.
__device__ __forceinline__ word64 scattered(u32 bits) {
    word64 x = bits & 0xFFFF;
    x = (x | x << 24) & 0x000000FF000000FFull;
    x = (x | x << 12) & 0x000F000F000F000Full;
    x = (x | x << 6) & 0x0303030303030303ull;
    return (x | x << 3) & 0x1111111111111111ull;
}

// A row of a tile: bit b of `low` is column b, bit b of `high` column 64 + b.
struct PlainRow {
    word64 low;
    u32 high;

    // 64 columns from `from` on, 0 to 95: those beyond the tile are zero.
    __device__ __forceinline__ word64 from(u32 column) const {
        if (column >= 64) return high >> (column - 64);
        return column ? low >> column | word64(high) << (64 - column) : low;
    }
};
__device__ __forceinline__ PlainRow plain_row(const Tile* t, u32 slot, u32 row) {
    const uint4 w = t->cells_in(slot, row);
    return {scattered(w.x) | scattered(w.y) << 1 | scattered(w.z) << 2 | scattered(w.w) << 3,
            u32(scattered(w.x >> 16) | scattered(w.y >> 16) << 1 | scattered(w.z >> 16) << 2 |
                scattered(w.w >> 16) << 3)};
}

}  // namespace
