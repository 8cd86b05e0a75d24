// How cells of a universe that settles lie in a device's memory.
//
// A field holds all cells at the end of a round. It has bands of 24 rows, and a band has units, side by
// side: 8 columns of it, and of the four rows above and below. So a window of 32 x 32 cells is five units.
// A word of a unit is four rows of eight cells, a byte each: words 0 to 5 are the unit's own, word 6 is what
// stands below it and word 7 what stands above.
//
// Beyond the edges of a torus are copies of what lies across them, which are made anew between two rounds:
// in a unit to the left of the first, in the first beyond the last, and in what is left of the last ones. On a
// plane nothing lives there.
#pragma once
#include "../../../bits.hpp"

namespace {

using word64 = unsigned long long;

constexpr int STEPS = 4;                   // generations of a round
constexpr int FIELDS = 3;                  // a round writes over what is twelve generations older than what it makes
constexpr int CELLS = 8;                   // columns of a unit
constexpr int UNIT = 8;                    // words of a unit
constexpr int OWN = UNIT - 2;              // of them its own
constexpr int BELOW = OWN, ABOVE = OWN + 1;
constexpr int BAND = 4 * OWN;              // rows of a band
constexpr int INNER = 3;                   // units of a window that are right after a round
constexpr int BEFORE = 1, BEYOND = 3;      // units of a band to the left of the universe, and to the right

struct Unit {
    uint4 fours[UNIT / 4];
};

struct Shape {
    int width, height;
    bool torus;

    __device__ __forceinline__ int units() const { return (width + CELLS - 1) / CELLS; }
    __device__ __forceinline__ int bands() const { return (height + BAND - 1) / BAND; }
    __device__ __forceinline__ int pitch() const { return units() + BEFORE + BEYOND; }
    // Words of a band in a map with a bit for each unit.
    __device__ __forceinline__ int map_pitch() const { return (units() + 31) / 32; }
    // Where a unit stands, counted from -1 on.
    __device__ __forceinline__ word64 at(int band, int unit) const {
        return word64(band) * pitch() + (unit + BEFORE);
    }
    __device__ __forceinline__ word64 field_units() const { return word64(bands()) * pitch(); }
};

// The word of a unit that has the rows from 4 i on, i from -1 to 6.
__device__ __forceinline__ int word_of(int i) { return i & (UNIT - 1); }

// Eight cells of a row of a unit inside the universe; some may be beyond its right edge.
__device__ __forceinline__ u32 byte_at(const Shape& shape, const u32* field, int unit, int y) {
    const int band = y / BAND, row = y % BAND;
    return field[shape.at(band, unit) * UNIT + row / 4] >> 8 * (row % 4) & 255;
}

// Eight cells of a torus from (x, y) on, which is in it.
__device__ __forceinline__ u32 cells_at(const Shape& shape, const u32* field, int x, int y) {
    const int unit = x / CELLS, shift = x % CELLS, have = shape.width - x;
    u32 cells = byte_at(shape, field, unit, y) >> shift;
    if (shift) cells |= byte_at(shape, field, unit + 1, y) << (CELLS - shift) & 255;
    if (have < CELLS) cells = (cells & ((1u << have) - 1)) | (byte_at(shape, field, 0, y) << have & 255);
    return cells;
}

}  // namespace
