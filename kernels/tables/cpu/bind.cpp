// Binds universes of tables to Python, for kernels.tables.cpu.engine.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <string>

#include "../../levels.hpp"
#include "../../tasks.hpp"
#include "tables.hpp"

namespace nb = nanobind;

namespace tables {
LEVELS_OF(RowOps, table_rows)
}  // namespace tables

namespace {

using std::int64_t;
using std::size_t;
using std::uint32_t;
using std::uint64_t;
using std::uint8_t;

template <class T, size_t N = 1>
using Array = nb::ndarray<T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;

constexpr int64_t LONGEST = int64_t(1) << 40;  // cells along a side
constexpr uint64_t MOST_GENERATIONS = uint64_t(1) << 60;
constexpr size_t MOST_ENTRIES = size_t(1) << 31;

template <class T>
std::vector<T> copied(const Array<const T>& array) {
    checks::require_aligned(array);
    return std::vector<T>(array.data(), array.data() + array.size());
}

size_t largest(const uint32_t* entries) {
    return *std::max_element(entries, entries + tables::STATES);
}

// Raises ValueError where cells in any states could lead out of the tables.
void check_columns(const tables::Rule& rule) {
    const uint64_t field = (uint64_t(1) << tables::FIELD) - 1;
    size_t left = 0, centre = 0, right = 0, pair = 0;
    for (uint64_t column : rule.columns) {
        left = std::max(left, size_t(column & field));
        centre = std::max(centre, size_t(column >> tables::FIELD & field));
        right = std::max(right, size_t(column >> 2 * tables::FIELD));
    }
    for (uint32_t entry : rule.pairs) pair = std::max(pair, size_t(entry));
    const size_t columns = largest(rule.up) + largest(rule.middle) + largest(rule.down);
    checks::require(columns < rule.columns.size(), "a column is not in its table");
    checks::require(rule.pairs.empty() || left + centre < rule.pairs.size(), "a pair is not in its table");
    const size_t before = rule.pairs.empty() ? left + centre : pair;
    checks::require(before + right < rule.finals.size(), "a next state is not in its table");
    checks::require(checks::below(rule.finals.data(), rule.finals.size(), size_t(rule.states)),
                    "there is no such next state");
}

// Turns numbers of nodes into places in all levels. Raises ValueError for nodes that are not there.
void link_walk(tables::Rule& rule, const Array<const uint32_t>& counts) {
    checks::require(counts.size() == 9, "a walk has nine levels");
    checks::require_aligned(counts);
    const size_t states = size_t(rule.states), all = rule.walk.size();
    checks::require(all < MOST_ENTRIES, "a walk has too many entries");
    size_t start = 0;
    for (size_t level = 0; level < 9; level++) {
        const size_t end = start + counts.data()[level] * states;
        checks::require(end <= all && end > start, "a level has another length");
        const bool last = level == 8;
        const size_t below = last ? states : counts.data()[level + 1];
        for (size_t i = start; i < end; i++) {
            checks::require(rule.walk[i] < below, "a node is not in the next level");
            if (!last) rule.walk[i] = uint32_t(end + rule.walk[i] * states);
        }
        start = end;
    }
    checks::require(start == all, "a level has another length");
}

tables::Rule made_rule(int states, bool corners, bool stays_empty, const Array<const uint32_t, 2>& maps,
                       const Array<const uint64_t>& columns, const Array<const uint32_t>& pairs,
                       const Array<const uint8_t>& finals, const Array<const uint32_t>& walk,
                       const Array<const uint32_t>& counts) {
    checks::require(states >= 2 && states <= tables::STATES, "a table has 2 to 256 states");
    checks::require(maps.shape(0) == 3 && maps.shape(1) == tables::STATES, "a map has 256 entries");
    checks::require_aligned(maps);
    tables::Rule rule;
    rule.states = states, rule.corners = corners, rule.stays_empty = stays_empty;
    std::copy_n(maps.data(), tables::STATES, rule.up);
    std::copy_n(maps.data() + tables::STATES, tables::STATES, rule.middle);
    std::copy_n(maps.data() + 2 * tables::STATES, tables::STATES, rule.down);
    rule.columns = copied(columns), rule.pairs = copied(pairs), rule.finals = copied(finals);
    rule.walk = copied(walk);
    if (rule.walk.empty()) check_columns(rule);
    else link_walk(rule, counts);
    return rule;
}

class TablesUniverse {
public:
    TablesUniverse(const std::string& level, int states, bool corners, bool stays_empty,
                   Array<const uint32_t, 2> maps, Array<const uint64_t> columns, Array<const uint32_t> pairs, Array<const uint8_t> finals,
                   Array<const uint32_t> walk, Array<const uint32_t> counts, int64_t width, int64_t height,
                   bool torus, int threads)
        : universe(made_rule(states, corners, stays_empty, maps, columns, pairs, finals, walk, counts),
                   ops_at(tables::table_rows_levels, level), sized(width, height), height, torus,
                   checks::threads_of(threads)) {}

