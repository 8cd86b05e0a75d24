// The CPU column of Fujita's Table 6.1 (2017): Conway's rule on a torus, one
// generation a call, one thread, words of 64 bits.
//
// Words are row-major, bit j of word w the cell in column 64 w + j.
#include "circuits.hpp"

namespace {

// Row y of a torus of that height.
template <class T>
const T* row_at(const T* u, long long y, long long length, long long height) {
    return u + (y < 0 ? y + height : y >= height ? y - height : y) * length;
}

// f(x - 1, x, x + 1) for each x of a circle of n: the ends apart, so that the
// middle has no test.
template <class F>
inline void around(long long n, F f) {
    if (n == 1) return f(0, 0, 0);
    f(n - 1, 0, 1);
    for (long long x = 1; x < n - 1; x++) f(x - 1, x, x + 1);
    f(n - 2, n - 1, 0);
}

inline Trio<u64> trio_at(const u64* row, long long before, long long w, long long after) {
    return trio(row[before], row[w], row[after]);
}

void single_row(const u64* top, const u64* mid, const u64* low, u64* out, long long words) {
    around(words, [=](long long l, long long w, long long r) {
        out[w] = life_single(trio_at(top, l, w, r), trio_at(mid, l, w, r), trio_at(low, l, w, r));
    });
}

}  // namespace

// One byte a cell.
extern "C" void word_per_cell(const unsigned char* from, unsigned char* to, long long width,
                              long long height) {
    for (long long y = 0; y < height; y++) {
        const unsigned char* top = row_at(from, y - 1, width, height);
        const unsigned char* mid = row_at(from, y, width, height);
        const unsigned char* low = row_at(from, y + 1, width, height);
        unsigned char* out = to + y * width;
        around(width, [=](long long l, long long x, long long r) {
            int neighbours =
                top[l] + top[x] + top[r] + mid[l] + mid[r] + low[l] + low[x] + low[r];
            out[x] = (neighbours == 3) | ((neighbours == 2) & mid[x]);
        });
    }
}

// One word at a time.
extern "C" void single_word(const u64* from, u64* to, long long words, long long height) {
    for (long long y = 0; y < height; y++)
        single_row(row_at(from, y - 1, words, height), row_at(from, y, words, height),
                   row_at(from, y + 1, words, height), to + y * words, words);
}

// Two words at a time, in rows y and y + 1; the last row of an odd number alone.
extern "C" void double_word(const u64* from, u64* to, long long words, long long height) {
    for (long long y = 0; y + 1 < height; y += 2) {
        const u64* top = row_at(from, y - 1, words, height);
        const u64* upper = row_at(from, y, words, height);
        const u64* lower = row_at(from, y + 1, words, height);
        const u64* low = row_at(from, y + 2, words, height);
        u64 *out_upper = to + y * words, *out_lower = out_upper + words;
        around(words, [=](long long l, long long w, long long r) {
            Two<u64> next = life_double(trio_at(top, l, w, r), trio_at(upper, l, w, r),
                                        trio_at(lower, l, w, r), trio_at(low, l, w, r));
            out_upper[w] = next.upper;
            out_lower[w] = next.lower;
        });
    }
    if (height % 2)
        single_row(row_at(from, height - 2, words, height), from + (height - 1) * words, from,
                   to + (height - 1) * words, words);
}
