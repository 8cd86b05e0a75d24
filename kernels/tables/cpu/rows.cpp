// Next states of rows of cells on one CPU level. Compiled once per level, with LEVEL its name. Nothing
// of the standard library may be instantiated here, or the linker could hand AVX-512 code to a machine
// without it.
#include "rows.hpp"

#if defined(__AVX512BW__) && defined(__AVX512VL__)
#include <immintrin.h>
#endif

namespace tables {

namespace {

using std::int64_t;
using std::uint32_t;
using std::uint64_t;
using std::uint8_t;

// Rows of a tile up to which marks are found for each by itself, not for all in vectors.
#if defined(__AVX512F__)
constexpr int FEW_ROWS = 8;
#elif defined(__AVX2__)
constexpr int FEW_ROWS = 16;
#else
constexpr int FEW_ROWS = 32;
#endif
constexpr uint64_t MASK = (uint64_t(1) << FIELD) - 1;

// Returns all that run(first, last) returns for each stretch of ones.
template <class Run>
uint64_t by_stretches(uint64_t wanted, const Run& run) {
    // A cell alone between others costs nothing: its columns are looked up for them.
    wanted |= wanted << 1 & wanted >> 1;
    uint64_t found = 0;
    while (wanted) {
        const int64_t first = __builtin_ctzll(wanted);
        const uint64_t gaps = ~(wanted >> first);
        const int64_t last = gaps ? first + __builtin_ctzll(gaps) : SIDE;
        found |= run(first, last);
        wanted &= last >= SIDE ? 0 : ~uint64_t(0) << last;
    }
    return found;
}

// By columns: cells beside each other share them.
template <bool PAIRS>
struct ByColumns {
    const Tables& t;

    explicit ByColumns(const Tables& tables) : t(tables) {}

    uint64_t operator()(const uint8_t* above, const uint8_t* cells, const uint8_t* below, const uint8_t* known,
                        uint8_t* out, uint64_t wanted, int64_t) const {
        // Copies, which no cell that is written could be.
        const uint32_t *const up = t.up, *const middle = t.middle, *const down = t.down, *const pairs = t.pairs;
        const uint64_t* const columns = t.columns;
        const uint8_t* const finals = t.finals;
        const auto column = [=](int64_t x) {
            return columns[up[above[x]] + middle[cells[x]] + down[below[x]]];
        };
        return by_stretches(wanted, [=](int64_t first, int64_t last) {
            uint64_t changed = 0, left = column(first - 1), centre = column(first);
            for (int64_t x = first; x < last; x++) {
                const uint64_t right = column(x + 1);
                uint64_t i = (left & MASK) + (centre >> FIELD & MASK);
                if (PAIRS) i = pairs[i];
                const uint8_t next = finals[i + (right >> 2 * FIELD)];
                changed |= uint64_t(next != known[x]) << x;
                out[x] = next;
                left = centre;
                centre = right;
            }
            return changed;
        });
    }
};

// By a path through nine levels.
struct ByWalk {
    const uint32_t* const walk;

    explicit ByWalk(const Tables& t) : walk(t.walk) {}

    uint64_t operator()(const uint8_t* above, const uint8_t* cells, const uint8_t* below, const uint8_t* known,
                        uint8_t* out, uint64_t wanted, int64_t) const {
        uint64_t changed = 0;
        for (; wanted; wanted &= wanted - 1) {
            const int64_t x = __builtin_ctzll(wanted);
            uint32_t i = 0;
            for (int64_t near = x - 1; near <= x + 1; near++) {
                i = walk[i + above[near]];
                i = walk[i + cells[near]];
                i = walk[i + below[near]];
            }
            changed |= uint64_t(i != known[x]) << x;
            out[x] = uint8_t(i);
        }
        return changed;
    }
};

#if defined(__AVX512BW__) && defined(__AVX512VL__)

constexpr int DENSE = 32;  // cells of a row from which on gathers are quicker

// By columns, in rows with many cells 16 at a time: by columns in the order of their cells' states.
struct ByGathers {
    const ByColumns<false> few;
    const uint32_t* const by_states;
    const uint8_t* const finals;
    const int bits, centre_at, right_at;

    explicit ByGathers(const Tables& t)
        : few(t), by_states(t.by_states), finals(t.finals), bits(t.bits), centre_at(t.centre_at),
          right_at(t.right_at) {}

