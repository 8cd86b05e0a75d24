// Turns batches of Python's integers into packed words and back.
#include <nanobind/stl/string.h>

#include "arenas.hpp"
#include "batch.hpp"
#include "bind.hpp"
#include "ints.hpp"

namespace bignum {
namespace {

constexpr i64 PAUSE = i64(1) << 20;  // words after which signals are looked at; a number counts for one at least

// Looks at signals in loops over numbers that need the GIL: call after(words) for each. It raises what a handler
// raised.
class Pauses {
public:
    void after(i64 words) {
        if ((done += words + 1) < PAUSE) return;
        done = 0;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
    }

private:
    i64 done = 0;
};

// Has the garbage collector, and so all of Python, not see a list until it is whole; not, if no Python code can run
// before.
class Unseen {
public:
    Unseen(nb::handle list, bool needed) : list(list), needed(needed) {
        if (needed) PyObject_GC_UnTrack(list.ptr());
    }
    ~Unseen() {
        if (needed) PyObject_GC_Track(list.ptr());
    }
    Unseen(const Unseen&) = delete;
    Unseen& operator=(const Unseen&) = delete;

private:
    const nb::handle list;
    const bool needed;
};

// Replaces what stands for an integer but is of another type, such as numpy's, by Python's integer. Raises TypeError
// with the index of what stands for none.
void make_integers(const nb::object& list) {
    const Py_ssize_t count = PyList_Size(list.ptr());
    // int's own way makes an int of an object of a subclass, whatever that defines.
    const auto of_subclass = reinterpret_cast<unaryfunc>(PyType_GetSlot(&PyLong_Type, Py_nb_index));
    Pauses pauses;
    for (Py_ssize_t i = 0; i < count; i++) {
        pauses.after(0);
        PyObject* const value = PyList_GetItem(list.ptr(), i);
        if (PyLong_CheckExact(value)) continue;
        const nb::object held = nb::borrow(value);
        PyObject* const index = PyLong_Check(value)    ? of_subclass(value)
                                : PyIndex_Check(value) ? PyNumber_Index(value)
                                                       : nullptr;
        if (!index) {
            if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
            PyErr_Clear();
            PyErr_Format(PyExc_TypeError, "an integer is wanted at index %zd", i);
            throw nb::python_error();
        }
        if (PyLong_CheckExact(index)) {
            PyList_SetItem(list.ptr(), i, index);
            continue;
        }
        PyObject* const exact = of_subclass(index);  // __index__ may return an object of a subclass
        Py_DECREF(index);
        if (!exact) throw nb::python_error();
        PyList_SetItem(list.ptr(), i, exact);
    }
}

// Turns a list of integers that nobody else has into words, of any lengths, or by_bytes.
nb::tuple from_any(const BignumOps& ops, const nb::object& list, bool by_bytes) {
    const Py_ssize_t count = PyList_Size(list.ptr());
    Pauses pauses;
    std::vector<nb::object> bytes;  // where digits are not read where they lie
    if (by_bytes) bytes.resize(std::size_t(count));
    std::vector<Digits> digits;
    digits.resize(std::size_t(count));
    std::vector<i64> lengths(std::size_t(count), 0);
    bool negative = false;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject* const value = PyList_GetItem(list.ptr(), i);
        const Digits& x = digits[std::size_t(i)] =
            by_bytes ? bytes_of(value, bytes[std::size_t(i)]) : digits_of(value);
        pauses.after(lengths[std::size_t(i)] = words_of(x));
        negative |= x.negative;
    }
    Output out(lengths, true, negative);
    Found found;
    for (Py_ssize_t i = 0; i < count; i++) {
        const Digits& x = digits[std::size_t(i)];
        const i64 length = lengths[std::size_t(i)];
        pauses.after(length);
        pack(ops, room(out.view, i), length, x);
        finish(out.view, i, length, x.negative, found);
    }
    return out.numbers(found);
}

constexpr Py_ssize_t BLOCK = 512;   // numbers that are looked at together
constexpr Py_ssize_t AHEAD = 12;    // numbers that the caches fetch meanwhile
constexpr Py_ssize_t SAMPLE = 256;  // numbers that tell how long all are
constexpr i64 PATIENCE = 1 << 16;   // words of padding in vain before numbers are held to be of too many lengths

// A list or tuple of integers that is read without a reference to what it has: as long as no Python code runs,
// nothing is taken from it.
class Items {
public:
    explicit Items(PyObject* values) : values(values), is_list(PyList_Check(values)) {}
    Py_ssize_t count() const { return is_list ? PyList_Size(values) : PyTuple_Size(values); }
    // Returns `count` items from `first` on, in `room` or where they are.
    PyObject* const* from(Py_ssize_t first, Py_ssize_t count, PyObject** room) const {
#if defined(Py_LIMITED_API)
        for (Py_ssize_t i = 0; i < count; i++)
            room[i] = is_list ? PyList_GetItem(values, first + i) : PyTuple_GetItem(values, first + i);
        return room;
#else
        (void)count, (void)room;
        return (is_list ? reinterpret_cast<PyListObject*>(values)->ob_item
                        : reinterpret_cast<PyTupleObject*>(values)->ob_item) +
               first;
#endif
    }

private:
    PyObject* const values;
    const bool is_list;
};

bool is_integer(PyObject* value) { return Py_TYPE(value) == &PyLong_Type || PyLong_Check(value); }

// Has the caches fetch the first lines of what lies there.
void fetch(PyObject* value, int lines) {
    const auto* memory = reinterpret_cast<const char*>(value);
    for (int line = 0; line < lines; line++) __builtin_prefetch(memory + 64 * line);
}

constexpr i64 STOP = -1;

// Looks at integers where they lie, from `first` on: calls body(i, integer) for each, which returns how many words it
// has, or STOP. Returns false where that was returned, something is no integer, or there are not `count` any more.
template <class Body>
bool for_each_integer(const Items& items, Py_ssize_t first, Py_ssize_t count, Body body) {
    PyObject* room[BLOCK + AHEAD];
    i64 done = 0, words = 0;
    while (first < count) {
        if (done >= PAUSE) {
            if (PyErr_CheckSignals() != 0) throw nb::python_error();
            done = 0;
        }
        if (items.count() != count) return false;  // a handler, or whatever else came between, has changed it
        const Py_ssize_t known = std::min(count - first, BLOCK + AHEAD), some = std::min(known, BLOCK);
        PyObject* const* const values = items.from(first, known, room);
        Py_ssize_t i = 0;
        for (; i < some && done < PAUSE; i++) {
            if (i + AHEAD < known) fetch(values[i + AHEAD], int(std::min<i64>(words / 8, 2)) + 1);
            words = is_integer(values[i]) ? body(first + i, values[i]) : STOP;
            if (words == STOP) return false;
            done += words + 1;
        }
        first += i;
    }
    return true;
}

bool is_dense(Py_ssize_t count, i64 width, double total) { return double(count) * double(width) <= 1.5 * total; }

// What a sample of integers tells about all of them.
struct Guess {
    i64 width = 0;     // words of the longest
    double total = 0;  // words of all in the sample
    bool negative = false;
    bool dense = false;  // whether a batch of them is, or false where something is no integer
};

// Looks at some integers here and there, or at all where there are few.
Guess guess(const Items& items, Py_ssize_t count) {
    const Py_ssize_t some = std::min(count, SAMPLE);
    Guess found;
    PyObject* room[1];
    for (Py_ssize_t i = 0; i < some; i++) {
        PyObject* value = *items.from(i * (count / some) + i * (count % some) / some, 1, room);
        if (!is_integer(value)) return found;
        const Digits x = digits_of(value);
        const i64 length = words_of(x);
        found.width = std::max(found.width, length);
        found.total += double(length);
        found.negative |= x.negative;
    }
    found.dense = is_dense(some, found.width, found.total);
    return found;
}

// The first numbers of a batch, as far as one pass came.
struct Begun {
    std::optional<Output> out;
    i64 width = 0, count = 0;
};

// Turns a list or tuple that has integers only into a dense batch, and reads it once. Returns None where they turn out
// not to be as was guessed; then `begun` has those before.
nb::object in_one_pass(const BignumOps& ops, const Items& items, Py_ssize_t count, const Guess& guess, Begun& begun) {
    const i64 width = guess.width;
    // Of few numbers all are in the sample, and signs for nothing would take as long as all else.
    const bool signs = guess.negative || count > SAMPLE;
    try {
        begun.out.emplace(i64(count), width, signs);
    } catch (nb::python_error& error) {  // what a sample tells is no reason to give up
        if (!error.matches(PyExc_MemoryError)) throw;
        return nb::none();
    } catch (const std::bad_alloc&) {
        return nb::none();
    }
    begun.width = width;
    const Result& view = begun.out->view;
    Found found;
    i64 total = 0;
    const bool whole = for_each_integer(items, 0, count, [&](Py_ssize_t i, PyObject* value) {
        begun.count = i;
        const Digits x = digits_of(value);
        const i64 length = words_of(x);
        if (length > width || x.count > SOME || (x.negative && !signs)) return STOP;
        if (i * width > total + total / 2 + PATIENCE) return STOP;
        u64* const words = view.words + i * width;
        pack(ops, words, length, x);
        for (i64 k = length; k < width; k++) words[k] = 0;
        if (signs) view.negative[i] = x.negative;
        found.negative |= x.negative;
        found.longest = std::max(found.longest, length);
        total += length;
        return length;
    });
    if (!whole) return nb::none();
    begun.count = count;
    if (found.longest != width || !is_dense(count, width, double(total))) return nb::none();
    return begun.out->numbers(found);
}

// Turns a list or tuple that has integers only into words, and reads those twice that are not among the first, which
// one pass has begun with. Returns None where it has something else, or what it has changes meanwhile.
nb::object in_two_passes(const BignumOps& ops, const Items& items, Py_ssize_t count, const Begun& begun) {
    std::vector<i64> lengths = each_count(count);
    bool negative = false;
    Operand first = {};
    if (begun.out) {
        const Result& view = begun.out->view;
        first = {view.words, nullptr, nullptr, begun.count, begun.width, begun.width, view.negative};
    }
    Pauses pauses;
    for (i64 i = 0; i < begun.count; i++) {
        const Number x = number(first, i);
        pauses.after(begun.width);
        lengths[std::size_t(i)] = x.length;
        negative |= x.negative;
    }
    if (!for_each_integer(items, begun.count, count, [&](Py_ssize_t i, PyObject* value) {
            const Digits x = digits_of(value);
            if (x.count > SOME) return STOP;  // signals are looked at while it is read
            negative |= x.negative;
            return lengths[std::size_t(i)] = words_of(x);
        }))
        return nb::none();
    Output out(lengths, true, negative);
    Found found;
    for (i64 i = 0; i < begun.count; i++) {
        const Number x = number(first, i);
        pauses.after(x.length);
        std::memcpy(room(out.view, i), x.words, std::size_t(8 * x.length));
        finish(out.view, i, x.length, x.negative, found);
    }
    if (!for_each_integer(items, begun.count, count, [&](Py_ssize_t i, PyObject* value) {
            const Digits x = digits_of(value);
            const i64 length = lengths[std::size_t(i)];
            if (words_of(x) != length || (x.negative && !negative)) return STOP;
            pack(ops, room(out.view, i), length, x);
            finish(out.view, i, length, x.negative, found);
            return length;
        }))
        return nb::none();
    return out.numbers(found);
}

nb::object from_integers(const BignumOps& ops, const Items& items) {
    const Py_ssize_t count = items.count();
    const Guess guessed = guess(items, count);
    Begun begun;
    if (guessed.dense) {
        const nb::object found = in_one_pass(ops, items, count, guessed, begun);
        if (!found.is_none()) return found;
    }
    if (items.count() != count) return nb::none();
    try {
        return in_two_passes(ops, items, count, begun);
    } catch (nb::python_error& error) {
        if (!begun.out || !error.matches(PyExc_MemoryError)) throw;
    } catch (const std::bad_alloc&) {
        if (!begun.out) throw;
    }
    begun = Begun();  // there is no room beside what was begun
    return in_two_passes(ops, items, count, begun);
}

// Returns the functions of a level, or of the best one for None.
const BignumOps& ops_named(nb::handle level) {
    std::string name;
    if (level.is_none()) return best_ops();
    if (!nb::try_cast(level, name)) throw nb::type_error("a level is a str");
    return ops_of(name);
}

nb::object from_ints(nb::object given, bool by_bytes, nb::handle level) {
    const BignumOps& ops = ops_named(level);
    if (!PyList_Check(given.ptr()) && !PyTuple_Check(given.ptr())) throw nb::type_error("a list or tuple is wanted");
    by_bytes |= !digits_are_known();
#if defined(Py_GIL_DISABLED)
    const bool lies_still = PyTuple_Check(given.ptr());  // nobody keeps other threads from changing a list
#else
    const bool lies_still = true;
#endif
    if (!by_bytes && lies_still) {
        const nb::object found = from_integers(ops, Items(given.ptr()));
        if (!found.is_none()) return found;
    }
    // __index__ and handlers of signals run Python code, which may change a list, but not this one.
    const nb::object list = nb::steal(PySequence_List(given.ptr()));
    if (!list.is_valid()) throw nb::python_error();
    const Unseen unseen(list, true);
    make_integers(list);
    const nb::object found = by_bytes ? nb::none() : from_integers(ops, Items(list.ptr()));
    return found.is_none() ? from_any(ops, list, by_bytes) : found;
}

nb::list to_ints(nb::handle numbers, bool by_bytes, nb::handle level) {
    const BignumOps& ops = ops_named(level);
    by_bytes |= !digits_are_known();
    const Batch a(numbers);
    check_memory(double(a.view.count));
    nb::list values = nb::steal<nb::list>(PyList_New(Py_ssize_t(a.view.count)));
    if (!values.is_valid()) throw nb::python_error();
    const double count = double(a.view.count), width = double(a.view.width);
    const Unseen unseen(values, by_bytes || count * (width + 1) >= double(PAUSE));
    const ManyObjects many(by_bytes ? 0 : count * (32 + 8.5 * width));
    Pauses pauses;
    for (i64 i = 0; i < a.view.count; i++) {
        const Number x = number(a.view, i);
        PyObject* const value = python_int(ops, x, by_bytes);
        if (!value) throw nb::python_error();
#if defined(Py_LIMITED_API)
        PyList_SetItem(values.ptr(), Py_ssize_t(i), value);
#else
        PyList_SET_ITEM(values.ptr(), Py_ssize_t(i), value);
#endif
        pauses.after(x.length);
    }
    return values;
}

}  // namespace

void bind_convert(nb::module_& m) {
    m.attr("DIGITS_ARE_KNOWN") = digits_are_known();
    m.def("bignum_from_ints", &from_ints, nb::arg("values"), nb::arg("by_bytes") = false,
          nb::arg("level") = nb::none(),
          "A batch of a list or tuple of integers. by_bytes: as on a Python whose integers lie in memory in a way "
          "that is not known here. level: of levels(), the best one by default.");
    m.def("bignum_to_ints", &to_ints, nb::arg("a"), nb::arg("by_bytes") = false, nb::arg("level") = nb::none(),
          "A list of Python's integers.");
    m.def(
        "bignum_arenas",
        [] {
            const ArenaCount count = count_arenas();
            return nb::make_tuple(count.used, count.kept);
        },
        "How many arenas of Python's are parts of large pages, and how many bytes of unused ones are kept.");
}

}  // namespace bignum