    // Returns the generation: fewer than were asked for are made where stopped() says so.
    uint64_t step(uint64_t generations, nb::object stopped) {
        checks::require(generations <= MOST_GENERATIONS - universe.generation,
                        "too many generations for one call");
        if (stepping.exchange(true)) throw std::runtime_error("the universe is moved on by another call");
        Asking asking(stopped);
        {
            nb::gil_scoped_release release;
            universe.step(generations, std::ref(asking));
        }
        stepping = false;
        if (asking.failed) throw nb::python_error();
        return universe.generation;
    }

    void put(int64_t y, Array<const uint64_t, 3> words) {
        check_rows(y, words);
        bool known = true;
        run_in_steps(words.shape(0), rows_at_once(), [&](size_t first, size_t last) {
            const uint64_t* const rows = words.data() + first * words.shape(1) * words.shape(2);
            known = known && universe.put(y + int64_t(first), int64_t(last - first), rows);
        });
        checks::require(known, "a cell is in a state that the rule does not have");
    }

    void get(int64_t y, Array<uint64_t, 3> words) {
        check_rows(y, words);
        run_in_steps(words.shape(0), rows_at_once(), [&](size_t first, size_t last) {
            uint64_t* const rows = words.data() + first * words.shape(1) * words.shape(2);
            universe.get(y + int64_t(first), int64_t(last - first), rows);
        });
    }

    uint64_t generation() const { return universe.generation; }
    static size_t nbytes(int64_t width, int64_t height) {
        checks::require(width >= 1 && width <= LONGEST && height >= 1 && height <= LONGEST / width,
                        "a universe has cells, and not too many");
        return tables::Universe::bytes(width, height);
    }

private:
    static int64_t sized(int64_t width, int64_t height) {
        checks::need_memory(double(nbytes(width, height)));
        return width;
    }
    size_t rows_at_once() const { return size_t(1 + (1 << 20) / universe.width); }

    template <class Words>
    void check_rows(int64_t y, const Words& words) const {
        checks::require_aligned(words);
        checks::require(words.shape(1) == size_t(universe.planes) &&
                            words.shape(2) == size_t((universe.width + 63) / 64),
                        "rows have another length");
        checks::require(y >= 0 && words.shape(0) <= size_t(universe.height) &&
                            y <= universe.height - int64_t(words.shape(0)),
                        "rows lie outside");
    }

    tables::Universe universe;
    std::atomic<bool> stepping{false};
};

}  // namespace

void bind_tables(nb::module_& m) {
    m.attr("TABLES_FIELD") = tables::FIELD;
    nb::class_<TablesUniverse>(m, "TablesUniverse", "A universe of cells whose rule is a table.")
        .def(nb::init<const std::string&, int, bool, bool, Array<const uint32_t, 2>, Array<const uint64_t>,
                      Array<const uint32_t>, Array<const uint8_t>, Array<const uint32_t>,
                      Array<const uint32_t>, int64_t, int64_t, bool, int>(),
             nb::arg("level"), nb::arg("states"), nb::arg("corners"), nb::arg("stays_empty"),
             nb::arg("maps").noconvert(),
             nb::arg("columns").noconvert(), nb::arg("pairs").noconvert(), nb::arg("finals").noconvert(),
             nb::arg("walk").noconvert(), nb::arg("counts").noconvert(), nb::arg("width"),
             nb::arg("height"), nb::arg("torus"), nb::arg("threads"))
        .def("step", &TablesUniverse::step, nb::arg("generations"), nb::arg("stopped").none(),
             "Moves on, and returns the generation; stopped() may end it sooner.")
        .def("put", &TablesUniverse::put, nb::arg("y"), nb::arg("words").noconvert(),
             "Sets rows, (rows, planes, words).")
        .def("get", &TablesUniverse::get, nb::arg("y"), nb::arg("words").noconvert(),
             "Writes rows into words.")
        .def("generation", &TablesUniverse::generation, "How many generations were made.")
        .def_static("nbytes", &TablesUniverse::nbytes, nb::arg("width"), nb::arg("height"),
                    "The bytes that a universe takes.");
}
