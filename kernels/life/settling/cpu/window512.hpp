// The same with vectors of 512 bits.
//
// In memory eight rows follow each other, and are a register; in the window they are a lane of eight
// registers. So what is loaded and written is a matrix of 8 x 8 words that is turned over. Of half the height
// a lane is of four registers, and the first four rows of each eight are one lane, the last the next.
#pragma once

namespace {

// Turns four registers, whose halves are the lanes of a window of half the height, into that, and back.
BITS_FN void turn_over(const __m512i (&in)[4], __m512i (&out)[4]) {
    __m512i even[2], odd[2];
    for (int i = 0; i < 2; i++) {
        const __m512i first = _mm512_shuffle_i64x2(in[2 * i], in[2 * i + 1], 0x44);
        const __m512i second = _mm512_shuffle_i64x2(in[2 * i], in[2 * i + 1], 0xEE);
        even[i] = _mm512_unpacklo_epi64(first, second), odd[i] = _mm512_unpackhi_epi64(first, second);
    }
    out[0] = _mm512_shuffle_i64x2(even[0], even[1], 0x88), out[1] = _mm512_shuffle_i64x2(odd[0], odd[1], 0x88);
    out[2] = _mm512_shuffle_i64x2(even[0], even[1], 0xDD), out[3] = _mm512_shuffle_i64x2(odd[0], odd[1], 0xDD);
}
BITS_FN void turn_back(const __m512i (&in)[4], __m512i (&out)[4]) {
    const __m512i even[2] = {_mm512_unpacklo_epi64(in[0], in[1]), _mm512_unpacklo_epi64(in[2], in[3])};
    const __m512i odd[2] = {_mm512_unpackhi_epi64(in[0], in[1]), _mm512_unpackhi_epi64(in[2], in[3])};
    const __m512i a = _mm512_shuffle_i64x2(even[0], even[1], 0x44), b = _mm512_shuffle_i64x2(odd[0], odd[1], 0x44);
    const __m512i c = _mm512_shuffle_i64x2(even[0], even[1], 0xEE), d = _mm512_shuffle_i64x2(odd[0], odd[1], 0xEE);
    out[0] = _mm512_shuffle_i64x2(a, b, 0x88), out[1] = _mm512_shuffle_i64x2(a, b, 0xDD);
    out[2] = _mm512_shuffle_i64x2(c, d, 0x88), out[3] = _mm512_shuffle_i64x2(c, d, 0xDD);
}
BITS_FN void turn_back(const __m512i (&in)[8], __m512i (&out)[8]) { turn_over(in, out); }

template <int ROWS>
struct Moves<v512, ROWS> {
    using Own = Window<v512, ROWS>;
    static constexpr int EIGHTS = ROWS / 8;

    static BITS_FN void load(Own& window, const Span& from) {
        __m512i in[EIGHTS], out[EIGHTS];
        const Shift by(from.shift);
        for (int i = 0; i < EIGHTS; i++) in[i] = _mm512_or_si512(by.right(cells(from.left, i)), by.rest_left(cells(from.right, i)));
        turn_over(in, out);
        for (int k = 0; k < EIGHTS; k++) window.rows[k] = (v512)out[k];
    }

    static BITS_FN void write(const Own& window, const Span& to, const Inner& inner, settling::Changes& found) {
        __m512i in[EIGHTS], other[EIGHTS];
        for (int k = 0; k < EIGHTS; k++) in[k] = (__m512i)window.rows[k];
        turn_back(in, other);
        const __m512i columns = _mm512_set1_epi64((long long)inner.columns);
        const Shift by(to.shift);
        for (int i = 0; i < EIGHTS; i++) {
            const __mmask8 which = __mmask8(inner.rows >> 8 * i);
            const __m512i left = cells(to.left, i), right = cells(to.right, i);
            // (a | b) ^ c
            const __m512i all = _mm512_ternarylogic_epi64(by.right(left), by.rest_left(right), other[i], 0x56);
            other[i] = _mm512_maskz_and_epi64(which, all, columns);
            _mm512_mask_storeu_epi64(to.left + 8 * i, which, _mm512_xor_si512(left, by.left(other[i])));
            _mm512_mask_storeu_epi64(to.right + 8 * i, which, _mm512_xor_si512(right, by.rest_right(other[i])));
        }
        note(other, found);
    }

private:
    static BITS_FN __m512i cells(const u64* column, int eight) { return _mm512_loadu_si512(column + 8 * eight); }
    // Shifts by the cells from the beginning of a word to that of a window, and by those that are left of
    // the word: by vectors of counts, which take an instruction less.
    struct Shift {
        __m512i here, rest;
        explicit BITS_FN Shift(int shift) : here(_mm512_set1_epi64(shift)), rest(_mm512_set1_epi64(64 - shift)) {}
        BITS_FN __m512i left(__m512i rows) const { return _mm512_sllv_epi64(rows, here); }
        BITS_FN __m512i right(__m512i rows) const { return _mm512_srlv_epi64(rows, here); }
        BITS_FN __m512i rest_left(__m512i rows) const { return _mm512_sllv_epi64(rows, rest); }
        BITS_FN __m512i rest_right(__m512i rows) const { return _mm512_srlv_epi64(rows, rest); }
    };

    // Notes in which blocks cells are, of eights of rows.
    static BITS_FN void note(const __m512i (&eights)[EIGHTS], settling::Changes& found) {
        __m512i fours[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};
        for (int i = 0; i < EIGHTS / 4; i++) {
            const auto pair = [&](int k) {
                return _mm512_or_si512(_mm512_unpacklo_epi64(eights[k], eights[k + 1]),
                                       _mm512_unpackhi_epi64(eights[k], eights[k + 1]));
            };
            const __m512i a = pair(4 * i), b = pair(4 * i + 2);
            fours[i] = _mm512_or_si512(_mm512_shuffle_i64x2(a, b, 0x88), _mm512_shuffle_i64x2(a, b, 0xDD));
        }
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
