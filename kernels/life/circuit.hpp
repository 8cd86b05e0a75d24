// The rule of Life on words of cells, for any word type (see kernels/bits.hpp).
//
// A row of cells enters as RowState: the cells C, their left and right neighbours L and R, and
// the two-bit row sum of the three. Row sums are made once and serve three output rows (Fujita
// 2017, 6.3, taken to its end).
#pragma once
#include "../bits.hpp"

namespace {

template <class W>
struct RowState { W x, m, l, c, r; };  // x + 2m = l + c + r

template <class W>
BITS_FN RowState<W> row_state(W l, W c, W r) { return {xor3(l, r, c), maj3(l, r, c), l, c, r}; }

// Conway's rule, B3/S23.
struct Conway {
    template <class W>
    BITS_FN W operator()(const RowState<W>& top, const RowState<W>& mid,
                         const RowState<W>& low) const {
        if constexpr (has_ternary<W>::value) {
            // Six three-input operations after the row sums, the fewest known
            // (found by a SAT solver, binary-banter 2024).
            W a = lut3<0x96>(top.x, mid.r, mid.l), b = lut3<0xE8>(top.x, mid.r, mid.l);
            W m0 = lut3<0x3E>(low.x, a, mid.c), m1 = lut3<0x5B>(m0, mid.c, b);
            W m2 = lut3<0x91>(m1, low.m, top.m);
            return lut3<0x58>(m2, m0, m1);
        } else {
            // Nineteen two-input operations. Five of them are the row sums', whose l
            // ^ r and l & r are needed again here. There are 2 or 3 neighbours if
            // just one of four bits of weight two is set: m above, m below, the
            // carry of the three low bits, and l & r. Then the cell lives if the low
            // bit is set, or if it lived.
            W a = mid.l ^ mid.r, b = mid.l & mid.r;
            W s = xor3(top.x, low.x, a), k = maj3(top.x, low.x, a);
            W odd = (top.m ^ low.m) ^ (b ^ k), both = (top.m & low.m) | (b & k);
            return odd & ~both & (s | mid.c);
        }
    }
};

// The number of live cells among the nine, T = t0 + 2 t1 + 4 t2 + 8 t3.
template <class W>
struct Total { W t0, t1, t2, t3; };

template <class W>
BITS_FN Total<W> total_of(const RowState<W>& top, const RowState<W>& mid, const RowState<W>& low) {
    Sum2<W> s = full_add(top.x, mid.x, low.x), t = full_add(top.m, mid.m, low.m);
    return {s.sum, t.sum ^ s.carry, lut3<0x78>(t.carry, t.sum, s.carry),
            lut3<0x80>(t.carry, t.sum, s.carry)};
}

// Returns the table of a rule: bit 2T + C is the next state of a cell C among nine cells of
// which T live. birth and survival hold bit n for n live neighbours.
BITS_FN constexpr u32 rule_table(u32 birth, u32 survival) {
    u32 table = 0;
    for (int n = 0; n <= 8; n++)
        table |= (birth >> n & 1) << (2 * n) | (survival >> n & 1) << (2 * (n + 1) + 1);
    return table;
}

// Any rule that is known when this is compiled: nine operations for the total, a three-input
// function of (t1, t0, c) for each of the three cases of (t3, t2), and two operations to choose
// between them.
template <u32 NEXT>
struct StaticRule {
    template <class W>
    BITS_FN W operator()(const RowState<W>& top, const RowState<W>& mid,
                         const RowState<W>& low) const {
        constexpr int low4 = NEXT & 255, high4 = NEXT >> 8 & 255;
        constexpr int last = NEXT >> 16 & 15;
        Total<W> t = total_of(top, mid, low);
        W y = mux(t.t2, lut3<high4>(t.t1, t.t0, mid.c), lut3<low4>(t.t1, t.t0, mid.c));
        // With t3 set only totals 8 and 9 occur: t1 = t2 = 0.
        return mux(t.t3, lut2<last>(t.t0, mid.c), y);
    }
};

// Any rule that is known only when this runs: its table as words of all zeros or all ones.
template <class W>
struct DynamicRule {
    W born[9], kept[9];  // by the number of live neighbours
    // The total T counts the neighbours, and the cell itself where it lives. So the number
    // of neighbours is T, or T - 1 where the cell lives, and kept is looked up one place
    // further on.
    BITS_FN W operator()(const RowState<W>& top, const RowState<W>& mid,
                         const RowState<W>& low) const {
        Total<W> t = total_of(top, mid, low);
        W b = mux(t.t2,
                  mux(t.t1, mux(t.t0, born[7], born[6]), mux(t.t0, born[5], born[4])),
                  mux(t.t1, mux(t.t0, born[3], born[2]), mux(t.t0, born[1], born[0])));
        W s = mux(t.t2,
                  mux(t.t1, mux(t.t0, kept[6], kept[5]), mux(t.t0, kept[4], kept[3])),
                  mux(t.t1, mux(t.t0, kept[2], kept[1]), kept[0]));
        b = mux(t.t3, born[8], b);
        s = mux(t.t3, mux(t.t0, kept[8], kept[7]), s);
        return mux(mid.c, s, b);
    }
};

}  // namespace
