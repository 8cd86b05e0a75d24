// A tile of the plane, and what one visit to it needs and tells.
//
// Time goes by in rounds of ROUND generations. A tile keeps its cells at the beginning of the last
// SLOTS rounds, so that what has a period of ROUND * SLOTS generations, or of a part of it, is known
// to repeat without being computed.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tiles {

constexpr int SIDE = 32;   // cells along a tile
constexpr int ROUND = 15;  // generations; fewer than SIDE / 2, the width of the halo of a visit
constexpr int SLOTS = 4;
constexpr int NOW = SLOTS;  // the slot of cells within a round

// Neighbours in reading order. The opposite of direction d is 7 - d.
enum Direction { NW, N, NE, W, E, SW, S, SE };
constexpr int DX[8] = {-1, 0, 1, -1, 1, -1, 0, 1};
constexpr int DY[8] = {-1, -1, -1, 0, 0, 1, 1, 1};

// Where row r of a tile is kept: so that rows r, r + 8, r + 16 and r + 24 come to lie in one
// vector without being moved about (window512.hpp).
constexpr int place(int r) {
    const int k = r % 8, j = r / 8;
    return 16 * (k / 4) + 8 * (k % 4 / 2) + 4 * (j / 2) + 2 * (k % 2) + j % 2;
}

// What all visits of a round share.
struct Round {
    std::uint64_t number;
    int from, to;  // slots
    int steps;     // generations: ROUND; or fewer, to NOW, which leaves all else as it is
    std::uint32_t birth, survival;

    bool partial() const { return to == NOW; }
};

struct Tile {
    Tile* near[8];  // `nothing` where there is none
    // (round << 4 | quadrants): the quadrants whose cells at the beginning of that round differ from
    // those SLOTS rounds before, of the last round of either parity in which any did.
    std::uint64_t changed[2];
    std::uint64_t listed;   // the latest round in which it is visited, or will be
    std::uint64_t waiting;  // the latest round in which it is only visited if something enters it
    std::int64_t x, y;     // in tiles
    // For the latest round from each slot: bit d says that a cell beside the neighbour in
    // direction d lived in it.
    std::uint8_t border[SLOTS];
    std::uint8_t hollow;  // bit s: nothing lives in slot s
    bool idle;            // in the list of tiles that may be freed
    std::uint32_t index;  // in the list of all tiles

    // The rows of a slot, by place(). Only in a Block.
    inline std::uint32_t* cells(int slot);
    const std::uint32_t* cells(int slot) const { return const_cast<Tile*>(this)->cells(slot); }

    unsigned quadrants(std::uint64_t round) const {
        return changed[round & 1] >> 4 == round ? unsigned(changed[round & 1] & 15) : 0;
    }
    bool is_hollow(int slot) const { return hollow >> slot & 1; }
    void set_hollow(int slot, bool is) {
        hollow = std::uint8_t((hollow & ~(1 << slot)) | int(is) << slot);
    }
    // Whether nothing lives in it, nor did SLOTS rounds ago: then it need not be visited in this
    // round unless something enters it. One that has `waiting` is as it has been found to be.
    bool waits(const Round& round) const {
        return waiting == round.number ||
               (is_hollow(round.from) && is_hollow(round.to) && !border[round.from]);
    }
};
static_assert(sizeof(Tile) == 128, "what a visit asks of a tile, or of those beside it, is two lines");

constexpr std::size_t SLOT_BYTES = SIDE * sizeof(std::uint32_t);

// Tiles lie in blocks: a page of them, and a page of cells for each slot, so that a round, which needs
// two slots, touches few pages.
struct alignas(4096) Block {
    static constexpr int TILES = 32;
    Tile tiles[TILES];
    std::uint32_t cells[SLOTS + 1][TILES][SIDE];
};
static_assert(sizeof(Tile) == SLOT_BYTES && sizeof(Block) == 4096 * (SLOTS + 2),
              "a tile's cells stand whole pages behind it");

inline std::uint32_t* Tile::cells(int slot) {
    return reinterpret_cast<std::uint32_t*>(reinterpret_cast<char*>(this) + 4096 * (1 + slot));
}

struct Visited {
    bool changes;       // its cells differ from those SLOTS rounds ago
    bool lives;         // it has live cells
    std::uint8_t wake;  // neighbours that must be visited in this round, too
};

// How many cells of a tile live, and in which rows and columns.
struct Life {
    std::uint32_t population, columns, rows;
};

extern Block nowhere;  // never written
inline Tile& nothing = nowhere.tiles[0];  // stands for all tiles that are not there

struct Ops {
    void (*visit)(const Round&, Tile* const* tiles, std::size_t count, Visited*);
    Life (*survey)(const std::uint32_t* cells);
};

}  // namespace tiles
