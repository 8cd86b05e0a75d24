// Binds the enumeration of semigroups to Python, for kernels.transformations.cpu.engine.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "../../levels.hpp"
#include "../../tasks.hpp"
#include "enumeration.hpp"

namespace nb = nanobind;

LEVELS_OF(SemigroupOps, semigroup)

namespace {

template <class T, int N>
using Array = nb::ndarray<const T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
template <class T, int N>
using Result = nb::ndarray<T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
using Maps = nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using MapsResult = nb::ndarray<nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using std::size_t;

constexpr u64 MOST_MEMORY = u64(1) << 44;  // there are not many more addresses

void check(bool fits) {
    if (!fits) throw nb::value_error("the arrays of an enumeration contradict each other");
}

bool signalled() {
    nb::gil_scoped_acquire acquire;
    return PyErr_CheckSignals() != 0;
}

// Tells whether `collision` is what went wrong; raises everything else.
bool collided(SemigroupStatus status) {
    if (status == SemigroupStatus::interrupted) throw nb::python_error();
    if (status == SemigroupStatus::memory) throw std::bad_alloc();
    if (status == SemigroupStatus::contradiction)
        throw nb::value_error("the tables gone on from contradict each other");
    return status == SemigroupStatus::collision;
}

class Engine {
    // Lets one thread at a time use the engine, and never one that waits while it has the
    // interpreter's lock.
    struct Alone {
        explicit Alone(std::mutex& busy) : lock(busy) {}
        nb::gil_scoped_release release;
        std::lock_guard<std::mutex> lock;
    };

public:
    Engine(const std::string& level, Maps generators, Array<u32, 1> points, bool monoid,
           bool compare, u64 memory, Array<u32, 1> key, Array<u64, 2> factors,
           const std::vector<u64>& mask, int threads, size_t level2)
        : generators(generators), points(points), key(key), factors(factors) {
        const size_t m = generators.shape(0), degree = generators.shape(1), width = points.shape(0);
        const size_t itemsize = generators.itemsize();
        checks::require_aligned(generators, points, key, factors);
        threads = checks::threads_of(threads);
        const bool integers = generators.dtype().code == uint8_t(nb::dlpack::dtype_code::UInt) &&
                              generators.dtype().lanes == 1;
        // Products of such numbers fit in 64 bits, and the number of a product fits in
        // 32.
        check(integers && m > 0 && m < u64(1) << 24 && degree > 0 && degree < u64(1) << 32 &&
              width > 0 && width <= degree && level2 < u64(1) << 40 &&
              (itemsize == 1 || itemsize == 2 || itemsize == 4) && mask.size() == 2 &&
              key.shape(0) == SEMIGROUP_BLOCK + SEMIGROUP_SHIFT && factors.shape(1) == 2);
        const size_t stride = (width * itemsize + 15) / 16 * 16;
        check(factors.shape(0) == (stride + 4 * SEMIGROUP_BLOCK - 1) / (4 * SEMIGROUP_BLOCK));
        check_images(generators.data(), generators.size(), itemsize, degree);
        bool whole = width == degree;
        for (size_t i = 0; i < width; i++) {
            check(points(i) < degree);
            whole = whole && points(i) == i;
        }
        const SemigroupProblem problem{static_cast<const char*>(generators.data()), itemsize, degree,
                                    u32(m), points.data(), width, stride, whole, monoid, compare,
                                    std::min(memory, MOST_MEMORY), key.data(), factors.data(),
                                    {mask[0], mask[1]}};
        try {
            engine = std::make_unique<Enumeration>(ops_at(semigroup_levels, level), problem,
                                                   threads, level2, signalled);
        } catch (const TooLittleMemory& error) {
            PyErr_SetObject(PyExc_MemoryError, nb::int_(error.needed).ptr());
            throw nb::python_error();
        }
    }

    bool expand(u64 most, bool on) {
        SemigroupStatus status;
        {
            const Alone alone(busy);
            status = engine->expand(most, on);
        }
        return collided(status);
    }

