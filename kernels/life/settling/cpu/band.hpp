// Which windows a band takes in a round. Included once per CPU level.
#pragma once
#include "../../../bits.hpp"
#include "round.hpp"
#if defined(__AVX2__)
#include <immintrin.h>
#endif

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

typedef std::uint16_t Halves __attribute__((vector_size(32)));
#if defined(__clang__)
#define MOVED(...) __builtin_shufflevector(rows, rows, __VA_ARGS__)
#else
#define MOVED(...) __builtin_shuffle(rows, Halves{__VA_ARGS__})
#endif
// The rows above each of sixteen, or below, the first and the last of which hold nothing.
BITS_FN Halves row_above(Halves rows) { return MOVED(15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14); }
BITS_FN Halves row_below(Halves rows) { return MOVED(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0); }
#undef MOVED

// Words of sixteen rows that follow each other in a column.
#if defined(__AVX512F__)
struct Sixteen {
    __m512i high, low;

    static BITS_FN Sixteen load(const u64* from) { return {_mm512_loadu_si512(from), _mm512_loadu_si512(from + 8)}; }
    static BITS_FN Sixteen of(const Halves& halves) {
        const __m256i all = (__m256i)halves;
        return {_mm512_cvtepu16_epi64(_mm256_castsi256_si128(all)),
                _mm512_cvtepu16_epi64(_mm256_extracti128_si256(all, 1))};
    }
    BITS_FN void store(u64* to) const { _mm512_storeu_si512(to, high), _mm512_storeu_si512(to + 8, low); }
    BITS_FN Sixteen operator|(const Sixteen& other) const {
        return {_mm512_or_si512(high, other.high), _mm512_or_si512(low, other.low)};
    }
    BITS_FN Sixteen left(int n) const {
        return {_mm512_sllv_epi64(high, _mm512_set1_epi64(n)), _mm512_sllv_epi64(low, _mm512_set1_epi64(n))};
    }
    BITS_FN Sixteen right(int n) const {
        return {_mm512_srlv_epi64(high, _mm512_set1_epi64(n)), _mm512_srlv_epi64(low, _mm512_set1_epi64(n))};
    }
    BITS_FN Sixteen with(u64 bits) const {
        const __m512i all = _mm512_set1_epi64((long long)bits);
        return {_mm512_and_si512(high, all), _mm512_and_si512(low, all)};
    }
    // By 64 - n, which may be all.
    BITS_FN Sixteen rest_left(int n) const { return left(64 - n); }
    BITS_FN Sixteen rest_right(int n) const { return right(64 - n); }
    // Without some bits of some rows.
    BITS_FN Sixteen without(u64 bits, unsigned rows) const {
        const __m512i all = _mm512_set1_epi64((long long)bits);
        return {_mm512_mask_andnot_epi64(high, __mmask8(rows), all, high),
                _mm512_mask_andnot_epi64(low, __mmask8(rows >> 8), all, low)};
    }
    // The rows that are not 0.
    BITS_FN unsigned lives() const {
        return unsigned(_mm512_test_epi64_mask(high, high)) | unsigned(_mm512_test_epi64_mask(low, low)) << 8;
    }
    // The bits of any of some rows.
    BITS_FN u64 any(unsigned rows) const {
        const __m512i kept = _mm512_or_si512(_mm512_maskz_mov_epi64(__mmask8(rows), high),
                                             _mm512_maskz_mov_epi64(__mmask8(rows >> 8), low));
        return u64(_mm512_reduce_or_epi64(kept));
    }
    BITS_FN u64 row(int j) const {
        return u64(_mm_cvtsi128_si64(_mm512_castsi512_si128(_mm512_permutex2var_epi64(high, _mm512_set1_epi64(j), low))));
    }
};
#elif defined(__AVX2__)
struct Sixteen {
    __m256i rows[4];

