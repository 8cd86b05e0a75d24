// Between digits of 30 bits, as Python's integers have them, and words of 64 bits.
//
// Four digits, a quad, are 120 bits or 15 bytes: so many digits at a time are moved by a vector of 128 bits, wherever
// in memory the 15 bytes begin, and as many quads at once as a vector of the CPU level has.
#pragma once
#include <cstring>

#include "bignum.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace bignum {
namespace {

constexpr i64 QUAD = 4, QUAD_BYTES = 15;

// How many bytes past the last word of a number pack_quads() may write.
constexpr i64 SLACK = 16;

using Pair = u64 __attribute__((vector_size(16)));
using Wide = unsigned __int128;
constexpr u64 LOW = MASK, HIGH = u64(MASK) << 32;

inline Pair load_quad(const Digit* digits) {
    Pair quad;
    std::memcpy(&quad, digits, 16);
    return quad;
}

// Returns a pair whose upper half is four bits lower. Few CPUs shift halves by different counts.
inline Pair upper_lowered(Pair pair) {
    constexpr Pair LOWER = {~u64(0), 0};
    return (pair & LOWER) | (pair >> 4 & ~LOWER);
}

// Returns the 120 bits of four digits.
inline Pair joined(Pair quad) {
    const Pair sixty = (quad & LOW) | (quad >> 2 & ~LOW);  // two digits in each half
    return upper_lowered(sixty) | Pair{sixty[1], 0} << 60;
}

// Returns four digits of the 120 bits that begin at a byte, of which 15 are read.
inline Pair parted(const unsigned char* bytes) {
    u64 halves[2];
    std::memcpy(&halves[0], bytes, 8);
    std::memcpy(&halves[1], bytes + 7, 8);
    const Pair sixty = upper_lowered(Pair{halves[0], halves[1]});
    return (sixty & LOW) | (sixty << 2 & HIGH);
}

#if defined(__AVX512BW__)
constexpr i64 QUADS = 4;  // at once

inline void join_quads(unsigned char* bytes, const Digit* digits) {
    const __m512i four = _mm512_loadu_si512(digits), low = _mm512_set1_epi64(i64(LOW));
    const __m512i upper = _mm512_andnot_si512(low, _mm512_srli_epi64(four, 2));
    const __m512i sixty = _mm512_or_si512(_mm512_and_si512(four, low), upper);
    const __m512i lowered = _mm512_srlv_epi64(sixty, _mm512_set_epi64(4, 0, 4, 0, 4, 0, 4, 0));
    const __m512i bits = _mm512_or_si512(lowered, _mm512_slli_epi64(_mm512_bsrli_epi128(sixty, 8), 60));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(bytes), _mm512_castsi512_si128(bits));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(bytes + QUAD_BYTES), _mm512_extracti64x2_epi64(bits, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(bytes + 2 * QUAD_BYTES), _mm512_extracti64x2_epi64(bits, 2));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(bytes + 3 * QUAD_BYTES), _mm512_extracti64x2_epi64(bits, 3));
}

inline void part_quads(Digit* digits, const unsigned char* bytes) {
    auto quad = [bytes](int i) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + QUAD_BYTES * i)); };
    const __m512i low = _mm512_set1_epi64(i64(LOW));
    __m512i four = _mm512_inserti64x2(_mm512_castsi128_si512(quad(0)), quad(1), 1);
    four = _mm512_inserti64x2(_mm512_inserti64x2(four, quad(2), 2), quad(3), 3);
    const __m128i halves = _mm_set_epi8(14, 13, 12, 11, 10, 9, 8, 7, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i sixty = _mm512_srlv_epi64(_mm512_shuffle_epi8(four, _mm512_broadcast_i32x4(halves)),
                                            _mm512_set_epi64(4, 0, 4, 0, 4, 0, 4, 0));
    const __m512i high = _mm512_and_si512(_mm512_slli_epi64(sixty, 2), _mm512_set1_epi64(i64(HIGH)));
    _mm512_storeu_si512(digits, _mm512_or_si512(_mm512_and_si512(sixty, low), high));
}
#elif defined(__AVX2__)
constexpr i64 QUADS = 2;  // at once

inline void join_quads(unsigned char* bytes, const Digit* digits) {
    const __m256i two = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(digits));
    const __m256i low = _mm256_set1_epi64x(i64(LOW));
    const __m256i upper = _mm256_andnot_si256(low, _mm256_srli_epi64(two, 2));
    const __m256i sixty = _mm256_or_si256(_mm256_and_si256(two, low), upper);
    const __m256i lowered = _mm256_srlv_epi64(sixty, _mm256_set_epi64x(4, 0, 4, 0));
    const __m256i bits = _mm256_or_si256(lowered, _mm256_slli_epi64(_mm256_bsrli_epi128(sixty, 8), 60));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(bytes), _mm256_castsi256_si128(bits));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(bytes + QUAD_BYTES), _mm256_extracti128_si256(bits, 1));
}

