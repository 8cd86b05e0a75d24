// Binds the tree of HashLife to Python, for kernels.plane.hashlife.cpu.engine.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <chrono>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "../../../levels.hpp"
#include "../../../tasks.hpp"
#include "../../bound_rule.hpp"
#include "census.hpp"
#include "edit.hpp"
#include "lines.hpp"

namespace nb = nanobind;

LEVELS_OF(hashlife::LeafOps, hashlife_leaf)

namespace {

using namespace hashlife;
using std::size_t;

constexpr std::int64_t FARTHEST = std::int64_t(1) << 56;  // squares from the origin

template <class T, int N>
using Array = nb::ndarray<const T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
template <class T, int N>
using Result = nb::ndarray<T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;

nb::object number(const void* bytes, size_t count) {
    return nb::handle(reinterpret_cast<PyObject*>(&PyLong_Type))
        .attr("from_bytes")(nb::bytes(bytes, count), "little");
}

class HashTree {
    // One thread at a time, and never one that waits with the interpreter's lock. Signals break off
    // the wait.
    struct Alone {
        explicit Alone(std::timed_mutex& busy) : lock(busy, std::defer_lock) {
            while (!lock.try_lock_for(std::chrono::milliseconds(50))) {
                if (!may_be_main_thread()) continue;
                nb::gil_scoped_acquire acquire;
                if (PyErr_CheckSignals() != 0) throw nb::python_error();
            }
        }
        nb::gil_scoped_release release;
        std::unique_lock<std::timed_mutex> lock;
    };

    // Calls work() without the interpreter's lock; stopped() and signals can break it off.
    template <class Work>
    auto run(const nb::object& stopped, Work work) {
        const bool main_thread = may_be_main_thread();
        bool failed = false;
        decltype(work()) outcome{};
        {
            Alone alone(busy_);
            tree_->begin();
            tree_->asked = [&] {
                if (!main_thread && stopped.is_none()) return false;
                nb::gil_scoped_acquire acquire;
                if (PyErr_CheckSignals() != 0) return failed = true;
                if (stopped.is_none()) return false;
                PyObject* answer = PyObject_CallNoArgs(stopped.ptr());
                const int truth = answer ? PyObject_IsTrue(answer) : -1;
                Py_XDECREF(answer);
                if (truth < 0) failed = true;
                return truth != 0;
            };
            try {
                outcome = work();
            } catch (const Interrupted&) {  // and so failed
            } catch (...) {
                tree_->asked = nullptr;
                throw;
            }
            tree_->asked = nullptr;
        }
        if (failed) throw nb::python_error();
        return outcome;
    }

    template <class Work>
    bool edit(nb::object& stopped, Work work) {
        const Edited outcome = run(stopped, [&] {
            census_.reset();
            return work();
        });
        if (outcome == Edited::no_memory) throw std::bad_alloc();
        checks::require(outcome != Edited::contradiction, "squares that contradict each other");
        return outcome == Edited::made;
    }

public:
    HashTree(const std::string& level, unsigned birth, unsigned survival, std::uint64_t memory, int threads,
             const circuits::Circuit* circuit) {
        const LeafOps& ops = ops_at(hashlife_leaf_levels, level);
        const BoundRule rule(birth, survival, circuit, ops.vector_bytes);
        tree_ = std::make_unique<Tree>(ops, rule.plane, size_t(memory), checks::threads_of(threads));
    }

    bool step(nb::bytes generations, nb::object stopped) {
        Generations wanted;
        wanted.bits.resize(generations.size());
        std::memcpy(wanted.bits.data(), generations.data(), generations.size());
        const Outcome outcome = run(stopped, [&] {
            census_.reset();
            return tree_->step(wanted);
        });
        if (outcome == Outcome::no_memory) throw std::bad_alloc();
        return outcome == Outcome::made;
    }

    bool put(Array<std::int64_t, 2> places, Array<std::uint64_t, 2> squares, nb::object stopped) {
        checks::require_aligned(places, squares);
        checks::require(places.shape(1) == 2 && squares.shape(1) == 64 &&
                            places.shape(0) == squares.shape(0),
                        "a square has a place and 64 rows");
        for (size_t i = 0; i < places.size(); i++)
            checks::require(places.data()[i] >= -FARTHEST && places.data()[i] < FARTHEST,
                            "a square lies too far out");
        return edit(stopped, [&] {
            return hashlife::put(*tree_, places.data(), squares.data(), places.shape(0));
        });
    }

    bool build(Array<std::uint8_t, 1> level, Array<std::int64_t, 2> four,
               Array<std::uint64_t, 1> leaves, nb::object stopped) {
        checks::require_aligned(four, leaves);
        const size_t count = level.shape(0);
        checks::require(four.shape(0) == count && four.shape(1) == 4 && leaves.shape(0) == count,
                        "a square has a level, four children and cells");
        return edit(stopped, [&] {
            return hashlife::build(*tree_, level.data(), four.data(), leaves.data(), count);
        });
    }

