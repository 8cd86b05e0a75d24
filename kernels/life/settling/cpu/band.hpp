// Which windows a band takes in a round. Included once per CPU level.
#pragma once
#include "../../../bits.hpp"
#include "round.hpp"

namespace {

using settling::Band;
using settling::BLOCKS;
using settling::Changes;
using settling::Found;
using settling::List;
using settling::Part;
using settling::Place;
using settling::Shape;
using settling::STEPS;
using i64 = std::int64_t;

constexpr int AROUND = BLOCKS + 2;  // blocks along a window and those beside it
constexpr u64 ALL_AROUND = (u64(1) << AROUND) - 1;

// Words of sixteen rows that follow each other in a column.
typedef u64 Eight __attribute__((vector_size(64)));
typedef std::uint16_t Halves __attribute__((vector_size(32)));
typedef std::uint16_t EightHalves __attribute__((vector_size(16)));
struct Sixteen {
    Eight high, low;

    static BITS_FN Sixteen load(const u64* from) {
        Sixteen found;
        __builtin_memcpy(&found, from, sizeof found);
        return found;
    }
    BITS_FN void store(u64* to) const { __builtin_memcpy(to, this, sizeof *this); }
    BITS_FN Sixteen operator|(const Sixteen& other) const { return {high | other.high, low | other.low}; }
    BITS_FN Sixteen operator&(u64 mask) const { return {high & mask, low & mask}; }
    BITS_FN Sixteen without(u64 mask) const { return {high & ~mask, low & ~mask}; }
    BITS_FN Sixteen left(int n) const { return {high << n, low << n}; }
    BITS_FN Sixteen right(int n) const { return {high >> n, low >> n}; }
};
static_assert(sizeof(Sixteen) == 8 * AROUND, "sixteen rows");

// Bits of sixteen rows of a band, the first of which is a column of blocks.
struct Bits {
    u64 *near, *far;  // the words that they are in
    int shift;