    uint64_t operator()(const uint8_t* above, const uint8_t* cells, const uint8_t* below, const uint8_t* known,
                        uint8_t* out, uint64_t wanted, int64_t columns) const {
        if (__builtin_popcountll(wanted) < DENSE) return few(above, cells, below, known, out, wanted, columns);
        const __m512i low = _mm512_set1_epi32((1 << centre_at) - 1);
        const __m512i next_low = _mm512_set1_epi32((1 << (right_at - centre_at)) - 1);
        const __m128i by_bits = _mm_cvtsi32_si128(bits), centre_by = _mm_cvtsi32_si128(centre_at),
                      right_by = _mm_cvtsi32_si128(right_at);
        const auto load = [](const uint8_t* from) {
            return _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
        };
        const auto all = [&](int64_t x) {
            const uint32_t place = (uint32_t(above[x]) << bits | cells[x]) << bits | below[x];
            return _mm512_set1_epi32(int(by_states[place]));
        };
        uint64_t changed = 0;
        for (int64_t x = 0; x < SIDE; x += 16) {
            const __mmask16 here = __mmask16(wanted >> x);
            if (!here) continue;
            __m512i places = _mm512_or_si512(_mm512_sll_epi32(load(above + x), by_bits), load(cells + x));
            places = _mm512_or_si512(_mm512_sll_epi32(places, by_bits), load(below + x));
            const __m512i centre = _mm512_i32gather_epi32(places, by_states, 4);
            const __m512i left = _mm512_alignr_epi32(centre, all(x - 1), 15);
            const __m512i right = _mm512_alignr_epi32(all(x + 16), centre, 1);
            __m512i place = _mm512_and_si512(left, low);
            place = _mm512_add_epi32(place, _mm512_and_si512(_mm512_srl_epi32(centre, centre_by), next_low));
            place = _mm512_add_epi32(place, _mm512_srl_epi32(right, right_by));
            const __m128i next = _mm512_cvtepi32_epi8(_mm512_i32gather_epi32(place, finals, 1));
            const __m128i old = _mm_loadu_si128(reinterpret_cast<const __m128i*>(known + x));
            changed |= uint64_t(_mm_mask_cmpneq_epu8_mask(here, next, old)) << x;
            __m128i* const to = reinterpret_cast<__m128i*>(out + x);
            // Of what is beyond the row, other threads may write some.
            if (x + 16 <= columns) _mm_storeu_si128(to, _mm_mask_blend_epi8(here, _mm_loadu_si128(to), next));
            else _mm_mask_storeu_epi8(to, here, next);
        }
        return changed;
    }
};

// All 64 cells at a time, by tables in registers.
struct ByBytes {
    const Tables& t;

    explicit ByBytes(const Tables& tables) : t(tables) {}

    static __m512i load(const uint8_t* from) { return _mm512_loadu_si512(from); }
    static __m512i entries(const uint8_t* table, int part) {
        return _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table + 16 * part)));
    }
    // The byte of each place in `parts` times 16 entries.
    static __m512i looked_up(const uint8_t* table, int parts, __m512i place) {
        __m512i found = _mm512_shuffle_epi8(entries(table, 0), place);
        if (parts == 1) return found;
        const __m512i within = _mm512_and_si512(place, _mm512_set1_epi8(15));
        const __m512i part_of = _mm512_sub_epi8(place, within);
        for (int part = 1; part < parts; part++) {
            const __mmask64 in_it = _mm512_cmpeq_epi8_mask(part_of, _mm512_set1_epi8(char(16 * part)));
            found = _mm512_mask_shuffle_epi8(found, in_it, entries(table, part), within);
        }
        return found;
    }
    __m512i number(const uint8_t* above, const uint8_t* cells, const uint8_t* below, int which) const {
        const __m512i two = _mm512_add_epi8(_mm512_shuffle_epi8(entries(t.few_states, 0), load(above)),
                                            _mm512_shuffle_epi8(entries(t.few_states, 1), load(cells)));
        const __m512i column = _mm512_add_epi8(two, _mm512_shuffle_epi8(entries(t.few_states, 2), load(below)));
        return looked_up(t.few_columns + 16 * t.column_parts * which, t.column_parts, column);
    }
    uint64_t operator()(const uint8_t* above, const uint8_t* cells, const uint8_t* below, const uint8_t* known,
                        uint8_t* out, uint64_t wanted, int64_t columns) const {
        const __m512i left = number(above - 1, cells - 1, below - 1, 0);
        const __m512i two = _mm512_add_epi8(left, number(above, cells, below, 1));
        const __m512i place = _mm512_add_epi8(two, number(above + 1, cells + 1, below + 1, 2));
        const __m512i next = looked_up(t.finals, t.final_parts, place);
        const uint64_t changed = _mm512_mask_cmpneq_epu8_mask(wanted, next, load(known));
        // Of what is beyond the row, other threads may write some.
        if (columns == SIDE) _mm512_storeu_si512(out, _mm512_mask_blend_epi8(wanted, load(out), next));
        else _mm512_mask_storeu_epi8(out, wanted, next);
        return changed;
    }
};