    bool move_a_row(bool down, nb::object stopped) {
        return edit(stopped, [&] { return hashlife::move_a_row(*tree_, down); });
    }

    nb::object population() {
        const Count count = run(nb::none(), [&] { return census().population(tree_->root()); });
        return number(count.data(), sizeof(count));
    }

    // How far the outermost live cells are from the four sides of the root; None where none lives.
    nb::object margins() {
        const auto bits = run(nb::none(), [&] {
            std::array<std::vector<std::uint8_t>, 4> bits;
            for (size_t side = 0; side < 4 && !tree_->is_empty(tree_->root()); side++)
                bits[side] = distance_bits(*tree_, Side(side));
            return bits;
        });
        if (bits[0].empty()) return nb::none();
        nb::list found;
        for (const auto& side : bits) {
            std::vector<std::uint8_t> bytes(side.size() / 8 + 1);
            for (size_t i = 0; i < side.size(); i++) {
                const size_t b = side.size() - 1 - i;
                bytes[b / 8] |= std::uint8_t(side[i] << (b % 8));
            }
            found.append(number(bytes.data(), bytes.size()));
        }
        return found;
    }

    std::uint32_t root() {
        Alone alone(busy_);
        return tree_->root();
    }
    int root_level() {
        Alone alone(busy_);
        return tree_->root_level();
    }

    // The children of squares; of an empty one, and of NOTHING, NOTHING.
    void children(Array<std::uint32_t, 1> ids, Result<std::uint32_t, 2> out) {
        checks::require_aligned(ids, out);
        checks::require_apart(out, ids);
        checks::require(out.shape(0) == ids.shape(0) && out.shape(1) == 4, "a square has four children");
        const bool known = each(ids, [&](size_t i, Id id) {
            for (size_t q = 0; q < 4; q++) {
                const Id child = id == NOTHING || is_leaf(id) ? NOTHING : tree_->children(id)[q];
                out.data()[4 * i + q] = child == NOTHING || tree_->is_empty(child) ? NOTHING : child;
            }
        });
        checks::require(known, "no square has this name");
    }

    // The rows of leaves, zero for all else.
    void rows(Array<std::uint32_t, 1> ids, Result<std::uint32_t, 2> out) {
        checks::require_aligned(ids, out);
        checks::require_apart(out, ids);
        checks::require(out.shape(0) == ids.shape(0) && out.shape(1) == 32, "a leaf has 32 rows");
        const bool known = each(ids, [&](size_t i, Id id) {
            std::uint32_t* const to = out.data() + LEAF_ROWS * i;
            if (is_leaf(id)) std::memcpy(to, tree_->rows(id), LEAF_BYTES);
            else std::memset(to, 0, LEAF_BYTES);
        });
        checks::require(known, "no square has this name");
    }

    void populations(Array<std::uint32_t, 1> ids, Result<double, 1> out) {
        checks::require_aligned(ids, out);
        checks::require_apart(out, ids);
        checks::require(out.shape(0) == ids.shape(0), "a population for each square");
        const bool known = each(ids, [&](size_t i, Id id) {
            out.data()[i] = id == NOTHING ? 0 : census().about(id);
        });
        checks::require(known, "no square has this name");
    }

    // The tree as a list: rows of leaves, levels, and children by numbers.
    // lifted: of the universe with all cells a row further up; the universe stays as it is.
    nb::tuple listing(bool lifted) {
        Listing found;
        auto* rows = new std::vector<std::uint32_t>;
        const nb::capsule kept = owner(rows);
        nb::object nobody = nb::none();
        const bool made = edit(nobody, [&] {
            const int level = tree_->root_level();
            tree_->held = {tree_->root()};
            const auto back = [&] {
                tree_->restore(tree_->held[0], level);
                tree_->held.clear();
            };
            Edited outcome = Edited::made;
            try {
                if (lifted) outcome = hashlife::move_a_row(*tree_, false);
                if (outcome == Edited::made) {
                    found = list(*tree_);
                    rows->resize(found.leaves.size() * LEAF_ROWS);
                    for (size_t i = 0; i < found.leaves.size(); i++)
                        std::memcpy(rows->data() + LEAF_ROWS * i, tree_->rows(found.leaves[i]),
                                    LEAF_BYTES);
                }
            } catch (...) {
                back();
                throw;
            }
            back();
            return outcome;
        });
        checks::require(made, "a list that nobody asked to stop was stopped");
        const size_t leaves = found.leaves.size(), nodes = found.levels.size();
        auto* level = new std::vector<std::uint8_t>(std::move(found.levels));
        auto* four = new std::vector<std::array<std::uint32_t, 4>>(std::move(found.four));
        return nb::make_tuple(
            nb::ndarray<nb::numpy, std::uint32_t>(rows->data(), {leaves, size_t(LEAF_ROWS)}, kept),
            nb::ndarray<nb::numpy, std::uint8_t>(level->data(), {nodes}, owner(level)),
            nb::ndarray<nb::numpy, std::uint32_t>(four->data(), {nodes, size_t(4)}, owner(four)));
    }

