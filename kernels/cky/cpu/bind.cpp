// Binds CKY parsing to Python; kernels.cky.cpu.engine calls it.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "../../levels.hpp"
#include "../../tasks.hpp"
#include "cky.hpp"

namespace nb = nanobind;

LEVELS_OF(CkyOps, cky)

namespace {

template <class T>
using Array = nb::ndarray<const T, nb::c_contig, nb::device::cpu>;
template <class T>
using Result = nb::ndarray<T, nb::c_contig, nb::device::cpu>;
using Tokens = nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Indices = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Longest = nb::ndarray<std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Accepted = nb::ndarray<bool, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Chart = nb::ndarray<std::uint32_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

[[noreturn]] void contradiction() {
    throw nb::value_error("the arrays of a batch or a plan contradict each other");
}

// Asks for huge pages, before the memory is written to. Charts are taken anew for every call,
// and to get them in small pages would cost as much as the parsing.
void prefer_huge_pages(void* memory, std::size_t bytes) {
#if defined(__linux__)
    constexpr std::uintptr_t PAGE = 1 << 21;
    const std::uintptr_t from = (reinterpret_cast<std::uintptr_t>(memory) + PAGE - 1) / PAGE * PAGE;
    const std::uintptr_t to = (reinterpret_cast<std::uintptr_t>(memory) + bytes) / PAGE * PAGE;
    if (from < to) madvise(reinterpret_cast<void*>(from), to - from, MADV_HUGEPAGE);
#else
    (void)memory, (void)bytes;
#endif
}

// A grammar, as planned by kernels.cky.cpu.plan.
class Parser {
public:
    Parser(const std::string& level, nb::object plan) {
        ops = &ops_at(cky_levels, level);
        nb::object order = plan.attr("renumbering");
        auto number = [](nb::object from, const char* name) {
            return nb::cast<std::uint32_t>(from.attr(name));
        };
        p.first = number(order, "first");
        p.wide = number(order, "wide");
        p.single = number(order, "single");
        p.old = words(order, "old", p.symbols);
        std::uint32_t starts, closed, above;
        p.lexical_start = words(plan, "lexical_start", starts);
        p.lexical = words(plan, "lexical", closed);
        const std::uint32_t lexical = closed;
        const std::uint32_t lexical_places = starts;
        p.terminals = starts - 1;
        p.unit_right = words(plan, "unit_right", p.below);
        p.unit_start = words(plan, "unit_start", starts);
        p.unit_left = words(plan, "unit_left", above);
        p.arity = number(plan, "arity");
        p.chunk = number(plan, "chunk");
        nb::object matrices = plan.attr("matrices"), rows = plan.attr("rows");
        p.dense = nb::len(matrices) != 0;
        using checks::below;
        const std::uint64_t symbols = p.symbols;
        if (std::uint64_t(p.first) + p.wide > symbols || p.single > symbols ||
            !below(p.old, p.symbols, p.symbols) || lexical_places < 1 ||
            !checks::runs(p.lexical_start, lexical_places, p.terminals, lexical) ||
            !below(p.lexical, lexical, p.single) || !below(p.unit_right, p.below, p.wide) ||
            !checks::runs(p.unit_start, starts, p.below, above) ||
            !below(p.unit_left, above, p.wide) || p.chunk < 1 ||
            (p.arity != 1 && p.arity != 2 && p.arity != 4))
            contradiction();
        for (std::size_t kind = 0; kind < 2; kind++) {
            if (p.dense) {
                read_matrix(matrices[kind], kind);
                continue;
            }
            for (std::size_t left = 0; left < 2; left++) {
                nb::object from = rows[kind][left];
                CkyRows& r = p.rows[kind][left];
                std::uint32_t lefts, rights;
                r.head = words(from, "head", r.entries);
                r.left = words(from, "left", lefts);
                r.right = words(from, "right", rights);
                if (lefts != r.entries || rights != std::uint64_t(r.entries) * p.arity ||
                    !below(r.head, r.entries, p.wide) ||
                    !below(r.left, lefts, left ? p.wide : p.single) ||
                    !below(r.right, rights, kind ? p.wide : p.single))
                    contradiction();
            }
        }
    }

    int lanes(bool narrow) const { return int(word(narrow).lanes); }

