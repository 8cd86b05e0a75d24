// A window of 64 x 64 cells in registers, moved on by the circuit of a rule.
//
// Row r of the window is 64 bits in lane r / COUNT of vector r % COUNT, so that the rows above and
// below lie in the vectors before and after; only at the ends do lanes move on. What comes in at the
// edges of the window is wrong, and comes nearer by a cell each generation.
#pragma once
#include "../../circuit.hpp"

namespace {

typedef u64 q128 __attribute__((vector_size(16)));
typedef u64 q256 __attribute__((vector_size(32)));
BITS_FN q128 as_rows(v128 v) { return (q128)v; }
BITS_FN q256 as_rows(v256 v) { return (q256)v; }

template <class V>
struct Lanes {
    static BITS_FN V left(V v) { return (V)(as_rows(v) << 1); }
    static BITS_FN V right(V v) { return (V)(as_rows(v) >> 1); }
    static BITS_FN V up(V v) { return rotate_lanes_up(rotate_lanes_up(v)); }
    static BITS_FN V down(V v) { return rotate_lanes_down(rotate_lanes_down(v)); }
};

// Eight rows that follow each other, in order.
struct Rows {
    u64 rows[8];

    // The 64 cells of each that begin `shift` cells to the right of a column of words.
    BITS_FN void load(const u64* left, const u64* right, int shift) {
        for (int i = 0; i < 8; i++) rows[i] = shift ? left[i] >> shift | right[i] << (64 - shift) : left[i];
    }
    // Becomes what differs from other rows, of some cells of those in `which`. Returns the rows that do.
    BITS_FN unsigned become(const Rows& other, u64 cells, unsigned which) {
        unsigned found = 0;
        for (int i = 0; i < 8; i++) {
            rows[i] = which >> i & 1 ? (rows[i] ^ other.rows[i]) & cells : 0;
            found |= unsigned(rows[i] != 0) << i;
        }
        return found;
    }
    // Changes the cells that it says, where they were loaded from. Other rows may be another thread's.
    BITS_FN void flip(u64* left, u64* right, int shift) const {
        for (int i = 0; i < 8; i++) {
            if (!rows[i]) continue;
            left[i] ^= rows[i] << shift;
            if (shift) right[i] ^= rows[i] >> (64 - shift);
        }
    }
    // The cells that are in any of the first four rows, or the last.
    BITS_FN u64 first() const { return (rows[0] | rows[1]) | (rows[2] | rows[3]); }
    BITS_FN u64 last() const { return (rows[4] | rows[5]) | (rows[6] | rows[7]); }
};

template <class V>
struct Window {
    static constexpr int LANES = sizeof(V) / 8, COUNT = 64 / LANES;
    V rows[COUNT];

    // Where row r stands among the words of `rows`.
    static constexpr int at(int r) { return r % COUNT * LANES + r / COUNT; }

    // Moves on by a generation.
    template <class Rule>
    BITS_FN void advance(const Rule& rule) {
        using On = Lanes<V>;
        const auto state = [](V v) { return row_state(On::left(v), v, On::right(v)); };
        const RowState<V> end = state(rows[COUNT - 1]), start = state(rows[0]);
        RowState<V> above{On::up(end.x), On::up(end.m), V{}, V{}, V{}}, own = start;
#pragma GCC unroll 8
        for (int k = 0; k < COUNT; k++) {
            RowState<V> below = k + 1 < COUNT - 1 ? state(rows[k + 1]) : k + 1 < COUNT ? end : start;
            if (k + 1 == COUNT) below.x = On::down(below.x), below.m = On::down(below.m);
            rows[k] = rule(above, own, below);
            above = own, own = below;
        }
    }
};

// What eight rows of a window are held in, and how windows are made of them.
template <class V>
struct Bands {
    using Type = Rows;
    static BITS_FN void load(Window<V>& window, const Rows (&bands)[8]) {
        u64 words[64];
        for (int r = 0; r < 64; r++) words[Window<V>::at(r)] = bands[r / 8].rows[r % 8];
        __builtin_memcpy(window.rows, words, sizeof window.rows);
    }
    static BITS_FN void store(const Window<V>& window, Rows (&bands)[8]) {
        u64 words[64];
        __builtin_memcpy(words, window.rows, sizeof window.rows);
        for (int r = 0; r < 64; r++) bands[r / 8].rows[r % 8] = words[Window<V>::at(r)];
    }
};

}  // namespace

#if defined(__AVX512F__)
#include "window512.hpp"
#endif
