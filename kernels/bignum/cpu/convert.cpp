// Turns batches of Python's integers into packed words and back.
#include "batch.hpp"
#include "bind.hpp"
#include "ints.hpp"

namespace bignum {
namespace {

nb::tuple from_ints(nb::list given, bool by_bytes) {
    by_bytes |= !digits_are_known();
    // __index__ and handlers of signals run Python code, which may change the list.
    const nb::object values = nb::steal(PyList_AsTuple(given.ptr()));
    if (!values.is_valid()) throw nb::python_error();
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
          "A batch of a list of integers. by_bytes: as on a Python whose integers lie in memory in a way "
          "that is not known here.");
    m.def("bignum_to_ints", &to_ints, nb::arg("a"), nb::arg("by_bytes") = false,
          "A list of Python's integers.");
}

}  // namespace bignum
