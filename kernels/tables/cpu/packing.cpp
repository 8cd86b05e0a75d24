// Rows of cells, from packed bit planes and back.
#include <algorithm>
#include <cstring>

#include "tables.hpp"

namespace tables {

using std::int64_t;
using std::size_t;
using std::uint64_t;
using std::uint8_t;

void Universe::mark_row(int64_t y, const std::vector<uint64_t>& row) {
    const std::lock_guard<std::mutex> lock(marking);
    const int turn = int(generation & 1);
    const int64_t first = y / SIDE * across;
    for (int64_t tx = 0; tx < across; tx++) {
        if (!row[size_t(tx)]) continue;
        const int64_t tile = first + tx;
        uint64_t* const rows = &changes[turn][tile * SIDE];
        if (stamps[turn][tile] != generation + 1) {
            std::memset(rows, 0, SIDE * sizeof(uint64_t));
            some_rows[turn][tile] = 0;
            stamps[turn][tile] = generation + 1;
        }
        rows[y % SIDE] |= row[size_t(tx)];
        some_rows[turn][tile] |= uint64_t(1) << y % SIDE;
        touched = true;
    }
}

namespace {

// A byte of 0 or 1 for each bit of a byte.
struct Spread {
    uint64_t bytes[256];
    Spread() {
        for (uint64_t i = 0; i < 256; i++) {
            bytes[i] = 0;
            for (int bit = 0; bit < 8; bit++) bytes[i] |= (i >> bit & 1) << 8 * bit;
        }
    }
};
const Spread SPREAD;

}  // namespace

bool Universe::put(int64_t y, int64_t rows, const uint64_t* words) {
    const int64_t row_words = up_to(width);
    std::vector<uint8_t> cells(size_t(row_words * SIDE));
    std::vector<uint64_t> differ(static_cast<size_t>(row_words));
    for (int64_t i = 0; i < rows; i++, words += planes * row_words) {
        for (int64_t word = 0; word < row_words; word++) {
            uint64_t any = 0;
            for (int plane = 0; plane < planes; plane++) any |= words[plane * row_words + word];
            if (!any) std::memset(&cells[size_t(word * SIDE)], 0, size_t(SIDE));
            for (int part = 0; any && part < 8; part++) {
                uint64_t eight = 0;
                for (int plane = 0; plane < planes; plane++)
                    eight |= SPREAD.bytes[words[plane * row_words + word] >> 8 * part & 255] << plane;
                std::memcpy(&cells[size_t(word * SIDE + 8 * part)], &eight, 8);
            }
        }
        uint8_t* const row = &now()[(y + i + 1) * stride + 1];
        uint8_t most = 0;
        for (int64_t x = 0; x < width; x++) most = std::max(most, cells[size_t(x)]);
        if (most >= rule.states) return false;
        bool some = false;
        for (int64_t word = 0; word < row_words; word++) {
            const int64_t first = word * SIDE, count = std::min(SIDE, width - first);
            uint64_t found = 0;
            if (std::memcmp(row + first, &cells[size_t(first)], size_t(count)) != 0)
                for (int64_t x = 0; x < count; x++)
                    found |= uint64_t(row[first + x] != cells[size_t(first + x)]) << x;
            differ[size_t(word)] = found;
            some = some || found;
        }
        if (!some) continue;  // memory that nothing stands in is not touched
        std::memcpy(row, cells.data(), size_t(width));
        if (torus) mirror(now(), y + i, 0, width);
        mark_row(y + i, differ);
    }
    return true;
}

void Universe::get(int64_t y, int64_t rows, uint64_t* words) const {
    constexpr uint64_t LOW = 0x0101010101010101, GATHER = 0x0102040810204080;
    const int64_t row_words = up_to(width);
    std::vector<uint8_t> cells(size_t(row_words * SIDE));
    for (int64_t i = 0; i < rows; i++, words += planes * row_words) {
        std::memcpy(cells.data(), &now()[(y + i + 1) * stride + 1], size_t(width));
        for (int64_t word = 0; word < row_words; word++)
            for (int plane = 0; plane < planes; plane++) {
                uint64_t bits = 0;
                for (int part = 0; part < 8; part++) {
                    uint64_t eight;
                    std::memcpy(&eight, &cells[size_t(word * SIDE + 8 * part)], 8);
                    bits |= ((eight >> plane & LOW) * GATHER >> 56) << 8 * part;
                }
                words[plane * row_words + word] = bits;
            }
    }
}

}  // namespace tables
