// The circuit of a rule that is known only when this runs, from those that are compiled in.
#pragma once
#include "../circuit.hpp"
#include "../known.hpp"

namespace {

// Returns the set of these digits: bit n for n.
constexpr u32 counts(const char* digits) {
    u32 set = 0;
    for (; *digits; digits++) set |= 1u << (*digits - '0');
    return set;
}

// Returns the rule as one that is looked up.
template <class V>
DynamicRule<V> dynamic_rule(u32 birth, u32 survival) {
    DynamicRule<V> rule;
    V none{};
    for (int n = 0; n < 9; n++) {
        rule.born[n] = birth >> n & 1 ? ~none : none;
        rule.kept[n] = survival >> n & 1 ? ~none : none;
    }
    return rule;
}

// Calls runner.run() with a known rule, as what takes the fewest instructions.
template <class V, class Known, class Static, class Runner>
void with_known(const Runner& runner) {
    if constexpr (has_ternary<V>::value) runner.run(Known{});
    else runner.run(Static{});
}

// Calls runner.run() with the circuit of the rule, on words V.
template <class V, class Runner>
void with_rule(u32 birth, u32 survival, const Runner& runner) {
    if (birth == counts("3") && survival == counts("23")) return runner.run(Conway{});
#define TRY(b, s, Known)                              \
    if (birth == counts(b) && survival == counts(s))  \
        return with_known<V, Known, StaticRule<rule_table(counts(b), counts(s))>>(runner);
    KNOWN_RULES(TRY)
#undef TRY
    runner.run(dynamic_rule<V>(birth, survival));
}

}  // namespace
