// Lines of strips of two, four or eight bits to rows of vectors and back, where a register has 16 lanes of 32
// bits. Part of panel.hpp.
//
// Of a line the word of 32 bits that holds strip s is word s / PARTS, where it is part s % PARTS. In a
// row strip 16 i + l is bit i of lane l. Bit i = COLUMNS r + q is bit q of part r. So words are put
// where lane r has what belongs to part r (and, of strips of four bits, to eight of the lanes), lanes
// and parts are transposed, and then the squares of COLUMNS x COLUMNS bits.
#pragma once
#if defined(__AVX512F__)
#include <immintrin.h>

#include <cstring>

#include "moves.hpp"

namespace {

template <int COLUMNS>
struct NarrowStrips {
    static constexpr int PARTS = 32 / COLUMNS, HALVES = COLUMNS / 2;

    static BITS_FN __m512i m(V v) { return (__m512i)v; }

    // The places of words among those of two vectors; after the first two, of the next two.
    struct Places {
        alignas(64) u32 to_lanes[COLUMNS][16], to_line[COLUMNS][16];
        u32 lanes_second, line_second;  // bit k: entry k is of the second two vectors
    };
    static constexpr Places make() {
        Places p = {};
        for (int q = 0; q < COLUMNS; q++)
            for (int lane = 0; lane < 16; lane++) {
                const int r = lane % PARTS, word = HALVES * (COLUMNS * r + q) + lane / PARTS;
                p.to_lanes[q][lane] = u32(word % 32);
                if (word / 32) p.lanes_second |= u32(1) << lane;
                const int there = lane + 16 * q, own = there / HALVES;  // the q-th vector of the line
                const int vector = own % COLUMNS, at = there % HALVES * PARTS + own / COLUMNS;
                p.to_line[q][lane] = u32(vector % 2 * 16 + at);
                if (vector / 2) p.line_second |= u32(1) << lane;
            }
        return p;
    }
    static constexpr Places PLACES = make();

    static BITS_FN void put(const V (&in)[COLUMNS], const u32 (&places)[COLUMNS][16], u32 second,
                            V (&out)[COLUMNS]) {
        for (int q = 0; q < COLUMNS; q++) {
            const __m512i at = _mm512_load_si512(places[q]);
            __m512i v = _mm512_permutex2var_epi32(m(in[0]), at, m(in[1]));
            if (COLUMNS == 4)
                v = _mm512_mask_mov_epi32(v, __mmask16(second),
                                          _mm512_permutex2var_epi32(m(in[COLUMNS - 2]), at, m(in[COLUMNS - 1])));
            out[q] = (V)v;
        }
    }

    // Has lanes that differ in one bit of their number exchange the parts that differ in the same one.
    template <int LANE, int KEPT>
    static BITS_FN V exchange_parts(V v) {
        constexpr int SHIFT = LANE * COLUMNS;
        constexpr u32 low = SHIFT == 2 ? 0x33333333u : SHIFT == 4 ? 0x0f0f0f0fu : SHIFT == 8 ? 0x00ff00ffu
                                                                                        : 0x0000ffffu;
        const __m512i other = LANE == 1   ? _mm512_shuffle_epi32(m(v), _MM_PERM_ENUM(0xb1))
                              : LANE == 2 ? _mm512_shuffle_epi32(m(v), _MM_PERM_ENUM(0x4e))
                              : LANE == 4 ? _mm512_shuffle_i32x4(m(v), m(v), 0xb1)
                                          : _mm512_shuffle_i32x4(m(v), m(v), 0x4e);
        const __m512i moved = _mm512_mask_srli_epi32(_mm512_slli_epi32(other, SHIFT), __mmask16(KEPT), other, SHIFT);
        const __m512i own = _mm512_mask_set1_epi32(_mm512_set1_epi32(int(low)), __mmask16(KEPT), int(~low));
        return mux((V)own, v, (V)moved);
    }

    static BITS_FN void transpose_parts(V (&a)[COLUMNS]) {
        for (int q = 0; q < COLUMNS; q++) {
            V v = exchange_parts<1, 0xaaaa>(a[q]);
            v = exchange_parts<2, 0xcccc>(v);
            v = exchange_parts<4, 0xf0f0>(v);
            a[q] = COLUMNS == 2 ? exchange_parts<COLUMNS == 2 ? 8 : 4, 0xff00>(v) : v;
        }
    }