    // Returns the bytes of scratch memory. Raises ValueError where they are more than
    // addresses, or nearly so.
    std::size_t scratch_bytes(bool narrow, std::int64_t length) const {
        const double n = double(length), each = double(p.single) + double(p.wide) + 1;
        checks::require(length >= 0 && n * (n + 1) * each * 64 < 0x1p60,
                        "a string that no memory has room for");
        return word(narrow).scratch_bytes(p, length);
    }

    void recognise(Tokens tokens, Indices offsets, Indices order, Indices bounds, Indices narrow,
                   std::uint32_t symbol, std::optional<Longest> longest,
                   std::optional<Accepted> accepted, int threads) const {
        const std::int64_t strings = check(tokens, offsets, order, bounds, narrow);
        const std::int64_t tasks = std::int64_t(narrow.shape(0));
        if (threads < 1 || symbol >= p.symbols || bool(longest) == bool(accepted) ||
            (longest && std::int64_t(longest->shape(0)) != strings) ||
            (accepted && std::int64_t(accepted->shape(0)) != strings))
            contradiction();
        if (longest) {
            checks::require_aligned(*longest);
            checks::require_apart(*longest, tokens, offsets, order, bounds, narrow);
        }
        if (accepted) checks::require_apart(*accepted, tokens, offsets, order, bounds, narrow);
        volatile bool cancelled = false;
        std::vector<CkyGroup> groups = groups_of(tokens, offsets, order, bounds, &cancelled);
        std::size_t scratch = 64;
        for (std::int64_t i = 0; i < tasks; i++)
            scratch = std::max(scratch, scratch_bytes(narrow(i), groups[std::size_t(i)].longest));
        auto run = [&](std::int64_t task, void* memory) {
            const std::int64_t i = tasks - 1 - task;  // the longest strings first
            word(narrow(i)).recognise(p, groups[std::size_t(i)], symbol,
                                      longest ? longest->data() : nullptr,
                                      accepted ? reinterpret_cast<std::uint8_t*>(accepted->data())
                                               : nullptr,
                                      memory);
        };
        run_all(groups, threads, scratch, cancelled, run);
    }

    void charts(Tokens tokens, Indices offsets, Indices order, Indices bounds, Indices narrow,
                std::vector<Chart> words) const {
        check(tokens, offsets, order, bounds, narrow);
        const std::int64_t tasks = std::int64_t(narrow.shape(0));
        if (std::int64_t(words.size()) != tasks) contradiction();
        volatile bool cancelled = false;
        std::vector<CkyGroup> groups = groups_of(tokens, offsets, order, bounds, &cancelled);
        std::size_t scratch = 64;
        for (std::size_t i = 0; i < words.size(); i++) {
            const std::int64_t n = groups[i].longest;
            const bool small = narrow(std::int64_t(i));
            checks::require_aligned(words[i]);
            checks::require_apart(words[i], tokens, offsets, order, bounds, narrow);
            if (std::int64_t(words[i].shape(0)) != n * (n + 1) / 2 ||
                words[i].shape(1) != p.symbols || int(words[i].shape(2)) != lanes(small))
                contradiction();
            scratch = std::max(scratch, scratch_bytes(small, n));
        }
        auto run = [&](std::int64_t i, void* memory) {
            word(narrow(i)).chart(p, groups[std::size_t(i)], words[std::size_t(i)].data(), memory);
        };
        run_all(groups, int(std::min<std::int64_t>(tasks, checks::MOST_THREADS)), scratch, cancelled,
                run);
    }

private:
    // Reads and checks the matrix of one kind of right child; walks through its tiles as
    // products.hpp does.
    void read_matrix(nb::object from, std::size_t kind) {
        CkyMatrix& m = p.matrix[kind];
        std::uint32_t counts, places, operands, mores;
        m.bits = words(from, "bits", m.tables);
        m.counts = words(from, "counts", counts);
        m.place = halves(from, "place", places);
        m.operand = halves(from, "operand", operands);
        m.more = halves(from, "more", mores);
        std::uint64_t children = 0, table_words = 0;
        for (std::uint32_t g = 0; g < m.tables; g++) {
            if (m.bits[g] > 16) contradiction();
            children += m.bits[g];
            table_words += std::uint64_t(1) << m.bits[g];
        }
        const std::uint64_t ends = std::max(p.first + p.wide, p.single);
        const std::uint64_t rights = kind ? p.wide : p.single;
        const std::uint64_t tiles = (std::uint64_t(p.wide) + CKY_BLOCK - 1) / CKY_BLOCK *
                                    ((ends + p.chunk - 1) / p.chunk);
        if (children > rights || p.chunk > ends + 1 || counts != tiles * CKY_COUNTS)
            contradiction();
        std::uint64_t placed = 0, taken = 0, more = 0;
        for (std::uint32_t i = 0; i < counts; i++) {
            const std::uint32_t n = i % CKY_COUNTS;
            placed += m.counts[i];
            if (n + 1 < CKY_COUNTS) taken += std::uint64_t(n) * m.counts[i];
            else more += m.counts[i];
        }
        if (placed != places || more != mores) contradiction();
        for (std::uint32_t i = 0; i < mores; i++) {
            if (!m.more[i]) contradiction();
            taken += m.more[i];
        }
        const std::uint64_t most = m.tables ? table_words : rights;
        if (taken != operands || !multiples(m.place, places, std::uint64_t(p.chunk) * CKY_BLOCK) ||
            !multiples(m.operand, operands, most))
            contradiction();
        p.tables = std::max(p.tables, std::uint32_t(table_words));
    }

