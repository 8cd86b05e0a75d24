// Ageing cells on one CPU level: a rule is chosen, and a task carried out. Compiled once per level, as
// life/cpu/life.cpp is, and with the same care: nothing of the standard library is instantiated.
#include "ageing.hpp"

#include "../../life/cpu/rules.hpp"
#include "cells.hpp"

namespace {

// Well-known rules, which are compiled in: birth, survival, states. Others are computed by a circuit
// that the pass brings along, or by counts that are looked up, at less than half of their speed.
#define KNOWN_AGEING(RULE)                                                                     \
    RULE("2", "", 3) RULE("2", "345", 4) RULE("37", "3458", 4) RULE("24", "345", 25)          \
    RULE("2", "345", 5) RULE("246", "6", 3) RULE("34", "12", 3) RULE("378", "124567", 4)

// A pass over the rows y0 to y1 - 1 of one panel.
struct Rows {
    const AgeingPass& p;
    i64 panel, y0, y1;
    void* scratch;

    template <class Rule, class Ages>
    void run(const Rule& rule, const Ages& ages) const {
        using Cells = AgeingCells<Rule, Ages>;
        const LifePass& pass = p.pass;
        const Scratch s = Layout(pass, Cells::pitch(pass.columns)).of(scratch);
        const Task task{pass, s, panel, panel * pass.useful - pass.halo, pass.columns};
        task.run(Cells(rule, ages, p.plane_words()), y0, y1);
    }
};

template <int K, int DIGITS, class Rule>
void run_counted(const AgeingPass& p, const Rows& rows, const Rule& rule) {
    using Start = DynamicStart<K, V>;
    const CountedAges<K, DIGITS, Start> ages{Start(p.states)};
    rows.run(rule, ages);
}

// Runs a rule of any number of states: their numbers of bits are compiled in.
template <class Rule>
void run_any(const AgeingPass& p, const Rows& rows, const Rule& rule) {
    switch (p.states) {
        case 3: return rows.run(rule, ShiftedAges<3>());
        case 4: return rows.run(rule, ShiftedAges<4>());
        case 5: return run_counted<2, 3>(p, rows, rule);
        case 9: return run_counted<3, 4>(p, rows, rule);
        case 17: return run_counted<4, 5>(p, rows, rule);
        case 33: return run_counted<5, 6>(p, rows, rule);
        case 65: return run_counted<6, 7>(p, rows, rule);
        case 129: return run_counted<7, 8>(p, rows, rule);
        default: break;
    }
    switch (ageing_planes(p.states)) {
        case 3: return run_counted<3, 3>(p, rows, rule);
        case 4: return run_counted<4, 4>(p, rows, rule);
        case 5: return run_counted<5, 5>(p, rows, rule);
        case 6: return run_counted<6, 6>(p, rows, rule);
        case 7: return run_counted<7, 7>(p, rows, rule);
        default: return run_counted<8, 8>(p, rows, rule);
    }
}

std::size_t scratch_bytes(const AgeingPass& p) {
    // One part more than there are binary digits is enough for any encoding.
    const int parts = ageing_planes(p.states) + 1;
    const std::size_t circuit = p.pass.circuit ? CircuitRule::bytes(*p.pass.circuit) : 0;
    return circuit + Layout(p.pass, parts * p.pass.columns | 1).all();
}

// Carries out task `index`: one panel of one band.
void run_task(const AgeingPass& p, i64 index, void* scratch) {
    const LifePass& pass = p.pass;
    const LifeRows band(pass, index);
    const i64 y0 = band.first, y1 = band.last;
    const Rows rows{p, index % pass.panels, y0, y1, scratch};
#define TRY(b, s, n)                                                                         \
    if (pass.birth == counts(b) && pass.survival == counts(s) && p.states == n)              \
        return rows.run(StaticRule<rule_table(counts(b), counts(s))>{}, StaticAges<n>{});
    KNOWN_AGEING(TRY)
#undef TRY
    if (!pass.circuit) return run_any(p, rows, dynamic_rule<V>(pass.birth, pass.survival));
    void* rest = static_cast<char*>(scratch) + CircuitRule::bytes(*pass.circuit);
    run_any(p, Rows{p, rows.panel, y0, y1, rest}, CircuitRule::in(*pass.circuit, scratch));
}

}  // namespace

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
extern const AgeingOps JOIN(ageing_, LEVEL);
const AgeingOps JOIN(ageing_, LEVEL) = {int(sizeof(V)), scratch_bytes, run_task};
