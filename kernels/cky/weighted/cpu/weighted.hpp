// The CPU backend of weighted CKY parsing: one string at a time.
#pragma once
#include <cstddef>
#include <cstdint>

// The rules, as kernels.cky.weighted.tables.RuleTables has them.
struct WeightedRules {
    static constexpr std::uint32_t NONE = 0xFFFFFFFF;

    std::size_t symbols, terminals, lefts, rights, pairs;
    bool units;  // whether there are unit rules, or cycles
    const std::uint32_t *left_rows, *right, *left_of, *right_of;
    const std::uint32_t *rule_rows, *rule_symbols, *unit_rows, *unit_symbols;
    const std::uint32_t *lexical_rows, *lexical_symbols;
};

struct WeightedJob {
    const WeightedRules* rules;
    // The weights, in the order of rule_symbols, unit_symbols, lexical_symbols.
    const void *rule_weights, *unit_weights, *lexical_weights;
    const std::uint32_t* constants;  // the semiring's
    std::uint32_t symbol;
    std::size_t most;  // tokens of the longest string that scratch has room for
    const volatile bool* cancelled;
};

struct WeightedSemiring {
    const char* name;
    std::size_t value_bytes, value_align, result_bytes, result_align, constants;
    std::size_t (*scratch_bytes)(const WeightedRules& rules, std::size_t length);
    // Makes scratch ready for strings of at most job.most tokens.
    void (*prepare)(const WeightedJob& job, void* scratch);
    // Computes the value of one string of at least one token. Returns false if it was
    // cancelled, or if it needs numbers that the semiring does not have; scratch must then
    // be prepared again. chart: null, or zeros, which become the results of all symbols over
    // all spans: (cells, symbols).
    bool (*run)(const WeightedJob& job, const std::uint32_t* terminals, std::size_t length,
                void* scratch, void* result, void* chart);
};

// What each CPU level exports, as `extern const WeightedOps weighted_LEVEL`.
struct WeightedOps {
    const WeightedSemiring* semirings;
    std::size_t count;
};