    BITS_FN Bits(const Band& band, i64 column, i64 row)
        : near(band.word(column >> 6, row)), far(near + band.pitch()), shift(int(column & 63)) {}
    BITS_FN Sixteen get() const {
        return Sixteen::load(near).right(shift) | Sixteen::load(far).left(1).left(63 - shift);
    }
    BITS_FN void add(const Sixteen& bits) const {
        (Sixteen::load(near) | bits.left(shift)).store(near);
        (Sixteen::load(far) | bits.right(1).right(63 - shift)).store(far);
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

    // Has a block be computed that may lie across an edge.
    void set(i64 row, i64 column, List<Part>& edges) const {
        *band.word(column >> 6, row) |= u64(1) << (column & 63);
        edges.push({row, column, 1});
    }

    // Has blocks of a row be computed, the first of which may be that before column 0.
    void add_row(i64 row, i64 column, u64 blocks, List<Part>& edges) const {
        if (row < band.first || row >= band.last) return;
        const bool is_cut = shape.torus && shape.width % STEPS != 0;
        for (; blocks; blocks &= blocks - 1) {
            const i64 at = column + __builtin_ctzll(blocks);
            if (at >= 0 && at < columns) set(row, at, edges);
            else if (shape.torus) set(row, at < 0 ? at + columns : at - columns, edges);
            // News goes past a last block that is not whole.
            if (is_cut && at < 0) set(row, columns - 2, edges);
            if (is_cut && at >= columns - 1) set(row, 0, edges);
        }
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

    // Whether a window and the blocks around it are of this band, and at no edge.
    bool is_inside(const Place& place) const {
        return place.row - 1 >= band.first && place.row + BLOCKS < band.last && place.row + BLOCKS < rows - 1 &&
               place.column > 0 && place.column + BLOCKS < columns - 1;
    }
    // Whether any of them may be of this band.
    bool is_near(const Place& place) const {
        return place.row + BLOCKS >= band.first - 1 && place.row - 1 <= band.last;
    }

    // Has all that changed in a window, and the blocks around that, be computed.
    BITS_FN void mark(const Place& place, const Changes& found, List<Part>& edges) const {
        std::uint16_t near[AROUND + 2] = {0, 0};
        __builtin_memcpy(near + 2, found.rows, sizeof found.rows);
        near[AROUND] = near[AROUND + 1] = 0;
        Halves above, own, below;
        __builtin_memcpy(&above, near, sizeof above);
        __builtin_memcpy(&own, near + 1, sizeof own);
        __builtin_memcpy(&below, near + 2, sizeof below);
        const Halves any = above | own | below, spread = any | any << 1 | any << 2;
        if (is_inside(place)) {
            EightHalves halves[2];
            __builtin_memcpy(halves, &spread, sizeof halves);
            Bits(band, place.column - 1, place.row - 1)
                .add({__builtin_convertvector(halves[0], Eight), __builtin_convertvector(halves[1], Eight)});
            return;
        }
        for (int j = 0; j < AROUND; j++)
            if (spread[j]) add(place.row - 1 + j, place.column - 1, spread[j], edges);
    }

    // --- which windows do it ---------------------------------------------------

    // The first of sixteen rows that is not 0; AROUND for none.
    static BITS_FN int first_of(const Sixteen& rows) {
#if defined(__AVX512F__)
        const unsigned found = _mm512_test_epi64_mask((__m512i)rows.high, (__m512i)rows.high) |
                               unsigned(_mm512_test_epi64_mask((__m512i)rows.low, (__m512i)rows.low)) << 8;
        return __builtin_ctz(found | 1u << AROUND);
#else
        u64 words[AROUND];
        rows.store(words);
        int j = 0;
        while (j < AROUND && !words[j]) j++;
        return j;
#endif
    }

    // All bits of the first fourteen of sixteen rows.
    static BITS_FN u64 any_of(const Sixteen& rows) {
        constexpr u64 WHOLE = ~u64(0);
        const Eight those = rows.high | (rows.low & Eight{WHOLE, WHOLE, WHOLE, WHOLE, WHOLE, WHOLE, 0, 0});
        return ((those[0] | those[1]) | (those[2] | those[3])) | ((those[4] | those[5]) | (those[6] | those[7]));
    }

    // Takes away what a window finds.
    BITS_FN void clear(i64 column, i64 row) const {
        constexpr u64 INNER = (u64(1) << BLOCKS) - 1;
        const Bits bits(band, column, row);
        const u64 near = INNER << bits.shift, far = INNER >> 1 >> (63 - bits.shift);
        const Sixteen first = Sixteen::load(bits.near), second = Sixteen::load(bits.far);
        Sixteen kept = first.without(near), beyond = second.without(far);
        kept.low[6] = first.low[6], kept.low[7] = first.low[7];
        beyond.low[6] = second.low[6], beyond.low[7] = second.low[7];
        kept.store(bits.near), beyond.store(bits.far);
    }

    // Makes windows of some blocks of a row and of the fifteen rows below. Each holds the first block that
    // is left, and begins at the leftmost one of the rows below that still allows for it.
    BITS_FN void cover(i64 row, i64 column, u64 these) const {
        constexpr int BEFORE = BLOCKS - 2;
        if (row < band.first) row = band.first;
        if (row >= band.last) return;
        const Bits bits(band, column, row);
        for (;;) {
            const Sixteen left = bits.get() & these;
            const int j = first_of(left);
            if (j == AROUND) return;
            const i64 y = row + j, x = column + __builtin_ctzll(j < 8 ? left.high[j] : left.low[j - 8]);
            const i64 begin = x - BEFORE;
            const u64 any = any_of(Bits(band, begin, y).get()) & ((1 << (BEFORE + 1)) - 1);
            const i64 leftmost = begin + __builtin_ctzll(any), at = leftmost - !(leftmost & 1);
            clear(at, y);
            const i64 below = band.last - y;
            places.push({at, y, below < BLOCKS ? int(below) : BLOCKS});
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
        if (planner.is_near(place)) planner.cover(place.row - 1, place.column - 1, ALL_AROUND);
    });
    for (std::size_t i = 0; i < edges.count; i++)
        planner.cover(edges.data[i].row, edges.data[i].column, (u64(1) << edges.data[i].columns) - 1);
}

}  // namespace