    // Tells whether all entries are numbers below a limit, times CKY_SCALE.
    static bool multiples(const std::uint16_t* entries, std::size_t count, std::uint64_t limit) {
        for (std::size_t i = 0; i < count; i++)
            if (entries[i] % CKY_SCALE || entries[i] / CKY_SCALE >= limit) return false;
        return true;
    }

    const CkyWordOps& word(bool narrow) const { return narrow ? ops->narrow : ops->wide; }

    // Calls run(i, scratch) for each group, on threads; on this thread alone where all would
    // be over before a thread has started.
    template <class Run>
    void run_all(const std::vector<CkyGroup>& groups, int threads, std::size_t scratch_bytes,
                 volatile bool& cancelled, Run run) const {
        constexpr double LITTLE = 2e6;
        double pairs = 8, work = 0;
        for (int left = 0; left < 2; left++) pairs += p.rows[1][left].entries;
        if (p.dense) pairs += double(p.wide) * p.symbols;
        for (const CkyGroup& g : groups) work += double(g.longest + 3) * g.longest * g.longest / 6 * pairs;
        if (!groups.size()) return;
        if (work < LITTLE) {
            nb::gil_scoped_release release;
            const Scratch memory = aligned_scratch(scratch_bytes);
            for (std::size_t i = 0; i < groups.size(); i++) run(std::int64_t(i), memory.get());
            return;
        }
        run_tasks(std::int64_t(groups.size()), threads, scratch_bytes, cancelled,
                  [&](std::int64_t i, void* memory) {
                      prefer_huge_pages(memory, scratch_bytes);
                      run(i, memory);
                  });
    }

    // Returns the groups. The strings of a group must be in order of length.
    static std::vector<CkyGroup> groups_of(const Tokens& tokens, const Indices& offsets,
                                           const Indices& order, const Indices& bounds,
                                           const volatile bool* cancelled) {
        std::vector<CkyGroup> groups;
        for (std::size_t i = 0; i + 1 < bounds.shape(0); i++) {
            const std::int64_t last = order(bounds(i + 1) - 1);
            groups.push_back({tokens.data(), offsets.data(), order.data() + bounds(i),
                              bounds(i + 1) - bounds(i), length(offsets, last), cancelled});
        }
        return groups;
    }

    static std::int64_t length(const Indices& offsets, std::int64_t string) {
        return offsets(string + 1) - offsets(string);
    }

