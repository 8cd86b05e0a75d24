// What binds Cayley graphs and words to Python; see kernels.transf.graphs for what calls it.
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

using namespace transf;
using std::int64_t;
using std::size_t;
using std::uint32_t;
using std::uint64_t;

using Edges = nb::ndarray<const uint32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<const uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Offsets = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

constexpr size_t PART = 1 << 15;  // numbers: less is done before a thread has started

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
    for (size_t k = 0; k < numbers.shape(0); k++) check(numbers.data()[k] < bound);
}

// run_tasks() for tasks task(i, cancelled) that may throw: the first that does ends all. One
// task, if it is small, is done here.
template <class Task>
void run_throwing(size_t tasks, int threads, bool small, Task task) {
    check(threads >= 1);
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

// Calls work(i, first, end) for each part of [0, count).
template <class Work>
void run_parts(size_t count, int threads, Work work) {
    run_throwing((count + PART - 1) / PART, threads, true, [&](size_t i, const volatile bool&) {
        work(i, i * PART, std::min(count, (i + 1) * PART));
    });
}

nb::list components(const std::vector<Edges>& graphs, int threads) {
    std::vector<Result> classes;
    bool small = true;
    for (const Edges& edges : graphs) {
        classes.emplace_back(edges.shape(0));
        small = small && edges.shape(0) < PART / 4;
    }
    run_throwing(graphs.size(), threads, small, [&](size_t i, const volatile bool& cancelled) {
        const Edges& edges = graphs[i];
        strong_components(graph_of(edges, edges.shape(0)), classes[i].data(), cancelled);
    });
    nb::list result;
    for (Result& each : classes) result.append(each.given());
    return result;
}

template <void (*made)(const uint32_t*, const uint32_t*, size_t, uint32_t*)>
nb::object combined(Numbers a, Numbers b) {
    check(a.shape(0) == b.shape(0));
    Result classes(a.shape(0));
    {
        nb::gil_scoped_release release;
        made(a.data(), b.data(), a.shape(0), classes.data());
    }
    return classes.given();
}

nb::object find_idempotents(Edges right, Numbers first, Numbers suffix,
                            std::optional<Numbers> classes, int threads) {
    const size_t count = right.shape(0);
    check(first.shape(0) == count && suffix.shape(0) == count &&
          (!classes || classes->shape(0) == count));
    std::vector<std::vector<uint32_t>> found((count + PART - 1) / PART);
    run_parts(count, threads, [&](size_t i, size_t begin, size_t end) {
        idempotents(graph_of(right, count), {first.data(), suffix.data()},
                    classes ? classes->data() : nullptr, begin, end, found[i]);
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
    check(word.shape(0) == count && letters.shape(0) == nodes && rests.shape(0) == nodes);
    check_below(start, nodes);
    check_below(word, nodes);
    Result result(count);
    run_parts(count, threads, [&](size_t, size_t begin, size_t end) {
        trace(graph_of(graph, nodes), {letters.data(), rests.data()}, start.data() + begin,
              word.data() + begin, end - begin, result.data() + begin);
    });
    return result.given();
}

nb::object letters_of(Numbers numbers, Offsets offsets, Numbers first, Numbers suffix,
                      int threads) {
    const size_t count = numbers.shape(0);
    const int64_t* places = offsets.data();
    check(offsets.shape(0) == count + 1 && first.shape(0) == suffix.shape(0) && places[0] == 0);
    for (size_t k = 0; k < count; k++) check(places[k] <= places[k + 1]);
    check_below(numbers, first.shape(0));
    const size_t total = size_t(places[count]);
    Result letters(total);
    run_parts(count, threads, [&](size_t, size_t begin, size_t end) {
        spell({first.data(), suffix.data()}, numbers.data() + begin, places + begin, end - begin,
              letters.data());
    });
    return letters.given();
}

nb::tuple find_rules(Edges right, Numbers suffix) {
    const size_t letters = right.shape(1);
    check(right.shape(0) <= suffix.shape(0));
    std::vector<uint64_t> places;
    {
        nb::gil_scoped_release release;
        places = rules(graph_of(right, suffix.shape(0)), suffix.data());
    }
    Result u(places.size()), g(places.size()), r(places.size());
    for (size_t k = 0; k < places.size(); k++) {
        u.data()[k] = uint32_t(places[k] / letters);
        g.data()[k] = uint32_t(places[k] % letters);
        r.data()[k] = right.data()[places[k]];
    }
    return nb::make_tuple(u.given(), g.given(), r.given());
}

}  // namespace

void bind_transf_graphs(nb::module_& m) {
    m.def("transf_components", &components, nb::arg("graphs"), nb::arg("threads"),
          "Of each graph the strong component of each node, numbered by first members.");
    m.def("transf_join", &combined<join>, nb::arg("a").noconvert(), nb::arg("b").noconvert(),
          "The least equivalence above two.");
    m.def("transf_meet", &combined<meet>, nb::arg("a").noconvert(), nb::arg("b").noconvert(),
          "What is in the same class of both.");
    m.def("transf_idempotents", &find_idempotents, nb::arg("right").noconvert(),
          nb::arg("first").noconvert(), nb::arg("suffix").noconvert(),
          nb::arg("classes").noconvert().none(), nb::arg("threads"),
          "Numbers e with e e = e, ascending; classes of R, or None, make it faster.");
    m.def("transf_traced", &traced, nb::arg("start").noconvert(), nb::arg("word").noconvert(),
          nb::arg("graph").noconvert(), nb::arg("letters").noconvert(),
          nb::arg("rests").noconvert(), nb::arg("threads"),
          "Where the word of each word[k], in a graph, leads from start[k].");
    m.def("transf_letters", &letters_of, nb::arg("numbers").noconvert(),
          nb::arg("offsets").noconvert(), nb::arg("first").noconvert(),
          nb::arg("suffix").noconvert(), nb::arg("threads"),
          "The letters of the words of numbers; offsets are int64 (count + 1).");
    m.def("transf_rules", &find_rules, nb::arg("right").noconvert(), nb::arg("suffix").noconvert(),
          "(u, g, r) of the rules u g = r, in order of u g.");
}
