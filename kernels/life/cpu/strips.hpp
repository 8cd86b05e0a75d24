// Rows of a panel in cache, as vectors of strips (life.hpp), and how they move one generation on.
// For life.cpp, which is compiled once per CPU level with VECTOR its register type.
#pragma once
#include <cstddef>
#include <cstdint>

#include "../circuit.hpp"

namespace {

using i64 = std::int64_t;
using V = VECTOR;
constexpr int LANES = sizeof(V) / 4;
constexpr int STRIPS = 32 * LANES;  // strip LANES i + l is bit i of lane l

// Return a vector of ones in that lane only.
V first_lane() {
    V m{};
    m[0] = ~0u;
    return m;
}
V last_lane() {
    V m{};
    m[LANES - 1] = ~0u;
    return m;
}

// Return the vectors beyond the ends of a row. The one left of column 0 is the last column of each
// strip's predecessor; the one right of the last column is the first of its successor. The strips
// close to a ring.
BITS_FN V seam_left(V last) {
    V up = rotate_lanes_up(last), m = first_lane();
    return mux(m, up << 1 | up >> 31, up);
}
BITS_FN V seam_right(V first) {
    V down = rotate_lanes_down(first), m = last_lane();
    return mux(m, down >> 1 | down << 31, down);
}

// Returns how many vectors apart rows stand in cache: an odd number, or they would meet in few sets.
BITS_FN int pitch_of(int columns) { return columns | 1; }

// Returns what the circuit takes of column x of a row: its cells, and those on either side.
template <bool FIRST, bool LAST>
BITS_FN RowState<V> state_at(const V* row, int x, int columns) {
    V l = FIRST ? seam_left(row[columns - 1]) : row[x - 1];
    V r = LAST ? seam_right(row[0]) : row[x + 1];
    return row_state(l, row[x], r);
}

// Moves one column of vectors one generation on: makes out[y] of in[y - 1] and its neighbours, where
// rows -2 and -1 of `in` are the two rows of `above`. So the output lags by a row.
template <bool FIRST, bool LAST, bool MASKED, class Rule>
BITS_FN void column(const Rule& rule, const V* above, const V* in, V* out, int rows, int columns,
                    int x, V mask) {
    const int pitch = pitch_of(columns);
    auto at = [&](const V* row) { return state_at<FIRST, LAST>(row, x, columns); };
    auto put = [&](V* to, V value) { to[x] = MASKED ? value & mask : value; };
    RowState<V> a = at(above), b = at(above + pitch), c;
    int y = 0;
    for (; y + 3 <= rows; y += 3, in += 3 * pitch, out += 3 * pitch) {
        c = at(in);
        put(out, rule(a, b, c));
        a = at(in + pitch);
        put(out + pitch, rule(b, c, a));
        b = at(in + 2 * pitch);
        put(out + 2 * pitch, rule(c, a, b));
    }
    for (; y < rows; y++, in += pitch, out += pitch) {
        c = at(in);
        put(out, rule(a, b, c));
        a = b, b = c;
    }
}

// Moves all columns of some rows one generation on.
template <bool MASKED, class Rule>
__attribute__((noinline)) void sweep(const Rule& rule, const V* above, const V* in, V* out, int rows, int columns,
           const V* mask) {
    auto m = [&](int x) { return MASKED ? mask[x] : V{}; };
    if (columns == 1) {
        column<true, true, MASKED>(rule, above, in, out, rows, 1, 0, m(0));
        return;
    }
    column<true, false, MASKED>(rule, above, in, out, rows, columns, 0, m(0));
    for (int x = 1; x < columns - 1; x++)
        column<false, false, MASKED>(rule, above, in, out, rows, columns, x, m(x));
    column<false, true, MASKED>(rule, above, in, out, rows, columns, columns - 1, m(columns - 1));
}

}  // namespace