    // Checks a batch and returns its number of strings.
    std::int64_t check(const Tokens& tokens, const Indices& offsets, const Indices& order,
                       const Indices& bounds, const Indices& narrow) const {
        const std::int64_t strings = std::int64_t(offsets.shape(0)) - 1;
        checks::require_aligned(tokens, offsets, order, bounds, narrow);
        bool fits = strings >= 0 && bounds.shape(0) == narrow.shape(0) + 1 && bounds(0) >= 0 &&
                    offsets(0) >= 0 && offsets(strings) <= std::int64_t(tokens.shape(0));
        for (std::int64_t s = 0; fits && s < strings; s++)
            fits = offsets(s) <= offsets(s + 1) && length(offsets, s) < std::int64_t(1) << 31;
        const std::int64_t* const numbers = order.data();
        for (std::size_t g = 0; fits && g < narrow.shape(0); g++) {
            const std::int64_t first = bounds(g), end = bounds(g + 1);
            fits = first < end && end <= std::int64_t(order.shape(0)) &&
                   end - first <= 32 * lanes(narrow(g));
            std::int64_t before = 0;
            for (std::int64_t i = first; fits && i < end; i++) {
                fits = numbers[i] >= 0 && numbers[i] < strings;
                if (!fits) break;
                const std::int64_t now = length(offsets, numbers[i]);
                fits = now >= before;
                before = now;
            }
        }
        if (!fits) contradiction();
        return strings;
    }

    template <class T>
    const T* keep(nb::object from, const char* name, std::deque<std::vector<T>>& kept,
                  std::uint32_t& count) {
        auto array = nb::cast<Array<T>>(from.attr(name), false);
        if (array.size() >> 31) contradiction();
        kept.emplace_back(array.data(), array.data() + array.size());
        count = std::uint32_t(array.size());
        return kept.back().data();
    }
    const std::uint32_t* words(nb::object from, const char* name, std::uint32_t& count) {
        return keep(from, name, kept_words, count);
    }
    const std::uint16_t* halves(nb::object from, const char* name, std::uint32_t& count) {
        return keep(from, name, kept_halves, count);
    }

    const CkyOps* ops = nullptr;
    CkyPlan p{};
    std::deque<std::vector<std::uint32_t>> kept_words;
    std::deque<std::vector<std::uint16_t>> kept_halves;
};

template <class T>
using Out = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
void narrow_tokens(Tokens tokens, std::uint32_t terminals, Out<T> out) {
    const std::size_t n = tokens.shape(0);
    if (out.shape(0) != n) throw nb::value_error("as many are needed as there are tokens");
    checks::require_aligned(tokens, out);
    checks::require_apart(out, tokens);
    const std::uint32_t* const from = tokens.data();
    T* const to = out.data();
    run_in_steps(n, std::size_t(1) << 20, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; i++) to[i] = T(std::min(from[i], terminals));
    });
}

template <class T>
void bind_narrow_tokens(nb::module_& m) {
    m.def("cky_narrow_tokens", &narrow_tokens<T>, nb::arg("tokens").noconvert(),
          nb::arg("terminals"), nb::arg("out").noconvert(),
          "Copies tokens; those that are no terminal become `terminals`, which T must hold.");
}

}  // namespace

void bind_cky(nb::module_& m) {
    bind_narrow_tokens<std::uint8_t>(m);
    bind_narrow_tokens<std::uint16_t>(m);
    bind_narrow_tokens<std::uint32_t>(m);
    nb::class_<Parser>(m, "CkyParser", "A grammar, planned by kernels.cky.cpu.plan.")
        .def(nb::init<const std::string&, nb::object>(), nb::arg("level"), nb::arg("plan"))
        .def("lanes", &Parser::lanes, nb::arg("narrow"), "32-bit words of a symbol in a cell.")
        .def("scratch_bytes", &Parser::scratch_bytes, nb::arg("narrow"), nb::arg("length"),
             "That a group takes whose longest string has so many tokens.")
        .def("recognise", &Parser::recognise, nb::arg("terminals").noconvert(),
             nb::arg("offsets").noconvert(), nb::arg("order").noconvert(),
             nb::arg("bounds").noconvert(), nb::arg("narrow").noconvert(), nb::arg("symbol"),
             nb::arg("longest").noconvert().none(), nb::arg("accepted").noconvert().none(),
             nb::arg("threads"),
             "For groups order[bounds[g]:bounds[g + 1]], each in order of length.")
        .def("charts", &Parser::charts, nb::arg("terminals").noconvert(),
             nb::arg("offsets").noconvert(), nb::arg("order").noconvert(),
             nb::arg("bounds").noconvert(), nb::arg("narrow").noconvert(), nb::arg("words"),
             "The charts of groups, each on a thread of its own.");
}
