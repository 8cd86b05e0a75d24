// A window of 64 x 64 cells in registers (lanes.hpp), and what is loaded into it and stored.
#pragma once
#include "../../cpu/lanes.hpp"

namespace {

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
    static constexpr int COUNT = Lanes<V>::VECTORS;
    V rows[COUNT];

    // Where row r stands among the words of `rows`.
    static constexpr int at(int r) { return Lanes<V>::at(r); }
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
#elif defined(__AVX2__)
#include "window256.hpp"
#endif
