// A circuit of three-input operations for any function of nine cells, found by search.
#pragma once
#include <cstdint>
#include <vector>

namespace circuits {

using u64 = std::uint64_t;

// The values of a function for all 512 squares of nine cells, numbered as those of a MapRule.
struct Table {
    u64 words[8];

    bool any() const {
        u64 all = 0;
        for (u64 word : words) all |= word;
        return all != 0;
    }
    int at(int square) const { return int(words[square >> 6] >> (square & 63) & 1); }
    int count() const {
        int n = 0;
        for (u64 word : words) n += __builtin_popcountll(word);
        return n;
    }
    int first() const;  // the first one, or -1
};

template <class F>
Table each_word(F f) {
    Table t;
    for (int i = 0; i < 8; i++) t.words[i] = f(i);
    return t;
}
inline Table operator&(const Table& a, const Table& b) {
    return each_word([&](int i) { return a.words[i] & b.words[i]; });
}
inline Table operator^(const Table& a, const Table& b) {
    return each_word([&](int i) { return a.words[i] ^ b.words[i]; });
}
inline Table operator~(const Table& a) {
    return each_word([&](int i) { return ~a.words[i]; });
}

// Signals are numbered: 0 is zero, 1 + 5 row + k is l, c, r, x, m (k = 0 to 4, circuit.hpp) of the
// row at the top, in the middle and at the bottom. Operations follow.
constexpr int INPUTS = 16;

// A three-input operation on signals; bit 4 a + 2 b + c of `lut` is its value (bits.hpp).
struct Op {
    int lut, in[3];
};

// Operations, each on signals before it. The output is the last one.
using Ops = std::vector<Op>;

// Returns a circuit of the function, or nothing where its inputs do not tell enough. inputs: bit i
// says that input i may be used; 0 always may. More moves find smaller circuits, and take longer:
// some 40 microseconds each. Other seeds find others; the same arguments find the same.
Ops search(const Table& function, std::uint32_t inputs, int moves, u64 seed);

}  // namespace circuits
