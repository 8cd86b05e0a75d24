// Weighted CKY parsing on one CPU level. Compiled once per level, with LEVEL its name. Nothing
// of the standard library may be instantiated here (sums.cpp says why).
#include "weighted.hpp"

#include "../semiring.hpp"

namespace {

using std::size_t;

struct Layout {
    char* base;
    size_t used;

    template <class T>
    T* take(size_t count) {
        T* const at = base ? reinterpret_cast<T*>(base + used) : nullptr;
        used += (count * sizeof(T) + 63) / 64 * 64;
        return at;
    }
};

size_t cells_of(size_t length) { return length * (length + 1) / 2; }

// What is known of one string, column by column: a column is the spans that end at one token.
// Left children of all columns are kept as lists; right children of the current column also by
// number.
template <class S>
struct Chart {
    using Value = typename S::Value;
    using Sum = typename S::Sum;

    Sum *by_pair, *raw, *closed;  // of the current span: (pairs), (symbols), (symbols)
    Value* rights;                // of the current column: (length, rights)
    u64 *lefts_met, *raw_met, *closed_met;
    size_t zeroed;  // bytes, of everything above
    u32 *right_list, *right_count;  // which of `rights` are not zero: (length, rights), (length)
    size_t* left_start;             // of each cell (cells + 1)
    u32* left_list;
    Value* left_values;

    static size_t place(Chart& chart, const WeightedRules& rules, size_t length, void* memory) {
        Layout layout{static_cast<char*>(memory), 0};
        chart.by_pair = layout.take<Sum>(rules.pairs);
        chart.raw = layout.take<Sum>(rules.symbols);
        chart.closed = layout.take<Sum>(rules.units ? rules.symbols : 0);
        chart.rights = layout.take<Value>(length * rules.rights);
        chart.lefts_met = layout.take<u64>(rules.lefts / 64 + 1);
        chart.raw_met = layout.take<u64>(rules.symbols / 64 + 1);
        chart.closed_met = layout.take<u64>(rules.symbols / 64 + 1);
        chart.zeroed = layout.used;
        chart.right_list = layout.take<u32>(length * rules.rights);
        chart.right_count = layout.take<u32>(length);
        chart.left_start = layout.take<size_t>(cells_of(length) + 1);
        chart.left_list = layout.take<u32>(cells_of(length) * rules.lefts);
        chart.left_values = layout.take<Value>(cells_of(length) * rules.lefts);
        return layout.used;
    }
};

BITS_FN void meet(u64* set, u32 i) { set[i >> 6] |= u64(1) << (i & 63); }

// Calls each(i) for the members of a set, in rising order, and empties the set.
template <class Each>
BITS_FN void take_all(u64* set, size_t size, Each each) {
    for (size_t w = 0; w <= size / 64; w++) {
        u64 word = set[w];
        if (!word) continue;
        set[w] = 0;
        for (; word; word &= word - 1) each(u32(64 * w + size_t(__builtin_ctzll(word))));
    }
}

// Computes sums[i] += x * y[i].
template <class S>
BITS_FN void add_row(const S& ring, typename S::Sum* __restrict__ sums, typename S::Value x,
                     const typename S::Value* __restrict__ y, size_t count) {
    for (size_t i = 0; i < count; i++) ring.add(sums[i], x, y[i]);
}

template <class S>
struct Walk {
    using Value = typename S::Value;
    using Sum = typename S::Sum;

    const WeightedJob& job;
    const WeightedRules& rules;
    const Value *rule_weights, *unit_weights, *lexical_weights;
    const S ring;
    Chart<S> chart;
    bool outside = false;

    explicit Walk(const WeightedJob& j, void* scratch)
        : job(j), rules(*j.rules), rule_weights(static_cast<const Value*>(j.rule_weights)),
          unit_weights(static_cast<const Value*>(j.unit_weights)),
          lexical_weights(static_cast<const Value*>(j.lexical_weights)), ring(S::of(j.constants)) {
        Chart<S>::place(chart, rules, job.most, scratch);
    }

