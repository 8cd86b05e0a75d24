// Binds weighted CKY parsing to Python; kernels.cky.weighted.cpu.engine calls it.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "../../../levels.hpp"
#include "../../../tasks.hpp"
#include "weighted.hpp"

namespace nb = nanobind;

LEVELS_OF(WeightedOps, weighted)

namespace {

using std::size_t;
using Array = nb::ndarray<nb::ro, nb::device::cpu, nb::c_contig>;
using Result = nb::ndarray<nb::device::cpu, nb::c_contig>;
using Row = nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::device::cpu, nb::c_contig>;
using Indices = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::device::cpu, nb::c_contig>;

const WeightedSemiring& semiring_named(const std::string& level, const std::string& name) {
    const WeightedOps& ops = ops_at(weighted_levels, level);
    for (size_t i = 0; i < ops.count; i++)
        if (name == ops.semirings[i].name) return ops.semirings[i];
    throw nb::value_error("there is no such semiring");
}

using checks::require;

// Tells whether no number but NONE comes twice, so that lists of them have room for each.
bool distinct(const Row& row, size_t limit) {
    std::vector<bool> met(limit);
    for (size_t i = 0; i < row.size(); i++) {
        const std::uint32_t x = row.data()[i];
        if (x == WeightedRules::NONE) continue;
        if (met[x]) return false;
        met[x] = true;
    }
    return true;
}

template <class A>
bool at_multiple(const A& array, std::uintptr_t bytes) {
    return !array.size() || reinterpret_cast<std::uintptr_t>(array.data()) % bytes == 0;
}

// Returns the bytes for one thread. Raises ValueError where they are more than addresses, or
// nearly so.
size_t scratch_of(const WeightedSemiring& ring, const WeightedRules& rules, size_t length) {
    constexpr double MOST = 0x1p60, EACH = 256;  // of a place of any of its tables
    const double n = double(length);
    const double places = double(rules.pairs) + 3 * double(rules.symbols) +
                          n * (double(rules.rights) + 1) + n * (n + 1) * (double(rules.lefts) + 1);
    require(EACH * places < MOST, "strings, or grammars, that no memory has room for");
    return ring.scratch_bytes(rules, length);
}

bool below(const Row& row, size_t limit, bool or_none = false) {
    return std::all_of(row.data(), row.data() + row.size(), [&](std::uint32_t x) {
        return x < limit || (or_none && x == WeightedRules::NONE);
    });
}

// Tells whether `starts` cuts a table of `size` entries into `count` runs.
bool runs(const Row& starts, size_t count, size_t size) {
    return starts.size() == count + 1 && starts.data()[0] == 0 && starts.data()[count] == size &&
           std::is_sorted(starts.data(), starts.data() + count + 1);
}

// Checks the tables, which are those of kernels.cky.weighted.tables.RuleTables, in its order.
WeightedRules rules_of(const std::vector<Row>& tables, bool units) {
    require(tables.size() == 10, "there are ten tables");
    const Row &left_rows = tables[0], &right = tables[1], &left_of = tables[2],
              &right_of = tables[3], &rule_rows = tables[4], &rule_symbols = tables[5],
              &unit_rows = tables[6], &unit_symbols = tables[7], &lexical_rows = tables[8],
              &lexical_symbols = tables[9];
    WeightedRules rules{};
    require(lexical_rows.size() && left_rows.size(), "the tables contradict each other");
    for (const Row& row : tables) checks::require_aligned(row);
    rules.symbols = left_of.size();
    rules.terminals = lexical_rows.size() - 1;
    rules.lefts = left_rows.size() - 1;
    rules.pairs = right.size();
    for (size_t i = 0; i < rules.pairs; i++)
        rules.rights = std::max(rules.rights, size_t(right.data()[i]) + 1);
    rules.units = units;
    require(right_of.size() == rules.symbols && rules.symbols < WeightedRules::NONE &&
                rules.rights <= rules.symbols &&
                runs(left_rows, rules.lefts, rules.pairs) &&
                runs(rule_rows, rules.pairs, rule_symbols.size()) &&
                runs(unit_rows, rules.symbols, unit_symbols.size()) &&
                runs(lexical_rows, rules.terminals, lexical_symbols.size()) &&
                below(left_of, rules.lefts, true) && below(right_of, rules.rights, true) &&
                distinct(left_of, rules.lefts) && distinct(right_of, rules.rights) &&
                below(rule_symbols, rules.symbols) && below(unit_symbols, rules.symbols) &&
                below(lexical_symbols, rules.symbols),
            "the tables contradict each other");
    for (size_t i = 0; i < rules.lefts; i++)
        require(left_rows.data()[i] < left_rows.data()[i + 1], "a left has no pair");
    rules.left_rows = left_rows.data(), rules.right = right.data();
    rules.left_of = left_of.data(), rules.right_of = right_of.data();
    rules.rule_rows = rule_rows.data(), rules.rule_symbols = rule_symbols.data();
    rules.unit_rows = unit_rows.data(), rules.unit_symbols = unit_symbols.data();
    rules.lexical_rows = lexical_rows.data(), rules.lexical_symbols = lexical_symbols.data();
    return rules;
}

std::uint64_t scratch_bytes(const std::string& level, const std::string& semiring, const std::vector<Row>& tables,
                            bool units, std::uint64_t length) {
    const WeightedRules rules = rules_of(tables, units);
    return scratch_of(semiring_named(level, semiring), rules, length);
}

// Cuts strings into parts that one thread takes at a time: so many that getting scratch ready
// for them costs little.
std::vector<size_t> cut(const Indices& which, const std::int64_t* offsets) {
    constexpr double WORK = 1e5, CALL = 100;
    std::vector<size_t> starts{0};
    double work = 0;
    for (size_t n = 0; n < which.size(); n++) {
        const std::int64_t s = which.data()[n];
        const double length = double(offsets[s + 1] - offsets[s]);
        work += CALL + length * length * length / 6;
        if (work >= WORK || n + 1 == which.size()) {
            starts.push_back(n + 1);
            work = 0;
        }
    }
    return starts;
}

// Parses strings. done[n] says whether the value of string which[n] is in results[n].
void run(const std::string& level, const std::string& semiring, const std::vector<Row>& tables,
         bool units, const std::vector<Array>& weights, std::optional<Row> constants, Row terminals,
         Indices offsets, Indices which, std::uint32_t symbol, Result results, Result done,
         std::optional<Result> chart, int threads) {
    const WeightedSemiring& ring = semiring_named(level, semiring);
    const WeightedRules rules = rules_of(tables, units);
    const size_t counts[] = {tables[5].size(), tables[7].size(), tables[9].size()};
    require(weights.size() == 3, "there are three rows of weights");
    for (size_t i = 0; i < 3; i++)
        require(weights[i].nbytes() == counts[i] * ring.value_bytes, "weights of another size");
    require(!ring.constants || (constants && constants->size() == ring.constants),
            "constants are missing");
    threads = checks::threads_of(threads);
    const Result outputs[] = {results, done, chart ? *chart : done};
    for (const Result& out : outputs) {
        for (const Row& row : tables) checks::require_apart(out, row);
        for (const Array& row : weights) checks::require_apart(out, row);
        checks::require_apart(out, terminals, offsets, which);
        if (constants) checks::require_apart(out, *constants);
    }
    checks::require_apart(results, done);
    if (chart) checks::require_apart(*chart, results, done);
    for (const Array& row : weights)
        require(at_multiple(row, ring.value_align), "weights are not aligned");
    checks::require_aligned(terminals, offsets, which);
    require(at_multiple(results, ring.result_align), "results are not aligned");
    require(results.nbytes() == which.size() * ring.result_bytes && done.nbytes() == which.size(),
            "results of another size");
    require(offsets.size() && offsets.data()[0] == 0 &&
                offsets.data()[offsets.size() - 1] == std::int64_t(terminals.size()) &&
                std::is_sorted(offsets.data(), offsets.data() + offsets.size()),
            "offsets must lead from 0 to the number of terminals");
    size_t most = 1;
    for (size_t n = 0; n < which.size(); n++) {
        const std::int64_t s = which.data()[n];
        require(s >= 0 && size_t(s) + 1 < offsets.size(), "there is no such string");
        const std::int64_t length = offsets.data()[s + 1] - offsets.data()[s];
        require(length > 0, "an empty string");
        most = std::max(most, size_t(length));
    }
    if (chart)
        require(which.size() == 1 &&
                    chart->nbytes() == checks::product({most, (most + 1), rules.symbols,
                                                        ring.result_bytes}) / 2 &&
                    at_multiple(*chart, ring.result_align),
                "a chart of another size");

    volatile bool cancelled = false;
    const WeightedJob job{&rules,
                          weights[0].data(),
                          weights[1].data(),
                          weights[2].data(),
                          ring.constants ? constants->data() : nullptr,
                          symbol,
                          most,
                          &cancelled};
    const std::vector<size_t> tasks = cut(which, offsets.data());
    char *to = static_cast<char*>(results.data()), *marks = static_cast<char*>(done.data());
    void* const all = chart ? chart->data() : nullptr;
    run_tasks(std::int64_t(tasks.size()) - 1, threads, scratch_of(ring, rules, most), cancelled,
              [&](std::int64_t task, void* scratch) {
                  bool ready = false;
                  for (size_t n = tasks[size_t(task)]; n < tasks[size_t(task) + 1]; n++) {
                      if (cancelled) return;
                      if (!ready) ring.prepare(job, scratch);
                      const std::int64_t* const ends = offsets.data() + which.data()[n];
                      ready = ring.run(job, terminals.data() + ends[0], size_t(ends[1] - ends[0]),
                                       scratch, to + n * ring.result_bytes, all);
                      marks[n] = char(ready);
                  }
              });
}

}  // namespace

void bind_cky_weighted(nb::module_& m) {
    m.def("weighted_scratch_bytes", &scratch_bytes, nb::arg("level"), nb::arg("semiring"),
          nb::arg("tables").noconvert(), nb::arg("units"), nb::arg("length"),
          "Bytes that a thread needs for strings of at most that length.");
    m.def("weighted_run", &run, nb::arg("level"), nb::arg("semiring"), nb::arg("tables").noconvert(),
          nb::arg("units"), nb::arg("weights").noconvert(), nb::arg("constants").noconvert().none(),
          nb::arg("terminals").noconvert(), nb::arg("offsets").noconvert(),
          nb::arg("which").noconvert(), nb::arg("symbol"), nb::arg("results").noconvert(),
          nb::arg("done").noconvert(), nb::arg("chart").noconvert().none(), nb::arg("threads"),
          "The symbol's values over the strings of these numbers, each in its place of results.");
}
