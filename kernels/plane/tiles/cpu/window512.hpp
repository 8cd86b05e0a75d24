// The window of a visit in eight registers of 512 bits.
//
// Its rows and columns are turned so that the tile comes first: rows 0 to 31 are the tile's, 32 to 47
// those below it, 48 to 63 those above it, and likewise bits of a row. Rows wrap around, in lanes, and
// bits in a row: what meets there is the outer edge of the halo.
#pragma once

namespace {

template <>
struct Window<v512> {
    using V = v512;
    static constexpr int COUNT = 8;
    V rows[COUNT];
    V first, last, all;  // what has lived, of vectors 0 and 7, and of all

    static BITS_FN __m512i m(V v) { return (__m512i)v; }
    static BITS_FN V left(V v) { return (V)_mm512_rol_epi64(m(v), 1); }
    static BITS_FN V right(V v) { return (V)_mm512_ror_epi64(m(v), 1); }
    static BITS_FN V lanes_up(V v) { return (V)_mm512_alignr_epi64(m(v), m(v), 7); }
    static BITS_FN V lanes_down(V v) { return (V)_mm512_alignr_epi64(m(v), m(v), 1); }

    // Sixteen rows of the tile, and of the half of its neighbours above and below that are near:
    // vectors 4 h to 4 h + 3.
    BITS_FN void load_half(const Tile& tile, int slot, int h) {
        const auto of = [&](const Tile& t) { return _mm512_load_si512(t.cells(slot) + 16 * h); };
        const auto at = [&](int d) { return of(*tile.near[d]); };
        constexpr __mmask16 LOW_ROWS = 0xF0F0;  // rows 16 to 31 of a tile, by place()
        const __m512i low_bits = _mm512_set1_epi32(0xFFFF);
        // The columns to the right of the tile, then those to its left.
        const auto sides = [&](__m512i w, __m512i e) {
            return _mm512_ternarylogic_epi32(low_bits, e, w, 0xCA);
        };
        const auto around = [&](__m512i below, __m512i above) {
            return _mm512_mask_mov_epi32(below, LOW_ROWS, above);
        };
        const __m512i own = of(tile), beside = sides(at(tiles::W), at(tiles::E));
        const __m512i over = around(at(tiles::S), at(tiles::N));
        const __m512i corners = sides(around(at(tiles::SW), at(tiles::NW)),
                                      around(at(tiles::SE), at(tiles::NE)));
        const __m512i a = _mm512_unpacklo_epi32(own, beside), b = _mm512_unpackhi_epi32(own, beside);
        const __m512i c = _mm512_unpacklo_epi32(over, corners);
        const __m512i d = _mm512_unpackhi_epi32(over, corners);
        rows[4 * h] = (V)_mm512_shuffle_i64x2(a, c, 0x44);
        rows[4 * h + 1] = (V)_mm512_shuffle_i64x2(b, d, 0x44);
        rows[4 * h + 2] = (V)_mm512_shuffle_i64x2(a, c, 0xEE);
        rows[4 * h + 3] = (V)_mm512_shuffle_i64x2(b, d, 0xEE);
    }

    BITS_FN void load(const Tile& tile, int slot) {
        load_half(tile, slot, 0), load_half(tile, slot, 1);
        first = last = all = V{};
    }

    // Bit i: something lives in lane i, the rows 8 i to 8 i + 7.
    BITS_FN unsigned lanes() const {
        const V any = (rows[0] | rows[1] | rows[2]) | (rows[3] | rows[4] | rows[5]) |
                      (rows[6] | rows[7]);
        return _mm512_test_epi64_mask(m(any), m(any));
    }
    BITS_FN bool empty() const { return lanes() == 0; }

    BITS_FN void note() {
        first |= rows[0], last |= rows[7];
        const auto either = [](V a, V b, V c) { return lut3<0xFE>(a, b, c); };
        all = either(all, either(rows[0], rows[1], rows[2]),
                     either(rows[3], rows[4], either(rows[5], rows[6], rows[7])));
    }

    BITS_FN Seen noted() const {
        const auto lane = [](V v, int i) {
            const __m512i low = _mm512_maskz_compress_epi64(__mmask8(1 << i), m(v));
            return u64(_mm_cvtsi128_si64(_mm512_castsi512_si128(low)));
        };
        const auto turned = [](u64 row) { return row << 16 | row >> 48; };
        const __m256i own = _mm512_castsi512_si256(m(all));
        const __m128i two = _mm_or_si128(_mm256_castsi256_si128(own), _mm256_extracti128_si256(own, 1));
        const u64 any = u64(_mm_cvtsi128_si64(_mm_or_si128(two, _mm_unpackhi_epi64(two, two))));
        return {turned(lane(last, 7)), turned(lane(first, 0)), turned(lane(last, 3)),
                turned(lane(first, 4)), turned(any)};
    }

    BITS_FN __m512i packed(int h) const {
        const auto two = [&](int k) {
            return _mm512_castps_si512(_mm512_shuffle_ps(_mm512_castsi512_ps(m(rows[k])),
                                                         _mm512_castsi512_ps(m(rows[k + 1])), 0x88));
        };
        return _mm512_shuffle_i64x2(two(4 * h), two(4 * h + 2), 0x44);
    }

