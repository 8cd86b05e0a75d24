// The window of a visit in eight registers of 512 bits.
//
// In memory eight rows follow each other, and are a register; in the window they are a lane of eight
// registers. So what is loaded and stored is a matrix of 8 x 8 words that is turned over.
#pragma once

namespace {

template <>
struct Window<v512> {
    using V = v512;
    static constexpr int COUNT = 8;
    V rows[COUNT];
    V first, last, all;  // what has lived, of vectors 0 and 7, and of all

    static BITS_FN __m512i m(V v) { return (__m512i)v; }
    BITS_FN void load(const Tile& tile, int slot) {
        constexpr int SIDE = tiles::SIDE, HALO = tiles::HALO;
        const auto band = [&](const u64* w, const u64* c, const u64* e) {
            return _mm512_ternarylogic_epi64(_mm512_srli_epi64(_mm512_load_si512(w), SIDE - HALO),
                                             _mm512_slli_epi64(_mm512_load_si512(c), HALO),
                                             _mm512_slli_epi64(_mm512_load_si512(e), SIDE + HALO), 0xFE);
        };
        const auto near = [&](int d) { return tile.near[d]->cells(slot); };
        __m512i bands[8], turned[8];
        bands[0] = band(near(tiles::NW) + SIDE - HALO, near(tiles::N) + SIDE - HALO,
                        near(tiles::NE) + SIDE - HALO);
        bands[7] = band(near(tiles::SW), near(tiles::S), near(tiles::SE));
        const u64 *const w = near(tiles::W), *const c = tile.cells(slot), *const e = near(tiles::E);
        for (int b = 0; b < 6; b++) bands[b + 1] = band(w + 8 * b, c + 8 * b, e + 8 * b);
        turn_over(bands, turned);
        for (int k = 0; k < COUNT; k++) rows[k] = (V)turned[k];
        first = last = all = V{};
    }

    BITS_FN bool empty() const {
        const V any = (rows[0] | rows[1] | rows[2]) | (rows[3] | rows[4] | rows[5]) |
                      (rows[6] | rows[7]);
        return _mm512_test_epi64_mask(m(any), m(any)) == 0;
    }

    BITS_FN void note() {
        first |= rows[0], last |= rows[7];
        const auto either = [](V a, V b, V c) { return lut3<0xFE>(a, b, c); };
        all = either(all, either(rows[0], rows[1], rows[2]),
                     either(rows[3], rows[4], either(rows[5], rows[6], rows[7])));
    }

    BITS_FN Seen noted() const {
        u64 high[8], low[8], own[8];
        _mm512_storeu_si512(high, m(first)), _mm512_storeu_si512(low, m(last)), _mm512_storeu_si512(own, m(all));
        return {low[0], high[1], low[6], high[7],
                (own[1] | own[2] | own[3]) | (own[4] | own[5] | own[6])};
    }

    BITS_FN Stored store(u64* cells) const {
        __m512i turned[8], bands[8];
        for (int k = 0; k < COUNT; k++) turned[k] = m(rows[k]);
        turn_over(turned, bands);
        __m512i differ[6], all = _mm512_setzero_si512(), any = all;
        for (int b = 0; b < 6; b++) {
            const __m512i now = _mm512_srli_epi64(_mm512_slli_epi64(bands[b + 1], tiles::HALO), 64 - tiles::SIDE);
            differ[b] = _mm512_xor_si512(now, _mm512_load_si512(cells + 8 * b));
            bands[b + 1] = now;
            all = _mm512_or_si512(all, differ[b]), any = _mm512_or_si512(any, now);
        }
        const bool lives = _mm512_test_epi64_mask(any, any) != 0;
        if (!_mm512_test_epi64_mask(all, all)) return {false, 0, lives};
        for (int b = 0; b < 6; b++) _mm512_store_si512(cells + 8 * b, bands[b + 1]);
        constexpr u64 LEFT = (u64(1) << tiles::HALO) - 1, RIGHT = LEFT << (tiles::SIDE - tiles::HALO);
        const __m512i left = _mm512_set1_epi64(LEFT), right = _mm512_set1_epi64(RIGHT);
        const auto bit = [](__m512i found, __m512i of, int d) {
            return unsigned(_mm512_test_epi64_mask(found, of) != 0) << d;
        };
        const __m512i first = differ[0], last = differ[5];
        return {true,
                bit(first, left, tiles::NW) | bit(first, first, tiles::N) | bit(first, right, tiles::NE) |
                    bit(all, left, tiles::W) | bit(all, right, tiles::E) | bit(last, left, tiles::SW) |
                    bit(last, last, tiles::S) | bit(last, right, tiles::SE),
                lives};
    }
};

}  // namespace