    static BITS_FN __m256i m(u64 bits) { return _mm256_set1_epi64x((long long)bits); }
    template <class Each>
    static BITS_FN Sixteen each(Each use) {
        return {use(0), use(1), use(2), use(3)};
    }
    // All bits of four rows, from row 4 i on, that are in `which`.
    static BITS_FN __m256i these(unsigned which, int i) {
        const __m256i bits = _mm256_slli_epi64(_mm256_set_epi64x(8, 4, 2, 1), 4 * i);
        return _mm256_cmpeq_epi64(_mm256_and_si256(m(which), bits), bits);
    }
    static BITS_FN Sixteen load(const u64* from) {
        return each([&](int i) { return _mm256_loadu_si256((const __m256i*)from + i); });
    }
    static BITS_FN Sixteen of(const Halves& halves) {
        const __m256i all = (__m256i)halves;
        const __m128i high = _mm256_castsi256_si128(all), low = _mm256_extracti128_si256(all, 1);
        return {_mm256_cvtepu16_epi64(high), _mm256_cvtepu16_epi64(_mm_srli_si128(high, 8)),
                _mm256_cvtepu16_epi64(low), _mm256_cvtepu16_epi64(_mm_srli_si128(low, 8))};
    }
    BITS_FN void store(u64* to) const {
        for (int i = 0; i < 4; i++) _mm256_storeu_si256((__m256i*)to + i, rows[i]);
    }
    BITS_FN Sixteen operator|(const Sixteen& other) const {
        return each([&](int i) { return _mm256_or_si256(rows[i], other.rows[i]); });
    }
    BITS_FN Sixteen left(int n) const {
        return each([&](int i) { return _mm256_sllv_epi64(rows[i], m(u64(n))); });
    }
    BITS_FN Sixteen right(int n) const {
        return each([&](int i) { return _mm256_srlv_epi64(rows[i], m(u64(n))); });
    }
    BITS_FN Sixteen rest_left(int n) const { return left(64 - n); }
    BITS_FN Sixteen rest_right(int n) const { return right(64 - n); }
    BITS_FN Sixteen with(u64 bits) const {
        return each([&](int i) { return _mm256_and_si256(rows[i], m(bits)); });
    }
    BITS_FN Sixteen without(u64 bits, unsigned which) const {
        return each([&](int i) { return _mm256_andnot_si256(_mm256_and_si256(these(which, i), m(bits)), rows[i]); });
    }
    BITS_FN unsigned lives() const {
        unsigned found = 0;
        for (int i = 0; i < 4; i++) {
            const __m256i zeros = _mm256_cmpeq_epi64(rows[i], _mm256_setzero_si256());
            found |= unsigned(~_mm256_movemask_pd(_mm256_castsi256_pd(zeros)) & 15) << 4 * i;
        }
        return found;
    }
    BITS_FN u64 any(unsigned which) const {
        const Sixteen kept = each([&](int i) { return _mm256_and_si256(rows[i], these(which, i)); });
        const __m256i four = _mm256_or_si256(_mm256_or_si256(kept.rows[0], kept.rows[1]),
                                             _mm256_or_si256(kept.rows[2], kept.rows[3]));
        const __m128i two = _mm_or_si128(_mm256_castsi256_si128(four), _mm256_extracti128_si256(four, 1));
        return u64(_mm_cvtsi128_si64(two)) | u64(_mm_extract_epi64(two, 1));
    }
    BITS_FN u64 row(int j) const {
        u64 words[16];
        store(words);
        return words[j];
    }
};
#else
struct Sixteen {
    u64 rows[16];

    static BITS_FN Sixteen load(const u64* from) {
        Sixteen found;
        __builtin_memcpy(found.rows, from, sizeof found.rows);
        return found;
    }
    static BITS_FN Sixteen of(const Halves& halves) {
        Sixteen found;
        for (int i = 0; i < 16; i++) found.rows[i] = halves[i];
        return found;
    }
    BITS_FN void store(u64* to) const { __builtin_memcpy(to, rows, sizeof rows); }
    template <class Each>
    BITS_FN Sixteen each(Each use) const {
        Sixteen found;
        for (int i = 0; i < 16; i++) found.rows[i] = use(rows[i], i);
        return found;
    }
    BITS_FN Sixteen operator|(const Sixteen& other) const {
        return each([&](u64 row, int i) { return row | other.rows[i]; });
    }
    BITS_FN Sixteen left(int n) const {
        return each([&](u64 row, int) { return row << n; });
    }
    BITS_FN Sixteen right(int n) const {
        return each([&](u64 row, int) { return row >> n; });
    }
    BITS_FN Sixteen rest_left(int n) const { return left(1).left(63 - n); }
    BITS_FN Sixteen rest_right(int n) const { return right(1).right(63 - n); }
    BITS_FN Sixteen with(u64 bits) const {
        return each([&](u64 row, int) { return row & bits; });
    }
    BITS_FN Sixteen without(u64 bits, unsigned which) const {
        return each([&](u64 row, int i) { return row & ~(bits & -u64(which >> i & 1)); });
    }
    BITS_FN unsigned lives() const {
        unsigned found = 0;
        for (int i = 0; i < 16; i++) found |= unsigned(rows[i] != 0) << i;
        return found;
    }
    BITS_FN u64 any(unsigned which) const {
        u64 found = 0;
        for (int i = 0; i < 16; i++) found |= rows[i] & -u64(which >> i & 1);
        return found;
    }
    BITS_FN u64 row(int j) const { return rows[j]; }
};
#endif
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
        if (beyond.lives()) (Sixteen::load(far) | beyond).store(far);
    }
    BITS_FN void clear(u64 bits, unsigned rows) const {
        Sixteen::load(near).without(bits << shift, rows).store(near);
        const u64 beyond = bits >> 1 >> (63 - shift);
        if (beyond) Sixteen::load(far).without(beyond, rows).store(far);
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
            const u64 any = j <= AROUND - BLOCKS ? due.any(rows) : Bits(band, begin, y).get().any(ROWS);
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
