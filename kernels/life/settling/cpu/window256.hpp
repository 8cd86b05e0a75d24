// The same with vectors of 256 bits.
//
// In memory four rows follow each other, and are a register; in the window they are a lane of four,
// or two registers. So what is loaded and written are as many matrices of 4 x 4 words that are turned over.
#pragma once
#include <immintrin.h>

namespace {

template <int ROWS>
struct Moves<v256, ROWS> {
    using Own = Window<v256, ROWS>;
    static constexpr int EACH = ROWS / 16;  // matrices

    static BITS_FN void load(Own& window, const Span& from) {
        const Shift by(from.shift);
        for (int k = 0; k < EACH; k++) {
            __m256i in[4], out[4];
            for (int i = 0; i < 4; i++) {
                const int four = EACH * i + k;
                in[i] = by.joined(cells(from.left, four), cells(from.right, four));
            }
            turn_over(in, out);
            for (int i = 0; i < 4; i++) window.rows[4 * k + i] = (v256)out[i];
        }
    }

    static BITS_FN void write(const Own& window, const Span& to, const Inner& inner, settling::Changes& found) {
        __m256i other[ROWS / 4];
        for (int k = 0; k < EACH; k++) {
            __m256i in[4], out[4];
            for (int i = 0; i < 4; i++) in[i] = (__m256i)window.rows[4 * k + i];
            turn_over(in, out);
            for (int i = 0; i < 4; i++) other[EACH * i + k] = out[i];
        }
        const __m256i columns = _mm256_set1_epi64x((long long)inner.columns);
        const Shift by(to.shift);
        for (int b = 0; b < ROWS / 4; b++) {
            const unsigned which = unsigned(inner.rows >> 4 * b & 15);
            if (!which) {
                other[b] = _mm256_setzero_si256();
                continue;
            }
            const __m256i left = cells(to.left, b), right = cells(to.right, b);
            other[b] = _mm256_and_si256(_mm256_xor_si256(by.joined(left, right), other[b]), columns);
            if (which != 15) other[b] = _mm256_and_si256(other[b], these(which));
            put(to.left, b, which, _mm256_xor_si256(left, _mm256_sllv_epi64(other[b], by.here)));
            put(to.right, b, which, _mm256_xor_si256(right, _mm256_srlv_epi64(other[b], by.rest)));
        }
        note(other, found);
    }

private:
    static BITS_FN __m256i cells(const u64* column, int four) {
        return _mm256_loadu_si256((const __m256i*)(column + 4 * four));
    }
    static BITS_FN void put(u64* column, int four, unsigned which, __m256i cells) {
        if (which == 15) _mm256_storeu_si256((__m256i*)(column + 4 * four), cells);
        else _mm256_maskstore_epi64((long long*)column + 4 * four, these(which), cells);
    }
    // The cells from the beginning of a word to that of a window, and those that are left of the word.
    struct Shift {
        __m256i here, rest;
        explicit BITS_FN Shift(int shift) : here(_mm256_set1_epi64x(shift)), rest(_mm256_set1_epi64x(64 - shift)) {}
        BITS_FN __m256i joined(__m256i left, __m256i right) const {
            return _mm256_or_si256(_mm256_srlv_epi64(left, here), _mm256_sllv_epi64(right, rest));
        }
    };
    // All bits of those of four rows.
    static BITS_FN __m256i these(unsigned which) {
        const __m256i bits = _mm256_set_epi64x(8, 4, 2, 1);
        return _mm256_cmpeq_epi64(_mm256_and_si256(_mm256_set1_epi64x(which), bits), bits);
    }

    // Turns four rows of four words into four columns.
    static BITS_FN void turn_over(const __m256i (&in)[4], __m256i (&out)[4]) {
        const __m256i a = _mm256_unpacklo_epi64(in[0], in[1]), b = _mm256_unpackhi_epi64(in[0], in[1]);
        const __m256i c = _mm256_unpacklo_epi64(in[2], in[3]), d = _mm256_unpackhi_epi64(in[2], in[3]);
        out[0] = _mm256_permute2x128_si256(a, c, 0x20), out[1] = _mm256_permute2x128_si256(b, d, 0x20);
        out[2] = _mm256_permute2x128_si256(a, c, 0x31), out[3] = _mm256_permute2x128_si256(b, d, 0x31);
    }

    // Notes in which blocks cells are, of fours of rows.
    static BITS_FN void note(const __m256i (&fours)[ROWS / 4], settling::Changes& found) {
        __m256i rows[4] = {}, any = _mm256_setzero_si256();
        for (int i = 0; i < EACH; i++) {
            const auto two = [&](int k) {
                return _mm256_or_si256(_mm256_unpacklo_epi64(fours[k], fours[k + 1]),
                                       _mm256_unpackhi_epi64(fours[k], fours[k + 1]));
            };
            const __m256i a = two(4 * i), b = two(4 * i + 2);
            const __m256i own = _mm256_or_si256(_mm256_permute2x128_si256(a, b, 0x20), _mm256_permute2x128_si256(a, b, 0x31));
            any = _mm256_or_si256(any, own);
            rows[i] = blocks_of(own);
        }
        found.any = !_mm256_testz_si256(any, any);
        // Of each row the blocks of its first 32 cells, and those of the others behind them.
        const auto both = [](__m256i row) { return _mm256_or_si256(row, _mm256_srli_epi64(row, 24)); };
        // Packs 64 bits to 32 and these to 16: rows 0, 1, 4, 5, 8, 9, 12, 13 and the others.
        const auto low = [](__m256i a, __m256i b) {
            return _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0x88));
        };
        const __m256i mask = _mm256_set1_epi32(0xFFFF);
        const __m256i packed = _mm256_packus_epi32(_mm256_and_si256(low(both(rows[0]), both(rows[1])), mask),
                                                   _mm256_and_si256(low(both(rows[2]), both(rows[3])), mask));
        const __m256i ordered = _mm256_permutevar8x32_epi32(packed, _mm256_set_epi32(7, 3, 6, 2, 5, 1, 4, 0));
        _mm256_store_si256((__m256i*)found.rows, _mm256_and_si256(_mm256_srli_epi16(ordered, 1),
                                                                  _mm256_set1_epi16((1 << settling::BLOCKS) - 1)));
    }
    // Which blocks hold a bit of each of four rows, but for the last step.
    static BITS_FN __m256i blocks_of(__m256i rows) {
        const auto narrower = [&](int by, long long kept) {
            rows = _mm256_and_si256(_mm256_or_si256(rows, _mm256_srli_epi64(rows, by)), _mm256_set1_epi64x(kept));
        };
        rows = _mm256_or_si256(rows, _mm256_srli_epi64(rows, 1));
        narrower(2, 0x1111111111111111);
        narrower(3, 0x0303030303030303);
        narrower(6, 0x000F000F000F000F);
        narrower(12, 0x000000FF000000FF);
        return rows;
    }
};

}  // namespace
