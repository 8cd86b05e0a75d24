// Squares of 64 x 64 cells in registers, moved on by the circuit of a rule.
//
// Row r of a square is 64 bits in lane r / VECTORS of vector r % VECTORS, so that the rows above and
// below lie in the vectors before and after; only at the ends do lanes move on. What comes in at the
// edges of the square is wrong, and comes nearer by a cell each generation.
#pragma once
#include "../circuit.hpp"

namespace {

typedef u64 q128 __attribute__((vector_size(16)));
typedef u64 q256 __attribute__((vector_size(32)));
BITS_FN q128 as_rows(v128 v) { return (q128)v; }
BITS_FN q256 as_rows(v256 v) { return (q256)v; }

// Where rows lie, and how they move on by a cell.
template <class V>
struct Lanes {
    static constexpr int LANES = sizeof(V) / 8, VECTORS = 64 / LANES;
    // Where row r stands among the words of all vectors.
    static constexpr int at(int r) { return r % VECTORS * LANES + r / VECTORS; }
    static BITS_FN V left(V v) { return (V)(as_rows(v) << 1); }
    static BITS_FN V right(V v) { return (V)(as_rows(v) >> 1); }
    static BITS_FN V up(V v) { return rotate_lanes_up(rotate_lanes_up(v)); }
    static BITS_FN V down(V v) { return rotate_lanes_down(rotate_lanes_down(v)); }
};
#if defined(__AVX512F__)
template <>
struct Lanes<v512> {
    using V = v512;
    static constexpr int LANES = 8, VECTORS = 8;
    static constexpr int at(int r) { return r % VECTORS * LANES + r / VECTORS; }
    static BITS_FN __m512i m(V v) { return (__m512i)v; }
    static BITS_FN V left(V v) { return (V)_mm512_slli_epi64(m(v), 1); }
    static BITS_FN V right(V v) { return (V)_mm512_srli_epi64(m(v), 1); }
    static BITS_FN V up(V v) { return (V)_mm512_alignr_epi64(m(v), m(v), 7); }
    static BITS_FN V down(V v) { return (V)_mm512_alignr_epi64(m(v), m(v), 1); }
};
#endif

// Moves a square on by a generation, or what has fewer rows, in COUNT vectors.
template <class V, int COUNT = Lanes<V>::VECTORS, class Rule>
BITS_FN void advance_rows(const Rule& rule, V* rows) {
    using On = Lanes<V>;
    const auto state = [](V v) { return row_state(On::left(v), v, On::right(v)); };
    const RowState<V> end = state(rows[COUNT - 1]), start = state(rows[0]);
    RowState<V> above{On::up(end.x), On::up(end.m), V{}, V{}, V{}}, own = start;
#pragma GCC unroll 16
    for (int k = 0; k < COUNT; k++) {
        RowState<V> below = k + 1 < COUNT - 1 ? state(rows[k + 1]) : k + 1 < COUNT ? end : start;
        if (k + 1 == COUNT) below.x = On::down(below.x), below.m = On::down(below.m);
        rows[k] = rule(above, own, below);
        above = own, own = below;
    }
}

#if defined(__AVX512F__)
// Turns eight rows of eight words into eight columns.
BITS_FN void turn_over(const __m512i (&in)[8], __m512i (&out)[8]) {
    __m512i pairs[8], fours[8];
    for (int i = 0; i < 8; i += 2) {
        pairs[i] = _mm512_unpacklo_epi64(in[i], in[i + 1]);
        pairs[i + 1] = _mm512_unpackhi_epi64(in[i], in[i + 1]);
    }
    for (int i = 0; i < 8; i += 4)
        for (int j = 0; j < 2; j++) {
            fours[i + j] = _mm512_shuffle_i64x2(pairs[i + j], pairs[i + j + 2], 0x88);
            fours[i + j + 2] = _mm512_shuffle_i64x2(pairs[i + j], pairs[i + j + 2], 0xDD);
        }
    for (int j = 0; j < 4; j++) {
        out[j] = _mm512_shuffle_i64x2(fours[j], fours[j + 4], 0x88);
        out[j + 4] = _mm512_shuffle_i64x2(fours[j], fours[j + 4], 0xDD);
    }
}
#endif

}  // namespace