    void resume(const std::vector<u64>& starts, Array<u32, 1> first, Array<u32, 1> suffix,
                Array<u32, 1> prefix, Array<u32, 1> last, Array<u32, 2> right,
                Array<u32, 2> left, Array<u64, 2> hashes) {
        const size_t size = first.shape(0), expanded = right.shape(0), m = generators.shape(0);
        checks::require_aligned(first, suffix, prefix, last, right, left, hashes);
        check(size > 0 && size < 0xFFFFFFFF && suffix.shape(0) == size && prefix.shape(0) == size &&
              last.shape(0) == size && hashes.shape(0) == size && hashes.shape(1) == 2 &&
              right.shape(1) == m && left.shape(1) == m && expanded <= size &&
              left.shape(0) <= size && below(right, size) && below(left, size));
        check(starts.size() >= 2 && starts[0] == 0 && starts[1] == 1 && starts.back() <= size &&
              std::is_sorted(starts.begin(), starts.end()) && expanded <= starts.back() &&
              std::adjacent_find(starts.begin(), starts.end()) == starts.end());
        // Words must come to an end: their prefixes are of the level before, and their
        // suffixes are lesser numbers.
        const Signals signals;
        for (size_t level = 1; level < starts.size(); level++) {
            const size_t end = level + 1 < starts.size() ? starts[level + 1] : size;
            for (size_t e = starts[level]; e < end; e++) {
                signals.at(e);
                check(first(e) < m && last(e) < m && suffix(e) < e &&
                      prefix(e) >= starts[level - 1] && prefix(e) < starts[level]);
            }
        }
        SemigroupStatus status;
        {
            const Alone alone(busy);
            // This may be done once, before anything else: what others look at does
            // not change under them.
            check(engine->size == 1 && engine->expanded == 0);
            status = engine->resume(starts, first.shape(0), right.shape(0), first.data(),
                                    suffix.data(), prefix.data(), last.data(), right.data(),
                                    left.shape(0), left.data(), hashes.data());
        }
        collided(status);
    }

    // Returns size, expanded, left_known, kept, nbytes, computed, deduced, moved.
    std::vector<u64> state() {
        const Alone alone(busy);
        const Enumeration& e = *engine;
        return {e.size, e.expanded, e.left_known, std::min(e.kept(), e.size), e.nbytes(),
                e.computed, e.deduced, e.moved};
    }
    std::vector<u64> starts(size_t known) {
        const Alone alone(busy);
        const std::vector<u64>& all = engine->starts;
        return {all.begin() + std::ptrdiff_t(std::min(known, all.size())), all.end()};
    }

    void read(const std::string& name, u64 start, nb::ndarray<nb::c_contig, nb::device::cpu> out) {
        check(out.ndim() > 0);
        checks::require_aligned(out);
        const u64 count = out.shape(0), m = generators.shape(0);
        const bool right = name == "right", left = name == "left", hashes = name == "hashes";
        check(name == "first" || name == "suffix" || name == "prefix" || name == "last" || right ||
              left || hashes);
        const u64 width = right || left ? m : hashes ? 2 : 1;
        check(out.size() == checks::product({count, width}) && out.itemsize() == (hashes ? 8 : 4));
        constexpr u64 PART = u64(1) << 21;  // words: some milliseconds
        const u64 some = std::max(u64(1), PART / width);
        // Between two parts, what is known may grow and move, but does not change.
        for (u64 done = 0; done == 0 || done < count; done += some) {
            const u64 first = start + done, these = std::min(some, count - done);
            char* const to = static_cast<char*>(out.data()) + done * width * out.itemsize();
            {
                const Alone alone(busy);
                const Enumeration& e = *engine;
                const u64 known = right ? e.expanded : left ? e.left_known : e.size;
                check(start <= known && count <= known - start);
                if (right || left)
                    std::memcpy(to, (right ? e.graph.right : e.graph.left) + first * m,
                                4 * m * these);
                else if (hashes) std::memcpy(to, e.hashes + 2 * first, 16 * these);
                else copy_pairs(name, e.graph, first, these, reinterpret_cast<u32*>(to));
            }
            if (PyErr_CheckSignals() != 0) throw nb::python_error();
        }
    }

    void maps(Array<u64, 1> numbers, MapsResult out) {
        check(out.shape(0) == numbers.shape(0) && fits(out));
        checks::require_aligned(numbers, out);
        checks::require_apart(out, numbers, generators, points, key, factors);
        const Signals signals;
        for (size_t i = 0; i < numbers.shape(0); i++) {
            signals.at(i);
            check(numbers(i) < engine->size);
        }
        SemigroupStatus status;
        {
            const Alone alone(busy);
            status = engine->maps(numbers.data(), numbers.shape(0), static_cast<char*>(out.data()));
        }
        collided(status);
    }

    void positions(Maps maps, Result<std::int64_t, 1> out) {
        check(maps.shape(0) == out.shape(0) && fits(maps));
        checks::require_aligned(maps, out);
        checks::require_apart(out, maps, generators, points, key, factors);
        SemigroupStatus status;
        {
            const Alone alone(busy);
            status = engine->positions(static_cast<const char*>(maps.data()), maps.shape(0),
                                       out.data());
        }
        collided(status);
    }

