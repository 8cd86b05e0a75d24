// The ceiling for Life on a CPU core: one generation after another of B3/S23 on a tile
// that stays in cache, by the loop of kernels/life/cpu/strips.hpp and nothing around it: no
// halo, no packing, no memory traffic. lifesim/bench.py compiles this with
// -O3 -march=native and calls it.
//
// A tile is `rows` rows of `columns` vectors. Neighbours left and right are the
// neighbouring vectors, those of the outer columns at the other end of the row, so that
// each bit position of a vector is a torus of columns x rows cells of its own. A
// generation moves down by a row as it is written (the library's does too), which makes
// the first rows no special case.
#include "../kernels/life/circuit.hpp"

namespace {

// Rows an odd number of vectors apart, or they would meet in few sets of the cache.
int pitch_of(int columns) { return columns | 1; }

template <class V>
BITS_FN RowState<V> state_at(const V* row, int left, int x, int right) {
    return row_state(row[left], row[x], row[right]);
}

template <class V>
BITS_FN void column(const V* in, V* out, int rows, int columns, int left, int x, int right) {
    const int pitch = pitch_of(columns);
    const Conway rule;
    const V* last = in + (rows - 2) * pitch;
    auto at = [&](const V* row) { return state_at(row, left, x, right); };
    RowState<V> a = at(last), b = at(last + pitch), c;
    int y = 0;
    for (; y + 3 <= rows; y += 3, in += 3 * pitch, out += 3 * pitch) {
        c = at(in);
        out[x] = rule(a, b, c);
        a = at(in + pitch);
        out[x + pitch] = rule(b, c, a);
        b = at(in + 2 * pitch);
        out[x + 2 * pitch] = rule(c, a, b);
    }
    for (; y < rows; y++, in += pitch, out += pitch) {
        c = at(in);
        out[x] = rule(a, b, c);
        a = b, b = c;
    }
}

// rows and columns are at least 3. The tile ends in `a` after an even number of
// generations, in `b` after an odd one, moved down by that many rows.
template <class V>
void tile(V* a, V* b, int rows, int columns, long long generations) {
    for (; generations > 0; generations--) {
        column(a, b, rows, columns, columns - 1, 0, 1);
        for (int x = 1; x < columns - 1; x++) column(a, b, rows, columns, x - 1, x, x + 1);
        column(a, b, rows, columns, columns - 2, columns - 1, 0);
        V* t = a;
        a = b, b = t;
    }
}

}  // namespace

extern "C" {

void tile_128(void* a, void* b, int rows, int columns, long long generations) {
    tile(static_cast<v128*>(a), static_cast<v128*>(b), rows, columns, generations);
}

void tile_256(void* a, void* b, int rows, int columns, long long generations) {
    tile(static_cast<v256*>(a), static_cast<v256*>(b), rows, columns, generations);
}

void tile_512(void* a, void* b, int rows, int columns, long long generations) {
    tile(static_cast<v512*>(a), static_cast<v512*>(b), rows, columns, generations);
}

}  // extern "C"
