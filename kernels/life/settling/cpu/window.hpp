// A window of 64 or 32 rows of 64 cells in registers (lanes.hpp), and how it is loaded and what changed in it written.
#pragma once
#include "../../cpu/lanes.hpp"
#include "round.hpp"

namespace {

template <class V, int ROWS>
struct Window {
    static constexpr int COUNT = ROWS / Lanes<V>::LANES;
    V rows[COUNT];

    // Where row r stands among the words of `rows`.
    static constexpr int at(int r) { return r % COUNT * Lanes<V>::LANES + r / COUNT; }
};

// Where the cells of a window stand in a field: the words that its columns begin in, those to the right of
// them, and how many cells further on it begins.
struct Span {
    u64 *left, *right;
    int shift;
};

// The cells of a window that may change.
struct Inner {
    u64 columns, rows;
};

// How windows are loaded, and written. Vectors of more than two words do it better.
template <class V, int ROWS>
struct Moves {
    using Own = Window<V, ROWS>;
    static BITS_FN void load(Own& window, const Span& from) {
        u64 words[ROWS];
        for (int r = 0; r < ROWS; r++) words[Own::at(r)] = row(from, r);
        __builtin_memcpy(window.rows, words, sizeof window.rows);
    }

    // Writes the inner cells of a window, and notes in which blocks they are other than what was there.
    // Other rows may be another thread's.
    static BITS_FN void write(const Own& window, const Span& to, const Inner& inner, settling::Changes& found) {
        u64 words[ROWS], any = 0;
        __builtin_memcpy(words, window.rows, sizeof words);
        __builtin_memset(found.rows, 0, sizeof found.rows);
        for (int b = 0; b < ROWS / 4; b++) {
            u64 changed = 0;
            for (int r = 4 * b; r < 4 * b + 4; r++) {
                const u64 other = inner.rows >> r & 1 ? (words[Own::at(r)] ^ row(to, r)) & inner.columns : 0;
                if (!other) continue;
                to.left[r] ^= other << to.shift;
                if (to.shift) to.right[r] ^= other >> (64 - to.shift);
                changed |= other;
            }
            found.rows[b] = blocks_of(changed);
            any |= changed;
        }
        found.any = any != 0;
    }

private:
    static BITS_FN u64 row(const Span& from, int r) {
        return from.shift ? from.left[r] >> from.shift | from.right[r] << (64 - from.shift) : from.left[r];
    }
    // Which of the inner blocks of a window hold a bit of a row.
    static BITS_FN std::uint16_t blocks_of(u64 row) {
        row |= row >> 1;
        row = (row | row >> 2) & 0x1111111111111111;
        row = (row | row >> 3) & 0x0303030303030303;
        row = (row | row >> 6) & 0x000F000F000F000F;
        row = (row | row >> 12) & 0x000000FF000000FF;
        return std::uint16_t((row | row >> 24) >> 1 & ((1 << settling::BLOCKS) - 1));
    }
};

}  // namespace

#if defined(__AVX512F__)
#include "window512.hpp"
#elif defined(__AVX2__)
#include "window256.hpp"
#endif