#endif

template <class Row>
uint64_t all_rows(const Tables& tables, const Work& given) {
    const Work work = given;  // a copy, which no cell that is written could be
    const Row row(tables);
    for (int64_t y = 0; y < SIDE; y++) work.changed[y] = 0;
    uint64_t some = 0;
    for (uint64_t left = work.rows; left; left &= left - 1) {
        const int64_t y = __builtin_ctzll(left), start = y * work.stride;
        const uint8_t* const cells = work.from + start;
        const uint64_t found = row(cells - work.stride, cells, cells + work.stride, work.known + start,
                                   work.to + start, work.wanted[y], work.columns);
        work.changed[y] = found;
        some |= uint64_t(found != 0) << y;
    }
    return some;
}

// A row with the columns beside its marks. left, right: the same row of the tiles beside.
uint64_t widened(const Near& near, uint64_t cells, uint64_t left, uint64_t right) {
    return cells | cells << 1 | cells >> 1 | (left >> near.left_at & 1) | (right & 1) << (near.columns - 1);
}

uint64_t row_of(const Near& near, bool wide, int side, int64_t y) {
    const uint64_t* const* const marks = near.marks[side];
    return wide ? widened(near, marks[1][y], marks[0][y], marks[2][y]) : marks[1][y];
}

uint64_t find_few(const Near& near, bool corners, uint64_t* wanted, uint64_t here) {
    uint64_t some = 0;
    for (uint64_t left = near.rows_beside; left; left &= left - 1) {
        const int64_t y = __builtin_ctzll(left);
        const uint64_t above = y ? row_of(near, corners, 1, y - 1) : row_of(near, corners, 0, near.above_at);
        const bool last = y + 1 == near.rows;
        const uint64_t below = last ? row_of(near, corners, 2, 0) : row_of(near, corners, 1, y + 1);
        wanted[y] = (row_of(near, true, 1, y) | above | below) & here;
        some |= uint64_t(wanted[y] != 0) << y;
    }
    return some;
}

uint64_t find(const Near& given, bool corners, uint64_t* wanted) {
    const Near near = given;  // a copy, which nothing that is written could be
    const uint64_t here = ~uint64_t(0) >> (SIDE - near.columns);
    if (__builtin_popcountll(near.rows_beside) <= FEW_ROWS) return find_few(near, corners, wanted, here);
    uint64_t plain[SIDE + 2], wide[SIDE + 2];  // of each row, from that above on
    const uint64_t *const left = near.marks[1][0], *const cells = near.marks[1][1],
                   *const right = near.marks[1][2];
    for (int64_t y = 0; y < SIDE; y++) {
        plain[y + 1] = cells[y];
        wide[y + 1] = widened(near, cells[y], left[y], right[y]);
    }
    plain[0] = row_of(near, false, 0, near.above_at), wide[0] = row_of(near, true, 0, near.above_at);
    plain[near.rows + 1] = row_of(near, false, 2, 0), wide[near.rows + 1] = row_of(near, true, 2, 0);
    const uint64_t* const beside = corners ? wide : plain;
    for (int64_t y = 0; y < SIDE; y++) wanted[y] = (wide[y + 1] | beside[y] | beside[y + 2]) & here;
    uint64_t some = 0;
    for (uint64_t rows = near.rows_beside; rows; rows &= rows - 1)
        some |= wanted[__builtin_ctzll(rows)] ? rows & -rows : 0;
    return some;
}

NextRows best(const Tables& rule) {
    if (rule.walk) return all_rows<ByWalk>;
    if (rule.pairs) return all_rows<ByColumns<true>>;
#if defined(__AVX512BW__) && defined(__AVX512VL__)
    if (rule.few_states) return all_rows<ByBytes>;
    if (rule.by_states) return all_rows<ByGathers>;
#endif
    return all_rows<ByColumns<false>>;
}

}  // namespace

#define JOINED(a, b) a##b
#define NAME(level) JOINED(table_rows_, level)
extern const RowOps NAME(LEVEL);
const RowOps NAME(LEVEL) = {find, best};

}  // namespace tables
