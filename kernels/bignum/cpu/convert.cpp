// Turns Python's integers into packed words and back.
#include <cstring>

#include "batch.hpp"
#include "bind.hpp"

namespace bignum {
namespace {

constexpr int SHIFT = PyLong_SHIFT;
constexpr digit MASK = PyLong_MASK;

struct Digits {
    const digit* digits;  // the lowest first
    i64 count;
    bool negative;
};

Digits digits_of(PyObject* value) {
    const auto* number = reinterpret_cast<PyLongObject*>(value);
#if PY_VERSION_HEX >= 0x030C0000
    // Bits 0 and 1: 0 positive, 1 zero, 2 negative; the number of digits from bit 3 on.
    const std::uintptr_t tag = number->long_value.lv_tag;
    return {number->long_value.ob_digit, (tag & 3) == 1 ? 0 : i64(tag >> 3), (tag & 3) == 2};
#else
    const Py_ssize_t size = Py_SIZE(value);
    return {number->ob_digit, size < 0 ? -size : size, size < 0};
#endif
}

i64 words_of(const Digits& x) {
    if (!x.count) return 0;
    const i64 bits = SHIFT * (x.count - 1) + 32 - __builtin_clz(x.digits[x.count - 1]);
    return (bits + 63) / 64;
}

// How many digits of an integer take some milliseconds; signals are looked at after so many.
constexpr i64 SOME = i64(1) << 22;

// Writes the words of an integer. Raises what a handler of signals raised.
void pack(u64* words, i64 length, const Digits& x) {
    u64 word = 0;
    int filled = 0;
    i64 done = 0;
    for (i64 i = 0; i < x.count; i++) {
        if (i % SOME == SOME - 1 && PyErr_CheckSignals() != 0) throw nb::python_error();
        const u64 next = x.digits[i];
        word |= next << filled;
        filled += SHIFT;
        if (filled >= 64) {
            words[done++] = word;
            filled -= 64;
            word = next >> (SHIFT - filled);
        }
    }
    if (done < length) words[done] = word;
}

// Writes the digits of a number. Returns false where a handler of signals has raised something.
bool unpack(digit* digits, i64 count, const Number& x) {
    u64 held = 0;
    int bits = 0;
    i64 next = 0;
    for (i64 i = 0; i < count; i++) {
        if (i % SOME == SOME - 1 && PyErr_CheckSignals() != 0) return false;
        if (bits >= SHIFT) {
            digits[i] = digit(held) & MASK;
            held >>= SHIFT;
            bits -= SHIFT;
            continue;
        }
        const u64 word = next < x.length ? x.words[next++] : 0;
        digits[i] = digit(held | word << bits) & MASK;
        held = word >> (SHIFT - bits);
        bits += 64 - SHIFT;
    }
    return true;
}

// Returns a new reference to a Python integer. Raises.
PyObject* python_int(const Number& x) {
    if (!x.length) return PyLong_FromLong(0);
    const u64 top = x.words[x.length - 1];
    if (x.length == 1 && top <= u64(MASK))
        return PyLong_FromLong(x.negative ? -long(top) : long(top));
    const i64 bits = 64 * x.length - __builtin_clzll(top), count = (bits + SHIFT - 1) / SHIFT;
#if PY_VERSION_HEX >= 0x030E0000
    void* digits;
    PyLongWriter* writer = PyLongWriter_Create(x.negative, Py_ssize_t(count), &digits);
    if (!writer) return nullptr;
    if (!unpack(static_cast<digit*>(digits), count, x)) {
        PyLongWriter_Discard(writer);
        return nullptr;
    }
    return PyLongWriter_Finish(writer);
#else
    PyLongObject* value = _PyLong_New(Py_ssize_t(count));
    if (!value) return nullptr;
#if PY_VERSION_HEX >= 0x030C0000
    value->long_value.lv_tag = std::uintptr_t(count) << 3 | (x.negative ? 2 : 0);
    digit* const digits = value->long_value.ob_digit;
#else
    if (x.negative) Py_SET_SIZE(value, -Py_ssize_t(count));
    digit* const digits = value->ob_digit;
#endif
    if (!unpack(digits, count, x)) {
        Py_DECREF(value);
        return nullptr;
    }
    return reinterpret_cast<PyObject*>(value);
#endif
}

nb::tuple from_ints(nb::list given) {
    // __index__ and handlers of signals run Python code, which may change the list.
    const nb::object values = nb::steal(PyList_AsTuple(given.ptr()));
    if (!values.is_valid()) throw nb::python_error();
    const Py_ssize_t count = PyTuple_GET_SIZE(values.ptr());
    const Signals signals;
    // What stands for an integer but is of another type, such as numpy's, as Python's
    // integers; they are kept until the end.
    std::vector<nb::object> converted;
    std::vector<Digits> digits;
    digits.resize(std::size_t(count));
    std::vector<i64> lengths(std::size_t(count), 0);
    bool negative = false;
    for (Py_ssize_t i = 0; i < count; i++) {
        signals.at(std::size_t(i));
        PyObject* value = PyTuple_GET_ITEM(values.ptr(), i);
        if (!PyLong_Check(value)) {
            nb::object held = nb::borrow(value);
            PyObject* index = PyIndex_Check(value) ? PyNumber_Index(value) : nullptr;
            if (!index) {
                if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_TypeError))
                    throw nb::python_error();
                PyErr_Clear();
                PyErr_Format(PyExc_TypeError, "an integer is wanted at index %zd, not %s", i,
                             Py_TYPE(value)->tp_name);
                throw nb::python_error();
            }
            converted.push_back(nb::steal(index));
            value = index;
        }
        const Digits& x = digits[std::size_t(i)] = digits_of(value);
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

nb::list to_ints(nb::handle numbers) {
    const Batch a(numbers);
    check_memory(double(a.view.count));
    nb::list values = nb::steal<nb::list>(PyList_New(Py_ssize_t(a.view.count)));
    if (!values.is_valid()) throw nb::python_error();
    const Signals signals;
    for (i64 i = 0; i < a.view.count; i++) {
        signals.at(std::size_t(i));
        PyObject* value = python_int(number(a.view, i));
        if (!value) throw nb::python_error();
        PyList_SET_ITEM(values.ptr(), Py_ssize_t(i), value);
    }
    return values;
}

}  // namespace

void bind_convert(nb::module_& m) {
    m.def("bignum_from_ints", &from_ints, nb::arg("values"), "A batch of a list of integers.");
    m.def("bignum_to_ints", &to_ints, nb::arg("a"), "A list of Python's integers.");
}

}  // namespace bignum
