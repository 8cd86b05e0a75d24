// Turns batches of Python's integers into packed words and back.
#include "batch.hpp"
#include "bind.hpp"
#include "ints.hpp"

namespace bignum {
namespace {

// Turns whatever stands for integers into words. __index__ and handlers of signals run Python code, which may change
// a list, so that `values` is a tuple.
nb::tuple from_any(const nb::object& values, bool by_bytes) {
    const Py_ssize_t count = PyTuple_Size(values.ptr());
    const Signals signals;
    // Kept until the end: what stands for an integer but is of another type, such as numpy's, as Python's
    // integers; and bytes, where digits are not read where they lie.
    std::vector<nb::object> converted;
    std::vector<Digits> digits;
    digits.resize(std::size_t(count));
    std::vector<i64> lengths(std::size_t(count), 0);
    bool negative = false;
    for (Py_ssize_t i = 0; i < count; i++) {
        signals.at(std::size_t(i));
        PyObject* value = PyTuple_GetItem(values.ptr(), i);
        if (!PyLong_Check(value)) {
            nb::object held = nb::borrow(value);
            PyObject* index = PyIndex_Check(value) ? PyNumber_Index(value) : nullptr;
            if (!index) {
                if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_TypeError))
                    throw nb::python_error();
                PyErr_Clear();
                PyErr_Format(PyExc_TypeError, "an integer is wanted at index %zd", i);
                throw nb::python_error();
            }
            converted.push_back(nb::steal(index));
            value = index;
        }
        if (by_bytes) converted.emplace_back();
        const Digits& x = digits[std::size_t(i)] =
            by_bytes ? bytes_of(value, converted.back()) : digits_of(value);
        lengths[std::size_t(i)] = words_of(x);
        negative |= x.negative;
    }
    Output out(lengths, true, negative);
    Found found;
    for (Py_ssize_t i = 0; i < count; i++) {
        signals.at(std::size_t(i));
        const Digits& x = digits[std::size_t(i)];
        const i64 length = lengths[std::size_t(i)];
        pack(room(out.view, i), length, x);
        finish(out.view, i, length, x.negative, found);
    }
    return out.numbers(found);
}

constexpr Py_ssize_t SOME_NUMBERS = 1 << 16;  // after which signals are looked at
constexpr Py_ssize_t AHEAD = 12;                // numbers that the caches fetch meanwhile

// A list or tuple of integers that is read without a reference to what it has: as long as no Python code runs,
// nothing is taken from it.
class Items {
public:
    explicit Items(PyObject* values) : values(values), is_list(PyList_Check(values)) {}
    Py_ssize_t count() const { return is_list ? PyList_Size(values) : PyTuple_Size(values); }
    PyObject* at(Py_ssize_t i) const {
#if defined(Py_LIMITED_API)
        return is_list ? PyList_GetItem(values, i) : PyTuple_GetItem(values, i);
#else
        return is_list ? PyList_GET_ITEM(values, i) : PyTuple_GET_ITEM(values, i);
#endif
    }

private:
    PyObject* const values;
    const bool is_list;
};

// Looks at integers where they lie: calls body(i, integer) for each. Returns false where something is no integer, or
// there are not `count` any more.
template <class Body>
bool for_each_integer(const Items& items, Py_ssize_t count, Body body) {
    for (Py_ssize_t first = 0; first < count; first += SOME_NUMBERS) {
        if (first && PyErr_CheckSignals() != 0) throw nb::python_error();
        if (items.count() != count) return false;  // a handler has changed it
        const Py_ssize_t last = std::min(count, first + SOME_NUMBERS);
        for (Py_ssize_t i = first; i < last; i++) {
            if (i + AHEAD < last) {
                const char* next = reinterpret_cast<const char*>(items.at(i + AHEAD));
                for (int line = 0; line < 3; line++) __builtin_prefetch(next + 64 * line);
            }
            PyObject* value = items.at(i);
            if (!PyLong_Check(value) || !body(i, value)) return false;
        }
    }
    return count == 0 || items.count() == count;
}

// Turns a list or tuple that has integers only into words, and reads it twice. Returns None where it has something
// else, or what it has changes meanwhile.
nb::object from_integers(const Items& items) {
    const Py_ssize_t count = items.count();
    std::vector<i64> lengths = each_count(count);
    bool negative = false;
    if (!for_each_integer(items, count, [&](Py_ssize_t i, PyObject* value) {
            const Digits x = digits_of(value);
            if (x.count > SOME) return false;  // signals are looked at while it is read
            lengths[std::size_t(i)] = words_of(x);
            negative |= x.negative;
            return true;
        }))
        return nb::none();
    Output out(lengths, true, negative);
    Found found;
    if (!for_each_integer(items, count, [&](Py_ssize_t i, PyObject* value) {
            const Digits x = digits_of(value);
            const i64 length = lengths[std::size_t(i)];
            if (words_of(x) != length || (x.negative && !negative)) return false;
            pack(room(out.view, i), length, x);
            finish(out.view, i, length, x.negative, found);
            return true;
        }))
        return nb::none();
    return out.numbers(found);
}

nb::object from_ints(nb::object given, bool by_bytes) {
    if (!PyList_Check(given.ptr()) && !PyTuple_Check(given.ptr())) throw nb::type_error("a list or tuple is wanted");
    by_bytes |= !digits_are_known();
    if (!by_bytes) {
        const nb::object found = from_integers(Items(given.ptr()));
        if (!found.is_none()) return found;
    }
    const nb::object values = nb::steal(PySequence_Tuple(given.ptr()));
    if (!values.is_valid()) throw nb::python_error();
    return from_any(values, by_bytes);
}

nb::list to_ints(nb::handle numbers, bool by_bytes) {
    by_bytes |= !digits_are_known();
    const Batch a(numbers);
    check_memory(double(a.view.count));
    nb::list values = nb::steal<nb::list>(PyList_New(Py_ssize_t(a.view.count)));
    if (!values.is_valid()) throw nb::python_error();
    const Signals signals;
    for (i64 i = 0; i < a.view.count; i++) {
        signals.at(std::size_t(i));
        PyObject* value = python_int(number(a.view, i), by_bytes);
        if (!value || PyList_SetItem(values.ptr(), Py_ssize_t(i), value) != 0)
            throw nb::python_error();
    }
    return values;
}

}  // namespace

void bind_convert(nb::module_& m) {
    m.attr("DIGITS_ARE_KNOWN") = digits_are_known();
    m.def("bignum_from_ints", &from_ints, nb::arg("values"), nb::arg("by_bytes") = false,
          "A batch of a list or tuple of integers. by_bytes: as on a Python whose integers lie in memory in a way "
          "that is not known here.");
    m.def("bignum_to_ints", &to_ints, nb::arg("a"), nb::arg("by_bytes") = false,
          "A list of Python's integers.");
}

}  // namespace bignum
