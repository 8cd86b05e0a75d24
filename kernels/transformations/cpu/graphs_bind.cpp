// Binds Cayley graphs and words to Python, for kernels.transformations.graphs.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "../../tasks.hpp"
#include "graphs.hpp"

namespace nb = nanobind;

namespace {

using namespace semigroups;
using std::int64_t;
using std::size_t;
using std::uint32_t;
using std::uint64_t;

using Edges = nb::ndarray<const uint32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<const uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Offsets = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

constexpr size_t PART = 1 << 15;  // numbers: fewer are done before a thread has started

struct Result {
    std::unique_ptr<uint32_t[]> memory;
    size_t size;

    explicit Result(size_t size) : memory(new uint32_t[size]), size(size) {}

    uint32_t* data() const { return memory.get(); }

    nb::object given() {
        uint32_t* data = memory.release();
        nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<uint32_t*>(p); });
        return nb::cast(nb::ndarray<nb::numpy, uint32_t, nb::ndim<1>>(data, {size}, owner));
    }
};

Graph graph_of(const Edges& edges, size_t bound) {
    return {edges.data(), edges.shape(0), edges.shape(1), bound};
}

void check(bool fits) {
    if (!fits) throw nb::value_error("the shapes of the arrays contradict each other");
}

void check_below(const Numbers& numbers, size_t bound) {
    check(checks::below(numbers.data(), numbers.shape(0), bound));
}

// Checks a graph: numbers of nodes have 32 bits, and so have letters.
void check_graph(const Edges& edges) {
    checks::require_aligned(edges);
    check(edges.shape(0) < ~uint32_t(0) && edges.shape(1) < ~uint32_t(0));
}

// Calls run_tasks() for tasks task(i, cancelled) that may throw: the first that does ends all of
// them. One task, if it is small, is done here: it is over before a thread has started.
template <class Task>
void run_throwing(size_t tasks, int threads, bool small, Task task) {
    threads = checks::threads_of(threads);
    volatile bool cancelled = false;
    if (small && tasks <= 1) {
        nb::gil_scoped_release release;
        if (tasks) task(size_t(0), cancelled);
        return;
    }
    std::exception_ptr thrown;
    std::mutex mutex;
    run_tasks(int64_t(tasks), threads, 64, cancelled, [&](int64_t i, void*) {
        try {
            task(size_t(i), cancelled);
        } catch (...) {
            std::lock_guard<std::mutex> lock(mutex);
            if (!thrown) thrown = std::current_exception();
            cancelled = true;
        }
    });
    if (thrown) std::rethrow_exception(thrown);
}

// Calls work(i, first, end, cancelled) for each part of [0, count). longest: how many letters
// each item may be followed along.
template <class Work>
void run_parts(size_t count, size_t longest, int threads, Work work) {
    constexpr size_t LITTLE = 1 << 22;
    const bool small = checks::product({count, longest}) < LITTLE;
    run_throwing((count + PART - 1) / PART, threads, small,
                 [&](size_t i, const volatile bool& cancelled) {
                     work(i, i * PART, std::min(count, (i + 1) * PART), cancelled);
                 });
}

nb::list components(const std::vector<Edges>& graphs, int threads) {
    std::vector<Result> classes;
    bool small = true;
    for (const Edges& edges : graphs) {
        check_graph(edges);
        classes.emplace_back(edges.shape(0));
        small = small && checks::product({edges.shape(0), edges.shape(1)}) < PART;
    }
    run_throwing(graphs.size(), threads, small, [&](size_t i, const volatile bool& cancelled) {
        const Edges& edges = graphs[i];
        strong_components(graph_of(edges, edges.shape(0)), classes[i].data(), cancelled);
    });
    nb::list result;
    for (Result& each : classes) result.append(each.given());
    return result;
}

template <void (*made)(const uint32_t*, const uint32_t*, size_t, uint32_t*, const volatile bool&)>
nb::object combined(Numbers a, Numbers b) {
    check(a.shape(0) == b.shape(0) && a.shape(0) < ~uint32_t(0));
    checks::require_aligned(a, b);
    Result classes(a.shape(0));
    run_throwing(1, 1, a.shape(0) < PART, [&](size_t, const volatile bool& cancelled) {
        made(a.data(), b.data(), a.shape(0), classes.data(), cancelled);
    });
    return classes.given();
}

