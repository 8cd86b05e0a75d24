// Binds universes that settle to Python, for kernels.life.settling.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string>
#include <vector>

#include "../../../levels.hpp"
#include "../../../tasks.hpp"
#include "../../../team.hpp"
#include "../../circuits/cpu/circuit.hpp"
#include "round.hpp"

namespace nb = nanobind;

LEVELS_OF(settling::Ops, settling)

namespace {

using std::int64_t;
using std::size_t;
using std::uint64_t;
using settling::Band;
using settling::Changes;
using settling::List;
using settling::Part;
using settling::Place;

template <class T>
using Table = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Rows = Table<uint64_t>;
using ConstRows = Table<const uint64_t>;

// A list in a vector.
template <class T>
class Growing {
public:
    // An empty list.
    List<T> begin() { return {items.data(), 0, items.size(), this, grow, false}; }
    std::vector<T> items;

private:
    static bool grow(List<T>& list) {
        Growing& owner = *static_cast<Growing*>(list.owner);
        try {
            owner.items.resize(std::max(2 * list.room, size_t(64)));
        } catch (const std::bad_alloc&) {
            return false;
        }
        list.data = owner.items.data(), list.room = owner.items.size();
        return true;
    }
};

// The windows that a band took in a round, and what they found.
struct Windows {
    Growing<Place> places;
    std::vector<Changes> changes;
    size_t count = 0;

    settling::Found found() const { return {places.items.data(), changes.data(), count}; }
};

// Sorts windows by their rows, in time that grows as their number does, and that of the rows.
class Order {
public:
    void sort(const Band& band, const List<Place>& places) {
        before.assign(places.data, places.data + places.count);
        ends.assign(size_t(band.last - band.first) + 1, 0);
        for (const Place& place : before) ends[size_t(place.row - band.first) + 1]++;
        for (size_t row = 1; row < ends.size(); row++) ends[row] += ends[row - 1];
        // Each counts up from the first place of its row to that of the next.
        for (const Place& place : before) places.data[ends[size_t(place.row - band.first)]++] = place;
    }

private:
    std::vector<Place> before;
    std::vector<size_t> ends;
};

class Settling {
public:
    // circuit: in place of the counts, or null; it lives as long as this.
    Settling(const std::string& level, int64_t width, int64_t height, bool torus, unsigned birth, unsigned survival,
             int threads, const circuits::Circuit* circuit)
        : ops(ops_at(settling_levels, level)), shape{side(width), side(height), torus},
          rule{birth, survival, circuit ? circuit->code(ops.vector_bytes) : LifeCircuit{}},
          threads(checks::threads_of(threads)), team(threads) {
        checks::require(birth <= 511 && survival <= 511, "no Life-like rule");
        checks::need_memory(nbytes(width, height) * (settling::FIELDS + 1) / settling::FIELDS);
        for (Scratch& field : fields) {
            field.reset(std::calloc(shape.size(), sizeof(uint64_t)));
            if (!field) throw std::bad_alloc();
        }
        // Windows do not reach beyond a band, so bands are many windows high; more of them than threads, as
        // some have more to do, and so many that signals are looked at often.
        constexpr int64_t LEAST = 4 * settling::BLOCKS, EACH = 4, MOST_CELLS = int64_t(1) << 25;
        const int64_t rows = shape.blocks_down(), wanted = threads == 1 ? 1 : EACH * this->threads;
        const int64_t parts = std::max(std::min(rows / LEAST, std::max(wanted, width * height / MOST_CELLS)), int64_t(1));
        due.resize(size_t(parts));
        for (int64_t i = 0; i < parts; i++) {
            const int64_t first = rows * i / parts, last = rows * (i + 1) / parts;
            due[size_t(i)].resize(Band::size(shape, last - first));
            bands.push_back({first, last, due[size_t(i)].data()});
        }
        edges.resize(bands.size());
        orders.resize(bands.size());
        for (std::vector<Windows>& all : windows_of) all.resize(bands.size());
    }