    // Adds to by_pair the products over tokens i .. k - 1 and k .. j - 1, for spans that end
    // at j.
    void split(size_t left_cell, size_t k) {
        const size_t first = chart.left_start[left_cell], last = chart.left_start[left_cell + 1];
        const u32 met = chart.right_count[k];
        if (first == last || !met) return;
        const Value* const y = chart.rights + k * rules.rights;
        const u32* const list = chart.right_list + k * rules.rights;
        for (size_t n = first; n < last; n++) {
            const u32 left = chart.left_list[n];
            const u32 from = rules.left_rows[left], to = rules.left_rows[left + 1];
            const Value x = chart.left_values[n];
            const u32* const right = rules.right;
            meet(chart.lefts_met, left);
            if (size_t(met) * 8 < to - from) {
                for (u32 m = 0; m < met; m++) {
                    u32 low = from, high = to;
                    while (low < high) {
                        const u32 middle = (low + high) / 2;
                        if (right[middle] < list[m]) low = middle + 1;
                        else high = middle;
                    }
                    if (low < to && right[low] == list[m])
                        ring.add(chart.by_pair[low], x, y[list[m]]);
                }
            } else if (right[to - 1] - right[from] == to - from - 1) {
                add_row(ring, chart.by_pair + from, x, y + right[from], to - from);
            } else {
                for (u32 p = from; p < to; p++) ring.add(chart.by_pair[p], x, y[right[p]]);
            }
        }
    }

    // Computes raw from by_pair, which is emptied.
    void apply_rules() {
        take_all(chart.lefts_met, rules.lefts, [&](u32 left) {
            for (u32 p = rules.left_rows[left]; p < rules.left_rows[left + 1]; p++) {
                if (S::empty(chart.by_pair[p])) continue;
                const Value x = ring.value(chart.by_pair[p], outside);
                chart.by_pair[p] = S::zero();
                add_weighted(rules.rule_rows, rules.rule_symbols, rule_weights, p, x, chart.raw,
                             chart.raw_met);
            }
        });
    }

    // Adds weight * x to sums[A], for each A of a row.
    BITS_FN void add_weighted(const u32* rows, const u32* __restrict__ symbols,
                              const Value* __restrict__ weights, u32 row, const Value x,
                              Sum* __restrict__ sums, u64* __restrict__ met) const {
        for (u32 r = rows[row], end = rows[row + 1]; r < end; r++) {
            const u32 a = symbols[r];
            if (S::is_zero(weights[r])) continue;
            // Not every time: the additions would wait for one word of the set.
            if (S::empty(sums[a])) meet(met, a);
            ring.add(sums[a], weights[r], x);
        }
    }

    // Calls found(symbol, value) for each value of the span, in rising order; raw is
    // emptied.
    template <class Found>
    void finish(Found found) {
        if (!rules.units) {
            take_all(chart.raw_met, rules.symbols, [&](u32 a) {
                found(a, ring.value(chart.raw[a], outside));
                chart.raw[a] = S::zero();
            });
            return;
        }
        take_all(chart.raw_met, rules.symbols, [&](u32 b) {
            const Value x = ring.value(chart.raw[b], outside);
            chart.raw[b] = S::zero();
            add_weighted(rules.unit_rows, rules.unit_symbols, unit_weights, b, x, chart.closed,
                         chart.closed_met);
        });
        take_all(chart.closed_met, rules.symbols, [&](u32 a) {
            found(a, ring.value(chart.closed[a], outside));
            chart.closed[a] = S::zero();
        });
    }

