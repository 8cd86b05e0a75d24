// Moves bits about: copies at any bit of packed rows, and lines of strips of whole bytes to rows of
// vectors and back.
#pragma once
#include <cstring>

#include "strips.hpp"
#include "transpose.hpp"

namespace {

// Strips of one or two whole bytes (Strip): `columns` of them fill 32 bits. Of row i of the square that
// transpose() takes only these bits are set, so that the rows of a square fit into `columns` vectors:
// row r * columns + q is part r of vector q, and squares of that side are transposed, not of 32.
template <class Strip>
struct WholeBytes {
    static constexpr int COLUMNS = 8 * sizeof(Strip), PARTS = 32 / COLUMNS;
    typedef Strip Row __attribute__((vector_size(sizeof(Strip) * LANES), aligned(1), may_alias));

    static Row* row(void* line, int r, int q) {
        return reinterpret_cast<Row*>(static_cast<char*>(line) + (r * COLUMNS + q) * sizeof(Row));
    }

    static void transpose_squares(V* a) {
        if (COLUMNS == 16)
            for (int i = 0; i < 8; i++) exchange<8>(a[i], a[i + 8]);
        for (int i = 0; i < COLUMNS; i += 8) transpose_eight(a + i);
    }

    // Turns a line into a row of vectors.
    static void to_vectors(const void* line, V* to) {
        void* from = const_cast<void*>(line);
        for (int q = 0; q < COLUMNS; q++) {
            V v = __builtin_convertvector(*row(from, 0, q), V);
            for (int r = 1; r < PARTS; r++) v |= __builtin_convertvector(*row(from, r, q), V) << (r * COLUMNS);
            to[q] = v;
        }
        transpose_squares(to);
    }

    // Turns a row of vectors back into a line.
    static void to_line(const V* from, void* line) {
        V a[COLUMNS];
        std::memcpy(a, from, sizeof a);
        transpose_squares(a);
        for (int q = 0; q < COLUMNS; q++)
            for (int r = 0; r < PARTS; r++)
                *row(line, r, q) = __builtin_convertvector(a[q] >> (r * COLUMNS), Row);
    }
};

// Returns the 64 bits from `bit` on.
u64 bits_at(const u64* words, i64 bit) {
    const u64* w = words + (bit >> 6);
    int shift = int(bit & 63);
    return shift ? shift_down(w[1], w[0], shift) : w[0];
}

// Sets dst[i] to the 64 bits of src from bit `from` + 64 i on.
void shift_words(u64* dst, const u64* src, i64 from, i64 words) {
    const u64* w = src + (from >> 6);
    const int shift = int(from & 63);
    if (shift == 0) {
        std::memcpy(dst, w, std::size_t(words) * 8);
        return;
    }
    for (i64 i = 0; i < words; i++) dst[i] = shift_down(w[i + 1], w[i], shift);
}

// Copies `count` bits, a word of the target at a time. Reads no source word past the last bit.
void copy_bits(u64* dst, i64 to, const u64* src, i64 from, i64 count) {
    while (count > 0) {
        int skip = int(to & 63), n = int(count < 64 - skip ? count : 64 - skip);
        int shift = int(from & 63);
        u64 value = src[from >> 6] >> shift;
        if (shift && n > 64 - shift) value |= src[(from >> 6) + 1] << (64 - shift);
        u64 mask = (n == 64 ? ~u64(0) : (u64(1) << n) - 1) << skip;
        u64& word = dst[to >> 6];
        word = (word & ~mask) | (value << skip & mask);
        to += n, from += n, count -= n;
        if (!(to & 63) && count >= 64) {  // aligned to the target: whole words
            i64 words = count >> 6;
            shift_words(dst + (to >> 6), src, from, words);
            to += words << 6, from += words << 6, count -= words << 6;
        }
    }
}

}  // namespace