    // Sets rows of cells, from row y on.
    void put(int64_t y, ConstRows words) {
        const Alone alone(busy);
        check_rows(y, words);
        nb::gil_scoped_release release;
        known = 0;
        taken = EVERYWHERE;
        uint64_t* const field = now();
        const int64_t columns = shape.columns(), rows = int64_t(words.shape(0));
        for (int64_t column = 0; column < columns; column++)
            for (int64_t row = 0; row < rows; row++)
                field[shape.at(column, y + row)] = words.data()[row * columns + column];
        if (shape.torus && rows) ops.copy_edges(shape, field, 0, columns - 1, y, y + rows);
    }

    // Writes rows of cells, from row y on.
    void get(int64_t y, Rows words) {
        const Alone alone(busy);
        check_rows(y, words);
        nb::gil_scoped_release release;
        const uint64_t* const field = now();
        const int64_t columns = shape.columns(), rows = int64_t(words.shape(0));
        const uint64_t rest = ~uint64_t(0) >> (-shape.width & 63);
        for (int64_t column = 0; column < columns; column++)
            for (int64_t row = 0; row < rows; row++)
                words.data()[row * columns + column] =
                    field[shape.at(column, y + row)] & (column == columns - 1 ? rest : ~uint64_t(0));
    }

    // Makes rounds, until it is told to stop. Says in rounds() how many, however it ends.
    void step(uint64_t count, nb::object stopped) {
        const Alone alone(busy);
        Asking asking(stopped);
        {
            nb::gil_scoped_release release;
            // Where nothing changes, six rounds bring back all there is, what is known of it included.
            constexpr uint64_t AGAIN = 2 * settling::FIELDS;
            for (; count && !asking() && round(asking); count--)
                if (known == settling::FIELDS && !taken) {
                    made += (count - 1) / AGAIN * AGAIN;
                    count -= (count - 1) / AGAIN * AGAIN;
                }
        }
        if (asking.failed) throw nb::python_error();
    }

    uint64_t rounds() const { return made; }
    uint64_t windows() const { return taken; }
    // The bytes of the fields of a universe; beside them it takes a part of that for what it knows of blocks.
    static double nbytes(int64_t width, int64_t height) {
        const settling::Shape shape{side(width), side(height), true};
        return sizeof(uint64_t) * settling::FIELDS * double(shape.columns() + 2) * double(shape.pitch());
    }

private:
    struct Alone {
        explicit Alone(std::atomic<bool>& busy) : busy(busy) {
            if (busy.exchange(true)) throw std::runtime_error("the universe is in use by another call");
        }
        ~Alone() { busy = false; }
        std::atomic<bool>& busy;
    };

    static int64_t side(int64_t cells) {
        checks::require(cells >= settling::LEAST && cells <= (int64_t(1) << 30), "no universe has this size");
        return cells;
    }

    template <class Words>
    void check_rows(int64_t y, const Words& words) const {
        checks::require_aligned(words);
        checks::require(y >= 0 && y <= shape.height && words.shape(0) <= size_t(shape.height - y),
                        "rows outside of the universe");
        checks::require(words.shape(1) == size_t(shape.columns()), "rows of another width");
    }

    uint64_t* field(uint64_t n) const { return static_cast<uint64_t*>(fields[n % settling::FIELDS].get()); }
    uint64_t* now() const { return field(made); }

