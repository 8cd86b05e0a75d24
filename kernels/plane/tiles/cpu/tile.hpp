// A tile of the plane, and what one visit to it needs and tells.
//
// Time goes by in rounds of a few generations. A tile has slots for its cells at the beginning of the
// last rounds, so that what has the period of a cycle of them, or of a part of it, is known to repeat
// without being computed.
#pragma once
#include <cstddef>
#include <cstdint>

#include "../../../life/cpu/nine_cells.hpp"

namespace tiles {

constexpr int SIDE = 48;  // cells along a tile
constexpr int HALO = 8;   // cells around it that a visit computes with it
constexpr int SLOTS = 9;  // of the longest cycle
constexpr int NOW = -1;   // the slot of cells within a round

// The rounds of which a tile keeps the beginning, and their generations.
struct Cycle {
    int slots, period;

    // The generations of a round: fewer than HALO, so that what is born beside a tile is seen. Every
    // slot begins rounds of one length.
    int length(std::uint64_t round) const { return slots == 2 || round % 3 == 0 ? 6 : 7; }
    int slot(std::uint64_t round) const { return int(round % std::uint64_t(slots)); }
};
// Knows more of what repeats, or takes less memory, which is quicker where most tiles change.
constexpr Cycle LONG{SLOTS, 60}, SHORT{2, 12};

// Neighbours in reading order. The opposite of direction d is 7 - d.
enum Direction { NW, N, NE, W, E, SW, S, SE };
constexpr int DX[8] = {-1, 0, 1, -1, 1, -1, 0, 1};
constexpr int DY[8] = {-1, -1, -1, 0, 0, 1, 1, 1};

// What all visits of a round share.
struct Round {
    std::uint64_t number;
    int from, to;  // slots
    int steps;     // generations: those of the round; or fewer, to NOW, which leaves all else as it is
    const NineCellRule& rule;
    bool far;      // tiles are so many that they are not in the nearest cache

    bool partial() const { return to == NOW; }
};

constexpr std::uint16_t ALL_SLOTS = (1 << SLOTS) - 1;

struct Tile {
    Tile* near[8];  // `nothing` where there is none
    // (round << 8 | neighbours): those neighbours within HALO cells of which something differs at the
    // beginning of that round from what was there a cycle before, of the last round of either
    // parity in which anything in the tile did.
    std::uint64_t changed[2];
    std::uint64_t listed;   // the latest round in which it is visited, or will be
    std::uint64_t waiting;  // the latest round in which it is only visited if something enters it
    std::int64_t x, y;     // in tiles
    // For the latest round from each slot: bit d says that a cell beside the neighbour in
    // direction d lived in it.
    std::uint8_t border[SLOTS];
    bool idle;             // in the list of tiles that may be freed
    std::uint16_t hollow;  // bit s: nothing lives in slot s
    std::uint32_t index;   // in the list of all tiles

    // The rows of a slot, column c in bit c. Only in a Block.
    inline std::uint64_t* cells(int slot);
    const std::uint64_t* cells(int slot) const { return const_cast<Tile*>(this)->cells(slot); }

    // The neighbours within reach of what differs at the beginning of a round.
    unsigned reached(std::uint64_t round) const {
        return changed[round & 1] >> 8 == round ? unsigned(changed[round & 1] & 255) : 0;
    }
    void set_changed(std::uint64_t round, unsigned reach) { changed[round & 1] = round << 8 | reach; }
    bool has_changed(std::uint64_t round) const { return changed[round & 1] >> 8 == round; }
    bool is_hollow(int slot) const { return hollow >> slot & 1; }
    void set_hollow(int slot, bool is) {
        hollow = std::uint16_t((hollow & ~(1 << slot)) | int(is) << slot);
    }
    bool is_empty() const { return hollow == ALL_SLOTS; }
    // Whether nothing lives in it, nor did a cycle ago: then it need not be visited in this
    // round unless something enters it. One that has `waiting` is as it has been found to be.
    bool waits(const Round& round) const {
        return waiting == round.number ||
               (is_hollow(round.from) && is_hollow(round.to) && !border[round.from]);
    }
};
static_assert(sizeof(Tile) == 128, "what a visit asks of a tile, or of those beside it, is two lines");

constexpr std::size_t SLOT_BYTES = SIDE * sizeof(std::uint64_t);

// Tiles lie in blocks: first they, then their cells, slot by slot, so that a round, which needs two
// slots, touches few pages. Where cycles are short a block ends before its last slots.
struct alignas(2048) Block {
    static constexpr int TILES = 16;
    Tile tiles[TILES];
    std::uint64_t cells[1 + SLOTS][TILES][SIDE];  // NOW first

    static constexpr std::size_t bytes(const Cycle& cycle) {
        return alignof(Block) + std::size_t(1 + cycle.slots) * TILES * SIDE * sizeof(std::uint64_t);
    }
};
static_assert(sizeof(Tile) * Block::TILES == alignof(Block) && SLOT_BYTES == 3 * sizeof(Tile),
              "a tile's cells lie three times as far into those of a slot as it does into the block");

inline std::uint64_t* Tile::cells(int slot) {
    constexpr std::uintptr_t TILES = alignof(Block);
    const std::uintptr_t at = reinterpret_cast<std::uintptr_t>(this), within = at & (TILES - 1);
    return reinterpret_cast<std::uint64_t*>(at + 2 * within + TILES * (1 + 3 * std::uintptr_t(slot - NOW)));
}

struct Visited {
    bool changes;       // its cells differ from those a cycle ago
    bool lives;         // it has live cells
    std::uint8_t wake;  // neighbours that must be visited in this round, too
};

// How many cells of a tile live, and in which rows and columns.
struct Life {
    std::uint32_t population;
    std::uint64_t columns, rows;
};

// Whether something lives in a tile, and the neighbours within HALO cells of what does.
struct Shore {
    bool lives;
    unsigned near;
};

extern Block nowhere;  // never written
inline Tile& nothing = nowhere.tiles[0];  // stands for all tiles that are not there

struct Ops {
    int vector_bytes;
    void (*visit)(const Round&, Tile* const* tiles, std::size_t count, Visited*);
    Life (*survey)(const std::uint64_t* cells);
    Shore (*shore)(const std::uint64_t* cells);
};

}  // namespace tiles