    // How many milliseconds lie between two calls of `stopped`, at least. After a fifth of that other
    // threads help with a step.
    void set_pause(int milliseconds) {
        checks::require(milliseconds >= 0, "a pause is not negative");
        Alone alone(busy_);
        tree_->pause = std::chrono::milliseconds(milliseconds);
    }

    std::uint64_t nbytes() {
        Alone alone(busy_);
        return tree_->bytes() + (census_ ? census_->bytes() : 0);
    }
    nb::dict statistics() {
        Statistics s;
        std::uint64_t squares, unfinished;
        {
            Alone alone(busy_);
            s = tree_->statistics();
            squares = tree_->squares();
            unfinished = tree_->is_collecting();
        }
        nb::dict found;
        found["leaf_steps"] = s.steps;
        found["results"] = s.results;
        found["collections"] = s.collections;
        found["abandoned"] = s.abandoned;
        found["unfinished"] = unfinished;
        found["shared"] = s.shared;
        found["squares"] = squares;
        return found;
    }

private:
    template <class T>
    static nb::capsule owner(T* what) {
        return nb::capsule(what, [](void* p) noexcept { delete static_cast<T*>(p); });
    }

    Census& census() {
        if (!census_) census_ = std::make_unique<Census>(*tree_);
        return *census_;
    }

    // Whether all names are those of squares; visit(i, name) is called up to the first that is not.
    template <class Visit>
    bool each(const Array<std::uint32_t, 1>& ids, Visit visit) {
        return run(nb::none(), [&] {
            for (size_t i = 0; i < ids.shape(0); i++) {
                const Id id = ids.data()[i];
                if (id != NOTHING && !tree_->names(id)) return false;
                visit(i, id);
            }
            return true;
        });
    }

    std::timed_mutex busy_;
    std::unique_ptr<Tree> tree_;
    std::unique_ptr<Census> census_;
};

// Squares of lines of a macrocell file, as bytes of native numbers: where the next line begins, where
// the last one did, levels, children and cells.
nb::tuple macrocell_lines(nb::bytes text, size_t start, size_t most, int highest, nb::bytearray levels) {
    checks::require(start <= text.size(), "no line begins there");
    checks::require(highest >= 0 && highest <= 255, "a level is a byte");
    const Lines found = read_lines(text.c_str(), text.size(), start, most, highest,
                                   static_cast<const std::uint8_t*>(levels.data()), levels.size());
    const auto bytes = [](const auto& list) { return nb::bytes(list.data(), sizeof(list[0]) * list.size()); };
    return nb::make_tuple(found.end, found.last, bytes(found.levels), bytes(found.children), bytes(found.leaves));
}

}  // namespace

void bind_hashlife(nb::module_& m) {
    m.def("macrocell_lines", &macrocell_lines, nb::arg("text"), nb::arg("start"), nb::arg("most"),
          nb::arg("highest"), nb::arg("levels"));
    nb::class_<HashTree>(m, "HashTree")
        .def(nb::init<const std::string&, unsigned, unsigned, std::uint64_t, int, const circuits::Circuit*>(),
             nb::keep_alive<1, 7>(), nb::arg("level"), nb::arg("birth"), nb::arg("survival"), nb::arg("memory"),
             nb::arg("threads"), nb::arg("circuit") = nb::none())
        .def("step", &HashTree::step, nb::arg("generations"), nb::arg("stopped").none())
        .def("put", &HashTree::put, nb::arg("places"), nb::arg("squares"), nb::arg("stopped").none())
        .def("build", &HashTree::build, nb::arg("levels"), nb::arg("children"), nb::arg("leaves"),
             nb::arg("stopped").none())
        .def("move_a_row", &HashTree::move_a_row, nb::arg("down"), nb::arg("stopped").none())
        .def("population", &HashTree::population)
        .def("margins", &HashTree::margins)
        .def("root", &HashTree::root)
        .def("root_level", &HashTree::root_level)
        .def("children", &HashTree::children, nb::arg("ids"), nb::arg("out"))
        .def("rows", &HashTree::rows, nb::arg("ids"), nb::arg("out"))
        .def("populations", &HashTree::populations, nb::arg("ids"), nb::arg("out"))
        .def("listing", &HashTree::listing, nb::arg("lifted"))
        .def("set_pause", &HashTree::set_pause, nb::arg("milliseconds"))
        .def("nbytes", &HashTree::nbytes)
        .def("statistics", &HashTree::statistics);
}
