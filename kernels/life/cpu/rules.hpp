// The circuit of a rule that is known only when this runs, from those that are compiled in.
#pragma once
#include "../circuit.hpp"

namespace {

// Well-known rules, which are compiled in. Any other is looked up as it runs, at less than half
// of their speed.
#define KNOWN_RULES(RULE)                                                              \
    RULE("36", "23") RULE("3678", "34678") RULE("2", "") RULE("1357", "1357")          \
    RULE("3", "012345678") RULE("3", "12345") RULE("36", "125") RULE("35678", "5678")  \
    RULE("368", "245") RULE("4678", "35678") RULE("34", "34")

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

// Calls runner.run() with the circuit of the rule, on words V.
template <class V, class Runner>
void with_rule(u32 birth, u32 survival, const Runner& runner) {
    if (birth == counts("3") && survival == counts("23")) return runner.run(Conway{});
#define TRY(b, s)                                     \
    if (birth == counts(b) && survival == counts(s))  \
        return runner.run(StaticRule<rule_table(counts(b), counts(s))>{});
    KNOWN_RULES(TRY)
#undef TRY
    runner.run(dynamic_rule<V>(birth, survival));
}

}  // namespace