    nb::object differ(Array<u32, 1> words, Array<u32, 1> letters, Array<u32, 1> others) {
        const size_t count = words.shape(0);
        check(letters.shape(0) == count && others.shape(0) == count);
        checks::require_aligned(words, letters, others);
        const Signals signals;
        for (size_t i = 0; i < count; i++) {
            signals.at(i);
            check(words(i) < engine->size && others(i) < engine->size &&
                  letters(i) < generators.shape(0));
        }
        u64 place[2];
        SemigroupStatus status;
        {
            const Alone alone(busy);
            status = engine->differ(words.data(), letters.data(), others.data(), count, place);
        }
        collided(status);
        if (place[0] == count) return nb::none();
        return nb::make_tuple(place[0], place[1]);
    }

private:
    static void copy_pairs(const std::string& name, const SemigroupGraph& graph, u64 first, u64 count,
                           u32* to) {
        const bool begin = name == "first" || name == "suffix";
        const SemigroupPair* const from = (begin ? graph.begin : graph.end) + first;
        const bool a = name == "first" || name == "prefix";
        for (u64 i = 0; i < count; i++) to[i] = a ? from[i].a : from[i].b;
    }

    // Does what checks::below() does, for arrays that may be long.
    template <class T>
    static bool all_below(const T* numbers, size_t count, size_t limit) {
        bool well = true;
        run_in_steps(count, size_t(1) << 22, [&](size_t first, size_t last) {
            well = well && checks::below(numbers + first, last - first, limit);
        });
        return well;
    }
    template <class T>
    static void check_each(const void* images, size_t count, size_t degree) {
        check(all_below(static_cast<const T*>(images), count, degree));
    }
    // Checks that all images are points, as they are not looked at again when they are
    // composed.
    static void check_images(const void* images, size_t count, size_t itemsize, size_t degree) {
        if (itemsize == 1) check_each<std::uint8_t>(images, count, degree);
        else if (itemsize == 2) check_each<std::uint16_t>(images, count, degree);
        else check_each<u32>(images, count, degree);
    }

    static bool below(const Array<u32, 2>& numbers, size_t limit) {
        return all_below(numbers.data(), numbers.size(), limit);
    }

    template <class A>
    bool fits(const A& maps) const {
        return maps.shape(1) == generators.shape(1) && maps.dtype() == generators.dtype();
    }

    Maps generators;
    Array<u32, 1> points, key;
    Array<u64, 2> factors;
    std::mutex busy;
    std::unique_ptr<Enumeration> engine;
};

}  // namespace

void bind_small_semigroups(nb::module_& m);

void bind_semigroups(nb::module_& m) {
    bind_small_semigroups(m);
    nb::class_<Engine>(m, "SemigroupEnumerator", "An enumeration; see kernels.transformations.contract.Enumerator.")
        .def(nb::init<const std::string&, Maps, Array<u32, 1>, bool, bool, u64, Array<u32, 1>,
                      Array<u64, 2>, const std::vector<u64>&, int, size_t>(),
             nb::arg("level"), nb::arg("generators").noconvert(), nb::arg("points").noconvert(),
             nb::arg("monoid"), nb::arg("compare"), nb::arg("memory"), nb::arg("key").noconvert(),
             nb::arg("factors").noconvert(), nb::arg("mask"), nb::arg("threads"),
             nb::arg("level2"))
        .def("expand", &Engine::expand, nb::arg("most"), nb::arg("on") = false,
             "Whether two rows have the same hash. on: goes on with the next levels.")
        .def("resume", &Engine::resume, nb::arg("starts"), nb::arg("first").noconvert(),
             nb::arg("suffix").noconvert(), nb::arg("prefix").noconvert(),
             nb::arg("last").noconvert(), nb::arg("right").noconvert(),
             nb::arg("left").noconvert(), nb::arg("hashes").noconvert(),
             "Tables that were checked, once, before all else.")
        .def("state", &Engine::state,
             "size, expanded, left_known, kept, nbytes, computed, deduced, moved.")
        .def("starts", &Engine::starts, nb::arg("known"), "From the entry `known` on.")
        .def("read", &Engine::read, nb::arg("name"), nb::arg("start"), nb::arg("out").noconvert())
        .def("maps", &Engine::maps, nb::arg("numbers").noconvert(), nb::arg("out").noconvert())
        .def("positions", &Engine::positions, nb::arg("maps").noconvert(),
             nb::arg("out").noconvert())
        .def("differ", &Engine::differ, nb::arg("words").noconvert(),
             nb::arg("letters").noconvert(), nb::arg("others").noconvert());
}
