// Which windows a band takes in a round. Included once per CPU level.
#pragma once
#include "../../../bits.hpp"
#include "round.hpp"
#include "sixteen.hpp"

namespace {

using settling::Band;
using settling::BLOCKS;
using settling::Changes;
using settling::Found;
using settling::List;
using settling::LOW;
using settling::Part;
using settling::Place;
using settling::Shape;
using settling::STEPS;
using i64 = std::int64_t;

constexpr int AROUND = BLOCKS + 2;  // blocks along a window and those beside it
constexpr u64 ALL_AROUND = (u64(1) << AROUND) - 1;

static_assert(sizeof(Sixteen) == 8 * AROUND, "sixteen rows");

// Bits of sixteen rows of a band, the first of which is a column of blocks.
struct Bits {
    u64 *near, *far;  // the words that they are in
    int shift;

    BITS_FN Bits(const Band& band, i64 column, i64 row)
        : near(band.word(column >> 6, row)), far(near + band.pitch()), shift(int(column & 63)) {}
    BITS_FN Sixteen get() const {
        return Sixteen::load(near).right(shift) | Sixteen::load(far).rest_left(shift);
    }
    BITS_FN void add(const Sixteen& bits) const {
        (Sixteen::load(near) | bits.left(shift)).store(near);
        const Sixteen beyond = bits.rest_right(shift);
        (Sixteen::load(far) | beyond).store(far);
    }
    BITS_FN void clear(u64 bits, unsigned rows) const {
        Sixteen::load(near).without(bits << shift, rows).store(near);
        const u64 beyond = bits >> 1 >> (63 - shift);
        Sixteen::load(far).without(beyond, rows).store(far);
    }
};

struct Planner {
    const Shape& shape;
    const Band& band;
    List<Place>& places;
    const i64 columns, rows;

    Planner(const Shape& shape, const Band& band, List<Place>& places)
        : shape(shape), band(band), places(places), columns(shape.blocks_across()), rows(shape.blocks_down()) {}

    // --- what is due ---------------------------------------------------------

    // Has blocks of a row of this band be computed, from a column on.
    void set(i64 row, i64 column, u64 blocks, List<Part>& edges) const {
        if (!blocks) return;
        const int shift = int(column & 63);
        u64* const word = band.word(column >> 6, row);
        word[0] |= blocks << shift;
        word[band.pitch()] |= blocks >> 1 >> (63 - shift);
        // A part goes on below, and so the rows of a window are in one, or in two across an edge.
        constexpr std::size_t LOOK = 3;
        for (std::size_t i = edges.count; i-- > 0 && i + LOOK >= edges.count;) {
            const Part& part = edges.data[i];
            if (part.column == column && row >= part.row && row < part.row + AROUND) return;
        }
        edges.push({row, column});
    }

    // Has blocks of a row be computed, the first of which may be that before column 0.
    void add_row(i64 row, i64 column, u64 blocks, List<Part>& edges) const {
        if (row < band.first || row >= band.last) return;
        const i64 before = column < 0 ? -column : 0, count = columns - column;  // beyond the edges
        const u64 left = blocks & ((u64(1) << before) - 1), right = count < AROUND ? blocks >> count : 0;
        set(row, column + before, (blocks & (count < AROUND ? (u64(1) << count) - 1 : ALL_AROUND)) >> before, edges);
        if (!shape.torus) return;
        set(row, columns - before, left, edges);
        set(row, 0, right, edges);
        if (shape.width % STEPS == 0) return;
        // News goes past a last block that is not whole.
        if (left) set(row, columns - 2, 1, edges);
        if (count <= AROUND && blocks >> (count - 1)) set(row, 0, 1, edges);
    }

    // Does so with rows, too, one by one.
    void add(i64 row, i64 column, u64 blocks, List<Part>& edges) const {
        const bool is_cut = shape.torus && shape.height % STEPS != 0;
        if (row >= 0 && row < rows) add_row(row, column, blocks, edges);
        if (!shape.torus || (row >= 0 && row < rows - 1)) return;
        if (row < 0) add_row(rows - 1, column, blocks, edges);
        if (row < 0 && is_cut) add_row(rows - 2, column, blocks, edges);
        if (row >= rows || is_cut) add_row(0, column, blocks, edges);
    }

