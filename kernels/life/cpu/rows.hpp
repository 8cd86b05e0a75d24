// Passes by a circuit that is found at run time (circuit_code.hpp), a row of vectors at a time: by
// native code where there is some, else operation by operation over a whole row.
#pragma once
#include <cstring>

#include "circuit_code.hpp"
#include "direct.hpp"
#include "panel.hpp"

namespace {

template <int LUT>
void apply(const V* a, const V* b, const V* c, V* out, i64 count) {
    for (i64 i = 0; i < count; i++) out[i] = lut3<LUT>(a[i], b[i], c[i]);
}

using Apply = void (*)(const V*, const V*, const V*, V*, i64);
#define FOUR(n) apply<n>, apply<n + 1>, apply<n + 2>, apply<n + 3>
#define SIXTEEN(n) FOUR(n), FOUR(n + 4), FOUR(n + 8), FOUR(n + 12)
#define SIXTY_FOUR(n) SIXTEEN(n), SIXTEEN(n + 16), SIXTEEN(n + 32), SIXTEEN(n + 48)
constexpr Apply APPLY[256] = {SIXTY_FOUR(0), SIXTY_FOUR(64), SIXTY_FOUR(128), SIXTY_FOUR(192)};
#undef FOUR
#undef SIXTEEN
#undef SIXTY_FOUR

// Carries out a circuit operation by operation. Its inputs stand in three rows as `at` says
// (circuit_code.hpp), each as `count` vectors. slots: for the results of operations, `pitch` vectors
// each; zeros: `count` vectors.
void carry_out(const LifeCircuit& circuit, const void* const three[3], const int at[5], V* out, i64 count, V* slots,
               i64 pitch, const V* zeros) {
    auto operand = [&](int signal) -> const V* {
        if (signal == 0) return zeros;
        if (signal >= 16) return slots + pitch * (signal - 16);
        return static_cast<const V*>(three[(signal - 1) / 5]) + at[(signal - 1) % 5];
    };
    for (int i = 0; i < circuit.count; i++) {
        const CircuitStep& s = circuit.steps[i];
        V* to = i + 1 < circuit.count ? slots + pitch * s.slot : out;
        APPLY[s.lut](operand(s.in[0]), operand(s.in[1]), operand(s.in[2]), to, count);
    }
}

// Carries out a circuit on rows, in memory that a task has for it.
struct CircuitRule {
    const LifeCircuit& circuit;
    V* rows;   // three of CircuitRow, of which a fourth takes turns with them
    V* slots;  // results of operations, CircuitRow::MOST vectors each
    V* zeros;

    static constexpr i64 MOST = CircuitRow::MOST;

    static std::size_t bytes(const LifeCircuit& circuit) {
        return sizeof(V) * std::size_t(3 * CircuitRow::VECTORS + MOST * (circuit.slots + 1));
    }
    static CircuitRule in(const LifeCircuit& circuit, void* memory) {
        V* rows = static_cast<V*>(memory);
        V* slots = rows + 3 * CircuitRow::VECTORS;
        V* zeros = slots + MOST * circuit.slots;
        std::memset(zeros, 0, sizeof(V) * std::size_t(MOST));
        return {circuit, rows, slots, zeros};
    }

    V* row(i64 y) const { return rows + (y + 3) % 3 * CircuitRow::VECTORS; }

    // Makes `count` vectors of the row that has row(y - 1), row(y) and row(y + 1) around it.
    void make(i64 y, V* out, i64 count, bool beside) const {
        const void* three[3] = {row(y - 1), row(y), row(y + 1)};
        const CircuitRows native = beside ? circuit.beside : circuit.apart;
        if (native) return native(three, out, count);
        carry_out(circuit, three, beside ? CIRCUIT_BESIDE : CIRCUIT_APART, out, count, slots, MOST, zeros);
    }

    // Sets row(y) to a row of a panel.
    void take(i64 y, const V* cells, int columns) const {
        V* to = row(y);
        V *c = to + CircuitRow::C, *x = to + CircuitRow::X, *m = to + CircuitRow::M;
        c[-1] = seam_left(cells[columns - 1]);
        c[columns] = seam_right(cells[0]);
        V l = c[-1], here = cells[0];
        for (int i = 0; i < columns; i++) {
            const V r = i + 1 < columns ? cells[i + 1] : c[columns];
            c[i] = here;
            const RowState<V> s = row_state(l, here, r);
            x[i] = s.x, m[i] = s.m;
            l = here, here = r;
        }
    }
};

// Cells of one bit that such a circuit moves on (panel.hpp).
struct CircuitCells : OneBit<CircuitRule> {
    template <bool MASKED>
    void sweep(const V* above, const V* in, V* out, int rows, int columns, const V* mask) const {
        const int step = pitch(columns);
        rule.take(-2, above, columns);
        rule.take(-1, above + step, columns);
        for (int y = 0; y < rows; y++, in += step, out += step) {
            rule.take(y, in, columns);
            rule.make(y - 1, out, columns, true);
            for (int x = 0; MASKED && x < columns; x++) out[x] &= mask[x];
        }
    }
};

// Makes one generation straight on packed rows, as Direct does by other rules (direct.hpp).
struct DirectCircuit {
    Direct<V> direct;
    const CircuitRule& rule;

    static constexpr i64 WORDS = Direct<V>::WORDS;

    // Sets row(y) to the vectors of a row of the universe from word `first` on.
    void take(i64 y, i64 first, i64 count) const {
        V* to = rule.row(y);
        V *l = to + CircuitRow::L, *c = to + CircuitRow::C, *r = to + CircuitRow::R;
        V *x = to + CircuitRow::X, *m = to + CircuitRow::M;
        const u64* row = direct.row(y);
        for (i64 i = 0; i < count; i++) {
            const i64 at = first + i * WORDS;
            RowState<V> s;
            if (at > 0 && at + WORDS < direct.words) {
                s = Direct<V>::state(row + at);
            } else {
                direct.states_at_edge(&row, 1, at, &s);
            }
            l[i] = s.l, c[i] = s.c, r[i] = s.r, x[i] = s.x, m[i] = s.m;
        }
    }

    void run(i64 y0, i64 y1) const {
        const LifePass& p = direct.p;
        constexpr i64 PART = CircuitRow::MOST * WORDS;
        for (i64 first = 0; first < direct.words; first += PART) {
            const i64 left = direct.words - first, words = left < PART ? left : PART;
            const i64 count = (words + WORDS - 1) / WORDS;
            take(y0 - 1, first, count);
            take(y0, first, count);
            for (i64 y = y0; y < y1 && !*p.cancelled; y++) {
                take(y + 1, first, count);
                V made[CircuitRow::MOST];
                rule.make(y, made, count, false);
                u64* out = p.dst + y * p.stride + first;
                std::memcpy(out, made, std::size_t(words) * 8);
                if (left <= PART && (p.width & 63))
                    out[words - 1] &= (u64(1) << (p.width & 63)) - 1;
            }
        }
    }
};

}  // namespace