    bool run(const u32* terminals, size_t length, typename S::Result* result,
             typename S::Result* all) {
        *result = ring.result(Value{});
        for (size_t n = 0; n < length; n++) {  // most strings without a value end here
            const u32 t = terminals[n];
            if (!all && (t >= rules.terminals || rules.lexical_rows[t] == rules.lexical_rows[t + 1]))
                return true;
        }
        size_t kept = 0;
        for (size_t j = 1; j <= length; j++) {
            // The lists of a column are made from its end up, and its cells are
            // numbered so, too.
            const size_t column = cells_of(j - 1);
            for (size_t i = j; i-- > 0;) {
                if (*job.cancelled) return false;
                if (i == j - 1) {
                    const u32 t = terminals[i];
                    if (t < rules.terminals) {
                        for (u32 r = rules.lexical_rows[t]; r < rules.lexical_rows[t + 1]; r++) {
                            const Value& x = lexical_weights[r];
                            if (S::is_zero(x)) continue;
                            set(chart.raw[rules.lexical_symbols[r]], x);
                            meet(chart.raw_met, rules.lexical_symbols[r]);
                        }
                    }
                } else {
                    for (size_t k = i + 1; k < j; k++) {
                        if (*job.cancelled) return false;
                        split(cells_of(k - 1) + k - 1 - i, k);
                    }
                    apply_rules();
                }
                chart.left_start[column + j - 1 - i] = kept;
                Value* const rights = chart.rights + i * rules.rights;
                u32* const list = chart.right_list + i * rules.rights;
                u32 count = 0;
                finish([&](u32 a, const Value& x) {
                    const u32 left = rules.left_of[a], right = rules.right_of[a];
                    if (left != WeightedRules::NONE) {
                        chart.left_list[kept] = left;
                        chart.left_values[kept++] = x;
                    }
                    if (right != WeightedRules::NONE) {
                        rights[right] = x;
                        list[count++] = right;
                    }
                    if (all) all[(column + i) * rules.symbols + a] = ring.result(x);
                    if (i == 0 && j == length && a == job.symbol) *result = ring.result(x);
                });
                chart.right_count[i] = count;
                if (outside) return false;
            }
            chart.left_start[column + j] = kept;
            for (size_t i = 0; i < j; i++)
                for (u32 m = 0; m < chart.right_count[i]; m++)
                    chart.rights[i * rules.rights + chart.right_list[i * rules.rights + m]] = Value{};
        }
        return true;
    }

    // Sets a sum to one value.
    static void set(Sum& sum, const Value& x) {
        if constexpr (sizeof(Sum) == sizeof(Value)) {
            sum = x;
        } else {
            for (size_t i = 0; i < sizeof(x.at) / sizeof(x.at[0]); i++) sum.at[i] = u64(x.at[i]) << 32;
        }
    }
};

template <class S>
struct Entry {
    using Value = typename S::Value;
    using Result = typename S::Result;

    static size_t scratch_bytes(const WeightedRules& rules, size_t length) {
        Chart<S> chart;
        return Chart<S>::place(chart, rules, length, nullptr);
    }
    static void prepare(const WeightedJob& job, void* scratch) {
        Chart<S> chart;
        Chart<S>::place(chart, *job.rules, job.most, scratch);
        __builtin_memset(scratch, 0, chart.zeroed);
    }
    static bool run(const WeightedJob& job, const u32* terminals, size_t length, void* scratch,
                    void* result, void* all) {
        Walk<S> walk(job, scratch);
        return walk.run(terminals, length, static_cast<Result*>(result), static_cast<Result*>(all));
    }
    static constexpr WeightedSemiring ops(const char* name) {
        return {name,           sizeof(Value), alignof(Value), sizeof(Result), alignof(Result),
                S::CONSTANTS,   &scratch_bytes, &prepare,      &run};
    }
};

#define ENTRY(...) Entry<__VA_ARGS__>::ops(#__VA_ARGS__),
constexpr WeightedSemiring semirings[] = {SEMIRINGS(ENTRY)};

}  // namespace

#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
extern const WeightedOps JOIN(weighted_, LEVEL);
const WeightedOps JOIN(weighted_, LEVEL) = {semirings, sizeof(semirings) / sizeof(semirings[0])};
