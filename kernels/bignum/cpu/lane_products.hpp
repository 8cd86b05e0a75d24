// Adds products of limbs to columns, a tile of limbs in registers. Only for files compiled for AVX-512 with
// IFMA.
#pragma once
#include "lane_words.hpp"

namespace bignum {

constexpr int TILE = 10;  // limbs of one operand in registers: with two sums each they fill them

// What add_tile() finds in the columns that it adds to: sums in all of them, sums in all but the last T,
// or nothing yet.
enum class Columns { FILLED, LAST_EMPTY, EMPTY };

// Adds to columns[j] the sum of a[t] * b[j - t], for T limbs of a and all of b. A product has a
// low half for its column and a high one for the next. The halves are summed apart, because two
// additions a column, each waiting for the other, would take longer than the multiplier.
template <int T, Columns FOUND = Columns::FILLED>
static INLINE void add_tile(V* columns, const V* a, const V* b, i64 count) {
    V x[T], low[T], high[T];
#pragma GCC unroll 10
    for (int t = 0; t < T; t++) {
        x[t] = load(a + t);
        low[t] = high[t] = _mm512_setzero_si512();
    }
    for (i64 j = 0; j < count; j++) {
        const V y = load(b + j);
#pragma GCC unroll 10
        for (int t = 0; t < T; t++) {
            low[t] = _mm512_madd52lo_epu64(low[t], x[t], y);
            high[t] = _mm512_madd52hi_epu64(high[t], x[t], y);
        }
        if (FOUND == Columns::EMPTY)
            store(columns + j, low[0]);
        else
            store(columns + j, _mm512_add_epi64(load(columns + j), low[0]));
        const V first = high[0];
#pragma GCC unroll 10
        for (int t = 0; t + 1 < T; t++) {
            low[t] = low[t + 1];
            high[t] = high[t + 1];
        }
        low[T - 1] = high[T - 1] = _mm512_setzero_si512();
        low[0] = _mm512_add_epi64(low[0], first);
    }
#pragma GCC unroll 10
    for (int t = 0; t < T; t++) {
        V last = low[t];
        if (t) last = _mm512_add_epi64(last, high[t - 1]);
        if (FOUND == Columns::FILLED) last = _mm512_add_epi64(load(columns + count + t), last);
        store(columns + count + t, last);
    }
}

namespace {

template <int T>
void multiply_tile(V* columns, const V* a, const V* b, i64 count) {
    add_tile<T>(columns, a, b, count);
}

using Tile = void (*)(V*, const V*, const V*, i64);
const Tile tiles[TILE + 1] = {nullptr,
                              multiply_tile<1>,
                              multiply_tile<2>,
                              multiply_tile<3>,
                              multiply_tile<4>,
                              multiply_tile<5>,
                              multiply_tile<6>,
                              multiply_tile<7>,
                              multiply_tile<8>,
                              multiply_tile<9>,
                              multiply_tile<10>};

}  // namespace
}  // namespace bignum
