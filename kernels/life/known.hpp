// Well-known rules as circuits, made from the table in circuits/known.py, which says how.
#pragma once
#include "circuit.hpp"

namespace {

struct B36S23 {
    template <class W>
    BITS_FN W operator()(const RowState<W>& top, const RowState<W>& mid,
                         const RowState<W>& low) const {
        const W t0 = lut3<54>(mid.x, mid.c, low.x);
        const W t1 = lut3<232>(top.x, mid.x, low.x);
        const W t2 = lut3<150>(low.m, top.m, mid.m);
        const W t3 = lut3<178>(mid.m, t2, top.m);
        const W t4 = lut3<8>(t1, t3, t2);
        const W t5 = lut3<150>(top.x, mid.x, low.x);
        const W t6 = lut3<20>(t0, t4, t5);
        const W t7 = lut3<104>(t5, t1, t2);
        const W t8 = lut3<66>(t6, t3, t7);
        return t8;
    }
};

struct B3678S34678 {
    template <class W>
    BITS_FN W operator()(const RowState<W>& top, const RowState<W>& mid,
                         const RowState<W>& low) const {
        const W t0 = lut3<150>(top.x, mid.x, low.x);
        const W t1 = lut3<212>(low.x, top.x, t0);
        const W t2 = lut3<232>(mid.m, low.m, top.m);
        const W t3 = lut3<150>(mid.m, low.m, top.m);
        const W t4 = lut3<200>(t1, t2, t3);
        const W t5 = lut3<195>(t3, t1, low.x);
        const W t6 = lut3<92>(t0, t4, t5);
        const W t7 = lut3<174>(t6, t3, t2);
        const W t8 = lut3<200>(t0, t7, t5);
        const W t9 = lut3<216>(t6, t8, mid.c);
        return t9;
    }
};

struct B2S {
    template <class W>
    BITS_FN W operator()(const RowState<W>& top, const RowState<W>& mid,
                         const RowState<W>& low) const {
        const W t0 = lut3<150>(mid.x, low.x, top.x);
        const W t1 = lut3<168>(top.m, mid.m, low.m);
        const W t2 = lut3<1>(t1, top.x, mid.x);
        const W t3 = lut3<33>(top.m, low.m, mid.m);
        const W t4 = lut3<70>(top.m, t2, t3);
        const W t5 = lut3<2>(t0, mid.c, t4);
        return t5;
    }
};

struct B1357S1357 {
    template <class W>
    BITS_FN W operator()(const RowState<W>& top, const RowState<W>& mid,
                         const RowState<W>& low) const {
        const W t0 = lut3<150>(mid.x, low.x, top.x);
        const W t1 = lut3<102>(mid.l, mid.c, t0);
        return t1;
    }
};

struct B3S012345678 {
    template <class W>
    BITS_FN W operator()(const RowState<W>& top, const RowState<W>& mid,
                         const RowState<W>& low) const {
        const W t0 = lut3<22>(mid.m, low.m, top.m);
        const W t1 = lut3<8>((mid.c ^ mid.c), low.x, mid.x);
        const W t2 = lut3<52>(t0, t1, low.m);
        const W t3 = lut3<150>(mid.x, low.x, top.x);
        const W t4 = lut3<248>(mid.c, t2, t3);
        return t4;
    }
};

struct B3S12345 {
    template <class W>
    BITS_FN W operator()(const RowState<W>& top, const RowState<W>& mid,
                         const RowState<W>& low) const {
        const W t0 = lut3<150>(top.x, low.x, mid.x);
        const W t1 = lut3<178>(mid.x, t0, top.x);
        const W t2 = lut3<150>(mid.m, low.m, top.m);
        const W t3 = lut3<40>(t1, t2, t0);
        const W t4 = lut3<232>(mid.m, low.m, top.m);
        const W t5 = lut3<19>(t2, t3, t1);
        const W t6 = lut3<167>(t4, t0, t5);
        const W t7 = lut3<168>(mid.c, t3, t6);
        return t7;
    }
};

struct B36S125 {
    template <class W>
    BITS_FN W operator()(const RowState<W>& top, const RowState<W>& mid,
                         const RowState<W>& low) const {
        const W t0 = lut3<232>(mid.x, top.x, low.x);
        const W t1 = lut3<150>(top.m, mid.m, low.m);
        const W t2 = lut3<150>(mid.x, low.x, top.x);
        const W t3 = lut3<232>(mid.m, t0, low.m);
        const W t4 = lut3<94>(t2, mid.c, t3);
        const W t5 = lut3<40>(t0, t1, t4);
        return t5;
    }
};

struct B35678S5678 {
    template <class W>
    BITS_FN W operator()(const RowState<W>& top, const RowState<W>& mid,
                         const RowState<W>& low) const {
        const W t0 = lut3<232>(top.x, low.x, mid.x);
        const W t1 = lut3<102>(mid.r, t0, mid.m);
        const W t2 = lut3<212>(low.m, top.m, t1);
        const W t3 = lut3<150>(low.x, top.x, mid.x);
        const W t4 = lut3<224>(t2, mid.m, t1);
        const W t5 = lut3<220>(t3, t4, mid.c);
        const W t6 = lut3<168>(t2, t1, t5);
        return t6;
    }
};

struct B368S245 {
    template <class W>
    BITS_FN W operator()(const RowState<W>& top, const RowState<W>& mid,
                         const RowState<W>& low) const {
        const W t0 = lut3<150>(mid.x, low.x, top.x);
        const W t1 = lut3<212>(top.x, low.x, t0);
        const W t2 = lut3<150>(mid.m, top.m, low.m);
        const W t3 = lut3<142>(t2, mid.m, top.m);
        const W t4 = lut3<102>(top.m, t0, t3);
        const W t5 = lut3<164>(t1, mid.c, t4);
        const W t6 = lut3<144>(t1, mid.c, t0);
        const W t7 = lut3<132>(t5, t4, t6);
        const W t8 = lut3<228>(t7, t5, t2);
        return t8;
    }
};

struct B4678S35678 {
    template <class W>
    BITS_FN W operator()(const RowState<W>& top, const RowState<W>& mid,
                         const RowState<W>& low) const {
        const W t0 = lut3<150>(mid.x, low.x, top.x);
        const W t1 = lut3<212>(top.x, low.x, t0);
        const W t2 = lut3<73>(t1, t0, low.m);
        const W t3 = lut3<212>(top.m, mid.m, t2);
        const W t4 = lut3<236>(t1, t3, low.m);
        const W t5 = lut3<168>(t1, t2, t3);
        const W t6 = lut3<176>(t4, t0, t5);
        return t6;
    }
};

struct B34S34 {
    template <class W>
    BITS_FN W operator()(const RowState<W>& top, const RowState<W>& mid,
                         const RowState<W>& low) const {
        const W t0 = lut3<60>(low.x, mid.r, top.x);
        const W t1 = lut3<5>(t0, top.x, low.x);
        const W t2 = lut3<178>(top.x, t0, mid.l);
        const W t3 = lut3<43>(t1, t2, low.m);
        const W t4 = lut3<105>(t1, low.m, top.m);
        const W t5 = lut3<24>(t3, t2, t4);
        return t5;
    }
};

// Any other rule is looked up as it runs, or is a circuit found at run time.
#define KNOWN_RULES(RULE) \
    RULE("36", "23", B36S23) \
    RULE("3678", "34678", B3678S34678) \
    RULE("2", "", B2S) \
    RULE("1357", "1357", B1357S1357) \
    RULE("3", "012345678", B3S012345678) \
    RULE("3", "12345", B3S12345) \
    RULE("36", "125", B36S125) \
    RULE("35678", "5678", B35678S5678) \
    RULE("368", "245", B368S245) \
    RULE("4678", "35678", B4678S35678) \
    RULE("34", "34", B34S34)

}  // namespace
