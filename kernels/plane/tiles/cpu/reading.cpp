// What is read of a universe of tiles.
#include <algorithm>

#include "plane.hpp"

namespace tiles {

using std::int64_t;
using std::size_t;
using std::uint32_t;
using std::uint64_t;

namespace {

// How many tiles or squares a range has, or `most` if they are more.
size_t places_in(const Range& range, size_t most) {
    if (range.x0 > range.x1 || range.y0 > range.y1) return 0;
    const uint64_t columns = uint64_t(range.x1) - uint64_t(range.x0);  // one less than they are
    const uint64_t rows = uint64_t(range.y1) - uint64_t(range.y0);
    if (columns >= most || rows >= most) return most;
    return size_t(std::min(uint64_t(most), (columns + 1) * (rows + 1)));
}

bool within_range(const Range& range, int64_t x, int64_t y) {
    return x >= range.x0 && x <= range.x1 && y >= range.y0 && y <= range.y1;
}

}  // namespace

// Calls use() with every tile of the range that is there: by looking at those of the range, or at
// all, whichever are fewer.
template <class Use>
void Plane::each(const Range& range, Use use) const {
    const size_t all = store.all.size();
    if (places_in(range, all) == all) {
        for (const Tile* tile : store.all)
            if (within_range(range, tile->x, tile->y)) use(*tile);
        return;
    }
    for (int64_t y = range.y0; y <= range.y1; y++)
        for (int64_t x = range.x0; x <= range.x1; x++) {
            const Tile* const tile = store.find(x, y);
            if (tile != &nothing) use(*tile);
        }
}

uint64_t Plane::population() const {
    uint64_t found = 0;
    for (const Tile* tile : store.all) found += ops.survey(tile->cells(slot())).population;
    return found;
}

Box Plane::box() const {
    Box box{true, 0, 0, 0, 0};
    for (const Tile* tile : store.all) {
        const int64_t x = tile->x * SIDE, y = tile->y * SIDE, last = SIDE - 1;
        if (!box.empty && x >= box.left && y >= box.top && x + last <= box.right && y + last <= box.bottom)
            continue;
        const Life life = ops.survey(tile->cells(slot()));
        if (!life.population) continue;
        const int64_t left = x + __builtin_ctzll(life.columns), top = y + __builtin_ctzll(life.rows);
        const int64_t right = x + 63 - __builtin_clzll(life.columns);
        const int64_t bottom = y + 63 - __builtin_clzll(life.rows);
        if (box.empty) box = {false, left, top, right, bottom};
        box.left = std::min(box.left, left), box.right = std::max(box.right, right);
        box.top = std::min(box.top, top), box.bottom = std::max(box.bottom, bottom);
    }
    return box;
}

// A square lies on two tiles across, and on two down.
size_t Plane::squares(const Range& range, size_t& cursor, int64_t* places, uint64_t* words,
                      size_t most) const {
    const int at = slot();
    size_t found = 0;
    // Writes square (i, j) if something lives in it; where a tile is said, only if that is the first
    // of its tiles in which something does.
    const auto write = [&](int64_t i, int64_t j, const Tile* first) {
        const int64_t left = tile_of(i * SQUARE), top = tile_of(j * SQUARE);
        const int shift = int(i * SQUARE - left * SIDE), drop = int(j * SQUARE - top * SIDE);
        uint64_t* const rows = words + SQUARE * found;
        const Tile* leader = nullptr;
        for (int part = 0; part < 4; part++) {
            const Tile* const tile = store.find(left + (part & 1), top + part / 2);
            const uint64_t* const cells = tile->cells(at);
            uint64_t any = 0;
            for (int r = part < 2 ? 0 : SIDE - drop; r < (part < 2 ? SIDE - drop : SQUARE); r++) {
                const uint64_t row = cells[r + drop - (part < 2 ? 0 : SIDE)];
                const uint64_t here = part & 1 ? row << (SIDE - shift) : row >> shift;
                rows[r] = part & 1 ? rows[r] | here : here;
                any |= here;
            }
            if (any && !leader) leader = tile;
            if (first && leader && leader != first) return;
        }
        if (!leader) return;
        places[2 * found] = i, places[2 * found + 1] = j;
        found++;
    };
    const size_t all = store.all.size();
    if (places_in(range, all) < all) {
        const uint64_t columns = uint64_t(range.x1 - range.x0) + 1;
        const size_t count = size_t(columns * (uint64_t(range.y1 - range.y0) + 1));
        for (; cursor < count && found < most; cursor++)
            write(range.x0 + int64_t(cursor % columns), range.y0 + int64_t(cursor / columns), nullptr);
        if (cursor >= count) cursor = NO_MORE;
        return found;
    }
    // A tile lies on up to two squares across, and on two down.
    for (; cursor < 4 * all && found < most; cursor++) {
        const Tile& tile = *store.all[cursor / 4];
        const int64_t right = cursor & 1, down = cursor >> 1 & 1;
        const int64_t i = square_of(tile.x * SIDE) + right, j = square_of(tile.y * SIDE) + down;
        if (right && i != square_of(tile.x * SIDE + SIDE - 1)) continue;
        if (down && j != square_of(tile.y * SIDE + SIDE - 1)) continue;
        if (within_range(range, i, j)) write(i, j, &tile);
    }
    if (cursor >= 4 * all) cursor = NO_MORE;
    return found;
}

void Plane::get(int64_t x, int64_t y, uint64_t* words, size_t rows, size_t stride) const {
    if (!rows || !stride) return;
    const int64_t width = int64_t(stride) * 64, height = int64_t(rows);
    const Range range{tile_of(x), tile_of(y), tile_of(x + width - 1), tile_of(y + height - 1)};
    each(range, [&](const Tile& tile) {
        const int64_t left = tile.x * SIDE - x, top = tile.y * SIDE - y;
        for (int r = 0; r < SIDE; r++) {
            uint64_t row = tile.cells(slot())[r];
            if (!row || top + r < 0 || top + r >= height) continue;
            uint64_t* const to = words + size_t(top + r) * stride;
            if (left < 0) {
                to[0] |= row >> -left;
                continue;
            }
            const int shift = int(left & 63);
            to[left >> 6] |= row << shift;
            if (shift > 64 - SIDE && (left >> 6) + 1 < int64_t(stride)) to[(left >> 6) + 1] |= row >> (64 - shift);
        }
    });
}

void Plane::counts(int64_t x, int64_t y, int level, double* blocks, size_t rows, size_t columns) const {
    if (!rows || !columns) return;
    // The tiles of some blocks. None lie 2^63 - 2^61 cells from the origin, or farther.
    const auto tiles_of = [&](int64_t from, size_t count, int64_t& first, int64_t& last) {
        constexpr __int128 FAR = __int128(3) << 61;
        const auto tile = [&](__int128 block) {
            return tile_of(int64_t(std::max(-FAR, std::min(FAR, block * (__int128(1) << level)))));
        };
        first = tile(from), last = tile(__int128(from) + __int128(count));
    };
    Range range;
    tiles_of(x, columns, range.x0, range.x1);
    tiles_of(y, rows, range.y0, range.y1);
    each(range, [&](const Tile& tile) {
        const uint64_t* const cells = tile.cells(slot());
        const int64_t left = tile.x * SIDE, top = tile.y * SIDE;
        const int64_t column = (left >> level) - x, row = (top >> level) - y;
        if ((left + SIDE - 1) >> level == left >> level && (top + SIDE - 1) >> level == top >> level) {
            if (row < 0 || row >= int64_t(rows) || column < 0 || column >= int64_t(columns)) return;
            blocks[size_t(row) * columns + size_t(column)] += ops.survey(cells).population;
            return;
        }
        // Blocks are smaller than a tile, or cross its edges.
        for (int r = 0; r < SIDE; r++) {
            const int64_t j = ((top + r) >> level) - y;
            if (!cells[r] || j < 0 || j >= int64_t(rows)) continue;
            double* const counted = blocks + size_t(j) * columns;
            int64_t i = column;
            for (int c = 0; c < SIDE; i++) {
                const int64_t next = ((((left + c) >> level) + 1) << level) - left;  // where a block ends
                const int end = int(std::min(int64_t(SIDE), next));
                const uint64_t block = cells[r] >> c & (~uint64_t(0) >> (64 - (end - c)));
                if (i >= 0 && i < int64_t(columns)) counted[i] += __builtin_popcountll(block);
                c = end;
            }
        }
    });
}

}  // namespace tiles