nb::object find_idempotents(Edges right, Numbers first, Numbers suffix,
                            std::optional<Numbers> classes, int threads) {
    const size_t count = right.shape(0);
    check_graph(right);
    checks::require_aligned(first, suffix);
    if (classes) checks::require_aligned(*classes);
    check(first.shape(0) == count && suffix.shape(0) == count &&
          (!classes || classes->shape(0) == count));
    std::vector<std::vector<uint32_t>> found((count + PART - 1) / PART);
    run_parts(count, count, threads, [&](size_t i, size_t begin, size_t end,
                                         const volatile bool& cancelled) {
        idempotents(graph_of(right, count), {first.data(), suffix.data()},
                    classes ? classes->data() : nullptr, begin, end, found[i], cancelled);
    });
    size_t total = 0;
    for (const auto& part : found) total += part.size();
    Result result(total);
    uint32_t* to = result.data();
    for (const auto& part : found) to = std::copy(part.begin(), part.end(), to);
    return result.given();
}

nb::object traced(Numbers start, Numbers word, Edges graph, Numbers letters, Numbers rests,
                  int threads) {
    const size_t nodes = graph.shape(0), count = start.shape(0);
    check_graph(graph);
    checks::require_aligned(start, word, letters, rests);
    check(word.shape(0) == count && letters.shape(0) == nodes && rests.shape(0) == nodes);
    check_below(start, nodes);
    check_below(word, nodes);
    Result result(count);
    run_parts(count, nodes, threads, [&](size_t, size_t begin, size_t end,
                                         const volatile bool& cancelled) {
        trace(graph_of(graph, nodes), {letters.data(), rests.data()}, start.data() + begin,
              word.data() + begin, end - begin, result.data() + begin, cancelled);
    });
    return result.given();
}

nb::object letters_of(Numbers numbers, Offsets offsets, Numbers first, Numbers suffix,
                      int threads) {
    const size_t count = numbers.shape(0);
    const int64_t* places = offsets.data();
    checks::require_aligned(numbers, offsets, first, suffix);
    check(offsets.shape(0) == count + 1 && first.shape(0) == suffix.shape(0) && places[0] == 0);
    for (size_t k = 0; k < count; k++) check(places[k] <= places[k + 1]);
    check_below(numbers, first.shape(0));
    const size_t total = size_t(places[count]);
    checks::need_memory(4 * double(total));
    Result letters(total);
    run_parts(count, first.shape(0), threads, [&](size_t, size_t begin, size_t end,
                                                  const volatile bool& cancelled) {
        spell({first.data(), suffix.data()}, numbers.data() + begin, places + begin, end - begin,
              letters.data(), cancelled);
    });
    return letters.given();
}

nb::tuple find_rules(Edges right, Numbers suffix) {
    const size_t letters = right.shape(1);
    check_graph(right);
    checks::require_aligned(suffix);
    check(right.shape(0) <= suffix.shape(0));
    std::vector<uint64_t> places;
    run_throwing(1, 1, right.size() < PART, [&](size_t, const volatile bool& cancelled) {
        places = rules(graph_of(right, suffix.shape(0)), suffix.data(), cancelled);
    });
    Result u(places.size()), g(places.size()), r(places.size());
    for (size_t k = 0; k < places.size(); k++) {
        u.data()[k] = uint32_t(places[k] / letters);
        g.data()[k] = uint32_t(places[k] % letters);
        r.data()[k] = right.data()[places[k]];
    }
    return nb::make_tuple(u.given(), g.given(), r.given());
}

}  // namespace

void bind_semigroup_graphs(nb::module_& m) {
    m.def("semigroup_components", &components, nb::arg("graphs"), nb::arg("threads"),
          "Of each graph the strong component of each node, numbered by first members.");
    m.def("semigroup_join", &combined<join>, nb::arg("a").noconvert(), nb::arg("b").noconvert(),
          "The least equivalence above two.");
    m.def("semigroup_meet", &combined<meet>, nb::arg("a").noconvert(), nb::arg("b").noconvert(),
          "What is in the same class of both.");
    m.def("semigroup_idempotents", &find_idempotents, nb::arg("right").noconvert(),
          nb::arg("first").noconvert(), nb::arg("suffix").noconvert(),
          nb::arg("classes").noconvert().none(), nb::arg("threads"),
          "Numbers e with e e = e, ascending; classes of R, or None, make it faster.");
    m.def("semigroup_traced", &traced, nb::arg("start").noconvert(), nb::arg("word").noconvert(),
          nb::arg("graph").noconvert(), nb::arg("letters").noconvert(),
          nb::arg("rests").noconvert(), nb::arg("threads"),
          "Where the word of each word[k], in a graph, leads from start[k].");
    m.def("semigroup_letters", &letters_of, nb::arg("numbers").noconvert(),
          nb::arg("offsets").noconvert(), nb::arg("first").noconvert(),
          nb::arg("suffix").noconvert(), nb::arg("threads"),
          "The letters of the words of numbers; offsets are int64 (count + 1).");
    m.def("semigroup_rules", &find_rules, nb::arg("right").noconvert(), nb::arg("suffix").noconvert(),
          "(u, g, r) of the rules u g = r, in order of u g.");
}
