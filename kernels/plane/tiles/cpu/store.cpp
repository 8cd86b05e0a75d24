#include "store.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace tiles {

namespace {

// Returns memory of zeros.
Chunk memory_of(std::size_t bytes) {
    constexpr std::size_t HUGE = std::size_t(1) << 21;
    const bool huge = bytes >= HUGE;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS;
#if defined(MAP_POPULATE)
    // It is soon used, and quicker to have at once than page by page.
    if (!huge) flags |= MAP_POPULATE;
#endif
    const std::size_t mapped = huge ? bytes + HUGE : bytes;
    void* const memory = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    if (!huge) return Chunk(memory, {bytes});
    char* const start = static_cast<char*>(memory);
    const std::size_t head = (HUGE - reinterpret_cast<std::uintptr_t>(memory) % HUGE) % HUGE;
    constexpr std::size_t PAGE = std::size_t(1) << 16;  // at least as large as a page of any machine
    const std::size_t kept = (bytes + PAGE - 1) / PAGE * PAGE;
    if (head) munmap(start, head);
    if (head + kept < mapped) munmap(start + head + kept, mapped - head - kept);
#if defined(MADV_HUGEPAGE)
    // Neighbours lie far from each other: with small pages each costs a walk of the page table.
    madvise(start + head, bytes / HUGE * HUGE, MADV_HUGEPAGE);
#endif
    return Chunk(start + head, {std::min(kept, mapped - head)});
}

struct Nowhere {
    Nowhere() {
        for (Tile*& near : nothing.near) near = &nothing;
        nothing.hollow = ALL_SLOTS;
    }
};

}  // namespace

Block nowhere;
namespace {
const Nowhere filled;
}

void Unmap::operator()(void* memory) const { munmap(memory, bytes); }

std::size_t Store::entries_for(std::size_t tiles) {
    std::size_t entries = 2 * LEAST;
    while (entries < 2 * tiles) entries *= 2;
    return entries;
}

void Store::reserve(std::size_t tiles) {
    if (tiles <= capacity) return;
    constexpr std::size_t MOST = 0xFFFFFFFF;  // a tile knows its place in `all` in 32 bits
    const auto whole = [](std::size_t n) { return (n + Block::TILES - 1) / Block::TILES * Block::TILES; };
    if (tiles > MOST) throw std::bad_alloc();
    // While a table is copied there are two. Of many tiles there are not more than a quarter too many.
    const auto fits = [&](std::size_t n) {
        const std::size_t entries = entries_for(n), old = table.size();
        return bytes_of(n, entries == old ? old : entries + old) <= most;
    };
    const std::size_t grown = capacity + (capacity < MANY ? capacity : capacity / 4);
    std::size_t wanted = whole(std::max(grown, std::max(tiles, LEAST)));
    if (wanted > MOST || !fits(wanted)) wanted = whole(tiles);
    if (wanted > MOST || !fits(wanted)) throw std::bad_alloc();
    const std::size_t blocks = (wanted - capacity) / Block::TILES;
    const std::size_t block = Block::bytes(cycle);
    Chunk chunk = memory_of(blocks * block);
    chunks.reserve(chunks.size() + 1);
    all.reserve(wanted);
    spare.reserve(wanted);
    const std::size_t entries = entries_for(wanted);
    if (entries != table.size()) {
        std::vector<Tile*> larger(entries, nullptr);
        table.swap(larger);
        for (Tile* tile : all) enter(tile);
    }
    for (std::size_t i = blocks * Block::TILES; i-- > 0;)
        {
        char* const start = static_cast<char*>(chunk.get()) + i / Block::TILES * block;
        spare.push_back(reinterpret_cast<Block*>(start)->tiles + i % Block::TILES);
    }
    chunks.push_back(std::move(chunk));
    capacity = wanted;
}

Tile* Store::make(std::int64_t x, std::int64_t y) {
    if (spare.empty()) reserve(capacity + 1);
    Tile* const tile = spare.back();
    spare.pop_back();
    std::memset(static_cast<void*>(tile), 0, sizeof(Tile));
    std::memset(tile->cells(NOW), 0, SLOT_BYTES);  // the other slots were empty when it was freed
    tile->hollow = ALL_SLOTS;
    tile->x = x, tile->y = y, tile->index = std::uint32_t(all.size());
    for (int d = 0; d < 8; d++) {
        Tile* const other = find(x + DX[d], y + DY[d]);
        tile->near[d] = other;
        if (other != &nothing) other->near[7 - d] = tile;
    }
    all.push_back(tile);
    enter(tile);
    return tile;
}

void Store::free(Tile* tile) {
    for (int d = 0; d < 8; d++)
        if (tile->near[d] != &nothing) tile->near[d]->near[7 - d] = &nothing;
    leave(tile);
    all.back()->index = tile->index;
    all[tile->index] = all.back();
    all.pop_back();
    spare.push_back(tile);
}

// Those that stand behind it, and would not be found across the gap, move up.
void Store::leave(const Tile* tile) {
    const std::size_t mask = table.size() - 1;
    std::size_t gap = slot_of(tile->x, tile->y);
    while (table[gap] != tile) gap = (gap + 1) & mask;
    for (std::size_t i = (gap + 1) & mask; table[i]; i = (i + 1) & mask) {
        const std::size_t home = slot_of(table[i]->x, table[i]->y);
        if (((i - home) & mask) < ((i - gap) & mask)) continue;
        table[gap] = table[i];
        gap = i;
    }
    table[gap] = nullptr;
}

}  // namespace tiles
