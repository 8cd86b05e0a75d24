// Checks of what Python gives, for all bindings: no argument, however wrong, may crash.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace checks {

inline void require(bool holds, const char* what) {
    if (!holds) throw nanobind::value_error(what);
}

// Stands for sums and products that are too large for their type: no array has this size.
constexpr std::size_t NO_SIZE = ~std::size_t(0);

inline std::size_t product(std::initializer_list<std::size_t> factors) {
    std::size_t result = 1;
    for (std::size_t factor : factors)
        if (!factor) return 0;
    for (std::size_t factor : factors)
        if (__builtin_mul_overflow(result, factor, &result)) return NO_SIZE;
    return result;
}

inline std::size_t sum(std::initializer_list<std::size_t> terms) {
    std::size_t result = 0;
    for (std::size_t term : terms)
        if (__builtin_add_overflow(result, term, &result)) return NO_SIZE;
    return result;
}

constexpr int MOST_THREADS = 1024;

// Returns how many threads to use: more than MOST_THREADS would only take memory.
inline int threads_of(int threads) {
    require(threads >= 1, "at least one thread must work");
    return threads < MOST_THREADS ? threads : MOST_THREADS;
}

// Tells whether elements are where loops of vectors expect them.
template <class A>
bool aligned(const A& array) {
    const std::size_t bytes = array.itemsize() < 8 ? array.itemsize() : 8;
    return !array.size() || !bytes || reinterpret_cast<std::uintptr_t>(array.data()) % bytes == 0;
}

template <class A>
bool contiguous(const A& array) {
    if (!array.size()) return true;
    std::int64_t stride = 1;
    for (std::size_t i = array.ndim(); i-- > 0; stride *= std::int64_t(array.shape(i)))
        if (array.shape(i) > 1 && array.stride(i) != stride) return false;
    return true;
}

// Tells whether two contiguous arrays share a byte.
template <class A, class B>
bool overlap(const A& x, const B& y) {
    const auto from = reinterpret_cast<std::uintptr_t>(x.data());
    const auto to = reinterpret_cast<std::uintptr_t>(y.data());
    return x.size() && y.size() && from < to + y.nbytes() && to < from + x.nbytes();
}

// Raises ValueError where a result shares memory with any of the others, which would be changed
// after they were checked.
template <class Result, class... Others>
void require_apart(const Result& result, const Others&... others) {
    require(!(overlap(result, others) || ...), "a result overlaps another array");
}
template <class... Arrays>
void require_aligned(const Arrays&... arrays) {
    require((aligned(arrays) && ...), "an array is not aligned to its elements");
}

// Tells whether all entries are in [0, limit).
template <class T>
bool below(const T* entries, std::size_t count, std::size_t limit) {
    for (std::size_t i = 0; i < count; i++)
        if (std::size_t(entries[i]) >= limit) return false;
    return true;
}

// Tells whether `starts` cuts a table of `size` entries into `count` runs, one after the other:
// count + 1 places that never fall.
template <class T>
bool runs(const T* starts, std::size_t places, std::size_t count, std::size_t size) {
    if (count == NO_SIZE || places != count + 1 || starts[0] != 0) return false;
    for (std::size_t i = 0; i < count; i++)
        if (starts[i] > starts[i + 1]) return false;
    return std::size_t(starts[count]) == size;
}

// Raises MemoryError, which tells the bytes, where there is no room for so many. Before that,
// drop() gives back what can be done without.
template <class Drop>
void need_memory(double bytes, Drop drop) {
    constexpr double SMALL = 64 << 20;  // asking would take longer than it is worth
    if (bytes <= SMALL) return;
    namespace nb = nanobind;
    const nb::object available = nb::module_::import_("kernels.targets.memory").attr("available_memory");
    if (bytes <= nb::cast<double>(available())) return;
    drop();
    const nb::object free = available();
    if (bytes <= nb::cast<double>(free)) return;
    // A Python integer, as exact as a double is.
    const nb::object needed = nb::steal(PyLong_FromDouble(bytes));
    PyErr_Format(PyExc_MemoryError, "%S bytes are needed, and %S can be taken", needed.ptr(),
                 free.ptr());
    throw nb::python_error();
}
inline void need_memory(double bytes) {
    need_memory(bytes, [] {});
}

}  // namespace checks
