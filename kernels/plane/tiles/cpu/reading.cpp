// What is read of a universe of tiles.
#include <algorithm>

#include "plane.hpp"

namespace tiles {

using std::int64_t;
using std::size_t;
using std::uint32_t;
using std::uint64_t;

namespace {

// How many tiles a range has, or `most` if they are more.
size_t tiles_in(const Range& range, size_t most) {
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
    if (tiles_in(range, all) == all) {
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
        const int64_t left = x + __builtin_ctz(life.columns), top = y + __builtin_ctz(life.rows);
        const int64_t right = x + last - __builtin_clz(life.columns);
        const int64_t bottom = y + last - __builtin_clz(life.rows);
        if (box.empty) box = {false, left, top, right, bottom};
        box.left = std::min(box.left, left), box.right = std::max(box.right, right);
        box.top = std::min(box.top, top), box.bottom = std::max(box.bottom, bottom);
    }
    return box;
}

size_t Plane::squares(const Range& range, size_t& cursor, int64_t* places, uint64_t* words,
                      size_t most) const {
    const size_t all = store.all.size(), area = tiles_in(range, all);
    const int at = slot();
    size_t found = 0;
    // Writes the square of tile (x, y), of a pair of even numbers; of several that live in it, the
    // first one does that.
    const auto write = [&](int64_t x, int64_t y, int first) {
        const Tile* parts[4];
        int leader = 4;
        for (int part = 3; part >= 0; part--) {
            parts[part] = store.find(x + (part & 1), y + part / 2);
            const uint32_t* const rows = parts[part]->cells(at);
            if (std::any_of(rows, rows + SIDE, [](uint32_t row) { return row != 0; })) leader = part;
        }
        if (leader == 4 || (first >= 0 && first != leader)) return;
        places[2 * found] = x >> 1, places[2 * found + 1] = y >> 1;
        uint64_t* const rows = words + 2 * SIDE * found++;
        for (int r = 0; r < 2 * SIDE; r++) {
            const int part = r / SIDE * 2, kept = place(r % SIDE);
            rows[r] = parts[part]->cells(at)[kept] | uint64_t(parts[part + 1]->cells(at)[kept]) << SIDE;
        }
    };
    const bool whole = area == all;
    const uint64_t columns = whole ? 0 : uint64_t(range.x1 - range.x0) / 2 + 1;
    const size_t count = whole ? all : size_t(columns * (uint64_t(range.y1 - range.y0) / 2 + 1));
    for (; cursor < count && found < most; cursor++) {
        if (!whole) {
            write(range.x0 + 2 * int64_t(cursor % columns), range.y0 + 2 * int64_t(cursor / columns), -1);
            continue;
        }
        const int64_t x = store.all[cursor]->x, y = store.all[cursor]->y;
        if (within_range(range, x, y)) write(x & ~int64_t(1), y & ~int64_t(1), int(x & 1) + int(y & 1) * 2);
    }
    if (cursor >= count) cursor = NO_MORE;
    return found;
}

void Plane::get(int64_t x, int64_t y, uint64_t* words, size_t rows, size_t stride) const {
    if (!rows || !stride) return;
    const int64_t width = int64_t(stride) * 64, height = int64_t(rows);
    const Range range{x >> 5, y >> 5, (x + width - 1) >> 5, (y + height - 1) >> 5};
    each(range, [&](const Tile& tile) {
        const int64_t left = tile.x * SIDE - x, top = tile.y * SIDE - y;
        for (int r = 0; r < SIDE; r++) {
            uint64_t row = tile.cells(slot())[place(r)];
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
    const int in_tiles = level - 5;  // tiles a side, as a power of two
    const auto tiles_of = [&](int64_t from, size_t count, int64_t& first, int64_t& last) {
        // Of tiles no more than 2^58 a side are there.
        constexpr int64_t FAR = int64_t(1) << 58;
        const auto scaled = [&](__int128 n) {
            n = in_tiles >= 0 ? n << in_tiles : n >> -in_tiles;
            return int64_t(std::max(__int128(-FAR), std::min(__int128(FAR), n)));
        };
        first = scaled(from);
        last = in_tiles >= 0 ? scaled(__int128(from) + __int128(count)) - 1
                             : scaled(__int128(from) + __int128(count) - 1);
    };
    Range range;
    tiles_of(x, columns, range.x0, range.x1);
    tiles_of(y, rows, range.y0, range.y1);
    each(range, [&](const Tile& tile) {
        const uint32_t* const cells = tile.cells(slot());
        if (in_tiles >= 0) {
            const int64_t column = (tile.x >> in_tiles) - x, row = (tile.y >> in_tiles) - y;
            blocks[size_t(row) * columns + size_t(column)] += ops.survey(cells).population;
            return;
        }
        const int side = 1 << level, count = SIDE / side;
        for (int r = 0; r < SIDE; r++) {
            const int64_t row = tile.y * count + r / side - y;
            const uint32_t bits = cells[place(r)];
            if (!bits || row < 0 || row >= int64_t(rows)) continue;
            for (int c = 0; c < count; c++) {
                const int64_t column = tile.x * count + c - x;
                if (column < 0 || column >= int64_t(columns)) continue;
                const uint32_t block = bits >> (c * side) & ((uint32_t(1) << side) - 1);
                blocks[size_t(row) * columns + size_t(column)] += __builtin_popcount(block);
            }
        }
    });
}

}  // namespace tiles
