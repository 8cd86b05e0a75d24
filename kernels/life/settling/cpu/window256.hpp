// The same with vectors of 256 bits.
//
// In memory four rows follow each other, and are a register; in the window they are a lane of four
// registers. So what is loaded and stored are four matrices of 4 x 4 words that are turned over.
#pragma once
#include <immintrin.h>

namespace {

struct Rows256 {
    __m256i rows[2];

    BITS_FN void load(const u64* left, const u64* right, int shift) {
        const __m128i by = _mm_cvtsi32_si128(shift), rest = _mm_cvtsi32_si128(64 - shift);
        for (int h = 0; h < 2; h++)
            rows[h] = _mm256_or_si256(_mm256_srl_epi64(from(left + 4 * h), by), _mm256_sll_epi64(from(right + 4 * h), rest));
    }
    BITS_FN unsigned become(const Rows256& other, u64 cells, unsigned which) {
        const __m256i all = _mm256_set1_epi64x((long long)cells);
        unsigned found = 0;
        for (int h = 0; h < 2; h++) {
            rows[h] = _mm256_and_si256(_mm256_xor_si256(rows[h], other.rows[h]), all);
            if (which != 255) rows[h] = _mm256_and_si256(rows[h], these(which >> 4 * h));
            found |= unsigned(~_mm256_movemask_pd(_mm256_castsi256_pd(zeros(rows[h]))) & 15) << 4 * h;
        }
        return found;
    }
    BITS_FN void flip(u64* left, u64* right, int shift) const {
        const __m128i by = _mm_cvtsi32_si128(shift), rest = _mm_cvtsi32_si128(64 - shift);
        for (int h = 0; h < 2; h++) {
            const __m256i which = _mm256_xor_si256(zeros(rows[h]), _mm256_set1_epi64x(-1));
            const auto change = [&](u64* cells, __m256i with) {
                _mm256_maskstore_epi64((long long*)cells, which, _mm256_xor_si256(from(cells), with));
            };
            change(left + 4 * h, _mm256_sll_epi64(rows[h], by));
            change(right + 4 * h, _mm256_srl_epi64(rows[h], rest));
        }
    }
    BITS_FN u64 first() const { return any(rows[0]); }
    BITS_FN u64 last() const { return any(rows[1]); }

private:
    static BITS_FN __m256i from(const u64* cells) { return _mm256_loadu_si256((const __m256i*)cells); }
    static BITS_FN __m256i zeros(__m256i four) { return _mm256_cmpeq_epi64(four, _mm256_setzero_si256()); }
    // All bits of the rows whose bit is set.
    static BITS_FN __m256i these(unsigned which) {
        const __m256i bits = _mm256_set_epi64x(8, 4, 2, 1);
        return _mm256_cmpeq_epi64(_mm256_and_si256(_mm256_set1_epi64x(which), bits), bits);
    }
    static BITS_FN u64 any(__m256i four) {
        const __m128i two = _mm_or_si128(_mm256_castsi256_si128(four), _mm256_extracti128_si256(four, 1));
        return u64(_mm_cvtsi128_si64(two)) | u64(_mm_extract_epi64(two, 1));
    }
};

// Turns four rows of four words into four columns.
BITS_FN void turn_over(const __m256i (&in)[4], __m256i (&out)[4]) {
    const __m256i a = _mm256_unpacklo_epi64(in[0], in[1]), b = _mm256_unpackhi_epi64(in[0], in[1]);
    const __m256i c = _mm256_unpacklo_epi64(in[2], in[3]), d = _mm256_unpackhi_epi64(in[2], in[3]);
    out[0] = _mm256_permute2x128_si256(a, c, 0x20), out[1] = _mm256_permute2x128_si256(b, d, 0x20);
    out[2] = _mm256_permute2x128_si256(a, c, 0x31), out[3] = _mm256_permute2x128_si256(b, d, 0x31);
}

template <>
struct Bands<v256> {
    using Type = Rows256;
    // Rows 4 k to 4 k + 3, and those 16, 32 and 48 below, are vectors 4 k to 4 k + 3 of a window.
    static BITS_FN void load(Window<v256>& window, const Rows256 (&bands)[8]) {
        for (int k = 0; k < 4; k++) {
            __m256i in[4], out[4];
            for (int i = 0; i < 4; i++) in[i] = bands[2 * i + k / 2].rows[k % 2];
            turn_over(in, out);
            for (int i = 0; i < 4; i++) window.rows[4 * k + i] = (v256)out[i];
        }
    }
    static BITS_FN void store(const Window<v256>& window, Rows256 (&bands)[8]) {
        for (int k = 0; k < 4; k++) {
            __m256i in[4], out[4];
            for (int i = 0; i < 4; i++) in[i] = (__m256i)window.rows[4 * k + i];
            turn_over(in, out);
            for (int i = 0; i < 4; i++) bands[2 * i + k / 2].rows[k % 2] = out[i];
        }
    }
};

}  // namespace
