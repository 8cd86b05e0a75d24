// What binds the enumeration of semigroups to Python; see kernels.transf.cpu for what calls it.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "../../tasks.hpp"
#include "enumeration.hpp"

namespace nb = nanobind;

#define LEVEL(name) extern const TransfOps transf_##name;
#include "levels.inc"
#undef LEVEL

namespace {

struct Level {
    const char* name;
    const TransfOps* ops;
};
const Level levels[] = {
#define LEVEL(name) {#name, &transf_##name},
#include "levels.inc"
#undef LEVEL
};

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

// Whether `collision` is what went wrong; raises all else.
bool collided(TransfStatus status) {
    if (status == TransfStatus::interrupted) throw nb::python_error();
    if (status == TransfStatus::memory) throw std::bad_alloc();
    if (status == TransfStatus::contradiction)
        throw nb::value_error("the tables gone on from contradict each other");
    return status == TransfStatus::collision;
}

class Engine {
    // One thread at a time, and never one that waits with the interpreter's lock.
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
        check(m > 0 && m < u64(1) << 32 && degree > 0 && width > 0 && threads > 0 &&
              (itemsize == 1 || itemsize == 2 || itemsize == 4) && mask.size() == 2 &&
              key.shape(0) == TRANSF_BLOCK + TRANSF_SHIFT && factors.shape(1) == 2);
        const size_t stride = (width * itemsize + 15) / 16 * 16;
        check(factors.shape(0) == (stride + 4 * TRANSF_BLOCK - 1) / (4 * TRANSF_BLOCK));
        bool whole = width == degree;
        for (size_t i = 0; i < width; i++) {
            check(points(i) < degree);
            whole = whole && points(i) == i;
        }
        const TransfProblem problem{static_cast<const char*>(generators.data()), itemsize, degree,
                                    u32(m), points.data(), width, stride, whole, monoid, compare,
                                    std::min(memory, MOST_MEMORY), key.data(), factors.data(),
                                    {mask[0], mask[1]}};
        engine = std::make_unique<Enumeration>(*level_named(levels, level).ops, problem, threads,
                                               level2, signalled);
    }

    bool expand(u64 most) {
        TransfStatus status;
        {
            const Alone alone(busy);
            status = engine->expand(most);
        }
        return collided(status);
    }

    void resume(const std::vector<u64>& starts, Array<u32, 1> first, Array<u32, 1> suffix,
                Array<u32, 1> prefix, Array<u32, 1> last, Array<u32, 2> right,
                Array<u32, 2> left, Array<u64, 2> hashes) {
        TransfStatus status;
        {
            const Alone alone(busy);
            status = engine->resume(starts, first.shape(0), right.shape(0), first.data(),
                                    suffix.data(), prefix.data(), last.data(), right.data(),
                                    left.shape(0), left.data(), hashes.data());
        }
        collided(status);
    }

    // size, expanded, left_known, kept, nbytes, computed, deduced, moved.
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
        const u64 count = out.shape(0), m = generators.shape(0);
        const Alone alone(busy);
        const Enumeration& e = *engine;
        const TransfGraph& graph = e.graph;
        const bool right = name == "right", left = name == "left", hashes = name == "hashes";
        const u64 known = right ? e.expanded : left ? e.left_known : e.size;
        check(start <= known && count <= known - start &&
              out.size() == count * (right || left ? m : hashes ? 2 : 1) &&
              out.itemsize() == (hashes ? 8 : 4));
        u32* const to = static_cast<u32*>(out.data());
        if (right || left) {
            std::memcpy(to, (right ? graph.right : graph.left) + start * m, out.nbytes());
        } else if (hashes) {
            std::memcpy(to, e.hashes + 2 * start, out.nbytes());
        } else {
            const bool begin = name == "first" || name == "suffix";
            const TransfPair* const from = (begin ? graph.begin : graph.end) + start;
            const bool a = name == "first" || name == "prefix";
            for (u64 i = 0; i < count; i++) to[i] = a ? from[i].a : from[i].b;
        }
    }

    void maps(Array<u64, 1> numbers, MapsResult out) {
        check(out.shape(0) == numbers.shape(0) && fits(out));
        for (size_t i = 0; i < numbers.shape(0); i++) check(numbers(i) < engine->size);
        TransfStatus status;
        {
            const Alone alone(busy);
            status = engine->maps(numbers.data(), numbers.shape(0), static_cast<char*>(out.data()));
        }
        collided(status);
    }

    void positions(Maps maps, Result<std::int64_t, 1> out) {
        check(maps.shape(0) == out.shape(0) && fits(maps));
        TransfStatus status;
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
        for (size_t i = 0; i < count; i++)
            check(words(i) < engine->size && others(i) < engine->size &&
                  letters(i) < generators.shape(0));
        u64 place[2];
        TransfStatus status;
        {
            const Alone alone(busy);
            status = engine->differ(words.data(), letters.data(), others.data(), count, place);
        }
        collided(status);
        if (place[0] == count) return nb::none();
        return nb::make_tuple(place[0], place[1]);
    }

private:
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

void bind_transf(nb::module_& m) {
    nb::class_<Engine>(m, "TransfEngine", "An enumeration; see kernels.transf.engine.Enumerator.")
        .def(nb::init<const std::string&, Maps, Array<u32, 1>, bool, bool, u64, Array<u32, 1>,
                      Array<u64, 2>, const std::vector<u64>&, int, size_t>(),
             nb::arg("level"), nb::arg("generators").noconvert(), nb::arg("points").noconvert(),
             nb::arg("monoid"), nb::arg("compare"), nb::arg("memory"), nb::arg("key").noconvert(),
             nb::arg("factors").noconvert(), nb::arg("mask"), nb::arg("threads"),
             nb::arg("level2"))
        .def("expand", &Engine::expand, nb::arg("most"), "Whether two rows have the same hash.")
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
