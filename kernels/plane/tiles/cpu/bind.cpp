// Binds universes of tiles to Python, for kernels.plane.tiles.cpu.engine.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <atomic>
#include <string>

#include "../../../levels.hpp"
#include "../../../tasks.hpp"
#include "../../bound_rule.hpp"
#include "plane.hpp"

namespace nb = nanobind;

LEVELS_OF(tiles::Ops, tiles)

namespace {

using std::int64_t;
using std::size_t;
using std::uint64_t;

template <class T>
using Table = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

constexpr int64_t FARTHEST = int64_t(1) << 56;  // squares from the origin
constexpr int64_t FARTHEST_CELL = int64_t(3) << 61;  // where a corner of what is read may lie
constexpr uint64_t MOST_GENERATIONS = uint64_t(1) << 60;
constexpr int64_t LONGEST = int64_t(1) << 40;  // cells or blocks along a side of what is read

class TilesPlane {
    // One call at a time: another thread's, or that of a function which step() asks, is refused.
    struct Alone {
        explicit Alone(std::atomic<bool>& busy) : busy(busy) {
            if (busy.exchange(true)) throw std::runtime_error("the plane is in use by another call");
        }
        ~Alone() { busy = false; }
        std::atomic<bool>& busy;
    };

public:
    TilesPlane(const std::string& level, unsigned birth, unsigned survival, uint64_t memory, int threads,
               const circuits::Circuit* circuit)
        : TilesPlane(ops_at(tiles_levels, level), birth, survival, memory, threads, circuit) {}

    void step(uint64_t generations, nb::object stopped) {
        const Alone alone(busy);
        checks::require(generations <= MOST_GENERATIONS, "too many generations for one call");
        Asking asking(stopped);
        const Telling telling(*this);
        {
            nb::gil_scoped_release release;
            plane.step(generations, std::ref(asking));
        }
        if (asking.failed) throw nb::python_error();
    }

    void put(Table<const int64_t> places, Table<const uint64_t> squares) {
        const Alone alone(busy);
        checks::require_aligned(places, squares);
        checks::require(places.shape(1) == 2 && squares.shape(1) == 64 && places.shape(0) == squares.shape(0),
                        "a square has two coordinates and 64 words");
        for (size_t i = 0; i < places.size(); i++)
            checks::require(places.data()[i] >= -FARTHEST && places.data()[i] < FARTHEST,
                            "a square lies too far out");
        nb::gil_scoped_release release;
        plane.put(places.data(), squares.data(), places.shape(0));
    }

    uint64_t moved() const { return told; }
    bool settled() {
        const Alone alone(busy);
        return plane.settled();
    }
    size_t nbytes() {
        const Alone alone(busy);
        return plane.nbytes();
    }
    uint64_t population() {
        const Alone alone(busy);
        nb::gil_scoped_release release;
        return plane.population();
    }
    nb::object box() {
        const Alone alone(busy);
        const tiles::Box box = plane.box();
        if (box.empty) return nb::none();
        return nb::make_tuple(box.left, box.top, box.right, box.bottom);
    }

    // How many squares were written, and the cursor to go on from; none at the end.
    nb::tuple squares(int64_t i0, int64_t j0, int64_t i1, int64_t j1, size_t cursor,
                      Table<int64_t> places, Table<uint64_t> words) {
        const Alone alone(busy);
        checks::require_aligned(places, words);
        checks::require_apart(places, words);
        checks::require(places.shape(1) == 2 && words.shape(1) == 64 && places.shape(0) == words.shape(0) &&
                            places.shape(0) > 0,
                        "a square has two coordinates and 64 words");
        for (int64_t i : {i0, j0, i1, j1})
            checks::require(i >= -2 * FARTHEST && i < 2 * FARTHEST, "a square lies too far out");
        checks::require(i0 <= i1 && j0 <= j1, "a range ends before it begins");
        size_t found;
        {
            nb::gil_scoped_release release;
            found = plane.squares({i0, j0, i1, j1}, cursor, places.data(),
                                  words.data(), places.shape(0));
        }
        nb::object next = nb::none();
        if (cursor != tiles::Plane::NO_MORE) next = nb::int_(cursor);
        return nb::make_tuple(found, next);
    }

