// Lines of strips of two or four bits to rows of vectors and back, where a register has 16 lanes of 32
// bits. Part of panel.hpp.
//
// Of a line the word of 32 bits that holds strip s is word s / PARTS, where it is part s % PARTS. In a
// row strip 16 i + l is bit i of lane l. Bit i = COLUMNS r + q is bit q of part r. So words are put
// where lane r has what belongs to part r (and, of strips of four bits, to eight of the lanes), lanes
// and parts are transposed, and then the squares of COLUMNS x COLUMNS bits.
#pragma once
#if defined(__AVX512F__)
#include <immintrin.h>

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

}  // namespace
#endif