    // Makes the windows of a band, and computes them. Raises bad_alloc.
    void compute(size_t band, const settling::Round& round) {
        Windows& own = windows_of[(made + 1) % 2][band];
        List<Place> places = own.places.begin();
        List<Part> parts = edges[band].begin();
        if (known < settling::FIELDS) {
            ops.take_all(shape, bands[band], places);
        } else {
            const std::vector<Windows>& before = windows_of[made % 2];
            const size_t count = bands.size(), above = (band + count - 1) % count, below = (band + 1) % count;
            // Of fewer bands each is told once.
            const settling::Found near[3] = {before[band].found(), before[above].found(), before[below].found()};
            ops.take(shape, bands[band], near, std::min(count, size_t(3)), places, parts);
        }
        if (places.failed || parts.failed) throw std::bad_alloc();
        // The next windows are made in the order of these, and are fewest from top to bottom.
        constexpr uint64_t OFTEN = 2;
        if (made % OFTEN == 0) orders[band].sort(bands[band], places);
        own.count = places.count;
        if (own.changes.size() < places.count) own.changes.resize(own.places.items.size());
        ops.visit(round, places.data, places.count, own.changes.data());
    }

    // Returns false where it was told to stop: then it knows nothing but what the cells are now.
    bool round(Asking& asking) {
        const settling::Round round{shape, rule, now(), field(made + 1)};
        std::atomic<size_t> next{0};
        std::atomic<bool> stopped{false}, failed{false};
        const auto work = [&](int thread) {
            for (size_t band; !stopped && !failed && (band = next++) < bands.size();) {
                try {
                    compute(band, round);
                } catch (const std::bad_alloc&) {
                    failed = true;
                }
                if (thread == 0 && asking()) stopped = true;
            }
        };
        if (threads > 1 && bands.size() > 1) team.run(work);
        else work(0);
        if (stopped || failed) {
            known = 0;
            for (std::vector<uint64_t>& blocks : due) std::fill(blocks.begin(), blocks.end(), 0);
            if (failed) throw std::bad_alloc();
            return false;
        }
        taken = 0;
        for (const Windows& windows : windows_of[(made + 1) % 2]) taken += windows.count;
        if (known < settling::FIELDS) known++;
        made++;
        return true;
    }

    const settling::Ops& ops;
    const settling::Shape shape;
    const NineCellRule rule;
    const int threads;
    Team team;
    Scratch fields[settling::FIELDS];  // field n % FIELDS has the cells after n rounds
    std::vector<std::vector<uint64_t>> due;  // of each band, and so the others
    std::vector<Band> bands;
    std::vector<Growing<Part>> edges;
    std::vector<Order> orders;
    std::vector<Windows> windows_of[2];  // by band; of round n those of n % 2
    int known = 0;  // rounds made since the cells were set, up to FIELDS
    // Windows of the last round, or that the next takes all.
    static constexpr uint64_t EVERYWHERE = ~uint64_t(0) >> 1;
    std::atomic<uint64_t> made{0}, taken{EVERYWHERE};
    std::atomic<bool> busy{false};
};

}  // namespace

void bind_settling(nb::module_& m) {
    nb::class_<Settling>(m, "Settling", "A universe that is computed where it changes.")
        .def(nb::init<const std::string&, int64_t, int64_t, bool, unsigned, unsigned, int, const circuits::Circuit*>(),
             nb::keep_alive<1, 9>(), nb::arg("level"), nb::arg("width"), nb::arg("height"), nb::arg("torus"),
             nb::arg("birth"), nb::arg("survival"), nb::arg("threads"), nb::arg("circuit") = nb::none())
        .def("put", &Settling::put, nb::arg("y"), nb::arg("words").noconvert(), "Set rows of cells.")
        .def("get", &Settling::get, nb::arg("y"), nb::arg("words").noconvert(), "Write rows of cells.")
        .def("step", &Settling::step, nb::arg("count"), nb::arg("stopped").none(),
             "Make rounds of four generations, or fewer where stopped() becomes true.")
        .def("rounds", &Settling::rounds, "Return the rounds made.")
        .def("windows", &Settling::windows, "Return the windows of 56 cells of width of the last round; more than there are where cells were set.")
        .def_static("nbytes", &Settling::nbytes, nb::arg("width"), nb::arg("height"),
                    "Return the bytes that the cells of a universe take.");
}