inline void part_quads(Digit* digits, const unsigned char* bytes) {
    const __m128i first = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
    const __m128i second = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + QUAD_BYTES));
    const __m256i two = _mm256_inserti128_si256(_mm256_castsi128_si256(first), second, 1);
    const __m128i halves = _mm_set_epi8(14, 13, 12, 11, 10, 9, 8, 7, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m256i sixty = _mm256_srlv_epi64(_mm256_shuffle_epi8(two, _mm256_broadcastsi128_si256(halves)),
                                            _mm256_set_epi64x(4, 0, 4, 0));
    const __m256i high = _mm256_and_si256(_mm256_slli_epi64(sixty, 2), _mm256_set1_epi64x(i64(HIGH)));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(digits),
                        _mm256_or_si256(_mm256_and_si256(sixty, _mm256_set1_epi64x(i64(LOW))), high));
}
#else
constexpr i64 QUADS = 1;  // at once

inline void join_quads(unsigned char* bytes, const Digit* digits) {
    const Pair bits = joined(load_quad(digits));
    std::memcpy(bytes, &bits, 16);
}

inline void part_quads(Digit* digits, const unsigned char* bytes) {
    const Pair quad = parted(bytes);
    std::memcpy(digits, &quad, 16);
}
#endif

// Writes the words of `count` digits: `length` words, which hold them, and zeros to at most SLACK bytes past them.
inline void pack_quads(u64* words, i64 length, const Digit* digits, i64 count) {
    if (count < QUAD) {
        if (!count) return;
        u64 low = digits[0];
        if (count > 1) low |= u64(digits[1]) << SHIFT;
        if (count > 2) {
            words[1] = digits[2] >> 4;
            low |= u64(digits[2]) << 2 * SHIFT;
        }
        words[0] = low;
        return;
    }
    words[length - 1] = 0;  // three bytes of it may be above all that is written below
    auto* bytes = reinterpret_cast<unsigned char*>(words);
    const Digit* const end = digits + count;
    for (; end - digits >= QUADS * QUAD; digits += QUADS * QUAD, bytes += QUADS * QUAD_BYTES) join_quads(bytes, digits);
    for (; end - digits >= QUAD; digits += QUAD, bytes += QUAD_BYTES) {
        const Pair bits = joined(load_quad(digits));
        std::memcpy(bytes, &bits, 16);
    }
    // The digits that are left, with those before them: nothing is read past the last.
    if (const int rest = int(end - digits)) {
        const Pair last = joined(load_quad(end - QUAD));
        const Wide bits = (Wide(last[1]) << 64 | last[0]) >> SHIFT * (int(QUAD) - rest);
        std::memcpy(bytes, &bits, 16);
    }
}

// Returns 64 bits of the magnitude from bit `at` on, zeros above it.
inline u64 bits_at(const u64* words, i64 length, i64 at) {
    const i64 word = at / 64, shift = at % 64;
    u64 bits = word < length ? words[word] >> shift : 0;
    if (shift && word + 1 < length) bits |= words[word + 1] << (64 - shift);
    return bits;
}

// Writes the lowest `count` digits of a magnitude: quads, then up to four digits more.
inline void unpack_quads(Digit* digits, i64 count, const u64* words, i64 length) {
    i64 quads = 8 * length / QUAD_BYTES;
    if (quads > count / QUAD) quads = count / QUAD;
    const auto* bytes = reinterpret_cast<const unsigned char*>(words);
    i64 done = 0;
    // A byte more than the quads have is read.
    for (; quads - done >= QUADS && QUAD_BYTES * (done + QUADS) < 8 * length; done += QUADS)
        part_quads(digits + QUAD * done, bytes + QUAD_BYTES * done);
    for (; done < quads; done++) {
        const Pair four = parted(bytes + QUAD_BYTES * done);
        std::memcpy(digits + QUAD * done, &four, 16);
    }
    i64 i = QUAD * quads;
    if (i == count) return;
    Wide bits = Wide(bits_at(words, length, SHIFT * i + 64)) << 64 | bits_at(words, length, SHIFT * i);
    for (; i < count; i++, bits >>= SHIFT) digits[i] = Digit(bits) & MASK;
}

}  // namespace
}  // namespace bignum