    void get(int64_t x, int64_t y, Table<uint64_t> words) {
        const Alone alone(busy);
        checks::require_aligned(words);
        check_window(x, y, words.shape(0), words.shape(1));
        nb::gil_scoped_release release;
        plane.get(x, y, words.data(), words.shape(0), words.shape(1));
    }

    void counts(int64_t x, int64_t y, int level, Table<double> blocks) {
        const Alone alone(busy);
        checks::require_aligned(blocks);
        check_window(x, y, blocks.shape(0), blocks.shape(1));
        checks::require(level >= 0 && level <= 63, "a block has 2^0 to 2^63 cells a side");
        nb::gil_scoped_release release;
        plane.counts(x, y, level, blocks.data(), blocks.shape(0), blocks.shape(1));
    }

private:
    TilesPlane(const tiles::Ops& ops, unsigned birth, unsigned survival, uint64_t memory, int threads,
               const circuits::Circuit* circuit)
        : TilesPlane(ops, BoundRule(birth, survival, circuit, ops.vector_bytes), memory, threads) {}
    TilesPlane(const tiles::Ops& ops, const BoundRule& rule, uint64_t memory, int threads)
        : plane(ops, rule.plane, rule.table, size_t(std::min(memory, uint64_t(1) << 60)), checks::threads_of(threads)) {}

    // Has others see how far a call has come, however it ends.
    struct Telling {
        explicit Telling(TilesPlane& owner) : owner(owner) {}
        ~Telling() { owner.told = owner.plane.moved(); }
        TilesPlane& owner;
    };

    static void check_window(int64_t x, int64_t y, size_t rows, size_t columns) {
        for (int64_t i : {x, y})
            checks::require(i >= -FARTHEST_CELL && i <= FARTHEST_CELL, "a corner lies too far out");
        checks::require(rows < size_t(LONGEST) && columns < size_t(LONGEST), "too much to read");
    }

    std::atomic<bool> busy{false};
    std::atomic<uint64_t> told{0};
    tiles::Plane plane;
};

}  // namespace

void bind_tiles(nb::module_& m) {
    nb::class_<TilesPlane>(m, "TilesPlane", "A plane without an edge, in tiles.")
        .def(nb::init<const std::string&, unsigned, unsigned, uint64_t, int, const circuits::Circuit*>(),
             nb::keep_alive<1, 7>(), nb::arg("level"), nb::arg("birth"), nb::arg("survival"), nb::arg("memory"),
             nb::arg("threads"), nb::arg("circuit") = nb::none())
        .def("step", &TilesPlane::step, nb::arg("generations"), nb::arg("stopped").none(),
             "Move on by generations, or by fewer where stopped() becomes true.")
        .def("put", &TilesPlane::put, nb::arg("places").noconvert(), nb::arg("squares").noconvert(),
             "Set squares of 64 x 64 cells.")
        .def("moved", &TilesPlane::moved, "Return the generations moved on by, modulo 2^64.")
        .def("settled", &TilesPlane::settled,
             "Return whether every 60 generations bring back what is there.")
        .def("nbytes", &TilesPlane::nbytes, "Return the bytes that it takes.")
        .def("population", &TilesPlane::population, "Return the number of live cells.")
        .def("box", &TilesPlane::box, "Return the first and last columns and rows that live.")
        .def("squares", &TilesPlane::squares, nb::arg("i0"), nb::arg("j0"), nb::arg("i1"), nb::arg("j1"),
             nb::arg("cursor"), nb::arg("places").noconvert(), nb::arg("words").noconvert(),
             "Write live squares of a range; return how many, and where to go on.")
        .def("get", &TilesPlane::get, nb::arg("x"), nb::arg("y"), nb::arg("words").noconvert(),
             "Set bits of a rectangle.")
        .def("counts", &TilesPlane::counts, nb::arg("x"), nb::arg("y"), nb::arg("level"),
             nb::arg("blocks").noconvert(), "Add the live cells of blocks.");
}