    // Whether a window and the blocks around it are at no edge of the universe.
    bool is_inside(const Place& place) const {
        return place.row > 0 && place.row + BLOCKS < rows - 1 && place.column > 0 && place.column + BLOCKS < columns - 1;
    }
    // Of sixteen rows from one on, those of this band.
    unsigned own_rows(i64 row) const {
        const i64 before = band.first - row, count = band.last - row;
        if (before >= AROUND || count <= 0) return 0;
        return (before > 0 ? ~0u << before : ~0u) & (count < AROUND ? (1u << count) - 1 : 0xFFFF);
    }

    // Has all that changed in a window, and the blocks around that, be computed.
    BITS_FN void mark(const Place& place, const Changes& found, List<Part>& edges) const {
        Halves own;
        __builtin_memcpy(&own, found.rows, sizeof own);
        const Halves any = row_above(own) | own | row_below(own), spread = any | any << 1 | any << 2;
        const i64 row = place.row - 1;
        if (is_inside(place)) {
            const unsigned these = own_rows(row);
            if (these) Bits(band, place.column - 1, row).add(Sixteen::of(spread).without(~u64(0), ~these & 0xFFFF));
            return;
        }
        for (int j = 0; j < AROUND; j++)
            if (spread[j]) add(row + j, place.column - 1, spread[j], edges);
    }

    // --- which windows do it ---------------------------------------------------

    // Makes windows of some blocks of a row and of the fifteen rows below. Each holds the first block that
    // is left, and begins at the leftmost one of the rows below that still allows for it.
    BITS_FN void cover(i64 row, i64 column, u64 these) const {
        constexpr int BEFORE = BLOCKS - 2;
        constexpr u64 INNER = (u64(1) << BLOCKS) - 1, BEGINS = (u64(1) << (BEFORE + 1)) - 1;
        constexpr unsigned ROWS = (1u << BLOCKS) - 1, HIGH = ROWS & ~0u << LOW;
        if (!own_rows(row)) return;
        // What is to the left of them, too.
        constexpr int LEFT = BEFORE + 1;
        const i64 begin = column - LEFT;
        Sixteen due = Bits(band, begin, row).get();
        for (unsigned lives; (lives = due.with(these << LEFT).lives()) != 0;) {
            const int j = __builtin_ctz(lives);
            const unsigned rows = ROWS << j & 0xFFFF;
            const i64 y = row + j;
            const int x = __builtin_ctzll(due.row(j) & these << LEFT) - BEFORE;
            const u64 any = Bits(band, begin, y).get().any(ROWS);
            const i64 leftmost = begin + x + __builtin_ctzll(any >> x & BEGINS), at = leftmost - !(leftmost & 1);
            const u64 inner = INNER << (at - begin);
            // Rows below those that are here are not known.
            const bool is_low = j <= AROUND - BLOCKS && !(due.with(inner).lives() & rows & HIGH << j);
            const i64 below = band.last - y, most = is_low ? LOW : BLOCKS;
            Bits(band, at, y).clear(INNER, ROWS);
            due = due.without(inner, rows);
            places.push({at, y, int(below < most ? below : most)});
            if (places.failed) return;
        }
    }
};

void take_all(const Shape& shape, const Band& band, List<Place>& places) {
    const Planner planner(shape, band, places);
    for (i64 x = 0; x < planner.columns; x += 64) {
        const i64 left = planner.columns - x;
        for (i64 y = band.first; y < band.last; y++) *band.word(x / 64, y) = ~u64(0) >> (left < 64 ? 64 - left : 0);
    }
    for (i64 y = band.first; y < band.last; y += AROUND)
        for (i64 x = 0; x < planner.columns; x += AROUND) planner.cover(y, x, ALL_AROUND);
}

void take(const Shape& shape, const Band& band, const Found* near, std::size_t count, List<Place>& places,
          List<Part>& edges) {
    const Planner planner(shape, band, places);
    const auto each = [&](auto use) {
        for (std::size_t n = 0; n < count; n++)
            for (std::size_t i = 0; i < near[n].count; i++)
                if (near[n].changes[i].any) use(near[n].places[i], near[n].changes[i]);
    };
    each([&](const Place& place, const Changes& found) { planner.mark(place, found, edges); });
    each([&](const Place& place, const Changes&) {
        planner.cover(place.row - 1, place.column - 1, ALL_AROUND);
    });
    for (std::size_t i = 0; i < edges.count; i++)
        planner.cover(edges.data[i].row, edges.data[i].column, ALL_AROUND);
}

}  // namespace
