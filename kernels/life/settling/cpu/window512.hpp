// The same with vectors of 512 bits.
//
// In memory eight rows follow each other, and are a register; in the window they are a lane of eight
// registers. So what is loaded and written is a matrix of 8 x 8 words that is turned over.
#pragma once

namespace {

template <>
struct Moves<v512> {
    static BITS_FN void load(Window<v512>& window, const Span& from) {
        __m512i in[8], out[8];
        for (int i = 0; i < 8; i++) in[i] = joined(cells(from.left, i), cells(from.right, i), from.shift);
        turn_over(in, out);
        for (int k = 0; k < 8; k++) window.rows[k] = (v512)out[k];
    }

    static BITS_FN void write(const Window<v512>& window, const Span& to, const Inner& inner, settling::Changes& found) {
        __m512i in[8], other[8];
        for (int k = 0; k < 8; k++) in[k] = (__m512i)window.rows[k];
        turn_over(in, other);
        const __m512i columns = _mm512_set1_epi64((long long)inner.columns);
        for (int i = 0; i < 8; i++) {
            const __mmask8 which = __mmask8(inner.rows >> 8 * i);
            const __m512i left = cells(to.left, i), right = cells(to.right, i);
            other[i] = _mm512_maskz_and_epi64(which, _mm512_xor_si512(joined(left, right, to.shift), other[i]), columns);
            _mm512_mask_storeu_epi64(to.left + 8 * i, which,
                                     _mm512_xor_si512(left, _mm512_slli_epi64(other[i], unsigned(to.shift))));
            _mm512_mask_storeu_epi64(to.right + 8 * i, which,
                                     _mm512_xor_si512(right, _mm512_srli_epi64(other[i], unsigned(64 - to.shift))));
        }
        note(other, found);
    }

private:
    static BITS_FN __m512i cells(const u64* column, int eight) { return _mm512_loadu_si512(column + 8 * eight); }
    static BITS_FN __m512i joined(__m512i left, __m512i right, int shift) {
        return _mm512_or_si512(_mm512_srli_epi64(left, unsigned(shift)), _mm512_slli_epi64(right, unsigned(64 - shift)));
    }

    // Notes in which blocks cells are, of eights of rows.
    static BITS_FN void note(const __m512i (&eights)[8], settling::Changes& found) {
        __m512i pairs[4], fours[2];
        for (int i = 0; i < 4; i++)
            pairs[i] = _mm512_or_si512(_mm512_unpacklo_epi64(eights[2 * i], eights[2 * i + 1]),
                                       _mm512_unpackhi_epi64(eights[2 * i], eights[2 * i + 1]));
        for (int i = 0; i < 2; i++)
            fours[i] = _mm512_or_si512(_mm512_shuffle_i64x2(pairs[2 * i], pairs[2 * i + 1], 0x88),
                                       _mm512_shuffle_i64x2(pairs[2 * i], pairs[2 * i + 1], 0xDD));
        const __m512i any = _mm512_or_si512(fours[0], fours[1]);
        found.any = _mm512_test_epi64_mask(any, any) != 0;
        // Rows of blocks 0, 2, 1, 3, 4, 6, 5, 7, and those eight further on.
        const __m256i all = _mm256_inserti128_si256(_mm256_castsi128_si256(blocks_of(fours[0])), blocks_of(fours[1]), 1);
        const __m256i order = _mm256_set_epi8(15, 14, 11, 10, 13, 12, 9, 8, 7, 6, 3, 2, 5, 4, 1, 0,  //
                                              15, 14, 11, 10, 13, 12, 9, 8, 7, 6, 3, 2, 5, 4, 1, 0);
        _mm256_store_si256((__m256i*)found.rows, _mm256_shuffle_epi8(all, order));
    }
    // Which of the inner blocks hold a bit of each of eight rows.
    static BITS_FN __m128i blocks_of(__m512i rows) {
        const auto narrower = [&](unsigned by, long long kept) {
            // (rows | rows >> by) & kept
            rows = _mm512_ternarylogic_epi64(rows, _mm512_srli_epi64(rows, by), _mm512_set1_epi64(kept), 0xA8);
        };
        rows = _mm512_or_si512(rows, _mm512_srli_epi64(rows, 1));
        narrower(2, 0x1111111111111111);
        narrower(3, 0x0303030303030303);
        narrower(6, 0x000F000F000F000F);
        narrower(12, 0x000000FF000000FF);
        rows = _mm512_or_si512(rows, _mm512_srli_epi64(rows, 24));
        const __m128i all = _mm512_cvtepi64_epi16(rows);
        return _mm_and_si128(_mm_srli_epi16(all, 1), _mm_set1_epi16((1 << settling::BLOCKS) - 1));
    }
};

}  // namespace
