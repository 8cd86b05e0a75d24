// The rule that a source is compiled for.
//
// Macros: CIRCUIT the rule, statements that return the next state (kernels/life/circuits/circuit.py), or
// TABLE (kernels/life/circuit.hpp), and then CONWAY 1 for B3/S23.
#pragma once
#include "../circuit.hpp"

#ifndef TABLE
#define TABLE 0
#define CONWAY 1
#endif
#ifndef CONWAY
#define CONWAY 0
#endif

namespace {

#if defined(CIRCUIT)
struct LifeRule {
    template <class W>
    BITS_FN W operator()(const RowState<W>& top, const RowState<W>& mid,
                         const RowState<W>& low) const {
        CIRCUIT
    }
};
#elif CONWAY
using LifeRule = Conway;
#else
using LifeRule = StaticRule<TABLE>;
#endif

}  // namespace
