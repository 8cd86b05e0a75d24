// The tiles that are there: their memory, and where to find them.
#pragma once
#include <cstddef>
#include <memory>
#include <new>
#include <vector>

#include "tile.hpp"

namespace tiles {

// Gives memory back to the system.
struct Unmap {
    std::size_t bytes = 0;
    void operator()(void* memory) const;
};
using Chunk = std::unique_ptr<void, Unmap>;

class Store {
public:
    // most: bytes that it may take.
    Store(const Cycle& cycle, std::size_t most) : most(most), cycle(cycle) {}

    std::size_t most;

    std::vector<Tile*> all;

    // How many tiles there is room for.
    std::size_t room() const { return capacity; }
    std::size_t nbytes() const { return bytes_of(capacity, table.size()); }

    // Makes room for so many tiles in all. Raises bad_alloc where `most` bytes are too few, or there
    // are no more; then all is as it was.
    void reserve(std::size_t tiles);

    // Tile (x, y), or `nothing`.
    Tile* find(std::int64_t x, std::int64_t y) const { return table.empty() ? &nothing : table_at(x, y); }

    // A new, empty tile, beside its neighbours.
    Tile* make(std::int64_t x, std::int64_t y);
    // Takes a tile away, of which all slots are empty.
    void free(Tile* tile);

private:
    static constexpr std::size_t LEAST = 96, MANY = 1024;

    // Of tiles, their places in two lists here and five of a Plane, and what a visit tells.
    std::size_t bytes_of(std::size_t tiles, std::size_t entries) const {
        const std::size_t each = Block::bytes(cycle) / Block::TILES + 7 * sizeof(Tile*) + sizeof(Visited);
        return tiles * each + entries * sizeof(Tile*);
    }
    static std::size_t entries_for(std::size_t tiles);
    std::size_t slot_of(std::int64_t x, std::int64_t y) const {
        std::uint64_t h = std::uint64_t(x) * 0x9E3779B97F4A7C15 ^ std::uint64_t(y) * 0xC2B2AE3D27D4EB4F;
        h ^= h >> 32;
        return std::size_t(h * 0x9E3779B97F4A7C15 >> 20) & (table.size() - 1);
    }
    Tile* table_at(std::int64_t x, std::int64_t y) const {
        const std::size_t mask = table.size() - 1;
        for (std::size_t i = slot_of(x, y);; i = (i + 1) & mask) {
            Tile* const tile = table[i];
            if (!tile) return &nothing;
            if (tile->x == x && tile->y == y) return tile;
        }
    }
    void enter(Tile* tile) {
        const std::size_t mask = table.size() - 1;
        std::size_t i = slot_of(tile->x, tile->y);
        while (table[i]) i = (i + 1) & mask;
        table[i] = tile;
    }
    void leave(const Tile* tile);

    Cycle cycle;
    std::size_t capacity = 0;
    std::vector<Chunk> chunks;
    std::vector<Tile*> spare, table;  // open addressing: at most half of the table is taken
};

}  // namespace tiles
