// A tile of the plane on a CUDA device, and where all of them lie.
//
// Time goes by in rounds of ROUND generations, and a tile keeps its cells at the beginning of the last
// SLOTS rounds, much as on the CPU (kernels/plane/tiles/cpu/tile.hpp).
//
// A row of a tile is four words of 24 bits: column c is bit c / 4 of word c % 4. So the neighbours of a
// word's cells are the neighbouring words, and no shift is needed but between word 3 and word 0; and
// a window of 32 bits a word is a tile with four bits, 16 columns, of the tiles beside it.
#pragma once
#include "../../../bits.hpp"

namespace {

using i64 = long long;
using word64 = unsigned long long;  // the type that the atomics take

constexpr int SIDE = 96;   // cells along a tile
constexpr int ROUND = 15;  // generations; fewer than the halo of a window, 16 cells
constexpr int SLOTS = 4;
constexpr int NOW = SLOTS;    // the slot of cells within a round
constexpr u32 ROW = 0xFFFFFF;  // the bits of a word that are a tile's
constexpr u32 ANY = 8;         // the bit beyond those of the eight directions

// Neighbours in reading order, 0 to 7: the opposite of direction d is 7 - d.
__device__ __forceinline__ int dx_of(int d) { return (d + (d >= 4)) % 3 - 1; }
__device__ __forceinline__ int dy_of(int d) { return (d + (d >= 4)) / 3 - 1; }

// Of masks of nine bits, bit d is about the cells within 16 of the neighbour in direction d, and bit
// ANY about all cells of the tile.
struct alignas(128) Tile {
    i64 x, y;           // in tiles
    word64 listed;      // the latest round in which it is visited, or will be
    word64 changed_at;  // the round after that in which it was last visited
    union {
        unsigned short life[SLOTS];  // masks: where something lives, of each slot
        word64 lives;                // all of them
    };
    u32 life_now;  // the same of slot NOW; where nothing lives, others' cells may be left in it
    u32 changed;   // mask: what differs at the beginning of round `changed_at` from SLOTS rounds before
    u32 idle;      // 1: in the list of tiles that may be freed
    u32 there;     // 1: in the table
    u32 near[8];   // the numbers of its neighbours, 0 where there is none
    u32 linked;    // 1: these are known, and know it. Nothing lives in a tile that is not linked, but now
    u32 unused[9];
    uint4 cells[SLOTS + 1][SIDE];

    // Rows r, r + 4, r + 8 ... lie side by side: a lane reads or writes four rows (window.hpp).
    __device__ __forceinline__ uint4* row(u32 slot, u32 r) {
        return &cells[slot][r % 4 * (SIDE / 4) + r / 4];
    }
    __device__ __forceinline__ uint4 cells_in(u32 slot, u32 r) const {
        return __ldcg(const_cast<Tile*>(this)->row(slot, r));
    }
};
constexpr u32 TILE_BYTES = 128 + (SLOTS + 1) * SIDE * 16;
static_assert(sizeof(Tile) == TILE_BYTES, "as engine.py has it");

// What the host and all kernels tell each other: places in an array of 64-bit numbers.
enum State : u32 {
    COUNTS = 0,   // three: how many tiles are listed, for round n in COUNTS + n % 3
    NUMBER = 3,   // the round that comes next
    SPARE = 4,    // tiles that are not there, in their list
    TAKEN = 5,    // places of the table that are not empty
    FAILED = 6,   // what a kernel was told to put here where there was no room
    ARRIVED = 7,  // of blocks, at meet()
    IDLE = 8,     // tiles that may be freed, in their list
    FOUND = 9,    // what a reading kernel counts
    STATES = 16
};

}  // namespace
