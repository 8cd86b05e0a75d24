// The same with vectors of 512 bits.
//
// In memory eight rows follow each other, and are a register; in the window they are a lane of eight
// registers. So what is loaded and stored is a matrix of 8 x 8 words that is turned over.
#pragma once

namespace {

struct Rows512 {
    __m512i rows;

    BITS_FN void load(const u64* left, const u64* right, int shift) {
        rows = _mm512_or_si512(_mm512_srli_epi64(_mm512_loadu_si512(left), unsigned(shift)),
                               _mm512_slli_epi64(_mm512_loadu_si512(right), unsigned(64 - shift)));
    }
    BITS_FN unsigned become(const Rows512& other, u64 cells, unsigned which) {
        rows = _mm512_maskz_and_epi64(__mmask8(which), _mm512_xor_si512(rows, other.rows),
                                      _mm512_set1_epi64((long long)cells));
        return _mm512_test_epi64_mask(rows, rows);
    }
    BITS_FN void flip(u64* left, u64* right, int shift) const {
        const __mmask8 these = _mm512_test_epi64_mask(rows, rows);
        const auto change = [&](u64* cells, __m512i with) {
            _mm512_mask_storeu_epi64(cells, these, _mm512_xor_si512(_mm512_loadu_si512(cells), with));
        };
        change(left, _mm512_slli_epi64(rows, unsigned(shift)));
        change(right, _mm512_srli_epi64(rows, unsigned(64 - shift)));
    }
    static BITS_FN u64 any(__m256i four) {
        const __m128i two = _mm_or_si128(_mm256_castsi256_si128(four), _mm256_extracti128_si256(four, 1));
        return u64(_mm_cvtsi128_si64(two)) | u64(_mm_extract_epi64(two, 1));
    }
    BITS_FN u64 first() const { return any(_mm512_castsi512_si256(rows)); }
    BITS_FN u64 last() const { return any(_mm512_extracti64x4_epi64(rows, 1)); }
};

template <>
struct Bands<v512> {
    using Type = Rows512;
    static BITS_FN void load(Window<v512>& window, const Rows512 (&bands)[8]) {
        __m512i in[8], out[8];
        for (int i = 0; i < 8; i++) in[i] = bands[i].rows;
        turn_over(in, out);
        for (int k = 0; k < 8; k++) window.rows[k] = (v512)out[k];
    }
    static BITS_FN void store(const Window<v512>& window, Rows512 (&bands)[8]) {
        __m512i in[8], out[8];
        for (int k = 0; k < 8; k++) in[k] = (__m512i)window.rows[k];
        turn_over(in, out);
        for (int i = 0; i < 8; i++) bands[i].rows = out[i];
    }
};

}  // namespace
