// Binds small semigroups to Python, for kernels.transformations.cpu.small.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <vector>

#include "../../levels.hpp"
#include "../../tasks.hpp"
#include "small.hpp"

namespace nb = nanobind;

LEVELS_OF(SmallOps, small_semigroups)

namespace {

using u8 = std::uint8_t;
using u32 = std::uint32_t;
using std::size_t;

using Maps = nb::ndarray<const u8, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using ManyMaps = nb::ndarray<const u8, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Counts = nb::ndarray<std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

constexpr u32 MOST_LETTERS = 1 << 16, MOST_NUMBERS = 1 << 20;

size_t whole(size_t bytes) { return (bytes + 63) / 64 * 64; }

// Returns the bytes that a SmallSpace takes for so many numbers.
size_t space_bytes(u32 most, size_t letters, size_t stride) {
    return 2 * whole(8 * size_t(most)) + 2 * whole(4 * letters * most) + whole(letters * stride) +
           whole(most * stride) + whole(4 * size_t(small_slots(most))) + whole(4 * (size_t(most) + 1));
}

SmallSpace laid_out(void* memory, u32 most, u32 letters, size_t stride) {
    char* at = static_cast<char*>(memory);
    auto next = [&](size_t bytes) {
        char* const part = at;
        at += whole(bytes);
        return static_cast<void*>(part);
    };
    SmallSpace space{};
    space.most = most;
    space.graph.letters = letters;
    space.graph.begin = static_cast<SemigroupPair*>(next(8 * size_t(most)));
    space.graph.end = static_cast<SemigroupPair*>(next(8 * size_t(most)));
    space.graph.right = static_cast<u32*>(next(4 * size_t(letters) * most));
    space.graph.left = static_cast<u32*>(next(4 * size_t(letters) * most));
    space.generators = static_cast<u8*>(next(letters * stride));
    space.rows = static_cast<u8*>(next(most * stride));
    space.slots = static_cast<u32*>(next(4 * size_t(small_slots(most))));
    space.starts = static_cast<u32*>(next(4 * (size_t(most) + 1)));
    return space;
}

void check(size_t letters, size_t degree, const u8* images, size_t count, u32 limit) {
    checks::require(degree > 0 && degree <= SMALL_POINTS && letters > 0 && letters <= MOST_LETTERS &&
                        limit > 0 && limit <= MOST_NUMBERS,
                    "these are no generators of small semigroups");
    u8 greatest = 0;
    for (size_t i = 0; i < count; i++) greatest = std::max(greatest, images[i]);
    checks::require(greatest < degree, "an image is no point");
}

// Returns the arrays of a semigroup one after the other: see kernels.transformations.cpu.small.
nb::bytes packed(const SmallProblem& p, const SmallSpace& space) {
    const size_t size = space.size, edges = size * p.letters, stride = small_stride(p.degree);
    const size_t words = space.levels + 4 * size + 2 * edges;
    nb::object made = nb::steal(
        PyBytes_FromStringAndSize(nullptr, Py_ssize_t(4 * words + size * p.degree)));
    if (!made.is_valid()) throw nb::python_error();
    char* const bytes = PyBytes_AsString(made.ptr());
    u32* to = reinterpret_cast<u32*>(bytes);
    auto put = [&](const u32* from, size_t count) {
        std::memcpy(to, from, 4 * count);
        to += count;
    };
    put(space.starts, space.levels);
    for (const SemigroupPair* pairs : {space.graph.begin, space.graph.end}) {
        for (size_t e = 0; e < size; e++) to[e] = pairs[e].a, to[size + e] = pairs[e].b;
        to += 2 * size;
    }
    put(space.graph.right, edges), put(space.graph.left, edges);
    u8* row = reinterpret_cast<u8*>(to);
    for (size_t e = 0; e < size; e++, row += p.degree)
        std::memcpy(row, space.rows + e * stride, p.degree);
    return nb::steal<nb::bytes>(made.release());
}

// Makes a space of more numbers with all that is in another one.
SmallSpace moved(const SmallSpace& from, void* memory, u32 most, size_t stride) {
    const u32 m = from.graph.letters;
    const size_t size = from.size;
    SmallSpace to = laid_out(memory, most, m, stride);
    std::memcpy(to.graph.begin, from.graph.begin, 8 * size);
    std::memcpy(to.graph.end, from.graph.end, 8 * size);
    std::memcpy(to.graph.right, from.graph.right, 4 * size_t(m) * from.expanded);
    std::memcpy(to.graph.left, from.graph.left, 4 * size_t(m) * from.starts[from.levels - 2]);
    std::memcpy(to.generators, from.generators, m * stride);
    std::memcpy(to.rows, from.rows, size * stride);
    std::memcpy(to.starts, from.starts, 4 * size_t(from.levels));
    to.size = from.size, to.expanded = from.expanded;
    to.levels = from.levels, to.computed = from.computed;
    return to;
}

nb::object enumerated(const std::string& level, Maps generators, bool monoid, u32 limit) {
    constexpr u32 FIRST = 512;  // numbers, and what memory for them is kept for the next semigroup
    thread_local Scratch kept;
    thread_local size_t kept_bytes = 0;
    const size_t m = generators.shape(0), degree = generators.shape(1);
    check(m, degree, generators.data(), generators.size(), limit);
    // So that nobody waits for it: it does not look at signals.
    checks::require(m * limit <= 1 << 20, "these are too many generators for a small semigroup");
    const SmallOps& ops = ops_at(small_semigroups_levels, level);
    const size_t stride = small_stride(degree);
    const SmallProblem problem{generators.data(), u32(m), u32(degree), monoid};
    u32 most = FIRST + u32(m);
    if (const size_t bytes = space_bytes(most, m, stride); bytes > kept_bytes) {
        kept_bytes = 0;
        kept = aligned_scratch(bytes);
        kept_bytes = bytes;
    }
    SmallSpace space = laid_out(kept.get(), most, u32(m), stride);
    const volatile bool stop = false;
    SmallStatus status = ops.enumerate(problem, space, limit, stop);
    Scratch memory;
    if (status == SmallStatus::full) {
        nb::gil_scoped_release release;
        do {
            most = std::min(8 * most, limit + u32(m));
            Scratch larger = aligned_scratch(space_bytes(most, m, stride));
            space = moved(space, larger.get(), most, stride);
            memory = std::move(larger);
            status = ops.enumerate(problem, space, limit, stop);
        } while (status == SmallStatus::full);
    }
    if (status != SmallStatus::done) return nb::none();
    return nb::make_tuple(space.size, space.computed, packed(problem, space));
}

void counted(const std::string& level, ManyMaps sets, bool monoid, u32 limit, Counts sizes,
             Counts idempotents, Counts longest, int threads) {
    // Room for the products of one number more.
    const u32 most = limit + u32(sets.shape(1));
    constexpr size_t TOGETHER = 64;  // sets
    const size_t count = sets.shape(0), m = sets.shape(1), degree = sets.shape(2);
    checks::require(sizes.shape(0) == count && idempotents.shape(0) == count &&
                        longest.shape(0) == count,
                    "there are not as many counts as semigroups");
    checks::require_aligned(sizes, idempotents, longest);
    checks::require_apart(sizes, sets, idempotents, longest);
    checks::require_apart(idempotents, sets, longest);
    checks::require_apart(longest, sets);
    const SmallOps& ops = ops_at(small_semigroups_levels, level);
    check(m, degree, nullptr, 0, limit);
    const u32 begin = monoid ? 0 : 1;
    const size_t stride = small_stride(degree), each = m * degree;
    std::atomic<bool> wrong{false};
    volatile bool cancelled = false;
    auto task = [&](std::int64_t n, void* memory) {
        const size_t first = size_t(n) * TOGETHER, last = std::min(first + TOGETHER, count);
        SmallSpace space = laid_out(memory, most, u32(m), stride);
        for (size_t i = first; i < last && !cancelled; i++) {
            const u8* const images = sets.data() + i * each;
            u8 greatest = 0;
            for (size_t k = 0; k < each; k++) greatest = std::max(greatest, images[k]);
            if (greatest >= degree) {
                wrong = true;
                return;
            }
            const SmallProblem problem{images, u32(m), u32(degree), monoid};
            space.size = 0;
            sizes(i) = idempotents(i) = longest(i) = -1;
            if (ops.enumerate(problem, space, limit, cancelled) != SmallStatus::done) continue;
            sizes(i) = std::int32_t(space.size - begin);
            idempotents(i) = std::int32_t(ops.idempotents(problem, space));
            longest(i) = std::int32_t(space.levels - 2);
        }
    };
    run_tasks(std::int64_t((count + TOGETHER - 1) / TOGETHER), threads,
              space_bytes(most, m, stride), cancelled, task);
    checks::require(!wrong, "an image is no point");
}

}  // namespace

void bind_small_semigroups(nb::module_& m) {
    m.def("semigroup_small", &enumerated, nb::arg("level"), nb::arg("generators").noconvert(),
          nb::arg("monoid"), nb::arg("limit"),
          "(numbers, products computed, arrays), or None of more than `limit` numbers.");
    m.def("semigroup_counts", &counted, nb::arg("level"), nb::arg("sets").noconvert(),
          nb::arg("monoid"), nb::arg("limit"), nb::arg("sizes").noconvert(),
          nb::arg("idempotents").noconvert(), nb::arg("longest").noconvert(), nb::arg("threads"),
          "Elements, idempotents and letters of the longest word; -1 of more than `limit` numbers.");
}
