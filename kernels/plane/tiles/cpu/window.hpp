// The window of a visit: 64 x 64 cells, a tile and a halo of 16 cells around it.
//
// Row r of the window is 64 bits in lane r / COUNT of vector r % COUNT, so that the rows above and
// below lie in the vectors before and after; only at the ends do lanes move on. What comes in at the
// edges of the window is wrong, and comes nearer by a cell each generation.
#pragma once
#include "../../../bits.hpp"
#include "tile.hpp"

namespace {

using tiles::Tile;

typedef u64 q128 __attribute__((vector_size(16)));
typedef u64 q256 __attribute__((vector_size(32)));
BITS_FN q128 as_rows(v128 v) { return (q128)v; }
BITS_FN q256 as_rows(v256 v) { return (q256)v; }

// What has lived of some rows of the window: the tile's first and last, those beside them, and all
// of the tile's. Column c of the tile is bit c + 16.
struct Seen { u64 above, first, last, below, all; };

// The quadrants of a tile that were others before, and whether it has live cells now.
struct Stored {
    unsigned changed;
    bool lives;
};

template <class V>
struct Window {
    static constexpr int LANES = sizeof(V) / 8, COUNT = 64 / LANES;
    V rows[COUNT], seen[COUNT];

    static constexpr int at(int r) { return r % COUNT * LANES + r / COUNT; }
    static BITS_FN V left(V v) { return (V)(as_rows(v) << 1); }
    static BITS_FN V right(V v) { return (V)(as_rows(v) >> 1); }
    static BITS_FN V lanes_up(V v) { return rotate_lanes_up(rotate_lanes_up(v)); }
    static BITS_FN V lanes_down(V v) { return rotate_lanes_down(rotate_lanes_down(v)); }

    void load(const Tile& tile, int slot) {
        u64 to[64];
        const auto row = [&](int d, int r) -> u64 {
            const Tile& t = d < 0 ? tile : *tile.near[d];
            return t.cells(slot)[tiles::place(r)];
        };
        const auto band = [&](int first, int count, int from, int w, int c, int e) {
            for (int i = 0; i < count; i++)
                to[at(first + i)] = row(w, from + i) >> 16 | row(c, from + i) << 16 |
                                    row(e, from + i) << 48;
        };
        band(0, 16, 16, tiles::NW, tiles::N, tiles::NE);
        band(16, 32, 0, tiles::W, -1, tiles::E);
        band(48, 16, 0, tiles::SW, tiles::S, tiles::SE);
        __builtin_memcpy(rows, to, sizeof rows);
        __builtin_memset(seen, 0, sizeof seen);
    }

    bool empty() const {
        V any{};
        for (int k = 0; k < COUNT; k++) any |= rows[k];
        u64 lanes[LANES], all = 0;
        __builtin_memcpy(lanes, &any, sizeof any);
        for (u64 lane : lanes) all |= lane;
        return all == 0;
    }

    BITS_FN void note() {
        for (int k = 0; k < COUNT; k++) seen[k] |= rows[k];
    }

    Seen noted() const {
        u64 from[64];
        __builtin_memcpy(from, seen, sizeof seen);
        u64 all = 0;
        for (int r = 16; r < 48; r++) all |= from[at(r)];
        return {from[at(15)], from[at(16)], from[at(47)], from[at(48)], all};
    }

    // Writes the tile's cells.
    Stored store(u32* cells) const {
        u64 from[64];
        __builtin_memcpy(from, rows, sizeof rows);
        u32 differ[2] = {0, 0}, any = 0;
        for (int r = 0; r < tiles::SIDE; r++) {
            const u32 row = u32(from[at(r + 16)] >> 16);
            u32& kept = cells[tiles::place(r)];
            differ[r >= 16] |= row ^ kept;
            kept = row, any |= row;
        }
        const auto halves = [](u32 d) { return unsigned((d & 0xFFFF) != 0) | unsigned(d >> 16 != 0) << 1; };
        return {halves(differ[0]) | halves(differ[1]) << 2, any != 0};
    }
};

// Windows that are moved on in less than all of their rows, two at once: where registers are wide
// enough for that (window512.hpp).
template <class V>
struct Halves {
    static constexpr bool exist = false;
    bool take(const Window<V>&, std::size_t) { return false; }
    bool full() const { return false; }
    bool any() const { return false; }
};

}  // namespace

#if defined(__AVX512F__)
#include "window512.hpp"
#endif
