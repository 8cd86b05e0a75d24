// Ageing cells in cache: rows of vectors, which a panel (life/cpu/panel.hpp) moves on.
#pragma once
#include "../../life/cpu/panel.hpp"
#include "../circuit.hpp"

namespace {

// A row is one part for each plane, of as many vectors as there are columns: first where cells are
// live, then their ages (circuit.hpp).
template <class Rule, class Ages>
struct AgeingCells {
    static constexpr int AGES = Ages::PLANES, DIGITS = Ages::DIGITS;
    static constexpr int PARTS = 1 + AGES > DIGITS ? 1 + AGES : DIGITS;

    const Rule& rule;
    const Ages& ages;
    i64 plane_words;  // of a packed row

    static int pitch(int columns) { return PARTS * columns | 1; }

    void load(const Task& task, const u64* packed, V* row) const {
        const int columns = task.columns;
        for (int i = 0; i < DIGITS; i++) {
            task.fetch(packed ? packed + i * plane_words : nullptr);
            task.to_vectors(row + i * columns);
        }
        for (int x = 0; x < columns; x++) {
            V digits[DIGITS], age[AGES];
            for (int i = 0; i < DIGITS; i++) digits[i] = row[i * columns + x];
            row[x] = ages.encode(digits, age);
            for (int i = 0; i < AGES; i++) row[(1 + i) * columns + x] = age[i];
        }
    }

    void store(const Task& task, u64* packed, const V* row) const {
        const int columns = task.columns;
        alignas(64) V parts[DIGITS][32];
        for (int x = 0; x < columns; x++) {
            V digits[DIGITS], age[AGES];
            for (int i = 0; i < AGES; i++) age[i] = row[(1 + i) * columns + x];
            ages.decode(row[x], age, digits);
            for (int i = 0; i < DIGITS; i++) parts[i][x] = digits[i];
        }
        for (int i = 0; i < DIGITS; i++) task.store(packed + i * plane_words, parts[i]);
    }

    // Moves one column of vectors one generation on, as column() of life/cpu/strips.hpp does.
    template <bool FIRST, bool LAST, bool MASKED>
    BITS_FN void column(const V* above, const V* in, V* out, int rows, int columns, int x,
                        V mask) const {
        const int step = pitch(columns);
        auto at = [&](const V* row) { return state_at<FIRST, LAST>(row, x, columns); };
        // Moves on the cells of row `mid`.
        auto put = [&](const RowState<V>& a, const RowState<V>& b, const RowState<V>& c,
                       const V* mid, V* to) {
            V age[AGES], next[AGES];
            for (int i = 0; i < AGES; i++) age[i] = mid[(1 + i) * columns + x];
            const V live = ages.step(b.c, rule(a, b, c), age, next);
            to[x] = MASKED ? live & mask : live;
            for (int i = 0; i < AGES; i++) to[(1 + i) * columns + x] = next[i];
        };
        const V* mid = above + step;
        RowState<V> a = at(above), b = at(mid), c;
        int y = 0;
        for (; y + 3 <= rows; y += 3, in += 3 * step, out += 3 * step) {
            c = at(in);
            put(a, b, c, mid, out);
            a = at(in + step);
            put(b, c, a, in, out + step);
            b = at(in + 2 * step);
            put(c, a, b, in + step, out + 2 * step);
            mid = in + 2 * step;
        }
        for (; y < rows; y++, in += step, out += step) {
            c = at(in);
            put(a, b, c, mid, out);
            a = b, b = c, mid = in;
        }
    }

    // Moves all columns of some rows one generation on.
    template <bool MASKED>
    __attribute__((noinline)) void sweep(const V* above, const V* in, V* out, int rows, int columns,
                                         const V* mask) const {
        auto m = [&](int x) { return MASKED ? mask[x] : V{}; };
        if (columns == 1) return column<true, true, MASKED>(above, in, out, rows, 1, 0, m(0));
        column<true, false, MASKED>(above, in, out, rows, columns, 0, m(0));
        for (int x = 1; x < columns - 1; x++)
            column<false, false, MASKED>(above, in, out, rows, columns, x, m(x));
        column<false, true, MASKED>(above, in, out, rows, columns, columns - 1, m(columns - 1));
    }
};

}  // namespace