    BITS_FN Stored store(u32* cells) const {
        const __m512i a = packed(0), b = packed(1);
        const __m512i c = _mm512_load_si512(cells), d = _mm512_load_si512(cells + 16);
        const __m512i differ = _mm512_or_si512(_mm512_xor_si512(a, c), _mm512_xor_si512(b, d));
        const unsigned left = _mm512_test_epi32_mask(differ, _mm512_set1_epi32(0xFFFF));
        const unsigned right = _mm512_test_epi32_mask(differ, _mm512_set1_epi32(int(0xFFFF0000)));
        _mm512_store_si512(cells, a), _mm512_store_si512(cells + 16, b);
        constexpr unsigned HIGH_ROWS = 0x0F0F, LOW_ROWS = 0xF0F0;
        const __m512i any = _mm512_or_si512(a, b);
        return {unsigned((left & HIGH_ROWS) != 0) | unsigned((right & HIGH_ROWS) != 0) << 1 |
               unsigned((left & LOW_ROWS) != 0) << 2 | unsigned((right & LOW_ROWS) != 0) << 3,
                _mm512_test_epi32_mask(any, any) != 0};
    }
};

// The lanes from which on four hold all that lives, in the two in the middle; NO_LANE where there are
// none.
constexpr unsigned char NO_LANE = 8;
struct FirstLanes { unsigned char of[256]; };
constexpr FirstLanes first_lanes() {
    FirstLanes first{};
    for (unsigned live = 0; live < 256; live++) {
        first.of[live] = NO_LANE;
        for (unsigned lane = 8; lane-- > 0;) {
            const unsigned pair = 1u << (lane + 1) % 8 | 1u << (lane + 2) % 8;
            if (!(live & ~pair)) first.of[live] = (unsigned char)lane;
        }
    }
    return first;
}
constexpr FirstLanes FIRST_LANES = first_lanes();

// Four lanes of a window in half of its registers: lane i + 4 of vector k is row 8 i + k + 4 of them,
// lane i row 8 i + k. The 32 rows close to a ring; nothing goes around it as long as nothing lives in
// the first and in the last.
struct HalfWindow {
    using V = v512;
    using Whole = Window<v512>;
    static constexpr int COUNT = 4;
    V rows[COUNT], first, last, all;

    static BITS_FN __m512i m(V v) { return (__m512i)v; }
    static BITS_FN V left(V v) { return Whole::left(v); }
    static BITS_FN V right(V v) { return Whole::right(v); }
    static BITS_FN V moved(V v, __m512i from) { return (V)_mm512_permutexvar_epi64(from, m(v)); }
    static BITS_FN V lanes_up(V v) { return moved(v, _mm512_setr_epi64(7, 4, 5, 6, 0, 1, 2, 3)); }
    static BITS_FN V lanes_down(V v) { return moved(v, _mm512_setr_epi64(4, 5, 6, 7, 1, 2, 3, 0)); }

    BITS_FN void take(const Whole& window, unsigned lane) {
        const __m512i lanes = _mm512_and_si512(
            _mm512_add_epi64(_mm512_setr_epi64(0, 1, 2, 3, 0, 1, 2, 3), _mm512_set1_epi64(lane)),
            _mm512_set1_epi64(7));
        const __m512i from = _mm512_or_si512(lanes, _mm512_setr_epi64(0, 0, 0, 0, 8, 8, 8, 8));
        for (int k = 0; k < COUNT; k++)
            rows[k] = (V)_mm512_permutex2var_epi64(m(window.rows[k]), from, m(window.rows[k + COUNT]));
        first = last = all = V{};
    }

    BITS_FN void note() {
        first |= rows[0], last |= rows[3];
        all = lut3<0xFE>(all, lut3<0xFE>(rows[0], rows[1], rows[2]), rows[3]);
    }

    BITS_FN bool is_open() const {
        return !_mm512_mask_test_epi64_mask(1, m(first), m(first)) &&
               !_mm512_mask_test_epi64_mask(128, m(last), m(last));
    }

    BITS_FN void give(Whole& window, unsigned lane) const {
        const __m512i low = _mm512_and_si512(
            _mm512_sub_epi64(_mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7), _mm512_set1_epi64(lane)),
            _mm512_set1_epi64(7));
        const __mmask8 taken = _mm512_cmplt_epi64_mask(low, _mm512_set1_epi64(4));
        const __m512i high = _mm512_add_epi64(low, _mm512_set1_epi64(4));
        const auto spread = [&](V v, __m512i from) {
            return (V)_mm512_maskz_permutexvar_epi64(taken, from, m(v));
        };
        for (int k = 0; k < COUNT; k++) {
            window.rows[k] = spread(rows[k], low);
            window.rows[k + COUNT] = spread(rows[k], high);
        }
        window.first = spread(first, low), window.last = spread(last, high);
        window.all = spread(all, low) | spread(all, high);
    }
};

// Two halves that wait to be moved on together.
template <>
struct Halves<v512> {
    static constexpr bool exist = true;
    HalfWindow windows[2]{};
    std::size_t tiles[2];
    unsigned lanes[2];
    int count = 0;

    BITS_FN bool take(const Window<v512>& window, std::size_t tile) {
        const unsigned lane = FIRST_LANES.of[window.lanes()];
        if (lane == NO_LANE) return false;
        windows[count].take(window, lane);
        tiles[count] = tile, lanes[count] = lane;
        count++;
        return true;
    }
    bool full() const { return count == 2; }
    bool any() const { return count != 0; }
};

}  // namespace