    static BITS_FN void transpose_squares(V (&a)[COLUMNS]) {
        for (int i = 0; COLUMNS == 4 && i < 2; i++) exchange<2>(a[i], a[(i + 2) % COLUMNS]);
        for (int i = 0; i < COLUMNS; i += 2) exchange<1>(a[i], a[i + 1]);
    }

    // Turns a line into a row of vectors.
    static void to_vectors(const void* line, V* to) {
        V in[COLUMNS], a[COLUMNS];
        std::memcpy(in, line, sizeof in);
        put(in, PLACES.to_lanes, PLACES.lanes_second, a);
        transpose_parts(a);
        transpose_squares(a);
        std::memcpy(to, a, sizeof a);
    }

    // Turns a row of vectors back into a line.
    static void to_line(const V* from, void* line) {
        V a[COLUMNS], out[COLUMNS];
        std::memcpy(a, from, sizeof a);
        transpose_squares(a);
        transpose_parts(a);
        put(a, PLACES.to_line, PLACES.line_second, out);
        std::memcpy(line, out, sizeof out);
    }
};

// The same of strips of eight bits. Of a line the 16 bytes k are strips 16 k and on, of which vector q
// has those of k = q, 8 + q, 16 + q and 24 + q in the four bytes of its lanes, before squares of 8 x 8
// bits are transposed. So quarters of vectors are put together, and then bytes are transposed.
struct ByteStrips {
    static constexpr int COLUMNS = 8;

    static BITS_FN __m512i m(V v) { return (__m512i)v; }

    // Transposes the 4 x 4 quarters of four vectors, which stand two apart.
    static BITS_FN void transpose_quarters(V* a) {
        const __m512i b0 = _mm512_shuffle_i32x4(m(a[0]), m(a[2]), 0x44), b1 = _mm512_shuffle_i32x4(m(a[0]), m(a[2]), 0xee);
        const __m512i b2 = _mm512_shuffle_i32x4(m(a[4]), m(a[6]), 0x44), b3 = _mm512_shuffle_i32x4(m(a[4]), m(a[6]), 0xee);
        a[0] = (V)_mm512_shuffle_i32x4(b0, b2, 0x88), a[2] = (V)_mm512_shuffle_i32x4(b0, b2, 0xdd);
        a[4] = (V)_mm512_shuffle_i32x4(b1, b3, 0x88), a[6] = (V)_mm512_shuffle_i32x4(b1, b3, 0xdd);
    }

    // Vectors 2 r + h have quarters 8 r + 4 h and on; in order they are q = 4 h + r.
    static constexpr int in_order(int q) { return q % 4 * 2 + q / 4; }

    // Transposes the 4 x 4 words of a vector, whose bytes are transposed within.
    static BITS_FN __m512i transpose_words(__m512i v) {
        const __m512i at = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
        return _mm512_permutexvar_epi32(at, v);
    }
    static BITS_FN __m512i transpose_bytes(__m512i v) {
        const __m512i at = _mm512_set4_epi32(0x0f0b0703, 0x0e0a0602, 0x0d090501, 0x0c080400);
        return _mm512_shuffle_epi8(v, at);
    }

    // Turns a line into a row of vectors.
    static void to_vectors(const void* line, V* to) {
        V in[COLUMNS], a[COLUMNS];
        std::memcpy(in, line, sizeof in);
        transpose_quarters(in), transpose_quarters(in + 1);
        for (int q = 0; q < COLUMNS; q++) a[q] = (V)transpose_bytes(transpose_words(m(in[in_order(q)])));
        transpose_eight(a);
        std::memcpy(to, a, sizeof a);
    }

    // Turns a row of vectors back into a line.
    static void to_line(const V* from, void* line) {
        V a[COLUMNS], out[COLUMNS];
        std::memcpy(a, from, sizeof a);
        transpose_eight(a);
        for (int q = 0; q < COLUMNS; q++) out[in_order(q)] = (V)transpose_words(transpose_bytes(m(a[q])));
        transpose_quarters(out), transpose_quarters(out + 1);
        std::memcpy(line, out, sizeof out);
    }
};

}  // namespace
#endif
