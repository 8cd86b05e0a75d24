// The window of a visit: 64 x 64 cells in registers (lanes.hpp), a tile and a halo of 8 cells around it.
#pragma once
#include "../../../life/cpu/lanes.hpp"
#include "tile.hpp"

namespace {

using tiles::Tile;

static_assert(tiles::SIDE + 2 * tiles::HALO == 64, "a row of the window is a word");
constexpr int FIRST = tiles::HALO, LAST = FIRST + tiles::SIDE - 1;  // rows and columns of the tile
constexpr u64 OWN = ((u64(1) << tiles::SIDE) - 1) << FIRST;         // its columns

// What has lived of some rows of the window: the tile's first and last, those beside them, and all
// of the tile's.
struct Seen { u64 above, first, last, below, all; };

// Whether a tile has become another than before, the neighbours within HALO cells of what is other,
// and whether it has live cells now.
struct Stored {
    bool changed;
    unsigned reach;
    bool lives;
};

template <class V>
struct Window {
    static constexpr int LANES = Lanes<V>::LANES, COUNT = Lanes<V>::VECTORS;
    V rows[COUNT], seen[COUNT];

    static constexpr int at(int r) { return Lanes<V>::at(r); }

    void load(const Tile& tile, int slot) {
        constexpr int SIDE = tiles::SIDE, HALO = tiles::HALO;
        u64 to[64];
        const auto band = [&](int first, int count, int from, const Tile& w, const Tile& c, const Tile& e) {
            const u64 *const left = w.cells(slot), *const own = c.cells(slot), *const right = e.cells(slot);
            for (int i = 0; i < count; i++)
                to[at(first + i)] = left[from + i] >> (SIDE - HALO) | own[from + i] << HALO |
                                    right[from + i] << (SIDE + HALO);
        };
        const auto near = [&](int d) -> const Tile& { return *tile.near[d]; };
        band(0, HALO, SIDE - HALO, near(tiles::NW), near(tiles::N), near(tiles::NE));
        band(FIRST, SIDE, 0, near(tiles::W), tile, near(tiles::E));
        band(LAST + 1, HALO, 0, near(tiles::SW), near(tiles::S), near(tiles::SE));
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
        for (int r = FIRST; r <= LAST; r++) all |= from[at(r)];
        return {from[at(FIRST - 1)], from[at(FIRST)], from[at(LAST)], from[at(LAST + 1)], all};
    }

    // Writes the tile's cells.
    Stored store(u64* cells) const {
        u64 from[64], differ[tiles::SIDE / 8], any = 0, all = 0;
        __builtin_memcpy(from, rows, sizeof rows);
        for (int b = 0; b < tiles::SIDE / 8; b++) {
            differ[b] = 0;
            for (int r = 8 * b; r < 8 * b + 8; r++) {
                const u64 row = (from[at(FIRST + r)] & OWN) >> FIRST;
                differ[b] |= row ^ cells[r];
                cells[r] = row, any |= row;
            }
            all |= differ[b];
        }
        constexpr u64 LEFT = (u64(1) << tiles::HALO) - 1, RIGHT = LEFT << (tiles::SIDE - tiles::HALO);
        static_assert(tiles::HALO == 8, "rows within reach of those above are the first eight");
        const u64 first = differ[0], last = differ[tiles::SIDE / 8 - 1];
        const auto bit = [](u64 found, int d) { return unsigned(found != 0) << d; };
        return {all != 0,
                bit(first & LEFT, tiles::NW) | bit(first, tiles::N) | bit(first & RIGHT, tiles::NE) |
                    bit(all & LEFT, tiles::W) | bit(all & RIGHT, tiles::E) | bit(last & LEFT, tiles::SW) |
                    bit(last, tiles::S) | bit(last & RIGHT, tiles::SE),
                any != 0};
    }
};

}  // namespace

#if defined(__AVX512F__)
#include "window512.hpp"
#endif
