// Words of sixteen rows that follow each other in a column, in registers.
#pragma once
#include "../../../bits.hpp"
#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace {

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

}  // namespace
