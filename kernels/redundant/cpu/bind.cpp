// Binds carry-free additions to Python; kernels.redundant.cpu.engine calls them.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <string>
#include <vector>

#include "../../levels.hpp"
#include "../../tasks.hpp"
#include "redundant.hpp"

namespace nb = nanobind;

LEVELS_OF(RedundantOps, redundant)

namespace {

using Array = nb::ndarray<nb::ro>;
using Result = nb::ndarray<>;
using std::size_t;

const RedundantWordOps& ops_of(const std::string& name, int word) {
    if (word != 16 && word != 32 && word != 64)
        throw nb::value_error("words have 16, 32 or 64 bits");
    return ops_at(redundant_levels, name).words[word == 16 ? 0 : word == 32 ? 1 : 2];
}

template <class A>
auto checked(const A& array, nb::dlpack::dtype_code code, int word, size_t dimensions) {
    const bool fits = array.dtype().code == uint8_t(code) && array.dtype().bits == word &&
                      array.dtype().lanes == 1 && array.ndim() == dimensions &&
                      array.device_type() == nb::device::cpu::value &&
                      checks::contiguous(array) && checks::aligned(array);
    if (!fits) throw nb::value_error("arrays must be contiguous and of the type documented");
    return array.data();
}

template <class A>
auto digits(const A& array, int word) {
    auto data = checked(array, nb::dlpack::dtype_code::Int, word, 1);
    if (!array.size() || array.size() % REDUNDANT_GROUP)
        throw nb::value_error("digits come in groups of 32");
    return data;
}

void check_apart(const Array& x, const Result& out) { checks::require_apart(out, x); }

// Returns how long the parts are that [0, groups) is cut into for the threads. Parts of less
// than `least` are over before a thread has started, and those of more than a few times that
// would take long.
size_t part_of(size_t groups, size_t least, int threads) {
    threads = checks::threads_of(threads);
    const size_t part = std::min((groups + size_t(threads) - 1) / size_t(threads), 4 * least);
    return part < least ? (least < groups ? least : groups) : part;
}

// Calls run(i, first, last) for each part, on the threads if there are several. in_place: all
// parts are made though a signal has come, as a number may not be left half changed.
template <class Run>
void share(size_t groups, size_t part, int threads, bool in_place, Run run) {
    if (groups <= part) {
        nb::gil_scoped_release release;
        run(size_t(0), size_t(0), groups);
        return;
    }
    const size_t parts = (groups + part - 1) / part;
    auto piece = [&](size_t i) {
        const size_t first = i * part, left = groups - first;
        run(i, first, first + (left < part ? left : part));
    };
    std::vector<char> done(parts);
    volatile bool cancelled = false;
    try {
        run_tasks(std::int64_t(parts), threads, 64, cancelled, [&](std::int64_t i, void*) {
            piece(size_t(i));
            done[size_t(i)] = 1;
        });
    } catch (nb::python_error&) {
        // The rest takes as long as the interrupted call would have taken;
        // arith/redundant.py says how large a number may be for that.
        if (in_place) {
            nb::gil_scoped_release release;
            for (size_t i = 0; i < parts; i++)
                if (!done[i]) piece(i);
        }
        throw;
    }
}

constexpr size_t LEAST_BYTES = size_t(2) << 20;  // of digits, for which a thread is worth while

void add(const std::string& level, int word, Array x, Array y, bool subtract, Result out,
         int threads) {
    const RedundantWordOps& ops = ops_of(level, word);
    const void *a = digits(x, word), *b = digits(y, word);
    void* z = digits(out, word);
    for (const Array& operand : {x, y}) {
        const bool in_place = operand.data() == a && a == z && operand.size() == out.size();
        if (!in_place) check_apart(operand, out);
        if (operand.size() > out.size())
            throw nb::value_error("the result has fewer digits than an operand");
    }
    const size_t groups = out.size() / REDUNDANT_GROUP, bytes = REDUNDANT_GROUP * size_t(word / 8);
    const size_t part = part_of(groups, LEAST_BYTES / bytes, threads);
    std::vector<std::uint64_t> below;
    for (size_t first = 0; first < groups; first += part)
        below.push_back(ops.below(a, x.size(), b, y.size(), subtract, first * REDUNDANT_GROUP));
    share(groups, part, threads, a == z || b == z, [&](size_t i, size_t first, size_t last) {
        ops.add(a, x.size(), b, y.size(), subtract, z, first * REDUNDANT_GROUP,
                last * REDUNDANT_GROUP, below[i]);
    });
}

void sum(const std::string& level, int word, Array numbers, std::uint64_t positive, Result out,
         int threads) {
    const RedundantWordOps& ops = ops_of(level, word);
    const auto* words =
        static_cast<const std::uint64_t*>(checked(numbers, nb::dlpack::dtype_code::UInt, 64, 2));
    void* z = digits(out, word);
    const size_t count = numbers.shape(0), width = numbers.shape(1);
    const size_t groups = out.size() / REDUNDANT_GROUP;
    check_apart(numbers, out);
    if (positive > count || count > std::uint64_t(1) << (ops.log - 1))
        throw nb::value_error("more numbers than one sum takes, or than there are");
    if (width > groups * size_t(ops.log / 2))
        throw nb::value_error("the result has fewer digits than the numbers");
    const size_t bytes = checks::product({REDUNDANT_GROUP, size_t(word / 8), count + 1});
    const size_t part = part_of(groups, LEAST_BYTES / 8 / bytes + 1, threads);
    share(groups, part, threads, false, [&](size_t, size_t first, size_t last) {
        ops.sum(words, width, count, positive, z, first, last);
    });
}

void normalise(const std::string& level, int word, Array x, Result out) {
    const RedundantWordOps& ops = ops_of(level, word);
    const void* from = digits(x, word);
    auto* words =
        static_cast<std::uint64_t*>(checked(out, nb::dlpack::dtype_code::UInt, 64, 1));
    const size_t groups = x.size() / REDUNDANT_GROUP;
    if (out.size() != groups * size_t(ops.log / 2) + 1)
        throw nb::value_error("the words of the result are not as many as documented");
    check_apart(x, out);
    std::uint64_t carried = 0;
    run_in_steps(groups, LEAST_BYTES / REDUNDANT_GROUP, [&](size_t first, size_t last) {
        carried = ops.normalise(from, first, last, carried, words);
    });
    words[out.size() - 1] = carried;
}

}  // namespace

void bind_redundant(nb::module_& m) {
    m.def("redundant_add", &add, nb::arg("level"), nb::arg("word"), nb::arg("x").noconvert(),
          nb::arg("y").noconvert(), nb::arg("subtract"), nb::arg("out").noconvert(),
          nb::arg("threads"), "out = x + y, or x - y, in digits of `word` bits.");
    m.def("redundant_sum", &sum, nb::arg("level"), nb::arg("word"), nb::arg("numbers").noconvert(),
          nb::arg("positive"), nb::arg("out").noconvert(), nb::arg("threads"),
          "out = the first `positive` of numbers, uint64 (count, width), less the others.");
    m.def("redundant_normalise", &normalise, nb::arg("level"), nb::arg("word"),
          nb::arg("x").noconvert(), nb::arg("out").noconvert(),
          "out, uint64 (digits * log / 64 + 1): x in two's complement.");
}
